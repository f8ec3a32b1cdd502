// SPDX-License-Identifier: BSD-3-Clause
/* user/base/sorted.h against a count, element by element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sorted.h"

struct element {
	uint32_t other;
	uint64_t key;
};

static const uint64_t KEYS[] = { 0, 3, 3, 3, 7, 8, UINT64_MAX - 1, UINT64_MAX };
#define N (sizeof(KEYS) / sizeof(KEYS[0]))

static size_t count(size_t n, uint64_t key, uint64_t also)
{
	size_t below = 0;

	for (size_t i = 0; i < n; i++)
		below += KEYS[i] < key || (also && KEYS[i] == key);
	return below;
}

static void the_count_is_that_of_all_elements(void **state)
{
	static const uint64_t asked[] = { 0, 1, 2, 3, 4, 7, 8, 9, UINT64_MAX - 2, UINT64_MAX - 1, UINT64_MAX };
	struct element e[N];

	(void)state;
	memset(e, 0xff, sizeof(e));
	for (size_t i = 0; i < N; i++)
		e[i].key = KEYS[i];
	for (size_t n = 0; n <= N; n++) {
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
			assert_int_equal(SORTED_BELOW(e, n, key, asked[i]), count(n, asked[i], 0));
			assert_int_equal(SORTED_UP_TO(e, n, key, asked[i]), count(n, asked[i], 1));
		}
	}
}

static void of_no_elements_none_is_read(void **state)
{
	const struct element *none = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(SORTED_BELOW(none, n, key, 5), 0);
	assert_int_equal(SORTED_UP_TO(none, n, key, 5), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_count_is_that_of_all_elements),
		cmocka_unit_test(of_no_elements_none_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

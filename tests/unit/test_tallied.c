// SPDX-License-Identifier: BSD-3-Clause
/* What the kernel added up becomes events of what is new, for each process that a pid was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "source/bpf/tallied.h"

struct seen {
	struct event at[8];
	size_t n;
};

static int see(void *ctx, const struct event *ev)
{
	struct seen *s = ctx;

	if (ev->kind == EVENT_TALLY && s->n < 8)
		s->at[s->n++] = *ev;
	return 0;
}

static void read_calls(struct tallied *t, uint64_t process_ns, uint64_t count, uint64_t entries)
{
	const struct gp_tally_key key = { .process_ns = process_ns, .pid = 7, .row = 3 };
	struct gp_tally *now = calloc(1, sizeof(*now));

	assert_non_null(now);
	now->count = count;
	now->entries = entries;
	tallied_read(t, &key, now, false);
	free(now);
}

static void only_what_is_new_is_told(void **state)
{
	struct seen seen = { .n = 0 };
	struct tallied t = { .sink = { see, &seen } };

	(void)state;
	read_calls(&t, 0, 5, 0);
	read_calls(&t, 0, 5, 0);
	read_calls(&t, 0, 8, 2);
	assert_int_equal(seen.n, 3);
	assert_int_equal(TALLY_CALLS(&seen.at[0]), 5);
	assert_int_equal(TALLY_CALLS(&seen.at[1]), 2);	/* entries */
	assert_int_equal(TALLY_CALLS(&seen.at[2]), 3);
	tallied_free(&t);
}

static void owners_of_a_pid_are_told_apart(void **state)
{
	static const uint64_t births[] = { 100, 200, 100, 200 }, counts[] = { 5, 2, 5, 9 };
	static const uint64_t told[] = { 5, 2, 7 }, of[] = { 100, 200, 200 };
	struct seen seen = { .n = 0 };
	struct tallied t = { .sink = { see, &seen } };

	(void)state;
	for (size_t i = 0; i < 4; i++)
		read_calls(&t, births[i], counts[i], 0);
	assert_int_equal(seen.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(TALLY_CALLS(&seen.at[i]), told[i]);
		assert_int_equal(TALLY_PROCESS_NS(&seen.at[i]), of[i]);
		assert_int_equal(seen.at[i].pid, 7);
	}
	tallied_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_what_is_new_is_told),
		cmocka_unit_test(owners_of_a_pid_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
/* No two kernels of a report have one short name. */
#include <stdio.h>
#include <string.h>

#include "lib/work_named.h"
#include "model_each.h"
#include "view/kernel_names.h"

#define BASE 1000000000ull

static void kernel(const char *symbol, uint64_t start_ns)
{
	const struct work w = { .kind = WORK_KIND_KERNEL };

	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .work = work_named(w, symbol),
				.start_ns = BASE + start_ns, .end_ns = BASE + start_ns + 10 });
}

BEFORE_EACH
{
	restart(BASE);
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .tid = 7, .start_ns = BASE });
}

static struct kernel_names *names_now(void)
{
	struct kernel_names *k;

	finish(m, BASE + 1000000);
	k = kernel_names_new(snap_of(m));
	assert_non_null(k);
	return k;
}

TEST(kernels_alike_have_their_names_in_detail_and_then_numbers)
{
	struct kernel_names *k;

	kernel("a::scan<1>", 0);
	kernel("a::scan<2>", 20);
	kernel("b::scan<2>", 40);
	kernel("a::sort<2>", 60);
	kernel("a::sort<2>", 80);
	kernel("copy", 100);
	k = names_now();
	assert_string_equal(kernel_names_of(k, "a::scan<1>"), "scan<1>");
	assert_string_equal(kernel_names_of(k, "a::scan<2>"), "scan<2>#1");
	assert_string_equal(kernel_names_of(k, "b::scan<2>"), "scan<2>#2");
	assert_string_equal(kernel_names_of(k, "a::sort<2>"), "sort");
	assert_string_equal(kernel_names_of(k, "copy"), "copy");
	assert_string_equal(kernel_names_of(k, NULL), "(no name)");
	kernel_names_free(k);
}

TEST(without_kernels_there_are_no_names)
{
	struct kernel_names *k = names_now();

	assert_string_equal(kernel_names_of(k, "copy"), "(no name)");
	kernel_names_free(k);
}

TEST(many_kernels_have_as_many_names)
{
	struct kernel_names *k;
	char symbol[32], other[32];

	for (unsigned int i = 0; i < 60; i++) {
		snprintf(symbol, sizeof(symbol), "n%u::scan<%u>", i, i / 3);
		kernel(symbol, i * 20);
	}
	k = names_now();
	for (unsigned int i = 0; i < 60; i++) {
		for (unsigned int with = 0; with < i; with++) {
			snprintf(symbol, sizeof(symbol), "n%u::scan<%u>", i, i / 3);
			snprintf(other, sizeof(other), "n%u::scan<%u>", with, with / 3);
			assert_string_not_equal(kernel_names_of(k, symbol), kernel_names_of(k, other));
		}
	}
	kernel_names_free(k);
}

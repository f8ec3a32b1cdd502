// SPDX-License-Identifier: BSD-3-Clause
/* For which thread others work, and when; and the ranges of what they launch. */
#include "join/askers.h"

#include "lib/test.h"
#include "lib/work_named.h"
#include "view_of.h"
#include "model_each.h"	/* behind all headers whose functions take a model */

TEST(who_asked_is_known_also_later_on)
{
	struct askers a = { 0 };

	assert_int_equal(askers_at(&a, 5), 0);
	assert_int_equal(askers_begin(&a, 7, 10), 0);
	assert_int_equal(askers_end(&a, 30), 0);
	assert_int_equal(askers_begin(&a, 8, 40), 0);
	assert_int_equal(askers_at(&a, 9), 0);
	assert_int_equal(askers_at(&a, 10), 7);
	assert_int_equal(askers_at(&a, 29), 7);
	assert_int_equal(askers_at(&a, 30), 0);
	assert_int_equal(askers_at(&a, 99), 8);
	askers_settle(&a, 35);
	assert_int_equal(askers_at(&a, 35), 0);
	assert_int_equal(askers_at(&a, 40), 8);
	askers_free(&a);
}

TEST(a_pass_within_a_pass_is_of_the_same_thread)
{
	struct askers a = { 0 };

	assert_int_equal(askers_begin(&a, 7, 10), 0);
	assert_int_equal(askers_begin(&a, 7, 20), 0);
	assert_int_equal(askers_end(&a, 30), 0);
	assert_int_equal(askers_at(&a, 35), 7);
	assert_int_equal(askers_end(&a, 40), 0);
	assert_int_equal(askers_at(&a, 40), 0);
	assert_int_equal(a.changes.n, 2);
	askers_free(&a);
}

TEST(of_several_at_a_time_it_is_not_known_whose_work_it_is)
{
	struct askers a = { 0 };

	assert_int_equal(askers_begin(&a, 7, 10), 0);
	assert_int_equal(askers_begin(&a, 8, 20), 0);
	assert_int_equal(askers_end(&a, 30), 0);
	assert_int_equal(askers_at(&a, 15), 7);
	assert_int_equal(askers_at(&a, 25), 0);
	assert_int_equal(askers_at(&a, 35), 0);
	assert_int_equal(askers_end(&a, 40), 0);
	assert_int_equal(askers_end(&a, 41), 0);	/* of one whose begin was lost */
	assert_int_equal(askers_begin(&a, 8, 50), 0);
	assert_int_equal(askers_at(&a, 55), 8);
	askers_free(&a);
}

TEST(the_history_is_bounded)
{
	struct askers a = { 0 };

	for (uint64_t i = 0; i < ASKERS_HISTORY_MAX; i++) {
		assert_int_equal(askers_begin(&a, 7, 2 * i), 0);
		assert_int_equal(askers_end(&a, 2 * i + 1), 0);
	}
	assert_int_equal(a.changes.n, ASKERS_HISTORY_MAX);
	assert_int_equal(askers_at(&a, 0), 0);
	assert_int_equal(askers_at(&a, 2 * ASKERS_HISTORY_MAX - 2), 7);
	askers_free(&a);
}

/* ---- the model -------------------------------------------------------------------------------- */

#define BASE 1000000000000ull

BEFORE_EACH
{
	restart(BASE);
}

static void thread(uint32_t tid, const char *comm)
{
	push(m, (struct event){ .kind = EVENT_THREAD, .pid = 7, .tid = tid, .start_ns = BASE,
				.end_ns = BASE, .task.comm = comm });
}

static void range(uint32_t tid, uint64_t ns, uint8_t what, const char *name)
{
	push(m, (struct event){ .kind = EVENT_RANGE, .pid = 7, .tid = tid, .start_ns = BASE + ns,
				.range = { .what = what, .name = name } });
}

static void asks(uint32_t tid, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_ASKS, .pid = 7, .tid = tid, .start_ns = BASE + start,
				.end_ns = BASE + (end ? end : start), .has = end ? HAS_END : 0 });
}

static void kernel(uint32_t tid, uint32_t seq, uint32_t correlation, uint64_t at)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = correlation };

	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = tid, .seq = seq, .func = L,
				.has = HAS_END, .start_ns = BASE + at, .end_ns = BASE + at + 4 });
	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = tid, .api.correlation = correlation,
				.api.cbid = 211, .api.domain = 5, .start_ns = BASE + at + 1,
				.end_ns = BASE + at + 3 });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = BASE + at + 10,
				.end_ns = BASE + at + 12, .work = work_named(w, "sgemm") });
}

/* Of the range "step": launches in it. */
static uint64_t launches(void)
{
	struct table *t;
	uint64_t n;

	finish(m, BASE + 1000);
	t = view_now(&view_ranges, m);
	assert_non_null(t);
	assert_int_equal(t->n_rows, 1);
	n = table_cells(t, 0)[table_column(t, "launches")].u;
	table_free(t);
	return n;
}

/* Another thread that launches meanwhile is not one of them. */
TEST(what_a_worker_launches_is_in_the_ranges_of_who_asked)
{
	thread(7, "python");
	thread(8, "pt_autograd_0");
	thread(9, "loader");
	range(7, 10, RANGE_PUSH, "step");
	kernel(7, 1, 1, 20);
	kernel(8, 1, 2, 40);		/* no pass has been asked for */
	asks(7, 60, 0);
	kernel(8, 2, 3, 80);
	kernel(9, 1, 4, 100);
	asks(8, 110, 0);		/* backward in backward, of a worker */
	kernel(8, 3, 5, 120);
	asks(8, 110, 130);
	asks(7, 60, 150);
	kernel(8, 4, 6, 200);
	range(7, 300, RANGE_POP, NULL);
	assert_int_equal(launches(), 3);
}

TEST(a_worker_with_a_range_of_its_own_is_in_that)
{
	thread(7, "python");
	thread(8, "pt_autograd_0");
	asks(7, 10, 0);
	range(8, 20, RANGE_PUSH, "step");
	kernel(8, 1, 1, 30);
	range(8, 50, RANGE_POP, NULL);
	kernel(8, 2, 2, 60);
	asks(7, 10, 100);
	assert_int_equal(launches(), 1);
}

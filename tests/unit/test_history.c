// SPDX-License-Identifier: BSD-3-Clause
/* What the live view remembers: windows, the refreshes before, and what came since a mark. */
#include "view/tui/history.h"

#include "lib/test.h"
#include "model_room.h"

#define SEC 1000000000ull

/* A launch of 1 ms that ends at the second. */
static void launch(struct model *m, uint64_t second)
{
	static uint32_t seq;

	seq++;
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_RESULT | HAS_END, .pid = 7, .tid = 7,
				.seq = seq, .func = L,
				.start_ns = second * SEC - 1000000, .end_ns = second * SEC });
}

static uint64_t calls_of(const struct snapshot *s)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->processes.n; i++)
		for (size_t k = 0; k < call_stats_count(&s->processes.v[i].calls); k++)
			n += call_stats_at(&s->processes.v[i].calls, k)->count;
	return n;
}

/* So many refreshes, one a second, a launch in each. */
static void run(struct history *h, struct model *m, uint64_t from, uint64_t until)
{
	for (uint64_t second = from; second <= until; second++) {
		launch(m, second);
		assert_int_equal(history_add(h, m, second * SEC), 0);
	}
}

TEST(a_snapshot_spans_the_window_and_the_first_ones_what_there_was)
{
	struct history h = { .window = 5 };
	struct model *m = session(1);

	assert_null(history_at(&h, 0));
	model_use_intervals(m);
	run(&h, m, 1, 8);
	assert_int_equal(h.seen, 8);
	for (size_t back = 0; back < 8; back++) {
		const struct snapshot *s = history_at(&h, back);
		const uint64_t end = 8 - back, begin = end > 5 ? end - 5 : 0;

		assert_int_equal(s->now_ns, end * SEC);
		assert_int_equal(s->since_ns, begin ? begin * SEC : 1);
		assert_int_equal(calls_of(s), end - begin);
	}
	assert_ptr_equal(history_at(&h, 100), history_at(&h, 7));
	history_free(&h);
	model_free(m);
}

TEST(without_a_window_each_is_of_all_the_time)
{
	struct history h = { 0 };
	struct model *m = session(1);

	model_use_intervals(m);
	run(&h, m, 1, 3);
	assert_int_equal(calls_of(history_at(&h, 0)), 3);
	assert_int_equal(calls_of(history_at(&h, 2)), 1);
	history_free(&h);
	model_free(m);
}

TEST(since_is_what_came_after_the_refresh_that_was_marked)
{
	struct history h = { .window = 1 };
	struct model *m = session(1);

	model_use_intervals(m);
	run(&h, m, 1, 3);
	history_mark(&h, true);
	assert_null(h.since);
	run(&h, m, 4, 4);		/* is marked */
	assert_null(h.since);
	run(&h, m, 5, 7);
	assert_int_equal(h.since->since_ns, 4 * SEC);
	assert_int_equal(calls_of(h.since), 3);
	history_mark(&h, true);		/* another point */
	run(&h, m, 8, 9);
	assert_int_equal(h.since->since_ns, 8 * SEC);
	assert_int_equal(calls_of(h.since), 1);
	history_mark(&h, false);
	assert_null(h.since);
	run(&h, m, 10, 10);
	assert_null(h.since);
	history_free(&h);
	model_free(m);
}

TEST(the_oldest_refreshes_leave)
{
	struct history h = { .window = 1 };
	struct model *m = session(1);

	model_use_intervals(m);
	run(&h, m, 1, HISTORY_MAX + 10);
	assert_int_equal(h.all.n, HISTORY_MAX);
	assert_int_equal(h.seen, HISTORY_MAX + 10);
	assert_int_equal(history_at(&h, HISTORY_MAX)->now_ns, 11 * SEC);
	history_free(&h);
	model_free(m);
}

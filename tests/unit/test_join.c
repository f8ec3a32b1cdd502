// SPDX-License-Identifier: BSD-3-Clause
/*
 * The join: the worked examples of its header, its laws on random streams in any order against the
 * specification, and on hostile ones. TEST_SEED repeats a run.
 */
#include "join_room.h"

#include "base/num.h"
#include "lib/join_spec.h"
#include "lib/test.h"

BEFORE_EACH
{
	restart();
}

/* ---- worked examples -------------------------------------------------------------------------- */

TEST(a_work_meets_its_launch_in_either_order)
{
	for (int works_first = 0; works_first < 2; works_first++) {
		restart();
		if (!works_first)
			api(1, 10, 14);
		work(1, 20, 30);
		assert_int_equal(counts_of().waiting, works_first);
		if (works_first)
			api(1, 10, 14);
		assert_int_equal(seen.passed, 1);
		assert_int_equal(seen.work[0].by.tid, 5);
		assert_int_equal(seen.work[0].by.start_ns, 10);
		assert_int_equal(seen.work[0].by.end_ns, 14);
		assert_int_equal(counts_of().matched, 1);
		assert_int_equal(counts_of().waiting, 0);
	}
}

TEST(a_graphs_launch_meets_all_its_works)
{
	work(3, 20, 25);
	work(3, 25, 30);
	api(3, 10, 14);
	work(3, 30, 35 + 9 * SEC);
	work(3, 30, 35 + 18 * SEC);	/* known since its last work, not since its call */
	assert_int_equal(counts_of().matched, 4);
}

/* CUPTI may have numbered it wrongly. */
TEST(a_work_of_an_unknown_launch_meets_none_and_does_not_wait)
{
	struct work w = { .kind = WORK_KIND_KERNEL, .has = WORK_HAS_NO_LAUNCH, .bytes = 1 };

	api(0, 10, 14);
	push(&(struct event){ .kind = EVENT_WORK, .process = 1, .start_ns = 20, .end_ns = 30,
			      .work = w });
	assert_int_equal(seen.passed, 1);
	assert_int_equal(seen.work[1].times, 1);
	assert_int_equal(seen.work[1].by.tid, 0);
	assert_int_equal(counts_of().orphan, 1);
	assert_int_equal(counts_of().waiting, 0);
}

TEST(two_records_of_a_launch_are_the_outer_one)
{
	api(4, 11, 13);
	api(4, 10, 14);
	work(4, 20, 30);
	assert_int_equal(seen.work[0].by.start_ns, 10);
	assert_int_equal(seen.work[0].by.end_ns, 14);
	api(4, 100, 104);		/* the number is used again */
	work(4, 110, 130);
	assert_int_equal(seen.work[0].by.start_ns, 100);
}

/* Correlations of the new program begin at 1 again. */
TEST(launches_of_one_program_meet_no_work_of_the_next)
{
	for (int works_first = 0; works_first < 2; works_first++) {
		restart();
		api(1, 10, 14);
		work(1, 20, 30);
		work(2, 31, 35);
		push(&(struct event){ .kind = EVENT_PROCESS, .process = 1, .pid = 1, .tid = 1, .end_ns = 50 });
		if (works_first)
			work(1, 70, 80);
		api(1, 60, 64);
		if (!works_first)
			work(1, 70, 80);
		assert_int_equal(seen.work[0].by.start_ns, 60);
		api(2, 65, 66);
		assert_int_equal(seen.passed, 2);
		api(2, 40, 41);	/* of the one before, read late */
		work(2, 42, 45);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(counts_of().orphan, 0);
		assert_int_equal(counts_of().matched, 4);
	}
}

TEST(orphans_leave_when_the_window_is_over_or_all_ends)
{
	work(1, BASE, BASE + 10);
	api(2, BASE + JOIN_WINDOW_NS, BASE + JOIN_WINDOW_NS + 10);
	assert_int_equal(seen.passed, 0);
	api(3, BASE + JOIN_WINDOW_NS, BASE + JOIN_WINDOW_NS + 11);
	assert_int_equal(seen.passed, 1);
	work(4, BASE + JOIN_WINDOW_NS, BASE + JOIN_WINDOW_NS + 1);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(seen.passed, 2);
	assert_int_equal(counts_of().orphan, 2);
}

/* As where a file of a session begins after another, which has their works. */
TEST(launches_of_before_the_session_are_not_awaited)
{
	push_time(EVENT_START, BASE);
	api(1, BASE - 20, BASE - 10);
	api(2, BASE - 9, BASE - 5);
	api(3, BASE - 4, BASE + 5);
	assert_int_equal(counts_of().launches, 1);
	assert_int_equal(counts_of().awaited, 1);
	work(2, BASE + 10, BASE + 20);	/* that one's came late enough */
	assert_int_equal(counts_of().matched, 1);
	assert_int_equal(counts_of().met, 0);
	work(3, BASE + 20, BASE + 30);
	assert_int_equal(counts_of().met, 1);
	assert_int_equal(counts_of().awaited, 0);
}

/* Its last work has no launch: it is passed on before the horizon is beyond it. */
TEST(orphans_of_a_process_that_falls_silent_leave_in_time)
{
	work(1, BASE + SEC, BASE + SEC + 10);
	for (uint64_t ns = BASE + 2 * SEC; !seen.passed; ns += SEC / 2) {
		push_time(EVENT_WATERMARK, ns);
		assert_true(seen.passed || seen.horizon <= BASE + SEC);
	}
	assert_int_equal(counts_of().orphan, 1);
	assert_int_equal(counts_of().late, 0);
}

TEST(an_early_work_is_skew_and_a_much_too_early_one_invalid)
{
	push_time(EVENT_START, BASE);
	api(5, BASE + SEC, BASE + SEC + 4);
	work(5, BASE + SEC - 1, BASE + SEC + 20);
	work(5, BASE + SEC - JOIN_SKEW_NS, BASE + SEC + 20);
	work(5, BASE + SEC - JOIN_SKEW_NS - 1, BASE + SEC + 20);
	work(5, BASE - 10, BASE - 1);
	push_time(EVENT_STOP, BASE + 2 * SEC);
	work(5, BASE + 2 * SEC - 1, BASE + 3 * SEC);
	work(5, BASE + 2 * SEC, BASE + 3 * SEC);
	assert_int_equal(counts_of().matched, 3);
	assert_int_equal(counts_of().skew, 2);
	assert_int_equal(counts_of().invalid, 3);
	assert_int_equal(seen.passed, 3);
}

static void many_records(uint64_t ns, uint32_t from)
{
	for (uint32_t i = 0; i < 1024; i++)
		push(&(struct event){ .kind = EVENT_API, .process = 1, .tid = 6,
					 .api.correlation = from + i,
					 .start_ns = ns, .end_ns = ns });
}

TEST(the_horizon_waits_for_the_oldest_launch_but_not_for_ever)
{
	api(1, BASE, BASE + 4);
	many_records(BASE + 5 * SEC, 100);
	assert_int_equal(seen.horizon, BASE);	/* its works have not come yet */
	work(1, BASE + 10, BASE + 4 * SEC);
	assert_int_equal(counts_of().late, 0);
	many_records(BASE + 5 * SEC, 100);
	assert_int_equal(seen.horizon, BASE + 4 * SEC);
	api(2, BASE + 5 * SEC, BASE + 5 * SEC);
	many_records(BASE + 30 * SEC, 100);
	assert_int_equal(seen.horizon, BASE + 29 * SEC);	/* 25 s are more than the window */
	work(2, BASE + 6 * SEC, BASE + 7 * SEC);
	assert_int_equal(counts_of().late, 1);
	assert_int_equal(counts_of().matched, 2);
	push_time(EVENT_WATERMARK, BASE + 31 * SEC);
	many_records(BASE + 60 * SEC, 100);
	assert_int_equal(seen.horizon, BASE + 31 * SEC);	/* calls after it are not known */
}

TEST(pending_entries_are_bounded_and_leave_in_order)
{
	for (uint32_t i = 0; i < JOIN_WORKS_MAX + 100; i++)
		work(i, BASE + i, BASE + i + 1);
	assert_int_equal(counts_of().waiting, JOIN_WORKS_MAX);
	assert_int_equal(counts_of().orphan, 100);
	for (uint32_t i = 0; i < JOIN_LAUNCHES_MAX + 100; i++)
		api(i, BASE, BASE);
	assert_int_equal(counts_of().matched, JOIN_WORKS_MAX);
	assert_int_equal(counts_of().waiting, 0);
	work(99, BASE, BASE);	/* the oldest launches had to go */
	assert_int_equal(counts_of().waiting, 1);
	work(100, BASE, BASE);
	assert_int_equal(counts_of().matched, JOIN_WORKS_MAX + 1);
}

TEST(a_process_that_ended_is_forgotten)
{
	work(1, BASE, BASE + 10);
	push(&(struct event){ .kind = EVENT_EXIT, .process = 1, .pid = 1, .tid = 1, .end_ns = BASE + 20 });
	push_time(EVENT_WATERMARK, BASE + SEC);
	assert_int_equal(counts_of().waiting, 1);	/* its records may come yet */
	push_time(EVENT_WATERMARK, BASE + 20 * SEC);
	assert_int_equal(counts_of().orphan, 1);
	api(1, BASE, BASE + 10);
	work(1, BASE, BASE + 10);
	assert_int_equal(counts_of().matched, 1);
}

/* ---- laws ------------------------------------------------------------------------------------ */

struct stream {
	struct event ev[EVENTS_MAX];
	struct work work[EVENTS_MAX];
	size_t n;
};

static void add_work(struct stream *s, uint32_t pid, uint32_t correlation, uint64_t start)
{
	struct work *w = &s->work[s->n];

	*w = (struct work){ .kind = WORK_KIND_KERNEL, .correlation = correlation, .bytes = s->n };
	s->ev[s->n++] = (struct event){ .kind = EVENT_WORK, .process = pid, .start_ns = start,
					.end_ns = start + below(100), .work = *w };
}

/* Launches of two processes, each with up to four works, some without a record of it. */
static void random_stream(struct stream *s)
{
	s->n = 0;
	for (uint32_t c = 1; s->n < EVENTS_MAX - 8; c++) {
		uint64_t start = BASE + below(3 * SEC), works = below(5);
		uint32_t pid = 1 + (uint32_t)below(2);

		if (below(8))
			s->ev[s->n++] = (struct event){
				.kind = EVENT_API, .process = pid, .tid = 1 + (uint32_t)below(4),
				.api.correlation = c,
				.api.cbid = LAUNCH_CBID, .api.domain = RUNTIME, .start_ns = start,
				.end_ns = start + below(50) };
		while (works--)
			add_work(s, pid, c, below(6) ? start + below(200) :
					    start - below(2 * JOIN_SKEW_NS));
	}
}

static void shuffle(size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n; i > 1; i--) {
		size_t k = below(i), swapped = order[i - 1];

		order[i - 1] = order[k];
		order[k] = swapped;
	}
}

static void assert_as_specified(const struct stream *s)
{
	struct join_counts spec, counts = counts_of();
	int by[EVENTS_MAX];

	join_spec(s->ev, s->n, BASE, BASE + 2 * SEC, by, &spec);
	assert_int_equal(counts.matched, spec.matched);
	assert_int_equal(counts.orphan, spec.orphan);
	assert_int_equal(counts.skew, spec.skew);
	assert_int_equal(counts.invalid, spec.invalid);
	assert_int_equal(counts.outside, spec.outside);
	assert_int_equal(counts.waiting, 0);
	assert_int_equal(counts.late, 0);
	for (size_t i = 0; i < s->n; i++) {
		if (s->ev[i].kind != EVENT_WORK)
			continue;
		assert_int_equal(seen.work[i].times, by[i] != JOIN_SPEC_INVALID);
		assert_int_equal(seen.work[i].by.tid, by[i] < 0 ? 0 : s->ev[by[i]].tid);
		assert_int_equal(seen.work[i].by.end_ns, by[i] < 0 ? 0 : s->ev[by[i]].end_ns);
	}
}

TEST(random_streams_in_any_order_are_as_specified)
{
	static struct stream s;
	size_t order[EVENTS_MAX];

	for (int round = 0; round < random_rounds(400); round++) {
		random_stream(&s);
		for (int again = 0; again < 3; again++) {
			restart();
			push_time(EVENT_START, BASE);
			push_time(EVENT_STOP, BASE + 2 * SEC);
			shuffle(order, s.n);
			for (size_t i = 0; i < s.n; i++)
				push(&s.ev[order[i]]);
			assert_int_equal(join_end(j), 0);
			assert_as_specified(&s);
		}
	}
}

static uint64_t any_time(void)
{
	switch (below(8)) {
	case 0:
		return below(3);
	case 1:
		return UINT64_MAX - below(3);
	default:
		return BASE + below(40) * SEC / 2;
	}
}

/* Numbers that repeat, times from anywhere: nothing is passed on twice, and the counts add up. */
TEST(hostile_streams_lose_no_count)
{

	for (int round = 0; round < random_rounds(300); round++) {
		struct join_counts c;
		uint64_t works = 0;

		restart();
		for (int i = 0; i < 2000; i++) {
			struct work w = { .kind = WORK_KIND_KERNEL,
					  .correlation = (uint32_t)below(20) };
			struct event ev = { .process = 1, .tid = (uint32_t)below(3),
					    .start_ns = any_time() };

			ev.kind = !below(30) ? EVENT_WATERMARK : below(2) ? EVENT_API : EVENT_WORK;
			ev.end_ns = num_add(ev.start_ns, below(SEC));
			if (ev.kind == EVENT_WORK)
				ev.work = w;
			else
				ev.api = (struct event_api){ .cbid = LAUNCH_CBID, .domain = RUNTIME,
							     .correlation = (uint32_t)below(20) };
			works += ev.kind == EVENT_WORK;
			push(&ev);
			c = counts_of();
			assert_int_equal(c.matched + c.orphan, seen.passed);
			assert_int_equal(seen.passed + c.invalid + c.waiting, works);
		}
		assert_int_equal(join_end(j), 0);
		c = counts_of();
		assert_int_equal(c.matched + c.orphan + c.invalid, works);
	}
}

static void open_scope(uint32_t row, uint64_t ns)
{
	const struct scope scope = { .kind = SCOPE_PUSHED_RANGE, .row = row, .start_ns = ns };

	assert_int_equal(scopes_open(&scopes, scopes_of(&scopes, 5, ns), &scope), 0);
}

static void graph_launch(uint32_t correlation, uint64_t start, uint64_t end)
{
	push(&(struct event){ .kind = EVENT_API, .process = 1, .tid = 5,
			      .api = { .correlation = correlation, .cbid = 311, .domain = RUNTIME },
			      .start_ns = start, .end_ns = end });
}

/* Also the outer of two records, a work before its launch, and works when all scopes are gone. */
TEST(a_launch_has_the_scopes_of_its_moment_looked_up_once)
{
	open_scope(1, BASE);
	open_scope(2, BASE + 11);
	work(1, BASE + 20, BASE + 30);
	assert_int_equal(seen.asked, 0);
	graph_launch(1, BASE + 10, BASE + 14);
	assert_int_equal(seen.asked, 1);
	assert_int_equal(seen.asked_ns, BASE + 12);
	assert_int_equal(seen.work[0].by.scope->row, 2);
	scopes_free(&scopes);
	scopes = (struct scopes){ 0 };
	open_scope(3, BASE + 12);
	for (int i = 0; i < 3; i++)
		work(1, BASE + 40, BASE + 50);
	assert_int_equal(seen.asked, 1);
	assert_int_equal(seen.work[0].by.works, 3);
	assert_int_equal(seen.work[0].by.scope->row, 2);
	assert_int_equal(seen.work[0].by.scope->below->row, 1);
	api(2, BASE + 16, BASE + 17);
	api(2, BASE + 10, BASE + 20);
	work(2, BASE + 60, BASE + 70);
	assert_int_equal(seen.asked, 2);
	assert_int_equal(seen.asked_ns, BASE + 15);
	assert_int_equal(seen.work[0].by.scope->row, 3);
	scopes_free(&scopes);
	scopes = (struct scopes){ 0 };
}

/* Those of launches that leave, for newer ones or with their process, too (ASan counts them). */
TEST(scopes_of_launches_that_left_are_freed)
{
	for (uint32_t i = 0; i < 2 * JOIN_LAUNCHES_MAX; i++) {
		void (*launch)(uint32_t, uint64_t, uint64_t) = i % 2 ? api : graph_launch;

		open_scope(i, BASE + i);
		assert_int_equal(scopes_close(&scopes, scopes_of(&scopes, 5, 0),
					      scopes_of(&scopes, 5, 0)->top, BASE + i + 1), 0);
		launch(i, BASE + i, BASE + i);
		if (i % 3)
			work(i, BASE + i, BASE + i);
	}
	scopes_free(&scopes);
	scopes = (struct scopes){ 0 };
}

TEST(a_launch_has_its_call_whichever_came_first)
{
	const struct launch_call call = { BASE + 8, BASE + 16, 3, CLASS_LAUNCH, false, 0, 0, 0, 0 };
	struct event api_of = { .kind = EVENT_API, .process = 1, .tid = 5, .start_ns = BASE + 10, .end_ns = BASE + 14,
				.api = { .correlation = 1, .cbid = LAUNCH_CBID, .domain = RUNTIME } };

	assert_int_equal(join_push_api(j, &api_of, &call), 0);
	work(1, BASE + 20, BASE + 30);
	assert_int_equal(seen.work[0].by.call.start_ns, BASE + 8);
	assert_int_equal(seen.work[0].by.call.func, 3);
	api_of.api.correlation = 2;
	assert_int_equal(join_push_api(j, &api_of, NULL), 0);
	api_of.api.correlation = 3;	/* without works until its call came */
	assert_int_equal(join_push_api(j, &api_of, NULL), 0);
	api_of.tid = 6;
	api_of.api.correlation = 4;
	assert_int_equal(join_push_api(j, &api_of, NULL), 0);
	work(2, BASE + 40, BASE + 50);
	assert_int_equal(seen.work[0].by.call.class, CLASS_OTHER);
	assert_false(join_push_call(j, 1, 5, &call));
	assert_int_equal(seen.called, 1);
	assert_int_equal(seen.last_called.call.end_ns, BASE + 16);
	work(3, BASE + 60, BASE + 70);
	assert_int_equal(seen.work[0].by.call.start_ns, BASE + 8);
	assert_int_equal(seen.called, 1);
}

TEST(a_record_outside_of_the_call_that_came_waits_or_has_none)
{
	const struct launch_call call = { BASE + 100, BASE + 110, 3, CLASS_LAUNCH, false, 0, 0, 0, 0 };

	api(1, BASE + 10, BASE + 20);
	api(2, BASE + 200, BASE + 210);
	work(1, BASE + 30, BASE + 40);
	work(2, BASE + 230, BASE + 240);
	assert_true(join_push_call(j, 1, 5, &call));	/* the second one waits */
	assert_false(join_push_call(j, 2, 5, &call));
	assert_int_equal(seen.called, 0);
	assert_false(join_push_call(j, 1, 5, &(struct launch_call){ BASE + 200, BASE + 220, 3, CLASS_LAUNCH, false, 0, 0, 0, 0 }));
	assert_int_equal(seen.called, 1);
	assert_int_equal(seen.last_called.start_ns, BASE + 200);
}

TEST_GROUP(random_seed, NULL);

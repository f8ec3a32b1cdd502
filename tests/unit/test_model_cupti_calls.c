// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that CUPTI alone records, in a session with probes: each is counted once, whichever side saw
 * it, and has what its thread's book had as other, where that has come so far.
 */

#include <string.h>
#include "model_each.h"

#define BASE 1000000000ull

BEFORE_EACH
{
	restart(BASE);
}

static void call(uint32_t seq, uint16_t func, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 7, .tid = 8, .seq = seq,
				.func = func, .start_ns = BASE + start, .end_ns = BASE + end });
}

static void got(uint16_t func, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_CUPTI_CALL, .has = HAS_END | HAS_RESULT, .pid = 7, .tid = 8,
				.func = func, .start_ns = BASE + start, .end_ns = BASE + end });
}

static uint64_t count(uint16_t func)
{
	const struct call_stats *ts = &model_process(m, 0)->calls;
	uint64_t n = 0;

	for (size_t i = 0; i < call_stats_count(ts); i++)
		if (call_stats_at(ts, i)->key.func == func)
			n += call_stats_at(ts, i)->count;
	return n;
}

TEST(a_call_of_either_side_is_one_call)
{
	struct snapshot_thread t;

	call(1, L, 100, 200);
	call(2, L, 300, 400);
	got(C, 120, 180);		/* inside the first */
	got(C, 290, 410);		/* around the second */
	got(C, 220, 280);		/* between them */
	got(C, 500, 600);
	assert_int_equal(count(L), 2);
	assert_int_equal(count(C), 2);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 1000 });
	t = snap_at(m, BASE + 1000)->threads.v[0];
	assert_int_equal(t.book.ns[CLASS_LAUNCH], 200);
	assert_int_equal(t.book.ns[CLASS_COPY], 60);	/* the other one came too soon */
	assert_int_equal(t.book.ns[CLASS_OTHER], 1000 - 200 - 60);
	assert_int_equal(t.book.close_ns - t.book.open_ns, 1000);
}

/* A call of the driver that a launch makes is seen as one of its own where launches have no probes. */
TEST(a_launch_around_a_probed_call_is_a_call)
{
	call(1, C, 320, 360);
	call(2, L, 520, 560);
	got(L, 300, 400);		/* around another call */
	got(L, 500, 600);		/* around a launch: that one */
	got(L, 325, 355);		/* inside the other call */
	assert_int_equal(count(C), 1);
	assert_int_equal(count(L), 2);
}

static uint64_t booked(void)
{
	struct model_counts c;

	model_counts(m, &c);
	return c.cupti_calls_booked;
}

TEST(a_call_known_by_cupti_alone_takes_time_of_other_only)
{
	struct snapshot_thread t;

	call(1, L, 100, 200);
	push(m, (struct event){ .kind = EVENT_OFF, .has = HAS_END, .pid = 7, .tid = 8, .seq = 2,
				.off.reason = OFF_LOCK,
				.start_ns = BASE + 230, .end_ns = BASE + 250 });
	call(3, L, 300, 400);
	call(5, L, 500, 600);	/* one was lost */
	got(C, 220, 280);		/* 20 of it off the CPU */
	got(C, 260, 290);		/* overlaps one that has its time */
	got(C, 420, 480);		/* nothing else is known of then */
	got(C, 90, 95);		/* before the first call: birth is not known */
	got(C, 590, 650);	/* is the call that it overlaps, or reaches beyond the book */
	assert_int_equal(booked(), 1);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 1000 });
	t = snap_at(m, BASE + 1000)->threads.v[0];
	assert_int_equal(t.book.ns[CLASS_LAUNCH], 300);
	assert_int_equal(t.book.ns[CLASS_COPY], 40);
	assert_int_equal(t.book.ns[BUCKET_OFF_0 + OFF_LOCK], 20);
	assert_int_equal(t.book.ns[BUCKET_LOST], 100);
	assert_int_equal(t.book.ns[CLASS_OTHER], 1000 - 300 - 40 - 20 - 100);
}

/* At the end CUPTI may record a call that goes on, and what comes after it. */
TEST(a_call_that_returns_after_the_end_is_open)
{
	const struct call_stats *ts;

	call(1, L, 100, 200);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 1000 });
	got(C, 950, 1050);
	got(C, 1000, 1001);
	ts = &model_process(m, 0)->calls;
	assert_int_equal(count(C), 0);
	assert_int_equal(call_stats_count(ts), 2);
	assert_int_equal(call_stats_at(ts, 1)->open, 1);
	/* It is inside one that a probe saw. */
	call(2, L, 940, 1060);
	got(S, 960, 1040);
	assert_int_equal(call_stats_count(ts), 2);
}

/* [220, 280) was `other` when the interval ended, and has been `copy` for the session since then. */
TEST(a_call_that_is_recorded_late_is_of_the_next_interval)
{
	struct snapshot_thread t;

	model_use_intervals(m);
	call(1, L, 100, 200);
	call(2, L, 300, 400);
	snap_cut(m, BASE + 350);
	got(C, 220, 280);
	got(C, 340, 345);
	assert_int_equal(booked(), 1);
	call(3, L, 600, 700);
	got(C, 450, 500);
	assert_int_equal(booked(), 2);
	t = snap_at(m, BASE + 1000)->threads.v[0];
	assert_int_equal(t.book.ns[CLASS_COPY], 60 + 50);
	assert_int_equal(t.book.close_ns - t.book.open_ns, 600);	/* from where the book was */
}

/* Its process has a helper, of which nothing else is known. */
TEST(an_exited_thread_is_known_in_the_next_interval)
{
	model_use_intervals(m);
	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 7,
				.device.facts = (struct device_facts){ 0 } });
	call(1, L, 100, 200);
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 8, .seq = 2, .end_ns = BASE + 300 });
	snap_cut(m, BASE + 500);
	assert_int_equal(snap_at(m, BASE + 600)->threads.n, 0);
	got(C, 120, 180);
	assert_int_equal(count(C), 0);
	got(C, 220, 280);
	assert_int_equal(count(C), 1);
}

TEST(outside_or_impossible_records_are_no_calls)
{
	struct model_counts c;

	restart(BASE + 100);
	got(C, 50, 60);
	got(C, 200, 190);
	got(4000, 200, 300);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 1000 });
	got(C, 1000, 1100);
	got(C, 900, 950);		/* recorded late, of a thread that was not seen */
	assert_int_equal(count(C), 1);
	model_counts(m, &c);
	assert_int_equal(c.invalid[EVENT_CUPTI_CALL], 2);
	assert_int_equal(c.late[EVENT_CUPTI_CALL], 2);
	assert_int_equal(c.received[EVENT_CUPTI_CALL], 5);
}

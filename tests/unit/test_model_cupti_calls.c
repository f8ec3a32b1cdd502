// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls that CUPTI alone records, in a session with probes: each is counted once, whichever side saw
 * it, and has what its thread's book had as other, where that has come so far.
 */
#include "lib/test.h"
#include "model_room.h"
#include "snap_of.h"

#include <string.h>

#define BASE 1000000000ull

static void call(struct model *m, uint32_t seq, uint16_t func, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 7, .tid = 8, .seq = seq,
				.func = func, .start_ns = BASE + start, .end_ns = BASE + end });
}

static void got(struct model *m, uint16_t func, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_CUPTI_CALL, .has = HAS_END | HAS_RESULT, .pid = 7, .tid = 8,
				.func = func, .start_ns = BASE + start, .end_ns = BASE + end });
}

static uint64_t count(const struct model *m, uint16_t func)
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
	struct model *m = session(BASE);
	struct snapshot_thread t;

	call(m, 1, L, 100, 200);
	call(m, 2, L, 300, 400);
	got(m, C, 120, 180);		/* inside the first */
	got(m, C, 290, 410);		/* around the second */
	got(m, C, 220, 280);		/* between them */
	got(m, C, 500, 600);
	assert_int_equal(count(m, L), 2);
	assert_int_equal(count(m, C), 2);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 1000 });
	t = snap_at(m, BASE + 1000)->threads.v[0];
	assert_int_equal(t.book.ns[CLASS_LAUNCH], 200);
	assert_int_equal(t.book.ns[CLASS_COPY], 60);	/* the other one came too soon */
	assert_int_equal(t.book.ns[CLASS_OTHER], 1000 - 200 - 60);
	assert_int_equal(t.book.close_ns - t.book.open_ns, 1000);
	model_free(m);
}

static uint64_t booked(const struct model *m)
{
	struct model_counts c;

	model_counts(m, &c);
	return c.cupti_calls_booked;
}

TEST(a_call_known_by_cupti_alone_takes_time_of_other_only)
{
	struct model *m = session(BASE);
	struct snapshot_thread t;

	call(m, 1, L, 100, 200);
	push(m, (struct event){ .kind = EVENT_OFF, .has = HAS_END, .pid = 7, .tid = 8, .seq = 2,
				.off.reason = OFF_LOCK,
				.start_ns = BASE + 230, .end_ns = BASE + 250 });
	call(m, 3, L, 300, 400);
	call(m, 5, L, 500, 600);	/* one was lost */
	got(m, C, 220, 280);		/* 20 of it off the CPU */
	got(m, C, 260, 290);		/* overlaps one that has its time */
	got(m, C, 420, 480);		/* nothing else is known of then */
	got(m, C, 90, 95);		/* before the first call: birth is not known */
	got(m, C, 590, 650);		/* is the call that it overlaps, or reaches beyond the book */
	assert_int_equal(booked(m), 1);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 1000 });
	t = snap_at(m, BASE + 1000)->threads.v[0];
	assert_int_equal(t.book.ns[CLASS_LAUNCH], 300);
	assert_int_equal(t.book.ns[CLASS_COPY], 40);
	assert_int_equal(t.book.ns[BUCKET_OFF_0 + OFF_LOCK], 20);
	assert_int_equal(t.book.ns[BUCKET_LOST], 100);
	assert_int_equal(t.book.ns[CLASS_OTHER], 1000 - 300 - 40 - 20 - 100);
	model_free(m);
}

TEST(a_late_call_changes_no_closed_interval)
{
	struct model *m = session(BASE);
	struct snapshot_thread t;

	model_use_intervals(m);
	call(m, 1, L, 100, 200);
	call(m, 2, L, 300, 400);
	model_cut(m, BASE + 350);
	got(m, C, 220, 280);
	got(m, C, 340, 345);
	assert_int_equal(booked(m), 0);
	call(m, 3, L, 600, 700);
	got(m, C, 450, 500);
	assert_int_equal(booked(m), 1);
	t = snap_at(m, BASE + 1000)->threads.v[0];
	assert_int_equal(t.book.ns[CLASS_COPY], 50);
	assert_int_equal(t.book.close_ns - t.book.open_ns, 600);	/* the cut was where the book was */
	model_free(m);
}

/* Its process has a helper, of which nothing else is known. */
TEST(an_exited_thread_is_known_in_the_next_interval)
{
	struct model *m = session(BASE);
	struct snapshot_thread t;

	model_use_intervals(m);
	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 7,
				.device.facts = (struct device_facts){ 0 } });
	call(m, 1, L, 100, 200);
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 8, .seq = 2, .end_ns = BASE + 300 });
	model_cut(m, BASE + 500);
	assert_int_equal(snap_of(m)->threads.n, 1);
	t = snap_at(m, BASE + 600)->threads.v[0];
	assert_false(t.has_book);
	got(m, C, 120, 180);
	assert_int_equal(count(m, C), 0);
	got(m, C, 220, 280);
	assert_int_equal(count(m, C), 1);
	model_cut(m, BASE + 20 * 1000000000ull);
	assert_int_equal(snap_of(m)->threads.n, 0);
	model_free(m);
}

TEST(outside_or_impossible_records_are_no_calls)
{
	struct model *m = session(BASE + 100);
	struct model_counts c;

	got(m, C, 50, 60);
	got(m, C, 200, 190);
	got(m, 4000, 200, 300);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 1000 });
	got(m, C, 1000, 1100);
	got(m, C, 900, 950);		/* recorded late, of a thread that was not seen */
	assert_int_equal(count(m, C), 1);
	model_counts(m, &c);
	assert_int_equal(c.invalid[EVENT_CUPTI_CALL], 2);
	assert_int_equal(c.late[EVENT_CUPTI_CALL], 2);
	assert_int_equal(c.received[EVENT_CUPTI_CALL], 5);
	model_free(m);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the scheduler reports, in the model: why a device idled whose thread was off the CPU, and the
 * rows by system call and waker, in intervals and up to the session's end.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/render.h"
#include "view_of.h"
#include "lib/work_named.h"
#include "model_each.h"

#define BASE 1000000000000ull

BEFORE_EACH
{
	restart(BASE);
}

static struct event off(uint32_t seq, uint8_t reason, uint64_t start, uint64_t end)
{
	return (struct event){ .kind = EVENT_OFF, .has = HAS_END, .pid = 7, .tid = 8, .seq = seq,
			       .off.reason = reason, .start_ns = BASE + start,
			       .end_ns = BASE + end };
}

static struct event lock(uint32_t seq, uint64_t start, uint64_t end, uint64_t woken_ns)
{
	struct event ev = off(seq, OFF_LOCK, start, end);

	ev.off.woken_ns = woken_ns;
	ev.off.waker = 7ull << 32 | 9;
	ev.off.waker_name = "holder";
	ev.off.syscall = "futex";
	return ev;
}

static void call(uint32_t seq, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = seq, .func = L,
				.start_ns = BASE + start, .end_ns = BASE + end });
}

static void launched(uint32_t correlation, uint64_t call_ns, uint64_t start, uint64_t end)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = correlation };

	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 8,
				.api.correlation = correlation, .api.cbid = 211,
				.api.domain = 5, .start_ns = BASE + call_ns,
				.end_ns = BASE + call_ns + 1 });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = BASE + start,
				.end_ns = BASE + end, .work = work_named(w, "sgemm") });
}

TEST(a_device_idles_for_its_threads_wait_reason)
{
	const uint64_t *idle;

	call(1, 10, 15);
	push(m, lock(2, 20, 60, 5));
	push(m, off(4, OFF_SLEEP, 70, 75));	/* one was lost before */
	call(5, 80, 84);
	launched(31, 12, 16, 18);
	launched(32, 82, 90, 95);
	finish(m, BASE + 100);
	idle = snap_at(m, BASE + 100)->devices.v[0].idle_ns;
	assert_int_equal(idle[IDLE_LOCK], 35);
	assert_int_equal(idle[IDLE_RUNQUEUE], 5);
	assert_int_equal(idle[IDLE_LOST], 10);
	assert_int_equal(idle[IDLE_SLEEP], 5);
	assert_int_equal(idle[IDLE_LAUNCH], 5 + 4);
	assert_int_equal(idle[IDLE_OTHER], 10 + 2 + 5);
	assert_int_equal(idle[IDLE_QUEUED], 1 + 6);
}

/* Where the scheduler reports nothing: procfs's account, which comes after the calls of its time. */
TEST(a_device_idles_while_its_thread_is_found_stopped)
{
	const struct event account = { .kind = EVENT_SCHED, .pid = 7, .tid = 8, .start_ns = BASE + 10,
				       .end_ns = BASE + 75, .sched = { 5, 0, OFF_RUNQUEUE, OFF_STOPPED } };
	struct event other = account;
	const uint64_t *idle;

	call(1, 10, 15);
	push(m, account);
	other.tid = 9;			/* of which nothing is known */
	push(m, other);
	push(m, account);		/* of the same time: it contradicts the first */
	call(2, 80, 84);
	launched(31, 12, 16, 18);
	launched(32, 82, 90, 95);
	finish(m, BASE + 100);
	idle = snap_at(m, BASE + 100)->devices.v[0].idle_ns;
	assert_int_equal(idle[IDLE_STOPPED], 75 - 18);
	assert_int_equal(idle[IDLE_OTHER], 10 + 5);
	assert_int_equal(idle[IDLE_LAUNCH], 5 + 4);
	assert_int_equal(idle[IDLE_QUEUED], 1 + 6);
	assert_int_equal(snap_at(m, BASE + 100)->counts.invalid[EVENT_SCHED], 1);
}

/* Its own time, where devices are not known; in an interval, that interval's. */
TEST(a_thread_is_found_stopped)
{
	call(1, 10, 15);
	push(m, (struct event){ .kind = EVENT_SCHED, .pid = 7, .tid = 8, .start_ns = BASE + 10,
				.end_ns = BASE + 75, .sched = { 5, 0, OFF_RUNQUEUE, OFF_STOPPED } });
	call(2, 80, 84);
	assert_int_equal(snap_at(m, BASE + 90)->threads.v[0].sampled_ns, 60);
	assert_int_equal(snap_at(m, BASE + 90)->threads.v[0].sampled_stopped_ns, 60);
	snap_cut(m, BASE + 90);
	call(3, 95, 96);
	assert_int_equal(snap_at(m, BASE + 100)->threads.v[0].sampled_ns, 0);
	assert_int_equal(snap_at(m, BASE + 100)->threads.v[0].sampled_stopped_ns, 0);
}

static const struct offcpu_row *row(size_t i)
{
	assert_true(i < offcpu_count(snap_of(m)->offcpu));
	return offcpu_at(snap_of(m)->offcpu, i);
}

TEST(rows_are_keyed_by_system_call_and_waker)
{
	struct event other = lock(4, 80, 90, 0);

	call(1, 10, 15);
	push(m, lock(2, 20, 60, 5));
	push(m, lock(3, 65, 75, 0));
	other.off.waker_name = "somebody else";
	push(m, other);
	push(m, off(5, OFF_RUNQUEUE, 92, 95));
	assert_int_equal(offcpu_count(snap_of(m)->offcpu), 3);
	assert_string_equal(row(0)->what, "futex");
	assert_string_equal(row(0)->waker, "holder");
	assert_int_equal(row(0)->key.waker_id, 7ull << 32 | 9);
	assert_int_equal(row(0)->count, 2);
	assert_int_equal(row(0)->blocked_ns, 35 + 10);
	assert_int_equal(row(0)->runqueue_ns, 5);
	assert_int_equal(row(0)->max_ns, 40);
	assert_int_equal(row(1)->blocked_ns, 10);
	assert_int_equal(row(2)->runqueue_ns, 3);
	assert_int_equal(row(2)->blocked_ns, 0);
}

/* A wait of three intervals: still there at the first two ends, over in the third. */
TEST(a_wait_is_in_each_interval_and_ends_with_the_session)
{
	struct event reading = lock(1, 20, 40, 0);

	reading.has = 0;
	call(1, 10, 15);
	push(m, reading);
	assert_int_equal(row(0)->open, 1);
	assert_int_equal(row(0)->count, 0);
	assert_int_equal(row(0)->blocked_ns, 20);
	snap_cut(m, BASE + 40);
	assert_int_equal(offcpu_count(snap_of(m)->offcpu), 0);
	reading.end_ns = BASE + 60;
	push(m, reading);
	assert_int_equal(row(0)->blocked_ns, 20);
	snap_cut(m, BASE + 60);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 65 });
	push(m, lock(2, 20, 70, 7));
	assert_int_equal(row(0)->count, 1);
	assert_int_equal(row(0)->blocked_ns, 3);
	assert_int_equal(row(0)->runqueue_ns, 2);
}

/* Its thread's records are still on their way: nothing is known of what comes after them. */
TEST(a_reading_that_is_ahead_is_not_taken)
{
	struct event reading = lock(3, 20, 40, 0), stranger = lock(0, 20, 40, 0);

	reading.has = stranger.has = 0;
	stranger.tid = 99;
	call(1, 10, 15);
	push(m, reading);
	push(m, stranger);
	assert_int_equal(offcpu_count(snap_of(m)->offcpu), 0);
	assert_int_equal(snap_of(m)->threads.n, 1);
}

TEST(rows_are_bounded)
{
	const struct offcpu *all;
	uint64_t total = 0;
	char name[16];

	call(1, 1, 2);
	for (uint32_t i = 0; i < OFFCPU_MAX + 100; i++) {
		struct event ev = lock(i + 2, 10 + 10ull * i, 15 + 10ull * i, 0);

		snprintf(name, sizeof(name), "t%u", i);
		ev.off.waker_name = name;
		push(m, ev);
	}
	all = snap_of(m)->offcpu;
	assert_int_equal(offcpu_count(all), OFFCPU_MAX + 1);
	assert_int_equal(all->more, 100);
	assert_true(offcpu_at(all, OFFCPU_MAX)->key.more);
	for (size_t i = 0; i < offcpu_count(all); i++)
		total += offcpu_at(all, i)->blocked_ns;
	assert_int_equal(total, 5 * (OFFCPU_MAX + 100));
}

/* An end that the kernel did not report is no record that was lost. */
TEST(only_the_time_of_a_missing_end_is_lost)
{
	struct model_counts counts;
	struct snapshot_thread t;

	call(1, 10, 15);
	push(m, off(2, OFF_NO_END, 20, 60));
	push(m, lock(3, 60, 80, 5));
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 100 });
	model_counts(m, &counts);
	assert_int_equal(counts.lost + counts.invalid[EVENT_OFF] + counts.late[EVENT_OFF], 0);
	t = snap_at(m, BASE + 100)->threads.v[0];
	assert_int_equal(t.book.ns[BUCKET_LOST], 40);
	assert_int_equal(t.book.ns[CLASS_OTHER], 10 + 5 + 20);
	assert_int_equal(offcpu_count(snap_of(m)->offcpu), 1);
	assert_int_equal(snap_of(m)->offcpu->no_end, 1);
	assert_int_equal(snap_of(m)->offcpu->no_end_ns, 40);
	snap_cut(m, BASE + 100);
	assert_int_equal(snap_of(m)->offcpu->no_end, 0);
	assert_int_equal(snap_of(m)->offcpu->no_end_ns, 0);
}

static void assert_threads(const char *facts[][2], const char *rows)
{
	struct strbuf out = STRBUF_INIT;
	struct report r = { .n_tables = 1 };
	struct table *t;

	restart(BASE);
	for (; (*facts)[0]; facts++)
		push(m, (struct event){ .kind = EVENT_FACT, .fact.key = (*facts)[0],
					.fact.value = (*facts)[1] });
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 7, .tid = 8, .seq = 1,
				.func = S, .start_ns = BASE, .end_ns = BASE + 80,
				.call.blocked_ns = 60,
				.call.late_ns = 25, .call.after_late_ns = 5 });
	push(m, off(2, OFF_RUNQUEUE, 80, 90));
	finish(m, BASE + 100);
	t = view_now(&view_threads, m);
	r.tables = &t;
	report_render(&out, &r, FORMAT_CSV);
	assert_string_equal(strchr(out.s, '\n') + 1, rows);
	strbuf_free(&out);
	table_free(t);
}

/* Where it was not recorded, and of an older capture, nothing is known: not 0. */
TEST(a_calls_known_runqueue_time_is_in_its_row)
{
	const char *off[][2] = { { "off_cpu", "not recorded" }, { NULL, NULL } };
	const char *older[][2] = { { "off_cpu", "recorded" }, { NULL, NULL } };
	const char *now[][2] = { { "off_cpu", "recorded" }, { "off_cpu_calls", "last" }, { NULL, NULL } };

	assert_threads(off, "7,8,,sync,80,0.8,,100,,,,\n7,8,,other,10,0.1,,100,,,,\n"
		       "7,8,,runqueue,10,0.1,,100,,,,\n");
	assert_threads(older, "7,8,,sync,80,0.8,60,100,,,,\n7,8,,other,10,0.1,0,100,,,,\n"
		       "7,8,,runqueue,10,0.1,10,100,10,,,\n");
	assert_threads(now, "7,8,,sync,80,0.8,60,100,25,,,\n7,8,,other,10,0.1,0,100,0,,,\n"
		       "7,8,,runqueue,10,0.1,10,100,10,,,\n");
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * When a process ended whose first thread makes no call, so that no probe reports it: its devices' books close
 * there, whichever source reports it first, and never before its last thread or its last work.
 */
#include <string.h>

#include "lib/work_named.h"
#include "model_each.h"

#define BASE 1000000000000ull
#define MS 1000000ull
#define SEC (1000 * MS)
#define BEFORE_MS 20	/* until the kernel, of whose launch there is no record */

/* Thread 8 of process 7: one launch, its kernel [20,30) ms. */
static void one_launch(void)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = 1 };

	restart(BASE);
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .tid = 7, .start_ns = BASE,
				.task.comm = "mix" });
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = 1, .func = L,
				.start_ns = BASE + 10 * MS, .end_ns = BASE + 11 * MS });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .work = work_named(w, "sgemm"),
				.start_ns = BASE + 20 * MS, .end_ns = BASE + 30 * MS });
}

BEFORE_EACH
{
	one_launch();
}

static void thread_exits(uint32_t tid, uint64_t ms)
{
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = tid, .seq = tid == 8 ? 2 : 1,
				.end_ns = BASE + ms * MS });
}

static void process_fact(const char *key, const char *ns)
{
	push(m, (struct event){ .kind = EVENT_IDENTITY, .pid = 7, .tid = 7, .fact.key = key,
				.fact.value = ns });
}

static void ring_reports(const char *ns)
{
	process_fact(EVENT_ENDED_NS, ns);
}

static void found_out(void)
{
	push(m, (struct event){ .kind = EVENT_IDENTITY, .pid = 7, .tid = 7, .fact.key = "ended",
				.fact.value = "yes" });
}

static void passes(uint64_t ms)
{
	push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + ms * MS });
}

/* The device's wall time in ms at the end of a session of 9 s. */
static uint64_t wall_ms(void)
{
	const struct device_sum *sum;

	finish(m, BASE + 9 * SEC);
	sum = &snap_of(m)->devices.v[0].sum;
	return (sum->close_ns - sum->open_ns) / MS;
}

TEST(a_book_closes_at_the_exit_in_the_helpers_ring)
{
	thread_exits(8, 40);
	ring_reports("1000050000000");
	assert_false(model_may_go_on(m, 0));
	assert_int_equal(model_process(m, 0)->exit_ns, BASE + 50 * MS);
	passes(4000);
	assert_int_equal(wall_ms(), 50);
}

/* Probes' events may come later than a ring's. */
TEST(its_last_thread_may_exit_after_that)
{
	ring_reports("1000035000000");
	assert_true(model_may_go_on(m, 0));
	thread_exits(8, 40);
	assert_false(model_may_go_on(m, 0));
	assert_int_equal(wall_ms(), 40);
}

TEST(a_process_found_exited_ended_with_its_last_thread)
{
	thread_exits(8, 40);
	passes(4000);
	found_out();
	assert_int_equal(model_process(m, 0)->exit_ns, BASE + 40 * MS);
	assert_int_equal(wall_ms(), 40);
}

/* An end was lost: nothing better is known than when it was found out. */
TEST(with_a_thread_whose_end_was_lost_it_ended_when_that_was_found)
{
	passes(4000);
	found_out();
	assert_int_equal(wall_ms(), 4000);
}

TEST(a_process_ends_no_sooner_than_its_last_thread_and_its_last_work)
{
	thread_exits(7, 40);
	thread_exits(8, 41);
	assert_int_equal(model_process(m, 0)->exit_ns, BASE + 41 * MS);
	assert_int_equal(wall_ms(), 41);
	one_launch();
	thread_exits(8, 12);
	ring_reports("1000015000000");
	assert_int_equal(wall_ms(), 30);
}

/* What device 0 idled for cause in a session that ended at 9 s. */
static uint64_t idle_ms(enum idle_cause cause, uint64_t *unrecorded)
{
	const struct snapshot *snap;

	finish(m, BASE + 9 * SEC);
	snap = snap_of(m);
	*unrecorded = snap->counts.unrecorded;
	return snap->devices.v[0].idle_ns[cause] / MS;
}

static void calls_later(uint32_t seq, uint16_t func, uint64_t ms)
{
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = seq, .func = func,
				.start_ns = BASE + ms * MS, .end_ns = BASE + (ms + 1) * MS });
}

/* The helper recorded until 32 ms; the thread launches at 31, 35 and 38, and ends at 40. */
TEST(launches_after_the_helpers_last_record_are_unknown_and_counted)
{
	for (int ring_first = 0; ring_first < 2; ring_first++) {
		uint64_t unrecorded;

		one_launch();
		if (ring_first)
			ring_reports("1000032000000");
		calls_later(2, L, 31);
		calls_later(3, L, 35);
		calls_later(4, C, 38);
		push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 8, .seq = 5,
					.end_ns = BASE + 40 * MS });
		if (!ring_first)
			ring_reports("1000032000000");
		assert_int_equal(idle_ms(IDLE_UNKNOWN, &unrecorded), BEFORE_MS + 8);
		assert_int_equal(unrecorded, 2);
	}
}

/* The process ended at 37 ms by its last work, its helper at 32: the launch at 35 has no record. */
TEST(launches_between_the_helpers_end_and_the_last_work_are_counted)
{
	uint64_t unrecorded;

	process_fact(EVENT_RECORDED_NS, "1000032000000");
	calls_later(2, L, 31);
	calls_later(3, L, 35);
	ring_reports("1000037000000");
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 8, .seq = 4, .end_ns = BASE + 40 * MS });
	assert_int_equal(idle_ms(IDLE_UNKNOWN, &unrecorded), BEFORE_MS + 8);
	assert_int_equal(unrecorded, 1);
}

/* As a part of a capture: the session begins at 37 ms, when the launch at 35 has returned. */
TEST(a_launch_before_the_session_and_after_the_last_record_leaves_the_device_unknown)
{
	for (int ring_first = 0; ring_first < 2; ring_first++) {
		uint64_t unrecorded;

		restart(BASE + 37 * MS);
		if (ring_first)
			ring_reports("1000032000000");
		calls_later(1, S, 33);
		calls_later(2, L, 35);
		push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 7, .device.name = "GPU" });
		push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 8, .seq = 3,
					.end_ns = BASE + 40 * MS });
		if (!ring_first)
			ring_reports("1000032000000");
		assert_int_equal(idle_ms(IDLE_UNKNOWN, &unrecorded), 3);
		assert_int_equal(unrecorded, 0);
	}
}

TEST(without_later_launches_nothing_is_unknown)
{
	uint64_t unrecorded;

	calls_later(2, L, 31);
	calls_later(3, S, 35);
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 8, .seq = 4, .end_ns = BASE + 40 * MS });
	ring_reports("1000032000000");
	assert_int_equal(idle_ms(IDLE_UNKNOWN, &unrecorded), BEFORE_MS);
	assert_int_equal(unrecorded, 0);
}

TEST(an_impossible_exit_record_is_rejected)
{
	static const char *const lies[] = { "", "yes", "0", "999999999999", "-" };

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		one_launch();
		ring_reports(lies[i]);
		thread_exits(8, 40);
		assert_int_equal(model_process(m, 0)->exit_ns, 0);
		assert_int_equal(wall_ms(), 9000);
	}
}

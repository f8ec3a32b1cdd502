// SPDX-License-Identifier: BSD-3-Clause
/* Handles of processes: event/registry.h. */
#include "event/registry.h"
#include "lib/test.h"

#define MS 1000000ull
#define SEC (1000 * MS)

static uint32_t stamp(struct registry *r, struct event ev)
{
	assert_int_equal(registry_stamp(r, &ev), 0);
	return ev.process;
}

static uint32_t met(struct registry *r, uint32_t pid, uint64_t start_ns, uint64_t exact_ns)
{
	return stamp(r, (struct event){ .kind = EVENT_PROCESS, .pid = pid, .tid = pid,
					.start_ns = start_ns, .task.process_ns = exact_ns });
}

static uint32_t call(struct registry *r, uint32_t pid)
{
	return stamp(r, (struct event){ .kind = EVENT_CALL, .pid = pid, .tid = pid + 1 });
}

static uint32_t ended(struct registry *r, uint32_t pid, uint64_t exact_ns, uint64_t end_ns)
{
	return stamp(r, (struct event){ .kind = EVENT_EXIT, .pid = pid, .tid = pid,
					.task.process_ns = exact_ns, .end_ns = end_ns });
}

TEST(test_events_without_a_pid_have_no_process)
{
	struct registry *r = registry_new();

	assert_int_equal(stamp(r, (struct event){ .kind = EVENT_WATERMARK, .process = 9 }), 0);
	registry_free(r);
}

TEST(test_one_birth_is_one_process)
{
	struct registry *r = registry_new();
	uint32_t p = call(r, 7);

	assert_int_not_equal(p, 0);
	assert_int_equal(met(r, 7, 5 * SEC, 0), p);		/* procfs: to the tick */
	assert_int_equal(met(r, 7, 0, 5 * SEC + 9 * MS), p);	/* BPF: exact */
	assert_int_equal(met(r, 7, 5 * SEC, 0), p);
	assert_int_equal(call(r, 7), p);
	assert_int_not_equal(call(r, 8), p);
	registry_free(r);
}

TEST(test_two_processes_of_one_pid_have_two_handles)
{
	struct registry *r = registry_new();
	uint32_t a = met(r, 7, 0, 5 * SEC), b = met(r, 7, 0, 5 * SEC + 1);

	assert_int_not_equal(a, b);	/* exact births: no tolerance */
	assert_int_equal(call(r, 7), b);
	assert_int_equal(ended(r, 7, 5 * SEC, 6 * SEC), a);	/* the older one's, late */
	assert_int_equal(call(r, 7), b);
	assert_int_equal(met(r, 7, 6 * SEC, 0) == b, false);
	registry_free(r);
}

TEST(test_an_older_process_that_was_never_met_has_none)
{
	struct registry *r = registry_new();
	uint32_t a = met(r, 7, 0, 5 * SEC);

	assert_int_equal(met(r, 7, 0, 4 * SEC), 0);
	assert_int_equal(stamp(r, (struct event){ .kind = EVENT_THREAD, .pid = 7, .tid = 8,
						  .task.process_ns = 4 * SEC }), 0);
	assert_int_equal(call(r, 7), a);
	registry_free(r);
}

TEST(test_memory_is_bounded_and_a_process_that_runs_keeps_its_handle)
{
	struct registry *r = registry_new();
	uint32_t runs = met(r, 1, 0, SEC), execs = met(r, 2, 0, SEC);

	/* An exec ends the first thread and goes on. */
	assert_int_equal(ended(r, 2, SEC, 2 * SEC), execs);
	assert_int_equal(stamp(r, (struct event){ .kind = EVENT_PROCESS, .pid = 2, .tid = 2,
						  .start_ns = SEC, .end_ns = 2 * SEC + 1,
						  .task.process_ns = SEC }), execs);
	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t p = met(r, 3 + i % 3, 0, (10 + i) * SEC);

		assert_int_equal(call(r, 3 + i % 3), p);
		assert_int_equal(ended(r, 3 + i % 3, 0, (10 + i) * SEC + 1), p);
	}
	assert_int_equal(call(r, 1), runs);
	assert_int_equal(call(r, 2), execs);
	registry_free(r);
}

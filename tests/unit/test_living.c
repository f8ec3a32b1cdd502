// SPDX-License-Identifier: BSD-3-Clause
/*
 * Very many processes that live to the end of a session, as a hostile capture has them: what is
 * kept of one that did hardly anything is small.
 */
#include "unit/model_room.h"

#include "base/time.h"
#include "lib/heap.h"
#include "lib/test.h"
#include "lib/work_named.h"
#include "model/snapshot.h"

enum { PROCESSES = 2000, FIRST_PID = 100 };

static void push_work(struct model *m, uint32_t pid, uint64_t start_ns)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .context = 1, .stream = 7,
				.correlation = 1 };

	push(m, (struct event){ .kind = EVENT_WORK, .pid = pid, .start_ns = start_ns,
				.end_ns = start_ns + 1000, .work = work_named(w, "a_kernel") });
}

TEST(a_living_process_with_one_work_takes_few_bytes)
{
	struct model *m = session(NS_PER_SEC);
	const size_t before = heap_bytes();
	struct snapshot *snap;
	size_t waiting, settled, shown;

	for (uint32_t i = 0; i < PROCESSES; i++)
		push_work(m, FIRST_PID + i, NS_PER_SEC + i * 10000);
	waiting = heap_bytes() - before;
	finish(m, 2 * NS_PER_SEC);
	settled = heap_bytes() - before;
	snap = snapshot_take(m, 0);
	assert_non_null(snap);
	shown = heap_bytes() - before - settled;
	print_message("bytes of a process: %zu while its work waits, %zu settled, %zu shown\n",
		      waiting / PROCESSES, settled / PROCESSES, shown / PROCESSES);
	assert_int_equal(snap->devices.n, PROCESSES);
	if (HEAP_COUNTS) {
		assert_in_range(waiting / PROCESSES, 1, 3000);
		assert_in_range(settled / PROCESSES, 1, 8000);
		assert_in_range(shown / PROCESSES, 1, 5500);
	}
	snapshot_free(snap);
	model_free(m);
}

static uint64_t unfollowed(const struct model *m, unsigned int kind)
{
	struct model_counts c;

	model_counts(m, &c);
	return c.unfollowed[kind];
}

/* All but this many of so many are followed, and the loss is one of the session. */
static void assert_lost(struct model *m, unsigned int kind, uint64_t lost, uint64_t sent)
{
	struct snapshot_losses l;
	struct snapshot *snap;
	struct model_counts c;

	finish(m, 2 * NS_PER_SEC);
	model_counts(m, &c);
	assert_int_equal(c.unfollowed[kind], lost);
	assert_int_equal(c.received[kind] + lost, sent);
	snap = snapshot_take(m, 0);
	assert_non_null(snap);
	l = snapshot_losses(snap);
	assert_int_equal(l.lost, lost);
	assert_int_equal(l.events, sent);
	snapshot_free(snap);
	model_free(m);
}

TEST(processes_beyond_the_limit_are_a_counted_loss)
{
	struct model *m = session(NS_PER_SEC);
	const uint32_t sent = MODEL_PROCESSES_MAX + 10;

	for (uint32_t i = 0; i < sent; i++)
		push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = FIRST_PID + i,
					.tid = FIRST_PID + i, .seq = 1, .start_ns = NS_PER_SEC,
					.end_ns = NS_PER_SEC + 1000 });
	assert_int_equal(model_processes(m), MODEL_PROCESSES_MAX);
	assert_lost(m, EVENT_CALL, 10, sent);
}

TEST(threads_beyond_the_limit_are_a_counted_loss_but_first_threads_are_not)
{
	struct model *m = session(NS_PER_SEC);
	const uint32_t sent = MODEL_THREADS_MAX + 10;
	struct event ev = { .kind = EVENT_CALL, .has = HAS_END, .pid = FIRST_PID, .seq = 1,
			    .start_ns = NS_PER_SEC, .end_ns = NS_PER_SEC + 1000 };

	for (uint32_t i = 1; i <= sent; i++) {
		ev.tid = FIRST_PID + i;
		push(m, ev);
	}
	ev.pid = ev.tid = FIRST_PID + 2 * sent;
	push(m, ev);
	assert_int_equal(unfollowed(m, EVENT_CALL), 10);
	assert_int_equal(model_processes(m), 2);
	assert_lost(m, EVENT_CALL, 10, sent + 1);
}

TEST(devices_beyond_the_limit_are_a_counted_loss)
{
	struct model *m = session(NS_PER_SEC);
	const uint32_t sent = MODEL_DEVICES_MAX + 10;

	for (uint32_t i = 0; i < sent; i++)
		push(m, (struct event){ .kind = EVENT_WORK, .pid = FIRST_PID,
					.start_ns = NS_PER_SEC, .end_ns = NS_PER_SEC + 1000,
					.work = { .kind = WORK_KIND_SET, .device = i } });
	assert_lost(m, EVENT_WORK, 10, sent);
}

TEST_GROUP(NULL, NULL);

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

TEST_GROUP(NULL, NULL);

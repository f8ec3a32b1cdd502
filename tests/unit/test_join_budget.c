// SPDX-License-Identifier: BSD-3-Clause
/* Many processes in the join's budget: each has a few, none has all, and no count is lost. */
#include "join_room.h"

#include "lib/heap.h"
#include "lib/test.h"
#include "lib/work_named.h"

static void launch_of(uint32_t pid, uint32_t correlation)
{
	push(&(struct event){ .kind = EVENT_API, .process = pid, .tid = pid,
				 .api.correlation = correlation,
				 .api.cbid = LAUNCH_CBID, .api.domain = RUNTIME,
				 .start_ns = BASE + correlation, .end_ns = BASE + correlation });
}

static void work_of(uint32_t pid, uint32_t correlation)
{
	struct work w = { .kind = WORK_KIND_KERNEL, .correlation = correlation };

	push(&(struct event){ .kind = EVENT_WORK, .process = pid, .start_ns = BASE + correlation,
				 .end_ns = BASE + correlation + 1, .work = work_named(w, "a name that is as long as those of kernels are, which is long") });
}

static int any_horizon(void *ctx, uint32_t pid, uint64_t horizon_ns)
{
	(void)ctx;
	(void)pid;
	(void)horizon_ns;
	return 0;
}

BEFORE_EACH
{
	memset(&seen, 0, sizeof(seen));
	j = join_new(&(struct join_sink){ on_work, any_horizon, NULL, on_called, NULL });
	assert_non_null(j);
}

/* The first has as many launches and works as one process may: there is enough for others. */
TEST(a_process_that_has_all_it_may_leaves_room_for_others)
{
	enum { OTHERS = 7, LAUNCHES = 800, WORKS = 200 };
	for (uint32_t i = 1; i <= 2 * JOIN_LAUNCHES_MAX; i++)
		launch_of(1, i);
	for (uint32_t i = 1; i <= 2 * JOIN_WORKS_MAX; i++)
		work_of(1, 2 * JOIN_LAUNCHES_MAX + i);
	for (uint32_t i = 1; i <= LAUNCHES; i++)
		for (uint32_t pid = 2; pid < 2 + OTHERS; pid++)
			launch_of(pid, i);
	for (uint32_t i = 1; i <= WORKS; i++)
		for (uint32_t pid = 2; pid < 2 + OTHERS; pid++)
			work_of(pid, LAUNCHES + i);
	for (uint32_t pid = 2; pid < 2 + OTHERS; pid++)
		for (uint32_t i = 1; i <= LAUNCHES + WORKS; i++)
			(i <= LAUNCHES ? work_of : launch_of)(pid, i);
	assert_int_equal(counts_of().matched, OTHERS * (LAUNCHES + WORKS));
	assert_int_equal(counts_of().orphan + counts_of().waiting, 2 * JOIN_WORKS_MAX);
	assert_int_equal(counts_of().waiting, JOIN_WORKS_MAX);
	work_of(1, 2 * JOIN_LAUNCHES_MAX);	/* of the first the oldest had to go, not the latest */
	assert_int_equal(counts_of().matched, OTHERS * (LAUNCHES + WORKS) + 1);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(seen.passed, counts_of().matched + counts_of().orphan);
}

/* Its works come after all its launches, while launches of all the others are still known. */
TEST(a_hundred_processes_that_launch_leave_room_for_one_more)
{
	enum { PROCESSES = 100, LAUNCHES = 2000 };

	for (uint32_t i = 1; i <= LAUNCHES; i++) {
		for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
			launch_of(pid, i);
			work_of(pid, i);
		}
	}
	for (uint32_t i = 1; i <= LAUNCHES; i++)
		launch_of(PROCESSES + 1, i);
	for (uint32_t i = 1; i <= LAUNCHES; i++)
		work_of(PROCESSES + 1, i);
	assert_int_equal(counts_of().matched, (PROCESSES + 1) * LAUNCHES);
}

/* As many launches and works as come, of which none meets another. */
TEST(all_processes_together_stay_in_the_budget)
{
	enum { PROCESSES = 100, EACH = 4000 };
	const size_t before = heap_bytes();
	size_t most = 0;

	for (uint32_t i = 0; i < EACH; i++) {
		for (uint32_t pid = 1; pid <= PROCESSES; pid++) {
			launch_of(pid, 2 * i);
			work_of(pid, 2 * i + 1);
		}
		most = heap_bytes() - before > most ? heap_bytes() - before : most;
	}
	if (HEAP_COUNTS)
		assert_in_range(most, JOIN_ROOM_BYTES / 2,
				JOIN_ROOM_BYTES + JOIN_TEXT_BYTES + (2 << 20));
	assert_int_equal(counts_of().matched, 0);
	assert_int_equal(counts_of().orphan + counts_of().waiting, PROCESSES * EACH);
	for (uint32_t pid = 1; pid <= PROCESSES; pid++)
		work_of(pid, 2 * EACH - 2);	/* each has its latest launches */
	assert_int_equal(counts_of().matched, PROCESSES);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(seen.passed, PROCESSES * (EACH + 1));
}

TEST(more_processes_than_there_is_room_for_have_a_little_each)
{
	enum { PROCESSES = 3000, EACH = 20 };

	for (uint32_t pid = 1; pid <= PROCESSES; pid++)
		for (uint32_t i = 0; i < EACH; i++)
			(i % 2 ? work_of : launch_of)(pid, i);
	for (uint32_t pid = 1; pid <= PROCESSES; pid++)
		for (uint32_t i = 0; i < EACH; i++)
			(i % 2 ? launch_of : work_of)(pid, i);
	assert_int_equal(counts_of().matched, PROCESSES * EACH);
}

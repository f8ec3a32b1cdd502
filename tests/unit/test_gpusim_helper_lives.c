// SPDX-License-Identifier: BSD-3-Clause
/*
 * The helper is a guest: however a process with an armed one ends or forks, it prints what it prints
 * without, and ends as it ends without; and what it launched before is in the ring.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/test.h"
#include "source/helper/ring_reader.h"
#include "lib/helper_run.h"

#define LAUNCHES 500	/* before anything else happens */

static void live(struct helper_run *r, const char *way)
{
	const char *const argv[] = { "build/sim/lives", way, NULL };
	struct helper_run without;

	print_message("  %s\n", way);
	helper_run(r, argv, NULL);
	helper_run_without(&without, argv);
	assert_int_equal(r->status, without.status);
	assert_string_equal(r->out, without.out);
}

TEST(a_process_that_exits_hands_on_all_its_works)
{
	struct helper_run r;

	live(&r, "end");
	assert_int_equal(WEXITSTATUS(r.status), 3);
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], LAUNCHES);
	assert_int_equal(r.head.state, GP_HELPER_ENDED);
	live(&r, "pending");
	assert_int_equal(r.seen.kind[GP_RING_KERNEL] + r.seen.lost[GP_LOSS_NO_TIME], LAUNCHES);
	live(&r, "close");
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 2 * LAUNCHES);
}

TEST(one_that_ends_at_once_is_not_held)
{
	struct helper_run r;

	live(&r, "_exit");
	assert_true(r.seen.kind[GP_RING_KERNEL] <= LAUNCHES);
	live(&r, "kill");
	assert_int_equal(WTERMSIG(r.status), SIGKILL);
	live(&r, "threads");
	assert_true(r.seen.kind[GP_RING_KERNEL] >= LAUNCHES);
}

TEST(a_forked_child_has_no_helper)
{
	struct helper_run r;

	live(&r, "fork");
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 2 * LAUNCHES);
	live(&r, "fork-launch");
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 2 * LAUNCHES);
	live(&r, "fork-exec");
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 2 * LAUNCHES);
}

TEST(a_number_that_the_program_took_is_its_own)
{
	struct helper_run r;

	live(&r, "reuse");
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 3 * LAUNCHES);
	assert_non_null(strstr(r.out, " 0 lost"));
}

/* 0: none yet. */
static pid_t child_of(pid_t pid)
{
	char path[64];
	FILE *file;
	int child = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	file = fopen(path, "r");
	if (file && fscanf(file, "%d", &child) != 1)
		child = 0;
	if (file)
		fclose(file);
	return child;
}

TEST(a_program_executed_by_a_child_has_its_own)
{
	struct ring_reader *source = NULL;
	struct gp_ring_head head;
	struct helper_run r;

	helper_run_start(&r, (const char *const[]){ "build/sim/lives", "fork-exec", NULL }, NULL);
	for (uint64_t end = time_now_ns() + 5000000000ull; time_now_ns() < end && !source; usleep(500)) {
		pid_t child = child_of(r.pid);
		int fd = child ? ring_reader_find(child) : -1;

		ring_reader_renew(r.source, time_now_ns());
		if (fd >= 0)
			source = ring_reader_open(fd, child, GP_RING_WANT_KINDS, 0);
	}
	assert_non_null(source);
	ring_reader_renew(source, time_now_ns());
	helper_run_watch(&r);
	ring_reader_head(source, &head);
	assert_int_not_equal(head.pid, r.head.pid);
	assert_int_equal(head.state, GP_HELPER_ENDED);
	assert_int_not_equal(head.cupti_version, 0);
	ring_reader_close(source);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * A process ends when its last thread does, and how it would without a helper: whether that sleeps or
 * records, whichever of the program's threads has brought it in.
 */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/helper_run.h"
#include "lib/test.h"

#define LAUNCHES 500

static const char *const *program(const char *way)
{
	static const char *argv[] = { "build/sim/lives", NULL, NULL };

	print_message("  %s\n", way);
	argv[1] = way;
	return argv;
}

static void check_as_without(const struct helper_run *r, const char *way)
{
	struct helper_run without;

	helper_run_without(&without, program(way));
	assert_int_equal(r->status, without.status);
	assert_string_equal(r->out, without.out);
}

static void leave_asleep(const char *way)
{
	struct helper_run r;

	helper_run_unwatched(&r, program(way));
	check_as_without(&r, way);
}

static struct helper_run leave_awake(const char *way)
{
	struct helper_run r;

	helper_run(&r, program(way), NULL);
	check_as_without(&r, way);
	return r;
}

TEST(the_process_of_a_main_thread_that_left_ends_with_the_others)
{
	leave_asleep("last");
	leave_asleep("launch");
	leave_asleep("exit");
	leave_asleep("nvtx");
}

TEST(also_where_another_thread_has_brought_the_helper_in)
{
	leave_asleep("used");
	leave_asleep("use");
}

TEST(its_signals_end_it_as_they_would)
{
	leave_asleep("stop");
	leave_asleep("stop-exit");
}

TEST(launches_until_then_are_recorded)
{
	struct helper_run r;

	r = leave_awake("last");
	assert_int_equal(r.seen.kind[GP_RING_KERNEL] + r.seen.lost[GP_LOSS_NO_TIME], LAUNCHES);
	assert_int_equal(r.head.state, GP_HELPER_ENDED);
	r = leave_awake("launch");
	assert_int_equal(r.seen.kind[GP_RING_KERNEL] + r.seen.lost[GP_LOSS_NO_TIME], 2 * LAUNCHES);
	assert_int_equal(r.head.state, GP_HELPER_ENDED);
	leave_awake("used");
	leave_awake("nvtx");
	leave_awake("stop");
	leave_awake("stop-exit");
}

TEST(ends_that_are_rare_are_as_without)
{
	struct helper_run r;

	r = leave_awake("abort");
	assert_int_equal(WTERMSIG(r.status), SIGABRT);
	leave_awake("quick");
	leave_awake("daemon");
	leave_awake("child");
	leave_asleep("child");
}

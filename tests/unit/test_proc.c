// SPDX-License-Identifier: BSD-3-Clause
/* What files of procfs say of one process. */
#include "host/proc.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/test.h"

#define STATUS \
	"Name:\tSeccomp\n" \
	"TracerPid:\t4711\n" \
	"Seccomp:\t2\n" \
	"Seccomp_filters:\t3\n" \
	"Threads:\tmany\n"

TEST(a_number_is_that_of_the_line_of_its_whole_name)
{
	assert_int_equal(proc_status_number(STATUS, "TracerPid"), 4711);
	assert_int_equal(proc_status_number(STATUS, "Seccomp"), 2);
	assert_int_equal(proc_status_number(STATUS, "Seccomp_filters"), 3);
}

TEST(a_missing_value_is_no_number)
{
	assert_int_equal(proc_status_number(STATUS, "NoNewPrivs"), 0);
	assert_int_equal(proc_status_number(STATUS, "Threads"), 0);
	assert_int_equal(proc_status_number("", "Seccomp"), 0);
	assert_int_equal(proc_status_number(NULL, "Seccomp"), 0);
}

TEST(a_process_of_our_own_namespace_has_our_clock)
{
	assert_int_equal(proc_clock_offset_ns(getpid()), time_own_shift()->now_ns);
	assert_int_equal(proc_clock_offset_ns(-1), 0);
}

TEST(a_process_that_has_ended_has_no_memory)
{
	pid_t pid = fork();
	siginfo_t info;
	struct proc p;

	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(proc_open(&p, pid), 0);
	assert_false(proc_has_memory(&p));
	proc_close(&p);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(proc_open(&p, getpid()), 0);
	assert_true(proc_has_memory(&p));
	proc_close(&p);
}

TEST(a_process_maps_its_libraries_and_no_others)
{
	const char *const parts[] = { "/no-such-library", "[stack]" };

	assert_true(proc_maps_any(getpid(), parts, 2));
	assert_false(proc_maps_any(getpid(), parts, 1));
	assert_false(proc_maps_any(-1, parts, 2));
}

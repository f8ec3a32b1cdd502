// SPDX-License-Identifier: BSD-3-Clause
/* What files of procfs say of one process. */
#include "host/proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/time.h"

#define STATUS \
	"Name:\tSeccomp\n" \
	"TracerPid:\t4711\n" \
	"Seccomp:\t2\n" \
	"Seccomp_filters:\t3\n" \
	"Threads:\tmany\n"

static void a_number_is_that_of_the_line_of_its_whole_name(void **state)
{
	(void)state;
	assert_int_equal(proc_status_number(STATUS, "TracerPid"), 4711);
	assert_int_equal(proc_status_number(STATUS, "Seccomp"), 2);
	assert_int_equal(proc_status_number(STATUS, "Seccomp_filters"), 3);
}

static void a_missing_value_is_no_number(void **state)
{
	(void)state;
	assert_int_equal(proc_status_number(STATUS, "NoNewPrivs"), 0);
	assert_int_equal(proc_status_number(STATUS, "Threads"), 0);
	assert_int_equal(proc_status_number("", "Seccomp"), 0);
	assert_int_equal(proc_status_number(NULL, "Seccomp"), 0);
}

static void a_process_of_our_own_namespace_has_our_clock(void **state)
{
	(void)state;
	assert_int_equal(proc_clock_offset_ns(getpid()), time_own_shift()->now_ns);
	assert_int_equal(proc_clock_offset_ns(-1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_is_that_of_the_line_of_its_whole_name),
		cmocka_unit_test(a_missing_value_is_no_number),
		cmocka_unit_test(a_process_of_our_own_namespace_has_our_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

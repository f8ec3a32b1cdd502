// SPDX-License-Identifier: BSD-3-Clause
/* Clocks of a time namespace are given in the host's; any text of procfs is read as it can be. */
#include <time.h>

#include "base/time.h"
#include "lib/test.h"

static void is_shift(const char *text, int64_t now_ns, int64_t boot_ns)
{
	struct time_shift shift = time_parse_shift(text);

	assert_true(shift.now_ns == now_ns);
	assert_true(shift.boot_ns == boot_ns);
}

TEST(a_time_namespaces_shift_is_read_from_procfs)
{
	is_shift("monotonic           0         0\nboottime            0         0\n", 0, 0);
	is_shift("monotonic     1000000         7\nboottime      2000000         0\n",
		 1000000000000007, 2000000000000000);
	is_shift("monotonic         -51 999999999\nboottime          -70         0\n",
		 -50000000001, -70000000000);
}

TEST(a_malformed_clock_shift_is_none)
{
	is_shift("", 0, 0);
	is_shift("monotonic\nboottime 5", 0, 0);
	is_shift("monotonic x y\nboottime 1 1000000000\n", 0, 0);
	is_shift("monotonic 9223372036854775807 0\nboottime -9223372036854775808 0\n", 0, 0);
}

TEST(times_are_the_hosts)
{
	struct timespec ts;
	uint64_t raw_ns, now_ns = time_now_ns();

	clock_gettime(CLOCK_MONOTONIC, &ts);
	raw_ns = (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
	assert_true(raw_ns - (uint64_t)time_own_shift()->now_ns - now_ns < 10 * NS_PER_SEC);
}

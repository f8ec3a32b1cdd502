// SPDX-License-Identifier: BSD-3-Clause
/*
 * A profiler of the user's own, before, during and after us, works as if we were not there; the
 * helper yields to it, and says so.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "lib/test.h"
#include "source/helper/ring_reader.h"
#include "lib/helper_run.h"

#define PROFILED "profiler: on, all kernels\n"
#define BEFORE_IT 200	/* launches before the profiler begins */

TEST(a_profiler_that_began_before_us_keeps_cupti)
{
	struct helper_run r;

	helper_run(&r, (const char *const[]){ "build/sim/client", "before", NULL }, NULL);
	assert_string_equal(r.out, PROFILED);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 0);
	assert_string_equal(r.head.occupant, "probably torch.profiler");
}

TEST(one_that_begins_meanwhile_takes_it_and_we_stand_down)
{
	struct helper_run r;

	helper_run(&r, (const char *const[]){ "build/sim/client", "during", NULL }, NULL);
	assert_string_equal(r.out, PROFILED);
	assert_int_equal(r.status, 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] <= BEFORE_IT);
	assert_string_equal(r.head.occupant, "probably torch.profiler");
}

/* It keeps CUPTI between its windows: so we stay away. */
TEST(all_windows_of_one_that_keeps_cupti_are_whole)
{
	struct helper_run r;

	helper_run(&r, (const char *const[]){ "build/sim/client", "twice", NULL }, NULL);
	assert_string_equal(r.out, PROFILED PROFILED);
	assert_int_equal(r.status, 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] <= BEFORE_IT);
}

TEST(when_it_gives_cupti_back_we_come_and_go_again_when_it_does)
{
	struct helper_run r;

	helper_run(&r, (const char *const[]){ "build/sim/client", "teardown", NULL }, NULL);
	assert_string_equal(r.out, PROFILED PROFILED);
	assert_int_equal(r.status, 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] > BEFORE_IT);
	assert_true(r.seen.kind[GP_RING_KERNEL] <= 4 * BEFORE_IT);
	assert_string_equal(r.head.occupant, "probably torch.profiler");
}

/* We watch, and leave; the helper drains; only then it begins. */
TEST(one_that_begins_after_us_finds_it_free)
{
	struct helper_run r;
	char path[] = "/tmp/gpuprof-after-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	unlink(path);
	helper_run_start(&r, (const char *const[]){ "build/sim/client", "after", path, NULL }, NULL);
	ring_reader_renew(r.source, time_now_ns());
	for (uint64_t end = time_now_ns() + 8000000000ull; time_now_ns() < end; usleep(2000)) {
		ring_reader_head(r.source, &r.head);
		if (r.head.state == GP_HELPER_DRAINED)
			break;
	}
	assert_int_equal(r.head.state, GP_HELPER_DRAINED);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(waitpid(r.pid, &r.status, 0), r.pid);
	unlink(path);
	assert_true(pread(r.out_fd, r.out, sizeof(r.out) - 1, 0) > 0);
	assert_string_equal(r.out, PROFILED);
	assert_int_equal(r.status, 0);
	ring_reader_close(r.source);
	close(r.out_fd);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * A profiler of the user's own, before, during and after us, works as if we were not there; the
 * helper yields to it, and says so.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/time.h"
#include "source/helper/ring_reader.h"
#include "lib/helper_run.h"

#define PROFILED "profiler: on, all kernels\n"
#define BEFORE_IT 200	/* launches before the profiler begins */

static void a_profiler_that_began_before_us_keeps_cupti(void **state)
{
	struct helper_run r;

	(void)state;
	helper_run(&r, (const char *const[]){ "build/sim/client", "before", NULL }, NULL);
	assert_string_equal(r.out, PROFILED);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 0);
	assert_string_equal(r.head.occupant, "probably torch.profiler");
}

static void one_that_begins_meanwhile_takes_it_and_we_stand_down(void **state)
{
	struct helper_run r;

	(void)state;
	helper_run(&r, (const char *const[]){ "build/sim/client", "during", NULL }, NULL);
	assert_string_equal(r.out, PROFILED);
	assert_int_equal(r.status, 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] <= BEFORE_IT);
	assert_string_equal(r.head.occupant, "probably torch.profiler");
}

/* It keeps CUPTI between its windows: so we stay away. */
static void all_windows_of_one_that_keeps_cupti_are_whole(void **state)
{
	struct helper_run r;

	(void)state;
	helper_run(&r, (const char *const[]){ "build/sim/client", "twice", NULL }, NULL);
	assert_string_equal(r.out, PROFILED PROFILED);
	assert_int_equal(r.status, 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] <= BEFORE_IT);
}

static void when_it_gives_cupti_back_we_come_and_go_again_when_it_does(void **state)
{
	struct helper_run r;

	(void)state;
	helper_run(&r, (const char *const[]){ "build/sim/client", "teardown", NULL }, NULL);
	assert_string_equal(r.out, PROFILED PROFILED);
	assert_int_equal(r.status, 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] > BEFORE_IT);
	assert_true(r.seen.kind[GP_RING_KERNEL] <= 4 * BEFORE_IT);
	assert_string_equal(r.head.occupant, "probably torch.profiler");
}

/* We watch, and leave; the helper drains; only then it begins. */
static void one_that_begins_after_us_finds_it_free(void **state)
{
	struct helper_run r;
	char path[] = "/tmp/gpuprof-after-XXXXXX";
	int fd = mkstemp(path);

	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_profiler_that_began_before_us_keeps_cupti),
		cmocka_unit_test(one_that_begins_meanwhile_takes_it_and_we_stand_down),
		cmocka_unit_test(all_windows_of_one_that_keeps_cupti_are_whole),
		cmocka_unit_test(when_it_gives_cupti_back_we_come_and_go_again_when_it_does),
		cmocka_unit_test(one_that_begins_after_us_finds_it_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

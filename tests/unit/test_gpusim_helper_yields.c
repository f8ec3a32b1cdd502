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
#include "helper/buffers.h"
#include "lib/test.h"
#include "source/helper/ring_reader.h"
#include "lib/helper_run.h"

#define PROFILED "profiler: on, all kernels\n"
#define BEFORE_IT 200	/* launches before the profiler begins */
#define IN_THE_QUEUE 20001	/* of a client without one */

/*
 * Buffers that are out when another client registers its callbacks become its own, and it drops what
 * is in them: so many kernels of its window at most, those of one small buffer of the helper's. Bytes of
 * a kernel's record and of its call's are those of CUPTI 12.9, the least here.
 */
#define IN_A_BUFFER (BUFFER_PART_BYTES / (208 + 40))

static const struct profiler {
	const char *style, *library, *version;
} profilers[] = {
	{ "torch-2.11", "build/sim", "13.0" },
	{ "torch", "build/sim", "12.9" },
	{ "torch", "build/sim", "13.0" },
	{ "torch", "build/sim/cupti13.2", "13.2" },
	{ "torch", "build/sim/cupti13.3", "13.5" },
	{ "xla", "build/sim", "13.0" },
	{ "xla", "build/sim/cupti13.2", "13.2" },
	{ "xla", "build/sim/cupti13.3", "13.3" },
};
enum { TORCH_12_9 = 1, TORCH_13_0 };
#define LONG_WINDOW_NS "60000000000"
#define N_PROFILERS (sizeof(profilers) / sizeof(profilers[0]))

/* window_ns: after which one of its windows is taken to be over. */
static void run_profiler(struct helper_run *r, const struct profiler *p, const char *when,
			 const char *window_ns)
{
	char cupti[64];
	const char *const environment[] = { "CLIENT_STYLE", p->style, "GPUSIM_CUPTI", p->version,
		"LD_LIBRARY_PATH", p->library, "GPUPROF_CUPTI", cupti,
		"GPUPROF_WINDOW_NS", window_ns, NULL };

	print_message("  %s, CUPTI %s, %s\n", p->style, p->version, when);
	snprintf(cupti, sizeof(cupti), "%s/libcupti.so.13", p->library);
	helper_run(r, (const char *const[]){ "build/sim/client", when, NULL }, environment);
	assert_int_equal(r->status, 0);
}

static void run_client(struct helper_run *r, size_t i, const char *when)
{
	run_profiler(r, &profilers[i], when, LONG_WINDOW_NS);
}

/* Windows that it began while the helper was awake may lack what was in its buffers. */
static void assert_profiled(const struct helper_run *r, size_t windows)
{
	const char *line = r->out;
	size_t n = 0;

	for (; *line; line = strchr(line, '\n') + 1, n++) {
		int missing = 0;

		assert_int_equal(strncmp(line, PROFILED, strlen(PROFILED) - 1), 0);
		sscanf(line + strlen(PROFILED) - 1, " but %d", &missing);
		assert_in_range(missing, 0, IN_A_BUFFER);
	}
	assert_int_equal(n, windows);
}

TEST(a_profiler_that_began_before_us_keeps_cupti)
{
	for (size_t i = 0; i < N_PROFILERS; i++) {
		struct helper_run r;

		run_client(&r, i, "before");
		assert_profiled(&r, 1);
		assert_string_equal(r.head.occupant, "probably torch.profiler");
	}
}

/* Between its disabling and its flush nothing shows that it is there. */
TEST(its_records_stay_its_own_until_its_last_flush)
{
	static const struct profiler resting = { "torch-resting", "build/sim/cupti13.3", "13.5" };
	struct helper_run r;

	run_profiler(&r, &resting, "before", LONG_WINDOW_NS);
	assert_profiled(&r, 1);
	assert_string_equal(r.head.occupant, "probably torch.profiler");
}

TEST(one_that_begins_meanwhile_takes_it_and_we_stand_down)
{
	for (size_t i = 0; i < N_PROFILERS; i++) {
		struct helper_run r;

		run_client(&r, i, "during");
		assert_profiled(&r, 1);
		assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
		assert_string_equal(r.head.occupant, "probably torch.profiler");
	}
}

TEST(both_windows_of_one_are_whole)
{
	for (size_t i = 0; i < N_PROFILERS; i++) {
		struct helper_run r;

		run_client(&r, i, "twice");
		assert_profiled(&r, 2);
		assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
		assert_true(r.seen.kind[GP_RING_KERNEL] <= 4 * BEFORE_IT);
	}
}

/* The first ends two seconds after it began, the second begins four later. Where nothing shows that
 * it is over, we are back five after it began: it is seen after one, and twice found free after
 * window_ns. */
TEST(between_windows_of_one_that_left_its_clock_we_come_back)
{
	static const struct {
		size_t i;
		const char *window_ns;
	} cases[] = { { TORCH_12_9, "2500000000" }, { TORCH_13_0, LONG_WINDOW_NS } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct helper_run r;

		run_profiler(&r, &profilers[cases[i].i], "far", cases[i].window_ns);
		assert_profiled(&r, 2);
		assert_in_range(r.seen.kind[GP_RING_KERNEL], BEFORE_IT + 1, 4 * BEFORE_IT);
		assert_in_range(r.head.sessions, 2, 3);
	}
}

TEST(when_it_gives_cupti_back_we_come_and_go_again_when_it_does)
{
	struct helper_run r;

	helper_run(&r, (const char *const[]){ "build/sim/client", "teardown", NULL }, NULL);
	assert_profiled(&r, 2);
	assert_int_equal(r.status, 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] > BEFORE_IT);
	assert_true(r.seen.kind[GP_RING_KERNEL] <= 4 * BEFORE_IT);
	assert_string_equal(r.head.occupant, "probably torch.profiler");
}

/* Beside a flush that would end the process. The window is over before anything but the missing
 * requests for buffers can show it. */
TEST(the_end_of_a_short_window_is_beside_no_flush_of_ours)
{
	static const char *const environment[] = { "CLIENT_STYLE", "xla", "GPUSIM_CUPTI", "12.8",
		"GPUSIM_CUPTI_FAULTS", "finalize=300", NULL };
	struct helper_run r;

	helper_run(&r, (const char *const[]){ "build/sim/client", "short", NULL }, environment);
	assert_int_equal(r.status, 0);
	assert_profiled(&r, 1);
	assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
}

/* Its buffers are small, where a profiler may come; they come back when their last work is done. */
TEST(without_one_nothing_of_a_long_queue_is_lost)
{
	struct helper_run r;

	helper_run(&r, (const char *const[]){ "build/sim/client", "never", NULL }, NULL);
	assert_int_equal(r.status, 0);
	assert_int_equal(r.seen.kind[GP_RING_LOSS], 0);
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], IN_THE_QUEUE);
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

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The helper in a process on the simulated GPU: woken when somebody watches, it hands on every work
 * with its times, name and launch; whatever CUPTI does, the target runs to its end and what is
 * missing is counted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "event/helper_source.h"
#include "gpuprof/work.h"

#define STEPS 40
#define LAUNCHES (1 + STEPS * 26)	/* of train with one thread */
#define COPIES (STEPS * 3)
#define WAIT_S 20

struct seen {
	uint64_t kind[GP_RING_KINDS];
	uint64_t lost[GP_LOSS_UNKNOWN + 1];
	uint64_t nameless, unjoined, backwards, bytes;
	char name[64][64];
	uint64_t names;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static int take(void *ctx, uint16_t kind, const void *payload, size_t len)
{
	const struct gp_ring_kernel *kernel = payload;
	const struct gp_ring_copy *copy = payload;
	const struct gp_ring_name *name = payload;
	const struct gp_ring_loss *loss = payload;
	struct seen *seen = ctx;

	(void)len;
	seen->kind[kind]++;
	if (kind == GP_RING_KERNEL) {
		seen->nameless += !kernel->name || kernel->name > seen->names;
		seen->backwards += kernel->end <= kernel->start;
	} else if (kind == GP_RING_COPY) {
		seen->bytes += copy->bytes;
	} else if (kind == GP_RING_NAME_IS) {
		assert_int_equal(name->id, ++seen->names);
	} else if (kind == GP_RING_LOSS) {
		seen->lost[loss->cause] += loss->count;
	}
	return 0;
}

struct run {
	pid_t pid;
	struct helper_source *source;
	struct gp_ring_head head;
	struct seen seen;
	int status;
};

/* train with the helper, and this environment besides (name, value, ..., NULL). */
static void start(struct run *r, const char *const *environment)
{
	char steps[16];

	memset(r, 0, sizeof(*r));
	snprintf(steps, sizeof(steps), "%d", STEPS);
	r->pid = fork();
	if (!r->pid) {
		setenv("CUDA_INJECTION64_PATH", "build/libgpuprof.so", 1);
		setenv("GPUPROF_CUPTI", "build/sim/libcupti.so.13", 1);
		setenv("GPUPROF_ARM", "1", 1);
		setenv("GPUSIM_QUIET", "1", 1);
		for (; *environment; environment += 2)
			setenv(environment[0], environment[1], 1);
		execl("build/sim/train", "train", "--steps", steps, "--quiet", NULL);
		_exit(127);
	}
	for (int i = 0; i < WAIT_S * 1000 && !r->source; i++, usleep(1000)) {
		int fd = helper_source_find(r->pid);

		if (fd >= 0)
			r->source = helper_source_open(fd, r->pid, UINT32_MAX);
	}
	assert_non_null(r->source);
}

/* Reads until the target has exited and nothing more comes. */
static void watch(struct run *r)
{
	bool exited = false;

	for (uint64_t end = now_ns() + WAIT_S * 1000000000ull; now_ns() < end; usleep(1000)) {
		helper_source_renew(r->source, now_ns());
		exited = exited || waitpid(r->pid, &r->status, WNOHANG) == r->pid;
		if (helper_source_read(r->source, take, &r->seen) == 1 && exited)
			break;
	}
	helper_source_head(r->source, &r->head);
	if (!exited) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, &r->status, 0);
	}
	helper_source_close(r->source);
	assert_true(WIFEXITED(r->status));
	assert_int_equal(WEXITSTATUS(r->status), 0);
}

static void run(struct run *r, const char *const *environment)
{
	start(r, environment);
	watch(r);
}

static void every_work_of_a_process_comes_in_every_version(void **state)
{
	static const char *const versions[] = { "11.8", "12.1", "12.4", "12.8", "13.0" };

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct run r;

		print_message("  %s\n", versions[i]);
		run(&r, (const char *const[]){ "GPUSIM_CUPTI", versions[i], NULL });
		assert_int_equal(r.seen.kind[GP_RING_KERNEL], LAUNCHES);
		assert_int_equal(r.seen.kind[GP_RING_COPY], COPIES);
		assert_int_equal(r.seen.bytes, (uint64_t)STEPS * ((16 << 20) + 4096 + 4));
		assert_int_equal(r.seen.names, 6);
		assert_int_equal(r.seen.nameless + r.seen.backwards, 0);
		assert_true(r.seen.kind[GP_RING_CLOCK] >= 2);
		assert_true(r.seen.kind[GP_RING_API] >= LAUNCHES + COPIES);
		assert_int_equal(r.seen.kind[GP_RING_LOSS], 0);
		assert_int_equal(r.head.state, GP_HELPER_ENDED);
	}
}

static void what_cupti_drops_or_has_no_time_for_is_counted(void **state)
{
	struct run r;
	uint64_t works;

	(void)state;
	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "drop=10,zero=7", NULL });
	works = r.seen.kind[GP_RING_KERNEL] + r.seen.kind[GP_RING_COPY] + r.seen.kind[GP_RING_API];
	assert_true(r.seen.lost[GP_LOSS_DROPPED] > 50);
	assert_true(r.seen.lost[GP_LOSS_NO_TIME] > 50);
	assert_true(works > 1000);
	assert_int_equal(r.seen.backwards, 0);
}

static void another_client_is_left_alone(void **state)
{
	struct run r;

	(void)state;
	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "busy", NULL });
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 0);
	assert_true(r.head.state == GP_HELPER_YIELDED || r.head.state == GP_HELPER_ENDED);
	assert_string_equal(r.head.occupant, "another CUPTI client");
}

static void what_cannot_be_armed_says_why(void **state)
{
	struct run r;

	(void)state;
	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "refuse", NULL });
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 0);
	assert_string_equal(r.head.reason, "cuptiActivityEnable: CUPTI_ERROR_NOT_INITIALIZED");
	run(&r, (const char *const[]){ "GPUPROF_CUPTI", "/nonexistent", NULL });
	assert_string_equal(r.head.reason, "no libcupti found");
}

static void a_flush_that_hangs_does_not_hold_the_target(void **state)
{
	struct run r;

	(void)state;
	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "hang", NULL });
	assert_int_not_equal(r.head.state, GP_HELPER_ENDED);
}

static void unwatched_it_sleeps_and_a_reader_wakes_it(void **state)
{
	struct run r;

	(void)state;
	start(&r, (const char *const[]){ "GPUPROF_ARM", "0", NULL });
	helper_source_head(r.source, &r.head);
	assert_int_equal(r.head.state, GP_HELPER_VIRGIN);
	watch(&r);
	assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] <= LAUNCHES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_work_of_a_process_comes_in_every_version),
		cmocka_unit_test(what_cupti_drops_or_has_no_time_for_is_counted),
		cmocka_unit_test(another_client_is_left_alone),
		cmocka_unit_test(what_cannot_be_armed_says_why),
		cmocka_unit_test(a_flush_that_hangs_does_not_hold_the_target),
		cmocka_unit_test(unwatched_it_sleeps_and_a_reader_wakes_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

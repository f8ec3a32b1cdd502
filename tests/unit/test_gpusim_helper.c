// SPDX-License-Identifier: BSD-3-Clause
/*
 * The helper in a process on the simulated GPU: woken when it is watched, it hands on every work
 * with its times, name and launch; whatever CUPTI does, the target runs to its end and what is
 * missing is counted.
 */
#include <stdbool.h>
#include <sys/wait.h>

#include "lib/test.h"
#include "source/helper/ring_reader.h"
#include "gpuprof/work.h"
#include "helper/calls_wanted.h"
#include "lib/helper_run.h"

#define STEPS 40
#define LAUNCHES (1 + STEPS * 26)	/* of train with one thread */
#define COPIES (STEPS * 3)
#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x

static void start(struct helper_run *r, const char *const *environment)
{
	helper_run_start(r, (const char *const[]){ "build/sim/train", "--steps", STRING(STEPS), "--quiet",
						   NULL }, environment);
}

static void watch(struct helper_run *r)
{
	helper_run_watch(r);
	assert_true(WIFEXITED(r->status));
	assert_int_equal(WEXITSTATUS(r->status), 0);
}

static void run(struct helper_run *r, const char *const *environment)
{
	start(r, environment);
	watch(r);
}

TEST(every_work_of_a_process_comes_in_every_version)
{
	static const char *const versions[] = { "11.8", "12.1", "12.4", "12.8", "12.9",
						"13.0", "13.1", "13.2", "13.3", "13.5" };

	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		struct helper_run r;

		print_message("  %s\n", versions[i]);
		run(&r, (const char *const[]){ "GPUSIM_CUPTI", versions[i], NULL });
		assert_int_equal(r.seen.kind[GP_RING_KERNEL], LAUNCHES);
		assert_int_equal(r.seen.kind[GP_RING_COPY], COPIES);
		assert_int_equal(r.seen.bytes, (uint64_t)STEPS * ((16 << 20) + 4096 + 4));
		assert_int_equal(r.seen.names, 6 + 1);	/* the devices' */
		assert_int_equal(r.seen.nameless + r.seen.backwards, 0);
		assert_true(r.seen.kind[GP_RING_CLOCK] >= 2);
		assert_true(r.seen.kind[GP_RING_API] >= LAUNCHES + COPIES);
		assert_int_equal(r.seen.kind[GP_RING_LOSS], 0);
		assert_int_equal(r.head.state, GP_HELPER_ENDED);
		assert_true(r.head.cupti_version > 0);	/* from 13.3 on not before it is armed */
		assert_int_equal(r.head.sessions, 1);
	}
}

#define NUMBER(n) n,
static const uint32_t wanted[] = { CALLS_WANTED_RUNTIME(NUMBER) };

struct calls {
	uint64_t wanted, others, driver;
};

static void count_call(struct helper_seen *seen, uint16_t kind, const void *payload)
{
	const struct gp_ring_api *api = payload;
	struct calls *calls = seen->ctx;
	bool is_wanted = false;

	if (kind != GP_RING_API)
		return;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		is_wanted |= api->cbid == wanted[i];
	if (api->domain == 4)
		calls->driver++;
	else if (is_wanted)
		calls->wanted++;
	else
		calls->others++;
}

static struct calls calls_of(const char *version)
{
	struct helper_run r;
	struct calls calls = { 0 };

	start(&r, (const char *const[]){ "GPUSIM_CUPTI", version, NULL });
	r.seen.on_record = count_call;
	r.seen.ctx = &calls;
	watch(&r);
	return calls;
}

TEST(only_calls_that_drive_a_device_are_recorded_where_cupti_can_choose)
{
	struct calls chosen = calls_of("13.0"), whole = calls_of("12.4");

	assert_true(chosen.wanted >= LAUNCHES + COPIES);
	assert_int_equal(chosen.others, 0);
	assert_int_equal(whole.wanted, chosen.wanted);
	assert_true(whole.others > 0);
}

TEST(records_cupti_drops_or_leaves_without_times_are_counted)
{
	struct helper_run r;
	uint64_t works;

	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "drop=10,zero=7", NULL });
	works = r.seen.kind[GP_RING_KERNEL] + r.seen.kind[GP_RING_COPY] + r.seen.kind[GP_RING_API];
	assert_true(r.seen.lost[GP_LOSS_DROPPED] > 50);
	assert_true(r.seen.lost[GP_LOSS_NO_TIME] > 50);
	assert_true(works > 1000);
	assert_int_equal(r.seen.backwards, 0);
}

TEST(buffers_kept_by_cupti_are_reported_and_returned_ones_are_not)
{
	struct helper_run r;

	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "keep=2", NULL });
	assert_int_equal(r.head.state, GP_HELPER_ENDED);
	assert_true(r.head.kept_bytes > 0);
	assert_in_range(r.head.kept_since_ns, r.head.start_ns, r.head.state_ns);
	assert_int_equal(r.seen.kind[GP_RING_LOSS], 1);
	run(&r, NULL);
	assert_int_equal(r.head.kept_bytes, 0);
	assert_int_equal(r.seen.kind[GP_RING_LOSS], 0);
}

TEST(another_client_is_left_alone)
{
	struct helper_run r;

	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "busy", NULL });
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 0);
	assert_true(r.head.state == GP_HELPER_YIELDED || r.head.state == GP_HELPER_ENDED);
	assert_string_equal(r.head.occupant, "another CUPTI client");
}

TEST(a_failed_arming_gives_its_reason)
{
	struct helper_run r;

	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "refuse", NULL });
	assert_int_equal(r.seen.kind[GP_RING_KERNEL], 0);
	assert_string_equal(r.head.reason, "cuptiActivityEnable: CUPTI_ERROR_NOT_INITIALIZED");
	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "unusable", NULL });
	assert_string_equal(r.head.reason, "cuptiActivityRegisterCallbacks: CUPTI_ERROR_UNKNOWN");
	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "unusable", "GPUSIM_CUPTI", "13.1", NULL });
	assert_string_equal(r.head.reason, "libcupti 13.1 is newer than the driver's CUDA 13.0");
	run(&r, (const char *const[]){ "GPUPROF_CUPTI", "/nonexistent", NULL });
	assert_string_equal(r.head.reason, "no libcupti found");
}

TEST(a_flush_that_hangs_does_not_hold_the_target)
{
	struct helper_run r;

	run(&r, (const char *const[]){ "GPUSIM_CUPTI_FAULTS", "hang", NULL });
	assert_int_not_equal(r.head.state, GP_HELPER_ENDED);
}

TEST(unwatched_it_sleeps_and_a_reader_wakes_it)
{
	struct helper_run r;

	start(&r, (const char *const[]){ "GPUPROF_ARM", "0", NULL });
	ring_reader_head(r.source, &r.head);
	assert_int_equal(r.head.state, GP_HELPER_VIRGIN);
	watch(&r);
	assert_true(r.seen.kind[GP_RING_KERNEL] > 0);
	assert_true(r.seen.kind[GP_RING_KERNEL] <= LAUNCHES);
}

/* 13.2 must not be called within cuInit: the helper waits for its end, which is no failure. */
TEST(a_cupti_that_must_wait_for_the_driver_is_armed_right_after_its_start)
{
	struct helper_run r;

	run(&r, (const char *const[]){ "GPUSIM_CUPTI", "13.2", "GPUPROF_CUPTI",
				       "build/sim/cupti13.2/libcupti.so.13", NULL });
	assert_string_equal(r.head.reason, "");
	assert_true(r.seen.kind[GP_RING_KERNEL] > LAUNCHES / 2);
}

/* 13.2 overflows the stack where it cannot initialise, in any of its functions. */
TEST(a_cupti_that_cannot_initialise_changes_no_process)
{
	static const struct {
		const char *version, *cupti, *name, *value;
	} all[] = {
		{ "13.0", "build/sim/libcupti.so.13", "GPUSIM_DEVICES", "0" },
		{ "13.2", "build/sim/cupti13.2/libcupti.so.13", "GPUSIM_DEVICES", "0" },
		{ "13.2", "build/sim/cupti13.2/libcupti.so.13", "GPUSIM_DRIVER", "12040" },
		{ "13.3", "build/sim/cupti13.3/libcupti.so.13", "GPUSIM_DRIVER", "12040" },
		{ "13.5", "build/sim/cupti13.3/libcupti.so.13", "GPUSIM_DEVICES", "0" },
	};
	static const char *const argv[] = { "build/sim/lives", "end", NULL };
	struct helper_run r, without;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		print_message("  %s, %s=%s\n", all[i].version, all[i].name, all[i].value);
		setenv(all[i].name, all[i].value, 1);
		helper_run(&r, argv, (const char *const[]){ "GPUSIM_CUPTI", all[i].version,
							     "GPUPROF_CUPTI", all[i].cupti, NULL });
		helper_run_without(&without, argv);
		unsetenv(all[i].name);
		assert_int_equal(r.status, without.status);
		assert_string_equal(r.out, without.out);
		assert_int_equal(r.seen.kind[GP_RING_KERNEL], 0);
	}
}

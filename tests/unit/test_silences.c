// SPDX-License-Identifier: BSD-3-Clause
/*
 * Launches that probes saw and CUPTI did not record: the device's time is unknown from the first one
 * to the next record, however that came about, and is known where records were only late.
 */
#include <string.h>

#include "lib/test.h"
#include "lib/work_named.h"
#include "model/silences.h"
#include "model_room.h"
#include "snap_of.h"

#define BASE 1000000000000ull
#define MS 1000000ull
#define EVERY 10		/* ms between two launches */

struct room {
	struct model *m;
	uint32_t seq[2], correlation;
};

static void open_room(struct room *r)
{
	*r = (struct room){ .m = session(BASE) };
	push(r->m, (struct event){ .kind = EVENT_DEVICE, .pid = 7 });
}

/* A launch by thread 8 or 9 as probes see it, at so many ms. */
static void call_of(struct room *r, uint32_t thread, uint16_t func, uint64_t ms)
{
	push(r->m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8 + thread,
				   .seq = ++r->seq[thread], .func = func,
				   .start_ns = BASE + ms * MS, .end_ns = BASE + ms * MS + 9000 });
}

/* CUPTI's records of it: the call, and a kernel of 1 ms. */
static void record(struct room *r, uint32_t thread, uint64_t ms)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = ++r->correlation };

	push(r->m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 8 + thread,
				   .api.correlation = r->correlation, .api.cbid = 211,
				   .api.domain = 5, .start_ns = BASE + ms * MS + 1000,
				   .end_ns = BASE + ms * MS + 8000 });
	push(r->m, (struct event){ .kind = EVENT_WORK, .pid = 7,
				   .start_ns = BASE + ms * MS + 10000,
				   .end_ns = BASE + (ms + 1) * MS + 10000,
				   .work = work_named(w, "sgemm") });
}

static void watermark(struct room *r, uint64_t ms)
{
	push(r->m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + ms * MS });
}

/* Launches from..to, of which records come `late` ms later, UINT64_MAX: never. */
static void run(struct room *r, uint64_t from, uint64_t to, uint64_t late)
{
	for (uint64_t ms = from; ms < to + (late == UINT64_MAX ? 0 : late); ms += EVERY) {
		if (ms < to)
			call_of(r, 0, L, ms);
		if (late != UINT64_MAX && ms >= from + late)
			record(r, 0, ms - late);
		watermark(r, ms);
	}
}

struct result {
	uint64_t unknown_ms, idle_ms, missing;
};

static struct result close_room(struct room *r, uint64_t stop_ms)
{
	const struct snapshot *snap;
	struct result out = { 0 };

	finish(r->m, BASE + stop_ms * MS);
	snap = snap_at(r->m, BASE + stop_ms * MS);
	assert_int_equal(snap->devices.n, 1);
	for (int i = 0; i < IDLE_CAUSES; i++)
		out.idle_ms += snap->devices.v[0].idle_ns[i] / MS;
	out.unknown_ms = snap->devices.v[0].idle_ns[IDLE_UNKNOWN] / MS;
	out.missing = model_process(r->m, 0)->missing;
	model_free(r->m);
	return out;
}

TEST(launches_without_records_make_the_time_to_the_next_record_unknown)
{
	struct result got;
	struct room r;

	open_room(&r);
	run(&r, 10, 500, 100);
	run(&r, 600, 2600, UINT64_MAX);		/* stolen */
	watermark(&r, 4000);
	run(&r, 5000, 5500, 100);
	got = close_room(&r, 8000);
	assert_int_equal(got.missing, 200);
	assert_in_range(got.unknown_ms, 4380, 4400);	/* [600,5000) */
	assert_true(got.idle_ms >= got.unknown_ms + 2000);
}

TEST(until_the_session_ends_it_stays_unknown)
{
	struct result got;
	struct room r;

	open_room(&r);
	run(&r, 10, 500, 100);
	run(&r, 600, 2600, UINT64_MAX);
	got = close_room(&r, 2600);
	assert_in_range(got.missing, 165, 200);		/* the last records could still have come */
	assert_in_range(got.unknown_ms, 1980, 2000);
}

TEST(a_device_that_never_worked_is_unknown_from_the_first_launch_on)
{
	struct result got;
	struct room r;

	open_room(&r);
	run(&r, 100, 2100, UINT64_MAX);
	got = close_room(&r, 3000);
	assert_int_equal(got.missing, 200);
	assert_in_range(got.unknown_ms, 2880, 2900);
}

TEST(records_that_are_late_are_not_missing)
{
	struct result got;
	struct room r;

	open_room(&r);
	run(&r, 10, 3000, 700);
	watermark(&r, 8000);
	got = close_room(&r, 9000);
	assert_int_equal(got.missing, 0);
	assert_int_equal(got.unknown_ms, 0);
}

/* A long kernel withholds a buffer: then they come after they were missed. */
TEST(records_that_are_very_late_take_their_launches_back)
{
	struct result got;
	struct room r;

	open_room(&r);
	run(&r, 10, 500, 100);
	run(&r, 600, 6000, 3000);
	watermark(&r, 12000);
	got = close_room(&r, 13000);
	assert_int_equal(got.missing, 0);
	assert_int_equal(got.unknown_ms, 0);
}

TEST(buffers_of_threads_come_in_any_order)
{
	struct result got;
	struct room r;

	open_room(&r);
	for (uint64_t round = 0; round < 30; round++) {
		for (uint64_t ms = 0; ms < 100; ms += 50) {
			call_of(&r, 0, L, 10 + 100 * round + ms);
			call_of(&r, 1, L, 30 + 100 * round + ms);
		}
		for (uint32_t thread = 2; thread--;)
			for (uint64_t ms = 0; ms < 100; ms += 50)
				record(&r, thread, (thread ? 30 : 10) + 100 * round + ms);
		watermark(&r, 100 * round + 100);
	}
	got = close_room(&r, 5000);
	assert_int_equal(got.missing, 0);
	assert_int_equal(got.unknown_ms, 0);
}

TEST(time_of_which_the_helper_reports_that_nothing_was_recorded_is_not_counted_twice)
{
	struct result got;
	struct room r;

	open_room(&r);
	run(&r, 10, 500, 100);
	run(&r, 600, 2600, UINT64_MAX);
	push(r.m, (struct event){ .kind = EVENT_UNSEEN, .pid = 7, .unseen.why = UNSEEN_UNKNOWN,
				  .start_ns = BASE + 595 * MS, .end_ns = BASE + 3000 * MS });
	watermark(&r, 4000);
	run(&r, 5000, 5500, 100);
	got = close_room(&r, 8000);
	assert_int_equal(got.missing, 0);
	assert_in_range(got.unknown_ms, 4400, 4410);	/* until a later launch had a work */
}

TEST(calls_before_the_helper_was_awake_are_not_missed)
{
	struct result got;
	struct room r;

	open_room(&r);
	run(&r, 10, 600, UINT64_MAX);
	push(r.m, (struct event){ .kind = EVENT_UNSEEN, .pid = 7, .unseen.why = UNSEEN_UNKNOWN,
				  .start_ns = BASE, .end_ns = BASE + 595 * MS });
	run(&r, 600, 2600, 100);
	got = close_room(&r, 4000);
	assert_int_equal(got.missing, 0);
	assert_in_range(got.unknown_ms, 595, 605);
}

/* CUPTI keeps its buffer, for a work of it runs; that of the other thread has come. */
TEST(what_a_thread_launched_since_its_last_record_may_run_at_the_end)
{
	struct result got;
	struct room r;

	open_room(&r);
	run(&r, 10, 500, 100);
	call_of(&r, 1, L, 700);
	for (uint64_t ms = 710; ms < 900; ms += EVERY) {
		call_of(&r, 0, L, ms);
		record(&r, 0, ms);
	}
	got = close_room(&r, 900);
	assert_int_equal(got.missing, 0);
	assert_in_range(got.unknown_ms, 900 - 700 - 20, 900 - 700);	/* 19 works of 1 ms */
}

/* No helper asks CUPTI for the record of such a function. */
TEST(functions_that_cupti_does_not_record_are_not_missed)
{
	static struct funcs of_today;
	struct room r = { .correlation = 0 };
	struct result got;

	of_today = funcs;
	of_today.v[L].name = "cudaLaunchKernelOfTomorrow";
	r.m = model_new(&of_today);
	push(r.m, (struct event){ .kind = EVENT_START, .start_ns = BASE });
	push(r.m, (struct event){ .kind = EVENT_DEVICE, .pid = 7 });
	run(&r, 10, 500, 100);
	run(&r, 600, 2600, UINT64_MAX);
	got = close_room(&r, 4000);
	assert_int_equal(got.missing, 0);
	assert_int_equal(got.unknown_ms, 0);
}

TEST_GROUP(NULL, NULL);

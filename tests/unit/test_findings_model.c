// SPDX-License-Identifier: BSD-3-Clause
/*
 * Findings of a model, from its events: whose loss a gap is, another process on the device, and the
 * law that shares of a book are at most all of it, on any stream of events. TEST_SEED repeats a run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "event/event.h"
#include "findings/findings.h"
#include "lib/random.h"
#include "lib/test.h"
#include "model_room.h"
#include "snap_of.h"
#include "view/render.h"
#include "view_of.h"
#include "lib/work_named.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

static void assert_has(const struct strbuf *text, const char *part)
{
	if (!strstr(text->s, part))
		print_message("'%s' has no '%s'\n", text->s, part);
	assert_non_null(strstr(text->s, part));
}

#define BASE (1000 * SECOND)

static struct model *m;
static struct findings f;

static void restart(void)
{
	findings_free(&f);
	snap_end(m);
	m = session(BASE);
}

BEFORE_EACH
{
	restart();
}

AFTER_EACH
{
	findings_free(&f);
	snap_end(m);
	m = NULL;
}

struct step {			/* one thread's call, and the work that it launched, in ms */
	uint16_t func;
	double start, end, work_start, work_end;
};

static void step(uint32_t seq, const struct step *s)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = seq };
	struct event ev = { .kind = EVENT_CALL, .has = HAS_END, .pid = 12, .tid = 13, .seq = seq,
			    .func = s->func, .start_ns = BASE + (uint64_t)(s->start * (double)MS),
			    .end_ns = BASE + (uint64_t)(s->end * (double)MS) };

	push(m, ev);
	if (s->work_end <= 0)
		return;
	ev.kind = EVENT_API;
	ev.func = 0;
	ev.api = (struct event_api){ .cbid = 211, .correlation = seq, .domain = 5 };
	push(m, ev);
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 12,
				.start_ns = BASE + (uint64_t)(s->work_start * (double)MS),
				.end_ns = BASE + (uint64_t)(s->work_end * (double)MS),
				.work = work_named(w, "sgemm") });
}

/* Start-up, a kernel, a sync that returns late, host code, a kernel: what is before the first work
 * and after the last one belongs to no call. */
TEST(findings_of_a_session_are_its_gaps)
{
	static const struct step steps[] = {
		{ L, 30, 30.1, 31, 50 }, { S, 30.2, 50.3, 0, 0 }, { L, 50.8, 51, 51, 60 },
		{ S, 51.1, 60.2, 0, 0 }, { L, 80, 80.1, 80.2, 90 },
	};

	for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		step(i + 1, &steps[i]);
	finish(m, BASE + 100 * MS);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_int_equal(f.all.n, 2);
	assert_string_equal(f.all.v[0].name, "input-stall");
	assert_float_equal((float)f.all.v[0].share, 0.198f, 1e-6f);
	assert_string_equal(f.all.v[1].name, "needless-sync");
	assert_float_equal((float)f.all.v[1].share, 0.014f, 1e-6f);
	assert_has(&f.all.v[1].cause, "thread 13 waits in cudaStreamSynchronize");
	assert_has(&f.all.v[1].evidence, "2 calls x");
}

/* ---- stacks ---------------------------------------------------------------------------------- */

enum { LOOK_STACK = 71, END_STACK = 72 };

static void push_frame(uint64_t number, uint64_t caller, const char *function, const char *file)
{
	struct event ev = { .kind = EVENT_FRAME, .frame.function = function, .frame.file = file };

	ev.frame.number = number;
	ev.frame.caller = caller;
	push(m, ev);
}

static void push_stack(uint64_t id, uint64_t innermost)
{
	push(m, (struct event){ .kind = EVENT_STACK, .stack.id = id, .stack.frame = innermost });
}

/* A sync at the end, which waits long for the device, and one that runs it dry. */
static void push_syncs(bool stacks)
{
	static const struct step launches[] = {
		{ L, 30, 30.1, 31, 50 }, { L, 52, 52.2, 52.3, 99 },
	};

	step(1, &launches[0]);
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 12, .tid = 13, .seq = 2,
				.func = S, .start_ns = BASE + 45 * MS, .end_ns = BASE + 51 * MS,
				.call.stack = stacks ? LOOK_STACK : 0 });
	step(3, &launches[1]);
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 12, .tid = 13, .seq = 4,
				.func = S, .start_ns = BASE + 53 * MS, .end_ns = BASE + 99 * MS,
				.call.stack = stacks ? END_STACK : 0 });
	if (stacks) {
		push_frame(1, 0, "main", "1 /srv/train");
		push_frame(2, 1, "look", "1 /srv/train");
		push_frame(3, 2, "cudaStreamSynchronize", "2 /usr/lib/libcudart.so.13");
		push_frame(4, 1, "cudaStreamSynchronize", "2 /usr/lib/libcudart.so.13");
		push_stack(LOOK_STACK, 3);
		push_stack(END_STACK, 4);
	}
	finish(m, BASE + 100 * MS);
}

TEST(a_sync_is_blamed_where_it_runs_the_device_dry_not_where_it_waits_longest)
{
	push_syncs(true);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_string_equal(f.all.v[0].name, "needless-sync");
	assert_string_equal(f.all.v[0].where, "look");
	assert_string_equal(f.all.v[0].where_caller, "main");
}

static char *tables_of(void)
{
	static const struct view *const views[] = { &view_calls, &view_threads, &view_ledger };
	struct strbuf out = STRBUF_INIT;

	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		struct table *t = view_now(views[i], m);
		struct report r = { .tables = &t, .n_tables = 1 };

		assert_non_null(t);
		report_render(&out, &r, FORMAT_CSV);
		table_free(t);
	}
	return strbuf_detach(&out);
}

TEST(stacks_change_no_count_and_no_time)
{
	char *with, *without;

	push_syncs(true);
	with = tables_of();
	restart();
	push_syncs(false);
	without = tables_of();
	assert_string_equal(with, without);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_null(f.all.v[0].where);
	free(with);
	free(without);
}

/* ---- calls that were late -------------------------------------------------------------------- */

/* A sync of [30.2, 70) ms, of which it was as `why` says in [54.9, 69.9); the device ran dry at 50. */
static void push_late_sync(enum off_reason why)
{
	static const struct step steps[] = {
		{ L, 30, 30.1, 31, 50 }, { L, 70.5, 71, 71, 90 },
	};

	step(1, &steps[0]);
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 12, .tid = 13, .seq = 2,
				.func = S, .start_ns = BASE + 302 * MS / 10,
				.end_ns = BASE + 70 * MS, .call.blocked_ns = 39 * MS,
				.call.late_why = (uint8_t)why, .call.late_ns = 15 * MS,
				.call.after_late_ns = MS / 10 });
	step(3, &steps[1]);
	finish(m, BASE + 100 * MS);
}

static void assert_sync(const struct finding *sync, float gain)
{
	assert_string_equal(sync->name, "needless-sync");
	assert_float_equal((float)sync->share, 0.06f, 1e-6f);
	assert_float_equal((float)sync->gain_bound, gain, 1e-6f);
}

TEST(that_a_sync_had_no_cpu_is_no_fault_of_the_sync)
{
	push_late_sync(OFF_RUNQUEUE);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_int_equal(f.all.n, 2);
	assert_string_equal(f.all.v[0].name, "cpu-starved");
	assert_float_equal((float)f.all.v[0].share, 0.15f, 1e-6f);
	assert_sync(&f.all.v[1], 0.21f);	/* a host that runs ahead hides that, too */
}

TEST(that_a_process_was_stopped_is_no_fault_of_its_calls)
{
	push_late_sync(OFF_STOPPED);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_int_equal(f.all.n, 2);
	assert_string_equal(f.all.v[0].name, "stopped");
	assert_float_equal((float)f.all.v[0].share, 0.15f, 1e-6f);
	assert_has(&f.all.v[0].cause, "thread 13 was stopped by a signal");
	assert_sync(&f.all.v[1], 0.06f);
}

/* A crafted capture may hold any number: it is no index into sums. */
TEST(a_call_is_late_for_no_other_reason)
{
	push_late_sync((enum off_reason)60);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_int_equal(f.all.n, 1);
	assert_string_equal(f.all.v[0].name, "needless-sync");
}

static void one_work(uint32_t pid, uint32_t seq, const double ms[4])
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = seq };
	struct event ev = { .kind = EVENT_API, .pid = pid, .tid = pid, .api.correlation = seq,
			    .api.cbid = 211, .api.domain = 5,
			    .start_ns = BASE + (uint64_t)(ms[0] * (double)MS),
			    .end_ns = BASE + (uint64_t)(ms[1] * (double)MS) };

	push(m, ev);
	push(m, (struct event){ .kind = EVENT_WORK, .pid = pid,
				.start_ns = BASE + (uint64_t)(ms[2] * (double)MS),
				.end_ns = BASE + (uint64_t)(ms[3] * (double)MS),
				.work = work_named(w, "sgemm") });
}

/* Both on one device: 12's second work is launched at 46, 22 has the device in [50, 90). */
TEST(a_process_that_waits_for_another_is_found)
{
	const struct device_facts facts = { .uuid = "GPU-1" };

	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 12, .device.facts = facts });
	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 22, .device.facts = facts });
	one_work(12, 1, (const double[]){ 1, 2, 2, 40 });
	one_work(12, 2, (const double[]){ 45, 46, 90, 100 });
	one_work(22, 1, (const double[]){ 0, 1, 50, 90 });
	finish(m, BASE + 100 * MS);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_true(f.all.n > 0);
	assert_string_equal(f.all.v[0].name, "other-process");
	assert_int_equal(f.all.v[0].pid, 12);
	assert_float_equal((float)f.all.v[0].share, 0, 1e-6f);
	assert_float_equal((float)f.all.v[0].waits_share, 0.4f, 1e-6f);
}

/* 12 waits for input in [10, 90), 22 has the device in [12, 92): it idled in [10, 12). */
TEST(the_loss_of_a_device_is_the_time_that_no_process_had_it)
{
	const struct device_facts facts = { .uuid = "GPU-1" };

	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 12, .device.facts = facts });
	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 22, .device.facts = facts });
	step(1, &(struct step){ L, 1, 2, 2, 10 });
	step(2, &(struct step){ L, 89, 90, 90, 100 });
	one_work(22, 1, (const double[]){ 0, 1, 12, 92 });
	finish(m, BASE + 100 * MS);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_true(f.all.n > 0);
	assert_string_equal(f.all.v[0].name, "input-stall");
	assert_int_equal(f.all.v[0].pid, 12);
	assert_float_equal((float)f.all.v[0].waits_share, 0.79f, 1e-2f);
	assert_float_equal((float)f.all.v[0].share, 0.02f, 1e-3f);
	assert_float_equal((float)f.all.v[0].gain_bound, 0.02f, 1e-3f);
}

static void collective(uint32_t pid, uint32_t seq, double start, double end)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = seq };

	push(m, (struct event){ .kind = EVENT_WORK, .pid = pid,
				.start_ns = BASE + (uint64_t)(start * (double)MS),
				.end_ns = BASE + (uint64_t)(end * (double)MS),
				.work = work_named(w, "ncclDevKernel_AllReduce_Sum_f32_RING_LL") });
}

/* Three ranks: 12 waits for input for 30 ms before each of 20 collectives, in which 22 and 32 wait for it. */
TEST(a_late_rank_comes_before_those_that_wait_for_it)
{
	for (uint32_t i = 0; i < 20; i++) {
		double at = 35.2 * (i + 1);

		step(2 * i + 1, &(struct step){ L, at, at + 0.1, at + 0.1, at + 5 });
		step(2 * i + 2, &(struct step){ L, at + 34.8, at + 34.9, at + 34.9, at + 34.95 });
		collective(12, 100 + i, at + 35, at + 35.1);
		for (uint32_t pid = 22; pid <= 32; pid += 10) {
			one_work(pid, 2 * i + 1, (const double[]){ at, at + 0.1, at + 0.1, at + 5 });
			collective(pid, 100 + i, at + 5, at + 35.1);
		}
	}
	finish(m, BASE + 750 * MS);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_true(f.all.n >= 3);
	assert_string_equal(f.all.v[0].name, "input-stall");
	assert_int_equal(f.all.v[0].pid, 12);
	for (size_t i = 1; i < 3; i++) {
		assert_string_equal(f.all.v[i].name, "exposed-comm");
		assert_has(&f.all.v[i].cause, "waits for the late rank of pid 12, whose communications take 100.0 us");
		assert_true(f.all.v[i].share > f.all.v[0].share);	/* and yet it is later */
	}
}

/* It allocated before the interval in which it ends. */
TEST(unfreed_memory_is_counted_whenever_it_was_allocated)
{
	model_use_intervals(m);
	push(m, (struct event){ .kind = EVENT_MEMORY, .pid = 12, .memory.op = MEMORY_ALLOC,
				.memory.address = 4096,
				.memory.kind = MEMORY_KIND_DEVICE, .has = HAS_BYTES,
				.memory.bytes = 3ull << 30, .start_ns = BASE + 5 * MS });
	one_work(12, 1, (const double[]){ 1, 2, 2, 40 });
	push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + 15 * SECOND });
	snap_cut(m, BASE + 15 * SECOND);
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 12, .tid = 12, .seq = 1,
				.end_ns = BASE + 16 * SECOND });
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_int_equal(f.all.n, 1);
	assert_string_equal(f.all.v[0].name, "never-freed");
	assert_has(&f.all.v[0].evidence, "3.0 GiB in 1 allocation,");
}

static void failed(uint32_t seq, int32_t result, bool device_1)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = 1000 + seq, .device = device_1 };

	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END | HAS_RESULT, .pid = 12, .tid = 13,
				.seq = seq, .func = seq % 2 ? L : S, .call.result = result,
				.start_ns = BASE + seq * MS, .end_ns = BASE + seq * MS + 100 });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 12, .start_ns = BASE + seq * MS,
				.end_ns = BASE + (seq + 1) * MS, .work = work_named(w, "sgemm") });
}

/* Two launches and a wait fail for good, a launch for now; it has two devices. */
TEST(calls_after_which_all_fail_are_reported_once_and_first)
{
	static const int32_t results[] = { 0, 0, 0, 999, 999, 2, 600, 999 };
	size_t got = 0;

	for (uint32_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		failed(i + 1, results[i], i % 2);
	finish(m, BASE + 100 * MS);
	assert_int_equal(findings_of(&f, m, 0), 0);
	for (size_t i = 0; i < f.all.n; i++)
		got += !strcmp(f.all.v[i].name, "cuda-error");
	assert_int_equal(got, 1);
	assert_string_equal(f.all.v[0].name, "cuda-error");
	assert_int_equal(f.all.v[0].device, 0);
	assert_has(&f.all.v[0].cause, "cudaStreamSynchronize gave cudaErrorUnknown (999)");
	assert_string_equal(f.all.v[0].evidence.s, "3 calls failed so");
}

/* It was refused twice, and has no device. */
TEST(a_missing_device_is_a_finding_without_a_device)
{
	struct strbuf verdict = STRBUF_INIT;

	for (uint32_t seq = 1; seq < 4; seq++)
		push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END | HAS_RESULT, .pid = 12, .tid = 13,
					.seq = seq, .func = S, .call.result = seq > 1 ? 100 : 0,
					.start_ns = BASE + seq * MS, .end_ns = BASE + seq * MS + 100 });
	finish(m, BASE + 100 * MS);
	assert_int_equal(findings_of(&f, m, 0), 0);
	assert_int_equal(f.all.n, 1);
	assert_string_equal(f.all.v[0].name, "cuda-error");
	assert_string_equal(finding_severity(&f.all.v[0]), "medium");
	assert_int_equal(f.all.v[0].device, FINDING_NO_DEVICE);
	assert_int_equal(verdict_of(&verdict, m), 0);
	assert_has(&verdict, "CUDA cannot be used (pid 12");
	assert_has(&verdict, "cudaStreamSynchronize gave cudaErrorNoDevice (100): there is no device for it");
	assert_has(&verdict, "Evidence: 2 calls failed so.");
	strbuf_free(&verdict);
}

/* 2 GiB are still there at the end, 1 GiB was freed. */
static void find_with_memory(const struct event *end)
{
	restart();
	one_work(12, 1, (const double[]){ 1, 2, 2, 99 });
	for (uint64_t i = 0; i < 4; i++)
		push(m, (struct event){ .kind = EVENT_MEMORY, .pid = 12, .has = HAS_BYTES,
					.memory.op = i < 3 ? MEMORY_ALLOC : MEMORY_FREE,
					.memory.kind = MEMORY_KIND_DEVICE,
					.start_ns = BASE + (10 + i) * MS,
					.memory.address = 4096 + i % 3, .memory.bytes = 1 << 30 });
	if (end)
		push(m, *end);
	finish(m, BASE + 100 * MS);
	assert_int_equal(findings_of(&f, m, 0), 0);
}

/* Seen as its first thread ended, or found out when the session did. */
TEST(memory_that_was_never_freed_is_found_when_the_process_has_ended)
{
	const struct event ends[] = {
		{ .kind = EVENT_EXIT, .pid = 12, .tid = 12, .seq = 1, .end_ns = BASE + 99 * MS },
		{ .kind = EVENT_IDENTITY, .pid = 12, .tid = 12, .fact.key = "ended",
		  .fact.value = "yes" },
	};

	for (size_t i = 0; i < 2; i++) {
		find_with_memory(&ends[i]);
		assert_int_equal(f.all.n, 1);
		assert_string_equal(f.all.v[0].name, "never-freed");
		assert_has(&f.all.v[0].evidence, "2.0 GiB in 2 allocations");
	}
	find_with_memory(NULL);
	assert_int_equal(f.all.n, 0);
}

/* Of some records it is unknown how many were of memory, and the calls were not seen. */
TEST(memory_with_lost_records_is_no_leak)
{
	one_work(12, 1, (const double[]){ 1, 2, 2, 99 });
	push(m, (struct event){ .kind = EVENT_MEMORY, .pid = 12, .has = HAS_BYTES,
				.memory.op = MEMORY_ALLOC,
				.memory.kind = MEMORY_KIND_DEVICE, .start_ns = BASE + 10 * MS,
				.memory.address = 4096, .memory.bytes = 1 << 30 });
	assert_false(snap_of(m)->processes.v[0].memory_incomplete);
	push(m, (struct event){ .kind = EVENT_UNSEEN, .pid = 12, .unseen.why = UNSEEN_LOST,
				.unseen.count = 1,
				.start_ns = BASE + 12 * MS, .end_ns = BASE + 13 * MS });
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 12, .tid = 12, .seq = 1,
				.end_ns = BASE + 99 * MS });
	finish(m, BASE + 100 * MS);
	assert_true(snap_of(m)->processes.v[0].memory_incomplete);
	assert_int_equal(findings_of(&f, m, 0), 0);
	for (size_t i = 0; i < f.all.n; i++)
		assert_string_not_equal(f.all.v[i].name, "never-freed");
}

/* ---- laws ------------------------------------------------------------------------------------- */

static void push_random(uint64_t *now)
{
	static const uint8_t kinds[] = { EVENT_CALL, EVENT_CALL, EVENT_ENTER, EVENT_API, EVENT_API,
					 EVENT_WORK, EVENT_WORK, EVENT_WORK, EVENT_EXIT,
					 EVENT_UNARMED, EVENT_INSIDE, EVENT_GONE, EVENT_WATERMARK };
	const struct work w = { .kind = (uint8_t)(1 + below(5)), .correlation = (uint32_t)below(200),
				.stream = (uint32_t)below(2), .device = (uint32_t)below(2),
				.memory = (uint8_t)below(4), .bytes = below(1 << 20) };
	uint64_t start = below(50) ? *now + below(3 * MS) : BASE + below(20 * SECOND);
	struct event ev = { .kind = kinds[below(sizeof(kinds))], .pid = 7, .tid = 7 + (uint32_t)below(3),
			    .seq = (uint32_t)below(200), .func = (uint16_t)below(3), .has = HAS_BYTES,
			    .call.bytes = below(2) << 20, .start_ns = start,
			    .end_ns = start + below(4 * MS) };

	*now += below(MS);
	if (ev.kind == EVENT_API)
		ev.api = (struct event_api){ .cbid = 211, .correlation = ev.seq };
	if (ev.kind == EVENT_WORK)
		ev.work = work_named(w, below(2) ? "ncclDevKernel_AllReduce" : "sgemm");
	push(m, ev);
}

/* Of each book: what is lost in one way is not lost in another, and bounds are bounds. */
static void check_shares(void)
{
	double sum[2] = { 0 };

	for (size_t i = 0; i < f.all.n; i++) {
		const struct finding *one = &f.all.v[i];

		assert_true(one->has_share && one->share >= 0 && one->share <= 1);
		assert_true(one->gain_bound >= one->share && one->gain_bound <= 1);
		assert_true(one->device < 2);
		sum[one->device] += one->share;
		assert_true(*one->cause.s && *one->evidence.s);
	}
	assert_true(sum[0] <= 1.000001 && sum[1] <= 1.000001);
}

TEST(shares_of_a_book_never_exceed_the_whole)
{
	random_seed(state);
	for (int round = 0; round < random_rounds(100); round++) {
		uint64_t now = BASE;

		restart();
		for (int i = 0; i < 600; i++)
			push_random(&now);
		assert_int_equal(findings_of(&f, m, now), 0);
		check_shares();
		findings_free(&f);
		finish(m, now);
		assert_int_equal(findings_of(&f, m, 0), 0);
		check_shares();
	}
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Each rule on a book that has what it looks for, with the figures that it must give; no rule on a
 * clean book, nor where the loss is too small for a line.
 */
#include <stdlib.h>
#include <string.h>

#include "findings/findings.h"
#include "lib/test.h"

#define MS 1000000ull
#define SECOND (1000 * MS)

/* Ten seconds of a device that computes 9.7 of them, hides its communication, copies pinned memory. */
static struct finding_book clean_book(void)
{
	return (struct finding_book){
		.pid = 12, .device = 1, .target = { .pid = 12, .device = 1, .probes = true }, .wall_ns = 10 * SECOND,
		.compute_ns = 9700 * MS, .compute_busy_ns = 9800 * MS,
		.comm_ns = 50 * MS, .comm_busy_ns = 2 * SECOND, .comms = 100,
		.kernels = 10000, .kernels_ns = 9800 * MS,
		.pinned = { 1000, 16000000000ull, 800 * MS, 60 * MS },
		.has_waited = true, .waited_ns = 20 * MS,
		.has_memory = true, .leaked_bytes = 1 << 20, .leaks = 2, .peak_bytes = 40ull << 30,
	};
}

/* A loss of thread 13 in so many gaps of 2 ms. */
static struct finding_stall loss(enum stall_kind kind, uint64_t ns, const char *function)
{
	return (struct finding_stall){
		.stall = { .key.tid = 13, .key.kind = (uint8_t)kind, .ns = ns, .gaps = ns / (2 * MS),
			  .longest_ns = 5 * MS },
		.comm = "train", .function = function, .calls = 500, .calls_ns = 500 * 3 * MS,
		.late_ns = ns / 2,
	};
}

static struct finding_book book_with(struct finding_stall *stalls, unsigned int n)
{
	struct finding_book b = clean_book();

	b.stalls = stalls;
	b.n_stalls = n;
	return b;
}

/* The findings of a book, until the next is judged. */
static const struct findings *judge(const struct finding_book *b)
{
	static struct findings f;

	findings_free(&f);
	f = (struct findings){ 0 };
	assert_int_equal(findings_judge(&f, b), 0);
	return &f;
}

static void none(const struct finding_book *b)
{
	const struct findings *f = judge(b);

	for (size_t i = 0; i < f->all.n; i++)
		print_message("found %s\n", f->all.v[i].name);
	assert_int_equal(f->all.n, 0);
}

static struct finding found;

/* The only finding of a book is this one, which becomes `found`. */
static void only(const struct finding_book *b, const char *name)
{
	const struct findings *f = judge(b);

	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.n != 1 || strcmp(f->all.v[i].name, name) != 0)
			print_message("found %s: %s (%s)\n", f->all.v[i].name, f->all.v[i].cause.s,
				      f->all.v[i].evidence.s);
	assert_int_equal(f->all.n, 1);
	assert_string_equal(f->all.v[0].name, name);
	assert_int_equal(f->all.v[0].pid, 12);
	assert_int_equal(f->all.v[0].device, 1);
	found = f->all.v[0];
}

static void assert_share(double share, double bound)
{
	assert_true(found.has_share);
	assert_float_equal((float)found.share, (float)share, 1e-6f);
	assert_float_equal((float)found.gain_bound, (float)bound, 1e-6f);
}

static void assert_has(const struct strbuf *text, const char *part)
{
	if (!strstr(text->s, part))
		print_message("'%s' has no '%s'\n", text->s, part);
	assert_non_null(strstr(text->s, part));
}

TEST(a_clean_book_has_no_finding)
{
	struct finding_book b = clean_book(), empty = { .pid = 1 };
	struct finding_stall little[STALL_KINDS];

	for (unsigned int i = 0; i < STALL_KINDS; i++)
		little[i] = loss(i, 20 * MS, "f");
	b.stalls = little;
	b.n_stalls = STALL_KINDS;
	none(&b);
	none(&empty);
}

TEST(a_needless_sync_is_named_with_its_function_and_thread)
{
	struct finding_stall rows[] = { loss(STALL_SYNC, 1000 * MS, "cudaStreamSynchronize"),
				       loss(STALL_COPY_SMALL, 500 * MS, "cudaMemcpy") };
	struct finding_book b = book_with(rows, 2);

	rows[0].stall.cause_ns[IDLE_SYNC] = 400 * MS;
	rows[0].stall.cause_ns[IDLE_OTHER] = 600 * MS;
	only(&b, "needless-sync");
	assert_share(0.15, 0.15);
	assert_int_equal(found.tid, 13);
	assert_string_equal(finding_severity(&found), "medium");
	assert_has(&found.cause, "thread 13 (train) waits in cudaStreamSynchronize");
	assert_has(&found.cause, "1 more thread or function");
	assert_has(&found.evidence, "750 times, 2.000 ms each, 5.000 ms at most");
	assert_has(&found.evidence, "400.0 ms still in the call, 1.100 s until");
	assert_has(&found.evidence, "500 calls x 3.000 ms");
	assert_string_equal(found.next.s, "gpuprof stat --stacks --by stack --table calls "
			    "--filter cudaStreamSynchronize -d 10s -p 12");
}

static const char look[] = "look", step[] = "step", eval[] = "eval";

static void at_place(struct finding_book *b, unsigned int kind, const char *function,
		     const char *caller, uint64_t ms)
{
	struct finding_place *place = VEC_PUSH(&b->places);

	assert_non_null(place);
	*place = (struct finding_place){ kind, function, caller, ms * MS };
}

/* Over all its callers `look` has more than `eval`; what other kinds have counts for nothing. */
TEST(a_finding_is_where_most_of_its_own_time_is)
{
	struct finding_stall rows[] = { loss(STALL_SYNC, 1000 * MS, "cudaStreamSynchronize"),
				       loss(STALL_COPY_SMALL, 500 * MS, "cudaMemcpy") };
	struct finding_book b = book_with(rows, 2);

	at_place(&b, STALL_SYNC, eval, NULL, 500);
	at_place(&b, STALL_SYNC, look, eval, 300);
	at_place(&b, STALL_COPY_SMALL, look, step, 400);
	at_place(&b, STALL_ALLOC, step, NULL, 9000);
	at_place(&b, PLACE_COPIES, step, NULL, 9000);
	only(&b, "needless-sync");
	assert_string_equal(found.where, "look");
	assert_string_equal(found.where_caller, "step");
	b.places.n = 1;
	only(&b, "needless-sync");
	assert_string_equal(found.where, "eval");
	assert_null(found.where_caller);
	b.places.n = 0;
	only(&b, "needless-sync");
	assert_null(found.where);
	VEC_FREE(&b.places);
}

TEST(communication_and_copies_are_where_their_calls_are)
{
	struct finding_book b = clean_book();

	b.comm_ns = 1000 * MS;
	at_place(&b, PLACE_COPIES, look, NULL, 3000);
	at_place(&b, PLACE_COLLECTIVES, step, eval, 1);
	only(&b, "exposed-comm");
	assert_string_equal(found.where, "step");
	b.comm_ns = 50 * MS;
	b.pageable = (struct finding_copies){ 30, 30ull << 20, 1000 * MS, 1000 * MS };
	only(&b, "unpinned-copies");
	assert_string_equal(found.where, "look");
	VEC_FREE(&b.places);
}

/* Without probes: in no call the thread may have waited for a CPU, which is not the program's fault. */
TEST(unseen_time_between_calls_is_not_blamed_on_a_sync)
{
	struct finding_stall row = loss(STALL_SYNC, 1000 * MS, "cudaStreamSynchronize");
	struct finding_book b = book_with(&row, 1);

	row.stall.cause_ns[IDLE_SYNC] = 300 * MS;
	row.stall.cause_ns[IDLE_UNKNOWN] = 700 * MS;
	only(&b, "needless-sync");
	assert_share(0.03, 0.106);	/* and the copies of the clean book */
	assert_has(&found.evidence, "300.0 ms still in the call, 0 ns until the next work began; "
		   "500 calls x 3.000 ms; 700.0 ms more, between calls, are not counted: the thread may have had no CPU");
	row.stall.cause_ns[IDLE_SYNC] = 50 * MS;
	row.stall.cause_ns[IDLE_UNKNOWN] = 950 * MS;
	none(&b);
	row = loss(STALL_LAUNCH, 1000 * MS, NULL);
	row.stall.cause_ns[IDLE_LAUNCH] = 200 * MS;
	row.stall.cause_ns[IDLE_UNKNOWN] = 800 * MS;
	only(&b, "launch-bound");
	assert_share(0.02, 0.1);
}

static const struct finding *find(const struct findings *f, const char *name)
{
	for (size_t i = 0; i < f->all.n; i++)
		if (!strcmp(f->all.v[i].name, name))
			return &f->all.v[i];
	fail_msg("no %s", name);
	return NULL;
}

TEST(without_a_sync_the_host_runs_ahead_of_what_other_findings_have)
{
	struct finding_stall rows[] = { loss(STALL_SYNC, 500 * MS, "cudaStreamSynchronize"),
				       loss(STALL_HOST, 2000 * MS, NULL) };
	struct finding_book b = book_with(rows, 2);
	struct findings f = { 0 };
	const struct finding *sync;

	rows[0].stall.cause_ns[IDLE_SYNC] = 500 * MS;
	rows[1].stall.cause_ns[IDLE_OTHER] = 2000 * MS;
	rows[0].calls_ns = 4000 * MS;
	assert_int_equal(findings_judge(&f, &b), 0);
	sync = find(&f, "needless-sync");
	assert_float_equal((float)sync->share, 0.05f, 1e-6f);
	assert_float_equal((float)sync->gain_bound, 0.256f, 1e-6f);	/* with 60 ms of copies */
	assert_float_equal((float)sync->gain_of_others, 0.206f, 1e-6f);
	assert_float_equal((float)find(&f, "input-stall")->gain_bound, 0.2f, 1e-6f);
	findings_free(&f);
	rows[0].calls_ns = 700 * MS;	/* the rest the host does all the same */
	assert_int_equal(findings_judge(&f, &b), 0);
	assert_float_equal((float)find(&f, "needless-sync")->gain_bound, 0.07f, 1e-6f);
	findings_free(&f);
}

TEST(an_input_stall_has_its_known_cause_only)
{
	struct finding_stall row = loss(STALL_HOST, 3000 * MS, NULL);
	struct finding_book b = book_with(&row, 1);
	const struct offcpu_row off = { .what = (char *)"futex", .waker = (char *)"loader" };

	row.stall.cause_ns[IDLE_OTHER] = 3000 * MS;
	only(&b, "input-stall");
	assert_share(0.3, 0.3);
	assert_string_equal(finding_severity(&found), "high");
	assert_has(&found.cause, "thread 13 (train) is in no call");
	assert_string_equal(found.evidence.s, "1,500 times, 2.000 ms each, 5.000 ms at most");
	assert_string_equal(found.next.s, "gpuprof stacks -p 12");
	row.stall.cause_ns[IDLE_OTHER] = 300 * MS;
	row.stall.cause_ns[IDLE_LOCK] = 2700 * MS;
	row.off = &off;
	only(&b, "input-stall");
	assert_has(&found.cause, "it waits for a lock or another thread (futex, woken by loader)");
	assert_string_equal(found.next.s, "gpuprof stat --stacks --wide --table offcpu -d 10s -p 12");
	assert_has(&found.evidence, "; 10 % on a CPU, 90 % lock");
	row.stall.cause_ns[IDLE_OTHER] = 2900 * MS;
	row.stall.cause_ns[IDLE_LOCK] = 100 * MS;
	only(&b, "input-stall");
	assert_has(&found.cause, "it runs host code");
	memset(row.stall.cause_ns, 0, sizeof(row.stall.cause_ns));
	row.stall.cause_ns[IDLE_UNKNOWN] = 3000 * MS;
	only(&b, "input-stall");
	assert_has(&found.cause, "is in no call that CUPTI records");
	assert_has(&found.cause, "or is in one that only probes see");
}

TEST(a_thread_without_a_cpu_differs_from_a_waiting_one)
{
	struct finding_stall row = loss(STALL_RUNQUEUE, 800 * MS, NULL);
	struct finding_book b = book_with(&row, 1);

	only(&b, "cpu-starved");
	assert_share(0.08, 0.08);
	assert_has(&found.cause, "thread 13 (train) is ready to run and gets no CPU");
}

TEST(communication_is_exposed_where_no_compute_runs_beside)
{
	struct finding_book b = clean_book();

	b.comm_ns = 1500 * MS;
	b.comm_kernel = "_Z23ncclDevKernel_AllReducei";
	b.comm_tid = 14;
	b.comm_thread = "main";
	only(&b, "exposed-comm");
	assert_share(0.15, 0.15);
	assert_has(&found.cause, "ncclDevKernel_AllReduce runs with no compute beside it; thread 14 (main)");
	assert_has(&found.evidence, "100 communications x 20.00 ms, 25 % hidden under compute");
	b.compute_ns = 800 * MS;	/* of that 500 ms hide communication already */
	only(&b, "exposed-comm");
	assert_share(0.15, 0.15);
	assert_has(&found.evidence, "300.0 ms more could hide under the compute there is");
}

TEST(a_device_that_waits_for_launches_is_launch_bound)
{
	struct finding_stall row = loss(STALL_LAUNCH, 400 * MS, NULL);
	struct finding_book b = book_with(&row, 1);

	row.stall.cause_ns[IDLE_LAUNCH] = 100 * MS;
	row.stall.cause_ns[IDLE_OTHER] = 250 * MS;
	row.stall.cause_ns[IDLE_QUEUED] = 50 * MS;
	only(&b, "launch-bound");
	assert_share(0.04, 0.04);
	assert_string_equal(finding_severity(&found), "low");
	assert_has(&found.evidence, "100.0 ms in launch calls, 250.0 ms between them, 50.00 ms until it began");
}

TEST(unpinned_copies_cost_their_exposed_time_and_the_wait)
{
	struct finding_stall row = loss(STALL_COPY, 200 * MS, "cudaMemcpyAsync");
	struct finding_book b = book_with(&row, 1);

	b.pageable = (struct finding_copies){ 100, 100ull << 24, 800 * MS, 500 * MS };
	only(&b, "unpinned-copies");
	assert_share(0.07, 0.07);
	assert_has(&found.cause, "thread 13 (train) copies pageable memory by cudaMemcpyAsync");
	assert_has(&found.evidence, "100 copies of 16.0 MiB at 2.1 GB/s (pinned ones 20 GB/s); "
		   "500.0 ms with no compute beside, 200.0 ms idle for it");
	b.pageable = (struct finding_copies){ 0 };
	only(&b, "blocking-copies");
	assert_share(0.026, 0.026);
	assert_has(&found.evidence, "; 60.00 ms with no compute beside; ");
	b.pinned.owned_ns = 9000 * MS;	/* asynchronous ones: the calls last for less */
	only(&b, "blocking-copies");
	assert_share(0.17, 0.17);
}

TEST(compiling_is_found_only_of_the_later_half)
{
	struct finding_stall row = loss(STALL_COMPILE, 600 * MS, "cuModuleLoadData");
	struct finding_book b = book_with(&row, 1);

	only(&b, "steady-compile");
	assert_share(0.03, 0.03);
	assert_has(&found.cause, "cuModuleLoadData");
	row.stall.cause_ns[IDLE_UNKNOWN] = 400 * MS;
	only(&b, "steady-compile");
	assert_share(0.02, 0.03);
	assert_has(&found.evidence, "of that 200.0 ms in the later half; 500 calls x 3.000 ms; 400.0 ms more, "
		   "between calls, are not counted");
	row.stall.cause_ns[IDLE_UNKNOWN] = 550 * MS;	/* what is known is less than a line is worth */
	none(&b);
	row.stall.cause_ns[IDLE_UNKNOWN] = row.late_ns = 0;
	none(&b);
}

TEST(allocations_and_collective_calls_that_stop_the_device)
{
	struct finding_stall row = loss(STALL_ALLOC, 600 * MS, "cudaFree");
	struct finding_book b = book_with(&row, 1);

	only(&b, "alloc-stall");
	assert_has(&found.cause, "thread 13 (train) is in cudaFree, while the device has nothing to do");
	row = loss(STALL_COLLECTIVE, 600 * MS, "ncclGroupEnd");
	only(&b, "comm-call");
	assert_share(0.06, 0.06);
}

TEST(small_kernels_have_the_saving_of_a_graph)
{
	struct finding_stall rows[] = { loss(STALL_QUEUED, 3000 * MS, NULL), loss(STALL_LAUNCH, 80 * MS, NULL) };
	struct finding_book b = book_with(rows, 2);

	none(&b);	/* 980 us each: it is something else */
	b.kernels = 1000000;
	only(&b, "small-kernels");
	assert_share(0.3, 0.308);
	assert_has(&found.evidence, "1,000,000 kernels x 9.800 us; 3.000 s idle between launched ones");
}

TEST(another_process_on_the_device_is_found_where_it_is_known)
{
	struct finding_book b = clean_book();

	b.waited_ns = 1000 * MS;
	only(&b, "other-process");
	assert_share(0, 0);	/* the device was busy with them */
	assert_float_equal((float)found.waits_share, 0.1f, 1e-6f);
	assert_string_equal(finding_severity(&found), "medium");
	b.has_waited = false;
	none(&b);
}

/* Others had the device for 90 % of the 8 s that this one waited: it lost 4 % of 20 s, not 80 % of 10. */
TEST(a_loss_of_a_shared_device_is_what_it_idled)
{
	struct finding_stall row = loss(STALL_HOST, 8 * SECOND, NULL);
	struct finding_book b = book_with(&row, 1);

	b.is_shared = true;
	b.device_ns = 20 * SECOND;
	b.idle_part = 0.1;
	b.alone_part = 1;
	only(&b, "input-stall");
	assert_share(0.04, 0.04);
	assert_string_equal(finding_severity(&found), "low");
	assert_has(&found.evidence, "80.0 % of the process's own time");
	b.idle_part = 0;	/* what the process itself waits is still found */
	only(&b, "input-stall");
	assert_share(0, 0);
	b.is_shared = false;
	only(&b, "input-stall");
	assert_share(0.8, 0.8);
	assert_null(strstr(found.evidence.s, "own time"));
}

/* A loss of 40 %: high, but on too little. */
TEST(a_finding_on_too_little_says_so_first_and_is_never_high)
{
	struct finding_stall row = loss(STALL_SYNC, 4 * SECOND, "cudaStreamSynchronize");
	struct finding_book b = book_with(&row, 1);

	only(&b, "needless-sync");
	assert_string_equal(finding_severity(&found), "high");
	b.measured_ns = 43 * MS;
	only(&b, "needless-sync");
	assert_string_equal(finding_severity(&found), "medium");
	assert_int_equal(strncmp(found.evidence.s, "only 43.00 ms were measured: ", 29), 0);
	b.measured_ns = SECOND;
	b.lost_share = 0.372;
	only(&b, "needless-sync");
	assert_string_equal(finding_severity(&found), "medium");
	assert_has(&found.evidence, "37.2 % of the events were lost: ");
	b.lost_share = 0.01;
	b.off_cpu_unknown = true;
	only(&b, "needless-sync");
	assert_string_equal(finding_severity(&found), "medium");
	assert_has(&found.evidence, "it was not recorded if the thread was stopped or had no CPU: ");
	b.off_cpu_unknown = false;
	b.off_cpu_sampled = true;
	only(&b, "needless-sync");
	assert_string_equal(finding_severity(&found), "medium");
	assert_has(&found.evidence, "was stopped or had no CPU is estimated from samples: ");
	b.off_cpu_sampled = false;
	row.stall.gaps = 9;
	only(&b, "needless-sync");
	assert_string_equal(finding_severity(&found), "medium");
	assert_has(&found.evidence, "it happened only 9 times: ");
	row.stall.gaps = 10;
	only(&b, "needless-sync");
	assert_string_equal(finding_severity(&found), "high");
}

/* What is estimated itself, too. */
TEST(a_stop_that_was_sampled_is_never_high)
{
	static const struct { enum stall_kind kind; const char *name; } kinds[] = {
		{ STALL_STOPPED, "stopped" }, { STALL_RUNQUEUE, "cpu-starved" },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct finding_stall row = loss(kinds[i].kind, 4 * SECOND, NULL);
		struct finding_book b = book_with(&row, 1);

		only(&b, kinds[i].name);
		assert_string_equal(finding_severity(&found), "high");
		b.off_cpu_sampled = true;
		only(&b, kinds[i].name);
		assert_string_equal(finding_severity(&found), "medium");
		assert_has(&found.evidence, "is estimated from samples: ");
	}
}

TEST(one_gap_that_is_nearly_all_of_a_loss_is_a_one_off)
{
	struct finding_stall row = loss(STALL_HOST, 4 * SECOND, NULL);
	struct finding_book b = book_with(&row, 1);

	row.stall.longest_ns = 3599 * MS;
	only(&b, "input-stall");
	assert_null(strstr(found.evidence.s, "one-off"));
	row.stall.longest_ns = 3600 * MS;
	only(&b, "input-stall");
	assert_string_equal(finding_severity(&found), "medium");
	assert_has(&found.evidence, "one-off: nearly all of it is a single time: 2,000 times");
	row.stall.gaps = 1;
	only(&b, "input-stall");
	assert_int_equal(strncmp(found.evidence.s, "one-off: 1 time, ", 17), 0);
}

TEST(no_stacks_are_proposed_of_a_process_that_has_ended)
{
	struct finding_stall row = loss(STALL_HOST, 4 * SECOND, NULL);
	struct finding_book b = book_with(&row, 1);

	only(&b, "input-stall");
	assert_string_equal(found.next.s, "gpuprof stacks -p 12");
	b.target.ended = true;
	b.target.command = "./train";
	only(&b, "input-stall");
	assert_string_equal(found.next.s,
			    "gpuprof stat --stacks --by stack --table calls --filter . -- ./train");
}

/* The thread was ready for 2 s of 10, and gpuprof ran for 0.5 s of the session, or for 1.5 s. */
TEST(a_cpu_that_gpuprof_had_is_not_promised)
{
	struct finding_stall row = loss(STALL_RUNQUEUE, 2 * SECOND, NULL);
	struct finding_book b = book_with(&row, 1);

	only(&b, "cpu-starved");
	assert_share(0.2, 0.2);
	b.gpuprof_cpu_ns = 500 * MS;
	only(&b, "cpu-starved");
	assert_share(0.2, 0.15);
	assert_string_equal(finding_severity(&found), "medium");
	assert_has(&found.evidence, "up to 500.0 ms of that is gpuprof's own cost");
	b.gpuprof_cpu_ns = 1500 * MS;
	only(&b, "cpu-starved");
	assert_share(0.2, 0.05);
	assert_has(&found.cause, "most of that may be gpuprof's own cost");
	row = loss(STALL_STOPPED, 2 * SECOND, NULL);
	only(&b, "stopped");
	assert_share(0.2, 0.2);
}

TEST(device_wait_excludes_time_of_another_process)
{
	struct finding_stall row = loss(STALL_WAITED, 1500 * MS, NULL);
	struct finding_book b = book_with(&row, 1);

	b.has_waited = false;
	only(&b, "device-wait");
	assert_share(0.15, 0.15);
	b.has_waited = true;
	b.waited_ns = 1450 * MS;
	only(&b, "other-process");
	assert_float_equal((float)found.waits_share, 0.145f, 1e-6f);
}

TEST(memory_never_freed_has_no_share_of_time)
{
	struct finding_book b = clean_book();

	b.leaked_bytes = 2ull << 30;
	b.leaks = 512;
	only(&b, "never-freed");
	assert_false(found.has_share);
	assert_string_equal(finding_severity(&found), "low");
	assert_string_equal(found.evidence.s, "2.0 GiB in 512 allocations, of 40.0 GiB that it had at most");
	b.leaked_bytes = 100 << 20;	/* a workspace of who had much */
	none(&b);
	b.peak_bytes = 1 << 30;		/* much of who had little */
	only(&b, "never-freed");
	b.leaked_bytes = b.peak_bytes = 1 << 19;	/* nothing to speak of */
	none(&b);
	b.leaked_bytes = 2ull << 30;
	b.has_memory = false;
	none(&b);
}

TEST(a_call_after_which_all_fail_is_severe_with_advice)
{
	const struct func launch = { "cuLaunchKernel", "cuda", CLASS_LAUNCH, 0 };
	struct finding_book b = clean_book();

	b.fatal_function = &launch;
	b.fatal_result = 719;
	b.fatal_calls = 7;
	only(&b, "cuda-error");
	assert_false(found.has_share);
	assert_string_equal(finding_severity(&found), "high");
	assert_string_equal(found.cause.s, "cuLaunchKernel gave CUDA_ERROR_LAUNCH_FAILED (719): a kernel "
			    "broke it, and the process can do nothing more with its context");
	assert_string_equal(found.evidence.s, "7 calls failed so");
	assert_string_equal(found.next.s, "compute-sanitizer COMMAND");
	b.fatal_result = 999;
	only(&b, "cuda-error");
	assert_string_equal(found.next.s, "dmesg | grep -i xid");
}

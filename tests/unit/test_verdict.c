// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a report says first: the largest loss with thread, share, evidence, bound and next command;
 * that nothing is wrong where nothing is; bounds where devices were not seen; and no more than three
 * sentences.
 */
#include <string.h>

#include "base/str.h"
#include "event/event.h"
#include "view_of.h"
#include "lib/work_named.h"
#include "model_each.h"

#define MS 1000000ull
#define BASE (1000000 * MS)

static uint64_t at(double ms)
{
	return BASE + (uint64_t)(ms * (double)MS);
}

static void call(uint32_t seq, uint16_t func, double start, double end)
{
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .pid = 12, .tid = 13, .seq = seq,
				.func = func, .start_ns = at(start), .end_ns = at(end) });
}

/* A launch, and its work. */
static void launch(uint32_t seq, double start, double work_start, double work_end)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = seq };

	call(seq, L, start, start + 0.1);
	push(m, (struct event){ .kind = EVENT_API, .pid = 12, .tid = 13, .api.correlation = seq,
				.api.cbid = 211, .api.domain = 5, .start_ns = at(start),
				.end_ns = at(start + 0.1) });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 12, .start_ns = at(work_start),
				.end_ns = at(work_end), .work = work_named(w, "sgemm") });
}

static void begin(void)
{
	restart(BASE);
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 12, .task.comm = "train" });
	push(m, (struct event){ .kind = EVENT_THREAD, .pid = 12, .tid = 13, .start_ns = 1,
				.task.comm = "worker" });
}

BEFORE_EACH
{
	begin();
}

static void says(const char *wanted)
{
	struct strbuf out = STRBUF_INIT;
	unsigned int lines = 1;

	finish(m, at(100));
	assert_int_equal(verdict_of(&out, m), 0);
	assert_string_equal(out.s, wanted);
	for (const char *s = out.s; *s; s++)
		lines += *s == '\n';
	assert_true(lines <= 3);
	strbuf_free(&out);
}

TEST(the_largest_loss_comes_with_all_that_is_known_of_it)
{
	launch(1, 1, 2, 50);
	launch(2, 80, 80.1, 100);
	says("30.0 % of device 0 (pid 12, train) is lost to input-stall: thread 13 (worker) is in "
	     "no call while the device has nothing to do: it waits for input, or runs host code.\n"
	     "Evidence: only 100.0 ms were measured, one-off: 1 time, 30.00 ms; without it at most 30.0 % is gained.\n"
	     "Next: gpuprof stacks -p 12");
}

TEST(lost_records_are_part_of_what_is_known_of_the_largest_loss)
{
	launch(1, 1, 2, 50);
	launch(2, 80, 80.1, 100);
	push(m, (struct event){ .kind = EVENT_UNSEEN, .pid = 12, .unseen.why = UNSEEN_LOST,
				.start_ns = at(50), .end_ns = at(60) });
	says("20.0 % of device 0 (pid 12, train) is lost to input-stall: thread 13 (worker) is in "
	     "no call while the device has nothing to do: it waits for input, or runs host code.\n"
	     "Evidence: only 100.0 ms were measured, one-off: 1 time, 20.00 ms; without it at most "
	     "20.0 % is gained; for 10.0 % of the time records of the device were lost.\n"
	     "Next: gpuprof stacks -p 12");
}

/* A kernel runs still, or hangs. */
TEST(an_unknown_device_may_hang_where_a_thread_waits_for_it)
{
	launch(1, 1, 2, 30);
	push(m, (struct event){ .kind = EVENT_UNSEEN, .pid = 12, .unseen.why = UNSEEN_UNKNOWN,
				.start_ns = at(30), .end_ns = at(100) });
	push(m, (struct event){ .kind = EVENT_ENTER, .pid = 12, .tid = 13, .seq = 2, .func = S,
				.start_ns = at(32) });
	says("What device 0 (pid 12, train) did, or waited for, is not known for 70.0 % of the time; it "
	     "is busy at least 28.0 % of it. It may be busy, or hang: thread 13 (worker) has been in "
	     "cudaStreamSynchronize for 68.00 ms.");
}

/* 98.5 ms of start-up, a kernel of 3 us. */
TEST(a_device_that_did_nearly_nothing_is_not_judged)
{
	call(1, L, 1, 1.1);
	launch(2, 98.4, 98.5, 98.503);
	says("Too little to judge: GPU 0 (pid 12, train) worked 3.000 us of 100.0 ms. 98.5 % passed "
	     "before its first work: 98.30 ms other; after its last came 1.5 %.");
}

TEST(a_process_that_cannot_go_on_comes_before_its_losses)
{
	launch(1, 1, 2, 50);
	launch(2, 80, 80.1, 100);
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END | HAS_RESULT, .pid = 12, .tid = 13,
				.seq = 3, .func = S, .call.result = 700, .start_ns = at(90),
				.end_ns = at(91) });
	says("CUDA failed for good (pid 12, train): cudaStreamSynchronize gave "
	     "cudaErrorIllegalAddress (700): a kernel broke it, and the process can do nothing "
	     "more with its context.\n"
	     "Evidence: 1 call failed so.\n"
	     "Next: compute-sanitizer COMMAND");
}

/* Its GPU, by NVML: a process of which only its calls are known is on it. */
TEST(a_failed_device_is_reported_without_a_helper)
{
	const struct device_sample s = { .has = 1 << SAMPLE_USERS, .v = { [SAMPLE_USERS] = 1 } };

	call(1, L, 1, 2);
	push(m, (struct event){ .kind = EVENT_USER, .user.uuid = "GPU-b", .user.number = 3,
				.pid = 12, .start_ns = at(50) });
	push(m, (struct event){ .kind = EVENT_SAMPLE, .sample.uuid = "GPU-b", .sample.number = 3,
				.sample.values = s, .start_ns = at(10), .end_ns = at(50) });
	push(m, (struct event){ .kind = EVENT_FAULT, .fault.uuid = "GPU-b", .fault.number = 3,
				.fault.what = FAULT_XID, .fault.value = 79, .start_ns = at(60) });
	push(m, (struct event){ .kind = EVENT_FAULT, .fault.uuid = "GPU-a", .fault.number = 2,
				.fault.what = FAULT_XID, .fault.value = 48, .start_ns = at(61) });
	says("A device failed: GPU 3: XID 79, the GPU has fallen off the bus.\n"
	     "Evidence: by NVML: XID 79 at 0.1 s.\n"
	     "Next: dmesg | grep -i xid");
}

/* Half of the time hot, beside a loss and alone. */
TEST(a_throttled_device_is_in_the_verdict)
{
	const struct device_facts facts = { .uuid = "GPU-b" };
	const struct device_sample s = { .has = 1ull << SAMPLE_CLOCK_REASONS,
					 .v = { [SAMPLE_CLOCK_REASONS] = CLOCK_THERMAL } };

	for (int loss = 0; loss < 2; loss++) {
		struct strbuf out = STRBUF_INIT;

		begin();
		push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 12, .device.facts = facts });
		launch(1, 1, 2, 50);
		launch(2, loss ? 80 : 3, loss ? 80.1 : 50.1, 100);
		push(m, (struct event){ .kind = EVENT_SAMPLE, .sample.uuid = "GPU-b",
					.sample.values = s, .start_ns = at(10), .end_ns = at(60) });
		finish(m, at(100));
		assert_int_equal(verdict_of(&out, m), 0);
		assert_non_null(strstr(out.s, loss ? "is lost to input-stall" :
						     "No avoidable loss above 5 %"));
		assert_non_null(strstr(out.s, ". GPU 0: its clocks were kept down by heat (100 % of "
					      "the time by heat)."));
		strbuf_free(&out);
	}
}

TEST(without_findings_it_reports_none)
{
	launch(1, 1, 2, 50);
	launch(2, 3, 51, 100);
	says("No avoidable loss above 5 % was found: device 0 (pid 12, train) is busy 97.0 % of "
	     "the time; its first work came after 2.0 %, after its last came 0.0 %.");
}

/* Its launch has no record. */
static void with_unknown_launch(void)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = 7 };

	launch(1, 1, 2, 50);
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 12, .start_ns = at(70), .end_ns = at(100),
				.work = work_named(w, "sgemm") });
}

TEST(idle_time_whose_cause_is_not_known_is_no_clean_bill)
{
	with_unknown_launch();
	says("What device 0 (pid 12, train) did, or waited for, is not known for 20.0 % "
	     "of the time; it is busy at least 78.0 % of it.");
}

TEST(unknown_time_before_the_first_work_is_reported)
{
	push(m, (struct event){ .kind = EVENT_UNSEEN, .pid = 12, .unseen.why = UNSEEN_UNKNOWN,
				.start_ns = at(0), .end_ns = at(90) });
	launch(1, 91, 91.2, 100);
	says("What device 0 (pid 12, train) did, or waited for, is not known for 91.2 % of the "
	     "time; it is busy at least 8.8 % of it.");
}

/* Its device is there, and so much of the session is unknown. */
static void without_work(double unknown_ms)
{
	const struct device_facts facts = { .uuid = "GPU-1" };

	begin();
	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 12, .device.facts = facts });
	push(m, (struct event){ .kind = EVENT_UNSEEN, .pid = 12, .unseen.why = UNSEEN_UNKNOWN,
				.start_ns = at(0), .end_ns = at(unknown_ms) });
}

/* Its launch, of which no work comes. */
static void launch_only(uint32_t seq, double start)
{
	call(seq, L, start, start + 0.1);
	push(m, (struct event){ .kind = EVENT_API, .pid = 12, .tid = 13, .api.correlation = seq,
				.api.cbid = 211, .api.domain = 5, .start_ns = at(start),
				.end_ns = at(start + 0.1) });
}

/* A wait for the device that began when recording had: nothing ran from its end on. */
static void waits_for_device(double start, double end)
{
	push(m, (struct event){ .kind = EVENT_API, .pid = 12, .tid = 13, .api.correlation = 900,
				.api.cbid = 165, .api.domain = 5, .start_ns = at(start),
				.end_ns = at(end) });
}

TEST(unfinished_work_is_no_idle_time)
{
	launch(1, 1, 2, 10);
	launch_only(2, 10);
	says("What device 0 (pid 12, train) did, or waited for, is not known for 89.9 % of the "
	     "time; it is busy at least 8.0 % of it.");
	without_work(0);
	launch_only(1, 5);
	says("What device 0 (pid 12, train) did is not known: no work of it was seen, and 94.9 % "
	     "of its time is unknown.");
}

TEST(a_name_with_a_newline_breaks_no_line)
{
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 12, .task.comm = "tr\nain" });
	launch(1, 1, 2, 50);
	launch(2, 3, 51, 100);
	says("No avoidable loss above 5 % was found: device 0 (pid 12, tr\\nain) is busy 97.0 % of "
	     "the time; its first work came after 2.0 %, after its last came 0.0 %.");
}

TEST(a_device_of_which_no_work_was_seen_is_not_busy_so_much)
{
	without_work(100);
	says("What device 0 (pid 12, train) did is not known: no work of it was seen, and "
	     "100.0 % of its time is unknown.");
	without_work(7);
	says("What device 0 (pid 12, train) did is not known: no work of it was seen, and "
	     "100.0 % of its time is unknown.");
	without_work(5);
	waits_for_device(6, 7);
	says("Device 0 (pid 12, train) did nothing: no work of it was seen in 100.0 ms.\n"
	     "Next: gpuprof stacks -p 12");
	without_work(5);
	waits_for_device(6, 7);
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 12, .tid = 13, .seq = 1, .end_ns = at(100) });
	push(m, (struct event){ .kind = EVENT_IDENTITY, .pid = 12, .fact.key = "ended",
				.fact.value = "yes" });
	says("Device 0 (pid 12, train) did nothing: no work of it was seen in 100.0 ms.");
}

TEST(without_device_times_it_gives_bounds_and_the_remedy)
{
	call(1, L, 0, 10);
	call(2, S, 10, 70);
	says("What the devices of pid 12 (train) did was not seen: no helper told of them.\n"
	     "Thread 13 (worker) waits for the device in synchronising calls 60.0 % of its time, "
	     "is in no call 30.0 %, launches 10.0 %: if no other thread drives the device, input "
	     "or host code costs it at most 30.0 %, launching at most 10.0 %.\n"
	     "Next: gpuprof stat --inject -d 10s -p 12");
}

/* Its helper's state, whether it still runs and whether gpuprof started it decide what is proposed. */
TEST(the_remedy_for_device_times_fits_the_process)
{
	static const struct {
		const char *helper, *why, *command;
		bool ends;
		const char *wanted;
	} cases[] = {
		{ "none", "no helper is in it", NULL, false, "gpuprof stat --inject -d 10s -p 12" },
		{ "none", "no helper is in it", NULL, true, NULL },	/* it has ended, and how it was
									 * started is unknown */
		{ "refused", "none can be brought in", NULL, false, "gpuprof doctor -p 12" },
		{ "stopped", "it is stopped", NULL, false,
		  "kill -CONT 12 && gpuprof stat --inject -d 10s -p 12" },
		{ "stopped", "it is stopped", "CMD", false,
		  "kill -CONT 12 && gpuprof stat --inject -d 10s -p 12" },
		{ "silent", "no libcupti found", NULL, false, "gpuprof doctor -p 12" },
		{ "silent", "no libcupti found", "./train", true, "gpuprof doctor" },
		{ "none", "no helper is in it", "./train", true, "gpuprof doctor" },
		{ "pending", "it has not told yet", "./train", false, NULL },	/* the next interval does */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *const facts[][2] = { { "helper", cases[i].helper }, { "helper_why", cases[i].why } };
		struct strbuf out = STRBUF_INIT;

		begin();
		call(1, L, 0, 10);
		for (size_t k = 0; k < 2; k++)
			push(m, (struct event){ .kind = EVENT_IDENTITY, .pid = 12, .tid = 12,
						.fact.key = facts[k][0],
						.fact.value = facts[k][1] });
		if (cases[i].command)
			push(m, (struct event){ .kind = EVENT_FACT, .fact.key = "command",
						.fact.value = cases[i].command });
		if (cases[i].ends)
			push(m, (struct event){ .kind = EVENT_EXIT, .pid = 12, .tid = 12, .seq = 1,
						.end_ns = at(90) });
		finish(m, at(100));
		assert_int_equal(verdict_of(&out, m), 0);
		assert_non_null(strstr(out.s, cases[i].why));
		assert_int_equal(strstr(out.s, "Next: ") != NULL, cases[i].wanted != NULL);
		if (cases[i].wanted)
			assert_string_equal(strstr(out.s, "Next: ") + 6, cases[i].wanted);
		strbuf_free(&out);
	}
}

TEST(without_data_there_is_no_verdict)
{
	says("");
}

// SPDX-License-Identifier: BSD-3-Clause
/* Launches of which no work is awaited, for a capture took them, and kernels that are over and were never recorded. */
#include "join_room.h"
#include "lib/test.h"

BEFORE_EACH
{
	restart();
}

static void captured(uint64_t start, uint64_t end)
{
	assert_false(join_push_call(j, 1, 5, &(struct launch_call){ .start_ns = start, .end_ns = end,
								     .class = CLASS_LAUNCH, .captured = true }));
}

TEST(no_work_is_awaited_of_a_captured_launch_in_either_order)
{
	api(1, SEC + 10, SEC + 20);
	captured(SEC + 5, SEC + 25);
	assert_int_equal(join_push_api(j, &(struct event){ .kind = EVENT_API, .process = 1, .tid = 5,
		.api = { .correlation = 2, .cbid = LAUNCH_CBID, .domain = RUNTIME },
		.start_ns = SEC + 35, .end_ns = SEC + 45 },
		&(struct launch_call){ SEC + 30, SEC + 50, 0, CLASS_LAUNCH, true }), 0);
	api(3, SEC + 60, SEC + 70);
	work(3, SEC + 80, SEC + 90);
	assert_int_equal(counts_of().launches, 1);
	assert_int_equal(counts_of().captured, 2);
	assert_int_equal(counts_of().met, 1);
	push_time(EVENT_WATERMARK, 5 * SEC);
	assert_int_equal(seen.horizon, 5 * SEC - JOIN_SETTLE_NS);	/* nothing holds it up */
}

#define BEGIN_CAPTURE 315	/* cudaStreamBeginCapture, of the runtime */
#define END_CAPTURE 319

#define COPY_CBID 41		/* cudaMemcpyAsync */
#define SYNC_CBID 165		/* cudaDeviceSynchronize */
#define ENDLESS UINT64_MAX

static void record(uint32_t correlation, uint16_t func, uint64_t start, uint64_t end)
{
	push(&(struct event){ .kind = EVENT_API, .process = 1, .tid = 5,
				 .api.correlation = correlation, .api.cbid = func,
				 .api.domain = RUNTIME, .start_ns = start, .end_ns = end });
}

static void capture(uint16_t func, uint64_t start, uint64_t end)
{
	record(9000 + (uint32_t)start, func, start, end);
}

/* No probe saw the call; of each capture one record or both are left. */
TEST(a_launch_without_works_while_a_stream_captured_is_no_orphan)
{
	static const struct {
		bool begin, end;
		uint64_t captured;	/* of launches before, in and after the capture, which met nothing */
	} cases[] = { { true, true, 1 }, { true, false, 2 }, { false, true, 2 }, { false, false, 0 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		restart();
		api(1, 100, 110);
		if (cases[i].begin)
			capture(BEGIN_CAPTURE, 200, 210);
		api(2, 300, 310);
		if (cases[i].end)
			capture(END_CAPTURE, 400, 410);
		api(3, 500, 510);
		api(4, 520, 530);
		work(4, 540, 550);
		assert_int_equal(counts_of().awaited, 3);
		assert_int_equal(counts_of().captured, 0);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(counts_of().awaited, 0);
		assert_int_equal(counts_of().captured, cases[i].captured);
		assert_int_equal(counts_of().launches - counts_of().met, 3 - cases[i].captured);
	}
}

/* Is L2, of which no work comes, counted as lost at the end; and from when until when are works lost? */
TEST(a_finished_kernel_without_a_record_is_lost)
{
	static const struct {
		uint32_t stream[3], context[3];	/* of the works of L1 to L3; stream 0: there is none */
		bool sync;			/* between L2 and L3 */
		uint16_t func;			/* of L2 */
		bool lost;
		uint64_t start_ns, end_ns;	/* after BASE; 0: none are */
	} cases[] = {
		{ { 7, 0, 7 }, { 1, 1, 1 }, false, LAUNCH_CBID, true, 120, 250 },
		{ { 7, 0, 8 }, { 1, 1, 1 }, false, LAUNCH_CBID, false, 0, 0 },
		{ { 7, 0, 8 }, { 1, 1, 1 }, true, LAUNCH_CBID, true, 120, 250 },
		{ { 7, 0, 7 }, { 1, 1, 2 }, false, LAUNCH_CBID, false, 0, 0 },
		{ { 7, 0, 0 }, { 1, 1, 1 }, false, LAUNCH_CBID, false, 0, 0 },
		{ { 7, 0, 7 }, { 1, 1, 1 }, false, COPY_CBID, false, 0, 0 },	/* of 0 bytes, maybe */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		restart();
		for (uint32_t k = 0; k < 3; k++) {
			uint64_t at = BASE + 100 * k;

			record(k, k == 1 ? cases[i].func : LAUNCH_CBID, at + 10, at + 20);
			if (k == 1 && cases[i].sync)
				record(900, SYNC_CBID, at + 30, at + 40);
			if (cases[i].stream[k])
				push(&(struct event){ .kind = EVENT_WORK, .process = 1, .start_ns = at + 50,
							 .end_ns = at + 60, .work = (struct work){
					.kind = WORK_KIND_KERNEL, .correlation = k,
					.stream = cases[i].stream[k], .context = cases[i].context[k] } });
		}
		assert_int_equal(counts_of().lost, 0);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(counts_of().lost, cases[i].lost);
		assert_int_equal(seen.lost.start, cases[i].start_ns ? BASE + cases[i].start_ns : 0);
		assert_int_equal(seen.lost.end, cases[i].end_ns ? BASE + cases[i].end_ns : 0);
		assert_int_equal(seen.unknown.end, cases[i].func == LAUNCH_CBID && !cases[i].stream[2] ? ENDLESS : 0);
	}
}

/* Also where the next work of the thread is in another stream: two rounds. */
TEST(a_loss_is_decided_after_the_window_and_taken_back_when_the_record_comes)
{
	for (uint32_t stream = 0; stream < 2; stream++) {
		restart();
		api(9, BASE - 30, BASE - 20);
		work(9, BASE - 10, BASE - 5);
		api(1, BASE, BASE + 10);
		api(2, BASE + 20, BASE + 30);
		push(&(struct event){ .kind = EVENT_WORK, .process = 1, .start_ns = BASE + 40, .end_ns = BASE + 50,
					 .work = (struct work){ .kind = WORK_KIND_KERNEL, .correlation = 2,
								 .stream = stream } });
		push_time(EVENT_WATERMARK, BASE + SEC);
		push_time(EVENT_WATERMARK, BASE + JOIN_WINDOW_NS);
		assert_int_equal(counts_of().lost, 0);
		assert_int_equal(counts_of().awaited, 1);
		assert_true(seen.horizon <= BASE);	/* the book of its time is not settled yet */
		push_time(EVENT_WATERMARK, BASE + JOIN_WINDOW_NS + SEC);
		assert_int_equal(counts_of().lost, 1);
		assert_int_equal(counts_of().awaited, 0);
		assert_int_equal(seen.lost.start, BASE + 10);
		assert_int_equal(seen.lost.end, BASE + 40);
		assert_true(seen.horizon >= BASE + 40);
		work(1, BASE + 15, BASE + 18);
		assert_int_equal(counts_of().lost, 0);
		assert_int_equal(counts_of().met, 3);
		assert_int_equal(counts_of().late, 1);
	}
}

TEST(of_a_launch_in_a_capture_that_met_a_work_nothing_is_guessed)
{
	capture(BEGIN_CAPTURE, 200, 210);
	api(1, 300, 310);		/* of another stream */
	work(1, 320, 330);
	capture(END_CAPTURE, 400, 410);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(counts_of().captured, 0);
	assert_int_equal(counts_of().met, 1);
}

TEST(a_threads_last_launch_may_run_until_the_end_unless_another_file_follows)
{
	static const struct {
		uint32_t met;		/* of launches 1 to 4, by bits */
		bool goes_on;
		uint64_t since;		/* 0: none are */
	} cases[] = {
		{ 0x02, false, BASE + 210 }, { 0x06, false, BASE + 310 }, { 0x06, true, 0 },
		{ 0x1e, false, 0 }, { 0x00, false, BASE + 110 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		restart();
		for (uint32_t k = 1; k <= 4; k++) {
			api(k, BASE + 100 * k, BASE + 100 * k + 10);
			if (cases[i].met >> k & 1)
				work(k, BASE + 500 + 10 * k, BASE + 505 + 10 * k);
		}
		if (cases[i].goes_on)
			join_goes_on(j);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(seen.unknown.end, cases[i].since ? ENDLESS : 0);
		assert_int_equal(seen.unknown.start, cases[i].since);
		assert_int_equal(counts_of().lost, 0);
	}
}

TEST(a_hanging_launch_is_unknown_until_a_later_launch_of_its_thread_meets_a_work)
{
	uint64_t ns = BASE;

	api(1, BASE, BASE + 10);
	work(1, BASE + 20, BASE + 30);
	api(2, BASE + 40, BASE + 50);
	for (; ns <= BASE + JOIN_WINDOW_NS; ns += SEC)
		push_time(EVENT_WATERMARK, ns);
	assert_int_equal(seen.unknown.end, 0);		/* it is waited for: no time is settled yet */
	assert_true(seen.horizon <= BASE + 40);
	for (; ns <= BASE + 2 * JOIN_WINDOW_NS; ns += SEC)
		push_time(EVENT_WATERMARK, ns);
	assert_int_equal(seen.unknown.start, BASE + 50);
	assert_int_equal(seen.unknown.end, seen.horizon);
	api(3, ns, ns + 10);
	work(3, ns + 20, ns + 30);
	push_time(EVENT_WATERMARK, ns + 3 * SEC);
	assert_true(seen.horizon > seen.unknown.end);
	assert_int_equal(join_end(j), 0);
	assert_true(seen.unknown.end < seen.horizon);
}

TEST(kernels_that_met_nothing_when_their_process_ended_are_lost)
{
	for (unsigned int at_end = 0; at_end < 2; at_end++) {
		restart();
		api(1, BASE, BASE + 10);
		work(1, BASE + 20, BASE + 30);
		api(2, BASE + 40, BASE + 50);
		record(3, COPY_CBID, BASE + 60, BASE + 70);
		push(&(struct event){ .kind = EVENT_EXIT, .process = 1, .pid = 1, .tid = 1, .end_ns = BASE + 80 });
		if (at_end)
			assert_int_equal(join_end(j), 0);
		else
			push_time(EVENT_WATERMARK, BASE + JOIN_WINDOW_NS + SEC);
		assert_int_equal(counts_of().lost, 1);
		assert_int_equal(counts_of().ended, 1);
		assert_int_equal(seen.lost.end, 0);
		assert_int_equal(seen.unknown.start, BASE + 50);
		assert_int_equal(seen.unknown.end, ENDLESS);
	}
}

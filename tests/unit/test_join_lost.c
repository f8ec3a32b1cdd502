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
		&(struct launch_call){ SEC + 30, SEC + 50, 0, CLASS_LAUNCH, true, 0, 0, 0, 0 }), 0);
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
#define STREAM_SYNC_CBID 131	/* cudaStreamSynchronize */
#define ENDLESS UINT64_MAX
#define A (LAUNCH_STREAM_DEFAULTS + 1)	/* streams that have a handle */
#define B (LAUNCH_STREAM_DEFAULTS + 2)

/* A record of a call that probes saw. */
static void called(uint32_t correlation, uint16_t func, uint16_t stream, uint64_t start, uint64_t end)
{
	assert_int_equal(join_push_api(j, &(struct event){
		.kind = EVENT_API, .process = 1, .tid = 5, .start_ns = start, .end_ns = end,
		.api = { .correlation = correlation, .cbid = func, .domain = RUNTIME } },
		&(struct launch_call){ start, end, 0, CLASS_LAUNCH, false, stream, 0, 0, 0 }), 0);
}

static void kernel(uint32_t correlation, uint32_t stream, uint32_t context, uint64_t start, uint64_t end)
{
	push(&(struct event){ .kind = EVENT_WORK, .process = 1, .start_ns = start, .end_ns = end,
				 .work = (struct work){ .kind = WORK_KIND_KERNEL, .correlation = correlation,
							 .stream = stream, .context = context } });
}

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

/* L2, of which no work comes: is it lost at the end, or may it run? */
TEST(a_kernel_without_a_record_is_lost_if_its_stream_has_gone_on)
{
	enum { D = 1 };		/* the default stream's handle */
	static const struct {
		uint16_t handle[3];		/* of L1 to L3; 0: no probe saw the calls */
		uint32_t stream[3], context[3];	/* of their works; stream 0: there is none */
		uint16_t sync, waits_for;	/* between L2 and L3, and the stream of it */
		uint16_t func;			/* of L2 */
		uint64_t lost[2], open_ns;	/* after BASE; 0: nothing is */
	} cases[] = {
		{ { A, A, A }, { 7, 0, 7 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 120, 250 }, 0 },
		{ { A, B, A }, { 7, 0, 7 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { A, A, B }, { 7, 0, 8 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { D, D, D }, { 7, 0, 7 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 120, 250 }, 0 },
		{ { D, A, D }, { 7, 0, 7 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { D, D, D }, { 7, 0, 8 }, { 1, 1, 2 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		/* It has no stream, or a new one has its handle: it is unknown which. */
		{ { A, A, A }, { 7, 0, 8 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		/* Without its stream it may run in one that no work has shown. */
		{ { 0, 0, 0 }, { 7, 0, 7 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { A, 0, A }, { 7, 0, 7 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { 0, 0, 0 }, { 7, 0, 8 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { 0, 0, 0 }, { 7, 0, 7 }, { 1, 1, 2 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { A, A, A }, { 7, 0, 0 }, { 1, 1, 1 }, 0, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		/* What waits: for all of the context, for one stream. */
		{ { A, B, A }, { 7, 0, 7 }, { 1, 1, 1 }, SYNC_CBID, 0, LAUNCH_CBID, { 120, 140 }, 0 },
		{ { 0, 0, 0 }, { 7, 0, 8 }, { 1, 1, 1 }, SYNC_CBID, 0, LAUNCH_CBID, { 120, 140 }, 0 },
		{ { A, B, A }, { 7, 0, 7 }, { 1, 1, 2 }, SYNC_CBID, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { A, B, A }, { 7, 0, 7 }, { 1, 1, 1 }, STREAM_SYNC_CBID, B, LAUNCH_CBID, { 120, 140 }, 0 },
		{ { A, B, A }, { 7, 0, 7 }, { 1, 1, 1 }, STREAM_SYNC_CBID, A, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { 0, 0, 0 }, { 7, 0, 8 }, { 1, 1, 1 }, STREAM_SYNC_CBID, 0, LAUNCH_CBID, { 0, 0 }, 120 },
		{ { A, A, A }, { 7, 0, 7 }, { 1, 1, 1 }, 0, 0, COPY_CBID, { 0, 0 }, 0 },	/* of 0 bytes, maybe */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		restart();
		for (uint32_t k = 0; k < 3; k++) {
			uint64_t at = BASE + 100 * k;

			called(k, k == 1 ? cases[i].func : LAUNCH_CBID, cases[i].handle[k], at + 10, at + 20);
			if (k == 1 && cases[i].sync)
				called(900, cases[i].sync, cases[i].waits_for, at + 30, at + 40);
			if (cases[i].stream[k])
				kernel(k, cases[i].stream[k], cases[i].context[k], at + 50, at + 60);
		}
		assert_int_equal(counts_of().lost, 0);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(counts_of().lost, cases[i].lost[0] != 0);
		assert_int_equal(seen.lost.start, cases[i].lost[0] ? BASE + cases[i].lost[0] : 0);
		assert_int_equal(seen.lost.end, cases[i].lost[0] ? BASE + cases[i].lost[1] : 0);
		assert_int_equal(seen.unknown.start, cases[i].open_ns ? BASE + cases[i].open_ns : 0);
		assert_int_equal(seen.unknown.end, cases[i].open_ns ? ENDLESS : 0);
	}
}

/* Its work came not, and others of its thread did: a lost record, or a kernel that runs. */
TEST(a_launch_without_its_stream_is_lost_only_where_records_were)
{
	static const struct {
		uint64_t until;			/* after BASE: records of works before that are lost */
		uint8_t of;
		uint32_t next_stream;
		bool is_lost;
	} cases[] = {
		{ 0, 0, 7, false },
		{ 15, UNSEEN_OF_WORKS, 7, false },
		{ 50, UNSEEN_OF_WORKS, 7, true },
		{ 50, 0, 7, true },
		{ 50, UNSEEN_OF_MEMORY, 7, false },
		{ 50, UNSEEN_OF_WORKS, 8, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		restart();
		api(1, BASE, BASE + 10);
		kernel(1, 7, 1, BASE + 12, BASE + 15);
		api(2, BASE + 20, BASE + 30);
		push(&(struct event){ .kind = EVENT_UNSEEN, .process = 1, .start_ns = BASE,
				      .end_ns = BASE + cases[i].until,
				      .unseen = { .why = UNSEEN_LOST, .of = cases[i].of } });
		api(3, BASE + 60, BASE + 70);
		kernel(3, cases[i].next_stream, 1, BASE + 80, BASE + 90);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(counts_of().lost, cases[i].is_lost);
		assert_int_equal(seen.lost.end, cases[i].is_lost ? BASE + 80 : 0);
		assert_int_equal(seen.unknown.start, cases[i].is_lost ? 0 : BASE + 30);
	}
}

TEST(a_loss_is_decided_after_the_window_and_taken_back_when_the_record_comes)
{
	api(9, BASE - 30, BASE - 20);
	work(9, BASE - 10, BASE - 5);
	called(1, LAUNCH_CBID, A, BASE, BASE + 10);
	called(2, LAUNCH_CBID, A, BASE + 20, BASE + 30);
	work(2, BASE + 40, BASE + 50);
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

/* Its call comes after its work, and after that of a sync. */
TEST(a_call_that_comes_late_says_what_stream_it_was)
{
	api(1, BASE, BASE + 10);
	work(1, BASE + 12, BASE + 15);
	called(2, LAUNCH_CBID, A, BASE + 20, BASE + 30);
	record(3, STREAM_SYNC_CBID, BASE + 40, BASE + 50);
	assert_true(join_push_call(j, 1, 5, &(struct launch_call){ BASE, BASE + 10, 0, CLASS_LAUNCH, false, B, 0, 0, 0 }));
	assert_false(join_push_call(j, 1, 5, &(struct launch_call){ BASE + 40, BASE + 50, 0, CLASS_SYNC, false, A, 0, 0, 0 }));
	called(4, LAUNCH_CBID, B, BASE + 60, BASE + 70);
	called(5, LAUNCH_CBID, B, BASE + 80, BASE + 90);
	work(5, BASE + 95, BASE + 99);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(counts_of().lost, 2);
	assert_int_equal(seen.lost.start, BASE + 30);
	assert_int_equal(seen.lost.end, BASE + 95);
	assert_int_equal(seen.unknown.end, 0);
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

static uint64_t push_watermarks(uint64_t from_ns, uint64_t to_ns)
{
	for (; from_ns <= to_ns; from_ns += SEC)
		push_time(EVENT_WATERMARK, from_ns);
	return from_ns;
}

/* Beside another stream, which goes on. It ends with a work of it, of a later launch, or a sync. */
TEST(a_hanging_launch_may_run_until_its_stream_goes_on)
{
	enum { ITS, LATER, SYNC, WAYS };

	for (unsigned int how = 0; how < WAYS; how++) {
		uint64_t ns;

		restart();
		called(1, LAUNCH_CBID, A, BASE, BASE + 10);
		kernel(1, 7, 1, BASE + 20, BASE + 30);
		called(2, LAUNCH_CBID, A, BASE + 40, BASE + 50);
		called(3, LAUNCH_CBID, B, BASE + 55, BASE + 60);
		kernel(3, 8, 1, BASE + 62, BASE + 70);
		ns = push_watermarks(BASE, BASE + JOIN_WINDOW_NS);
		assert_int_equal(seen.unknown.end, 0);		/* it is waited for: no time is settled yet */
		assert_true(seen.horizon <= BASE + 40);
		ns = push_watermarks(ns, BASE + 2 * JOIN_WINDOW_NS);
		called(4, LAUNCH_CBID, B, ns + 2, ns + 4);
		kernel(4, 8, 1, ns + 5, ns + 8);
		assert_int_equal(seen.unknown.start, BASE + 50);
		assert_int_equal(seen.unknown.end, seen.horizon);
		if (how == LATER)
			called(5, LAUNCH_CBID, A, ns + 10, ns + 20);
		if (how == SYNC)
			called(6, STREAM_SYNC_CBID, A, ns + 10, ns + 30);
		else
			kernel(how == LATER ? 5 : 2, 7, 1, ns + 30, ns + 40);
		assert_int_equal(seen.unknown.end, ns + 30);
		assert_int_equal(counts_of().lost, how != ITS);
		push_watermarks(ns + SEC, ns + 3 * SEC);
		assert_true(seen.horizon > seen.unknown.end);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(seen.unknown.end, ns + 30);
		assert_int_equal(seen.lost.end, 0);
	}
}

/* Another stream has so many launches in the window that the one that hangs is forgotten. */
TEST(a_hanging_launch_that_makes_place_for_others_may_run)
{
	called(1, LAUNCH_CBID, A, BASE, BASE + 10);
	for (uint32_t i = 0; i < 2 * JOIN_LAUNCHES_MAX; i++) {
		uint64_t at = BASE + 100 * i;

		called(10 + i, LAUNCH_CBID, B, at + 20, at + 30);
		kernel(10 + i, 8, 1, at + 40, at + 50);
	}
	push_time(EVENT_WATERMARK, BASE + 2 * SEC);
	assert_int_equal(seen.unknown.start, BASE + 10);
	assert_int_equal(seen.unknown.end, seen.horizon);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(seen.unknown.end, ENDLESS);
	assert_int_equal(counts_of().lost, 0);
}

/* Nothing was recorded until BASE: from then on the device may run what was launched before. */
TEST(what_was_launched_unseen_may_run_until_its_stream_or_a_sync_is_over)
{
	static const struct {
		struct {			/* ms after BASE */
			uint16_t func, stream;
			uint64_t start, end, work;	/* work 0: none comes */
		} v[3];
		uint64_t over;			/* ms; 0: it may run to the end */
	} cases[] = {
		{ { { 0 } }, 0 },
		{ { { SYNC_CBID, 0, 10, 20, 0 } }, 20 },
		{ { { SYNC_CBID, 0, -1, 20, 0 } }, 0 },
		{ { { STREAM_SYNC_CBID, A, 10, 20, 0 } }, 20 },
		{ { { LAUNCH_CBID, A, 10, 20, 40 } }, 40 },
		{ { { LAUNCH_CBID, A, -1, 20, 40 } }, 0 },
		{ { { LAUNCH_CBID, A, 10, 20, 40 }, { LAUNCH_CBID, B, 30, 31, 0 } }, 0 },
		{ { { LAUNCH_CBID, A, 10, 20, 40 }, { LAUNCH_CBID, B, 900, 901, 950 } }, 950 },
		{ { { LAUNCH_CBID, A, 10, 20, 40 }, { LAUNCH_CBID, B, 900, 901, 0 }, { SYNC_CBID, 0, 950, 960, 0 } }, 960 },
		{ { { LAUNCH_CBID, A, 10, 20, 40 }, { LAUNCH_CBID, B, 3000, 3001, 3002 } }, 40 },
		{ { { LAUNCH_CBID, A, 10, 20, 40 }, { LAUNCH_CBID, A, 900, 901, 950 } }, 40 },
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const bool live = i & 1;
		const uint64_t over = cases[i / 2].over, ms = SEC / 1000;

		restart();
		push(&(struct event){ .kind = EVENT_UNSEEN, .process = 1, .end_ns = BASE, .unseen.why = UNSEEN_UNKNOWN });
		push(&(struct event){ .kind = EVENT_UNSEEN, .process = 1, .start_ns = BASE + SEC, .end_ns = ENDLESS,
				      .unseen.why = UNSEEN_UNKNOWN });
		push(&(struct event){ .kind = EVENT_UNSEEN, .process = 1, .start_ns = BASE, .end_ns = BASE + SEC,
				      .unseen.why = UNSEEN_UNKNOWN, .unseen.of = UNSEEN_OF_MEMORY });
		for (uint32_t k = 0; k < 3 && cases[i / 2].v[k].func; k++) {
			const uint64_t work_ns = BASE + cases[i / 2].v[k].work * ms;

			called(k + 1, cases[i / 2].v[k].func, cases[i / 2].v[k].stream,
			       BASE + cases[i / 2].v[k].start * ms, BASE + cases[i / 2].v[k].end * ms);
			if (cases[i / 2].v[k].work)
				kernel(k + 1, 7 + cases[i / 2].v[k].stream, 1, work_ns, work_ns + 10);
		}
		if (live)
			push_watermarks(BASE + 3 * SEC, BASE + 2 * JOIN_WINDOW_NS);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(seen.unknown.start, BASE);
		assert_int_equal(seen.unknown.end, over ? BASE + over * ms : ENDLESS);
	}
}

/* Of one thread each, in ms after BASE; end 0: it has not returned. */
static const struct wait {
	uint16_t stream;
	int64_t start, end;
} *waits;

static bool next_wait(void *ctx, uint32_t process, uint64_t ns, size_t *at, struct join_wait *out)
{
	const uint64_t ms = SEC / 1000;

	(void)ctx;
	assert_int_equal(process, 1);
	assert_int_equal(ns, BASE);
	for (; waits[*at].start; ++*at) {
		const struct wait *w = &waits[*at];

		if (w->end && !(w->start <= 0 && w->end > 0))
			continue;
		*out = (struct join_wait){ .start_ns = BASE + (uint64_t)w->start * ms, .tid = 6,
					   .end_ns = w->end ? BASE + (uint64_t)w->end * ms : ENDLESS,
					   .stream = w->stream };
		++*at;
		return true;
	}
	return false;
}

/* A call waited for stream A in [10, 20), and one for the device in [950, 960). */
TEST(what_was_launched_unseen_may_be_what_a_thread_waits_for)
{
	static const struct {
		struct wait v[3];
		bool syncs;
		uint64_t over;			/* ms; 0: it may run to the end */
	} cases[] = {
		{ { { 0 } }, false, 20 },
		{ { { B, 21, 0 } }, false, 0 },
		{ { { LAUNCH_STREAM_UNKNOWN, 21, 0 } }, false, 0 },
		{ { { A, 21, 0 } }, false, 20 },
		{ { { B, 21, 500 } }, false, 20 },	/* its record would say so */
		{ { { B, 1100, 0 } }, false, 20 },
		{ { { B, -5, 700 } }, false, 700 },
		{ { { B, -5, 700 }, { B, 1100, 0 } }, false, 0 },
		{ { { B, -5, 15 } }, false, 20 },
		{ { { B, -5, 0 } }, false, 0 },
		{ { { B, -5, 0 } }, true, 960 },
		{ { { LAUNCH_STREAM_UNKNOWN, 21, 0 } }, true, 960 },
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t over = cases[i / 2].over, ms = SEC / 1000;

		restart();
		waits = cases[i / 2].v;
		join_use_waits(j, next_wait);
		push(&(struct event){ .kind = EVENT_UNSEEN, .process = 1, .end_ns = BASE, .unseen.why = UNSEEN_UNKNOWN });
		called(1, STREAM_SYNC_CBID, A, BASE + 10 * ms, BASE + 20 * ms);
		if (cases[i / 2].syncs)
			called(2, SYNC_CBID, 0, BASE + 950 * ms, BASE + 960 * ms);
		if (i & 1)
			push_watermarks(BASE + 3 * SEC, BASE + 2 * JOIN_WINDOW_NS);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(seen.unknown.start, BASE);
		assert_int_equal(seen.unknown.end, over ? BASE + over * ms : ENDLESS);
	}
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

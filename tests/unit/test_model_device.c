// SPDX-License-Identifier: BSD-3-Clause
/*
 * The model from calls, API records and works to the book of a device: why it idled, whatever comes
 * first, also where it was settled long ago; and the law that a book adds up to its wall time on
 * random and hostile streams. TEST_SEED repeats a run.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/host_devices.h"
#include "lib/random.h"
#include "lib/work_named.h"
#include "model_each.h"

#define BASE 1000000000000ull

BEFORE_EACH
{
	restart(BASE);
}

static void call(uint32_t seq, uint16_t func, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = seq, .func = func,
				.start_ns = BASE + start, .end_ns = BASE + end });
}

static void api(uint32_t correlation, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 8,
				.api.correlation = correlation,
				.api.cbid = 211, .api.domain = 5, .start_ns = BASE + start,
				.end_ns = BASE + end });
}

static void work(uint32_t correlation, uint64_t start, uint64_t end)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = correlation };

	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = BASE + start,
				.end_ns = BASE + end, .work = work_named(w, "sgemm") });
}

struct read {
	struct device_sum sum;
	uint64_t idle[IDLE_CAUSES];
};

/* A book adds up whenever it is read. */
static struct read read_book(uint64_t now_ns)
{
	const struct snapshot *snap = snap_at(m, now_ns);
	struct read r;
	uint64_t owned = 0, idle = 0;

	if (!snap->devices.n)		/* of an interval: it has ended before */
		return (struct read){ 0 };
	assert_int_equal(snap->devices.n, 1);
	r.sum = snap->devices.v[0].sum;
	memcpy(r.idle, snap->devices.v[0].idle_ns, sizeof(r.idle));
	for (int i = 0; i < DEVICE_BUCKETS; i++)
		owned += r.sum.owned_ns[i];
	for (int i = 0; i < IDLE_CAUSES; i++)
		idle += r.idle[i];
	assert_int_equal(idle, r.sum.idle_ns);
	assert_int_equal(owned + idle, r.sum.close_ns - r.sum.open_ns);
	return r;
}

/* #1 L [10,15) -> [20,50); #2 S [16,60); #4 L [80,84) -> [90,95): #3 is lost. */
static void calls(void)
{
	call(1, L, 10, 15);
	call(2, S, 16, 60);
	call(4, L, 80, 84);
}

static void records(void)
{
	work(31, 20, 50);
	work(32, 90, 95);
	api(31, 11, 14);
	api(32, 81, 83);
	work(99, 97, 98);
}

TEST(gaps_are_divided_in_any_order_of_arrival)
{
	for (int calls_last = 0; calls_last < 2; calls_last++) {
		struct model_counts counts;
		struct read r;

		restart(BASE);
		if (!calls_last)
			calls();
		records();
		if (calls_last)
			calls();
		r = read_book(BASE + 100);
		assert_int_equal(r.idle[IDLE_OPEN], 5);
		finish(m, BASE + 100);
		r = read_book(snap_of(m)->now_ns);
		assert_int_equal(r.idle[IDLE_OTHER], 10);
		assert_int_equal(r.idle[IDLE_LAUNCH], 5 + 4);
		assert_int_equal(r.idle[IDLE_QUEUED], 5 + 6);
		assert_int_equal(r.idle[IDLE_SYNC], 10);
		assert_int_equal(r.idle[IDLE_LOST], 20);
		assert_int_equal(r.idle[IDLE_UNKNOWN], 2);
		assert_int_equal(r.idle[IDLE_NO_WORK], 2);
		model_counts(m, &counts);
		assert_int_equal(counts.matched, 2);
		assert_int_equal(counts.orphan, 1);
	}
}

/* What is settled on the way, long before the session ends, is the same as if it all waited. */
TEST(a_long_session_is_settled_as_it_goes)
{
	const uint64_t ms = 1000000, n = 20000;
	struct read r;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = i * ms;
		uint32_t number = (uint32_t)i + 1;

		call(number, i % 2 ? S : L, at + 100, at + 200);
		api(number, at + 120, at + 180);
		work(number, at + 300, at + 700);
		if (i % 100 == 99)
			push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + at });
	}
	assert_true(snap_of(m)->devices.v[0].waiting < 3000);
	finish(m, BASE + n * ms);
	r = read_book(snap_of(m)->now_ns);
	assert_int_equal(r.idle[IDLE_QUEUED], n * 100);
	assert_int_equal(r.idle[IDLE_LAUNCH], n * 100);
	assert_int_equal(r.idle[IDLE_OTHER], 100 + (n - 1) * (ms - 600));
	assert_int_equal(r.idle[IDLE_NO_WORK], ms - 700);
}

/* How long one process had the device, and how long is unknown. */
static uint64_t read_owned(uint64_t *unknown_ns)
{
	const struct snapshot_host *h = &snap_of(m)->hosts.v[0];

	*unknown_ns = h->sum.unknown_ns;
	return h->members.v[0].share.owned_ns;
}

/* Ended, or said to have begun, long after anybody waits for it: a collective whose peer hung, say. */
TEST(a_kernel_of_minutes_is_booked_when_it_ends)
{
	const uint64_t s = 1000000000, end = 300 * s;

	for (unsigned int how = 0; how < 8; how++) {
		const bool launch_is_known = how & 1, is_busy_before = how & 2, is_reported = how & 4;
		const uint64_t begin = is_busy_before ? 2 * s : 0;
		uint64_t unknown_ns;
		struct read r;

		restart(BASE);
		if (is_busy_before) {
			call(1, L, 100, 200);
			api(1, 110, 190);
			work(1, 300, begin);
		}
		call(2, L, begin + 100, begin + 200);
		if (launch_is_known)
			api(2, begin + 110, begin + 190);
		if (is_busy_before || is_reported)
			push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 7,
						.device.name = "GPU",
						.device.facts = (struct device_facts){ .uuid = "GPU-1" } });
		for (uint64_t at = s; at <= end; at += s / 20)
			push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + at });
		if (is_busy_before && launch_is_known)
			assert_in_range(read_book(BASE + end).idle[IDLE_UNKNOWN], 280 * s, 300 * s);
		call(3, S, begin + 250, end + 50);
		if (!launch_is_known)
			api(2, begin + 110, begin + 190);
		work(2, begin + 300, end);
		finish(m, BASE + end + 100);
		r = read_book(snap_of(m)->now_ns);
		assert_int_equal(r.sum.owned_ns[DEVICE_KERNELS + KERNEL_GEMM],
				 end - begin - 300 + (is_busy_before ? begin - 300 : 0));
		assert_int_equal(r.idle[IDLE_QUEUED], (is_busy_before ? 200 : 100) - (launch_is_known ? 100 : 0));
		assert_int_equal(r.idle[IDLE_LAUNCH], (is_busy_before ? 200 : 100) - (launch_is_known ? 10 : 0));
		/* From its launch's return until it began: it was unknown whether it ran. */
		assert_int_equal(r.idle[IDLE_UNKNOWN], launch_is_known ? 110 : 0);
		assert_int_equal(read_owned(&unknown_ns),
				 r.sum.owned_ns[DEVICE_KERNELS + KERNEL_GEMM]);
		assert_int_equal(unknown_ns, launch_is_known ? 110 : 0);
	}
}

/* More works than may wait: the oldest are settled early, and what is known of calls then is used. */
TEST(where_works_have_no_room_causes_are_known_all_the_same)
{
	const uint64_t us = 1000, n = 700000;
	struct model_counts counts;
	struct read r;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = i * us;
		uint32_t number = (uint32_t)i + 1;

		call(number, L, at + 100, at + 200);
		api(number, at + 120, at + 180);
		if (i % 100 == 99)
			push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + at + us });
		work(number, at + 300, at + 700);
	}
	assert_true(snap_of(m)->devices.v[0].waiting <= 262144 + 128);
	finish(m, BASE + n * us);
	r = read_book(snap_of(m)->now_ns);
	assert_int_equal(r.sum.owned_ns[DEVICE_KERNELS + KERNEL_GEMM], n * 400);
	/* Where the thread's timeline does not reach as far back, CUPTI's record is the call. */
	assert_in_range(r.idle[IDLE_QUEUED], n * 100, n * 120);
	assert_in_range(r.idle[IDLE_LAUNCH], n * 60, n * 100);
	assert_true(r.idle[IDLE_UNKNOWN] < n * 420);
	model_counts(m, &counts);
	assert_int_equal(counts.late[EVENT_WORK], 0);
}

#define MS 1000000ull

static void unseen(uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_UNSEEN, .pid = 7, .unseen.why = UNSEEN_UNKNOWN,
				.start_ns = BASE + start, .end_ns = BASE + end });
}

static struct model_counts counts_of(void)
{
	struct model_counts counts;

	model_counts(m, &counts);
	return counts;
}

/* Of a process that was killed: it is said when some of its calls have come, and more come later. */
TEST(launches_without_a_recording_helper_are_counted_once)
{
	call(1, L, 10 * MS, 11 * MS);
	call(2, L, 20 * MS, 21 * MS);
	call(3, S, 22 * MS, 23 * MS);
	call(4, C, 30 * MS, 31 * MS);
	unseen(20 * MS, 60 * MS);
	assert_int_equal(counts_of().unrecorded, 2);
	call(5, L, 40 * MS, 41 * MS);
	call(6, S, 42 * MS, 43 * MS);
	assert_int_equal(counts_of().unrecorded, 3);
	unseen(10 * MS, 70 * MS);
	assert_int_equal(counts_of().unrecorded, 4);
	call(7, L, 70 * MS, 71 * MS);
	assert_int_equal(counts_of().unrecorded, 4);
	unseen(80 * MS, 100 * MS);
	push(m, (struct event){ .kind = EVENT_ENTER, .pid = 7, .tid = 8, .seq = 8, .func = C,
				.start_ns = BASE + 85 * MS });
	call(9, C, 85 * MS, 86 * MS);
	assert_int_equal(counts_of().unrecorded, 5);
	push(m, (struct event){ .kind = EVENT_ENTER, .pid = 7, .tid = 8, .seq = 10, .func = C,
				.start_ns = BASE + 90 * MS });
	push(m, (struct event){ .kind = EVENT_OPEN, .pid = 7, .tid = 8, .seq = 10, .func = C,
				.start_ns = BASE + 90 * MS, .end_ns = BASE + 100 * MS });
	assert_int_equal(counts_of().unrecorded, 6);
}

/* Its book opens with its own, not with time itself. */
TEST(a_devices_owners_are_known_from_its_opening_in_any_order)
{
	const struct device_facts facts = { .uuid = "GPU-a" };
	const struct snapshot_host *h;

	api(1, 1, 2);
	work(1, 10, 30);
	push(m, (struct event){ .kind = EVENT_DEVICE, .pid = 7, .device.facts = facts });
	finish(m, BASE + 100);
	h = &snap_of(m)->hosts.v[0];
	assert_int_equal(h->sum.open_ns, BASE);
	assert_int_equal(h->sum.idle_ns, 80);
	assert_int_equal(h->members.v[0].share.owned_ns, 20);
}

/* More losses than intervals have room, each of 1 ms in a gap of 9 ms. */
TEST(of_many_losses_each_is_its_own)
{
	const uint64_t n = INTERVALS_MAX + 1000;
	struct read r;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = 10 * i * MS;

		push(m, (struct event){ .kind = EVENT_UNSEEN, .pid = 7, .unseen.why = UNSEEN_LOST,
					.start_ns = BASE + at + MS, .end_ns = BASE + at + 2 * MS });
		api((uint32_t)i + 1, at + 3 * MS, at + 4 * MS);
		work((uint32_t)i + 1, at + 5 * MS, at + 6 * MS);
		if (i % 10 == 9)
			push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + at + 6 * MS });
	}
	finish(m, BASE + 10 * n * MS);
	r = read_book(snap_of(m)->now_ns);
	assert_int_equal(r.idle[IDLE_LOST], n * MS);
}

TEST(launches_that_no_work_met_are_counted)
{
	api(31, 11, 14);
	api(32, 81, 83);
	work(31, 20, 50);
	work(31, 50, 60);
	assert_int_equal(counts_of().launches, 2);
	assert_int_equal(counts_of().met, 1);
	work(32, 90, 95);
	assert_int_equal(counts_of().met, 2);
}

static struct event random_event(uint64_t *now, struct work *w)
{
	static const uint8_t kinds[] = { EVENT_CALL, EVENT_CALL, EVENT_CALL, EVENT_ENTER, EVENT_API,
					 EVENT_API, EVENT_WORK, EVENT_WORK, EVENT_UNARMED,
					 EVENT_INSIDE, EVENT_GONE, EVENT_LEFT, EVENT_EXIT,
					 EVENT_WATERMARK, EVENT_TAIL };
	uint64_t start = below(50) ? *now + below(100) : BASE + below(20) * 1000000000;
	struct event ev = { .kind = kinds[below(sizeof(kinds))], .pid = 7, .tid = 7 + (uint32_t)below(3),
			    .seq = (uint32_t)below(200), .func = (uint16_t)below(3), .start_ns = start,
			    .end_ns = start + below(300) };

	*now += below(50);
	if (ev.kind == EVENT_API)
		ev.api = (struct event_api){ .cbid = 211, .correlation = ev.seq };
	if (ev.kind == EVENT_WORK) {
		*w = (struct work){ .kind = (uint8_t)(1 + below(5)), .correlation = (uint32_t)below(200),
				    .stream = (uint32_t)below(2) };
		ev.work = *w;
	}
	return ev;
}

TEST(the_worst_clock_error_of_works_is_reported)
{
	struct model_counts counts;

	for (uint64_t error = 3; error; error--)
		push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = BASE,
					.end_ns = BASE + 9,
					.work = (struct work){ .kind = WORK_KIND_KERNEL,
								.error_ns = error * 100 } });
	model_counts(m, &counts);
	assert_int_equal(counts.clock_error_ns, 300);
}

/* Correlations, streams and addresses are alike, too. */
static void live_once(uint64_t from, uint32_t works)
{
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .tid = 7, .start_ns = BASE + from,
				.task.process_ns = BASE + from, .task.comm = "train" });
	call(1, L, from + 10, from + 15);
	push(m, (struct event){ .kind = EVENT_MEMORY, .pid = 7, .has = HAS_BYTES,
				.start_ns = BASE + from + 16, .memory = { .address = 4096, .bytes = works,
				.op = MEMORY_ALLOC, .kind = MEMORY_KIND_DEVICE } });
	api(1, from + 11, from + 14);
	for (uint32_t i = 0; i < works; i++)
		work(1, from + 20 + 10 * i, from + 25 + 10 * i);
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 8, .seq = 2,
				.start_ns = BASE + from, .end_ns = BASE + from + 80 });
	push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 7, .seq = 1,
				.start_ns = BASE + from, .end_ns = BASE + from + 90 });
}

TEST(two_processes_of_one_pid_share_nothing)
{
	const struct snapshot *snap;
	struct model_counts counts;

	live_once(100, 2);
	live_once(1000, 3);
	finish(m, BASE + 5000);
	model_counts(m, &counts);
	assert_int_equal(counts.matched, 5);
	snap = snap_of(m);
	assert_int_equal(snap->processes.n, 2);
	assert_int_equal(snap->devices.n, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];
		const struct snapshot_device *d = snapshot_device(snap, p->process, 0);
		const struct kernel_stats *k = kernels_at(&d->kernels, 0);

		assert_int_equal(p->pid, 7);
		assert_int_equal(call_stats_count(&p->calls), 1);
		assert_int_equal(d->pid, 7);
		assert_int_equal(d->sum.open_ns, p->start_ns);
		assert_int_equal(d->sum.close_ns, p->exit_ns);
		assert_int_equal(d->sum.idle_ns, 90 - 5 * (2 + i));
		assert_int_equal(kernels_count(&d->kernels), 1);
		assert_int_equal(k->time.count, 2 + i);
		assert_int_equal(p->memory.n, 1);
		assert_int_equal(p->memory.v[0].live_bytes, 2 + i);
	}
}

TEST(hostile_streams_break_no_book)
{
	for (int round = 0; round < random_rounds(300); round++) {
		uint64_t now = BASE;
		struct work w;

		restart(BASE);
		work(1, 10, 20);
		api(1, 1, 2);
		for (int i = 0; i < 600; i++) {
			push(m, random_event(&now, &w));
			if (!below(20))
				read_book(BASE + below(2000000));
			if (!below(200))
				snap_cut(m, now);
		}
		finish(m, now);
		read_book(snap_of(m)->now_ns);
	}
}

TEST_GROUP(random_seed, NULL);

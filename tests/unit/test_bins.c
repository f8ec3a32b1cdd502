// SPDX-License-Identifier: BSD-3-Clause
/*
 * Time by bins: each bin is exact wherever time was placed, however wide bins became; the sum of a
 * bucket's bins is the bucket after settling, and no bin has more or less time than before; and what
 * a model's books have by bins is what they have.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ledger/bins.h"
#include "lib/random.h"
#include "lib/work_named.h"
#include "model_each.h"

#define START 1000
#define SECOND 1000000000ull

BEFORE_EACH
{
	restart(SECOND);
}

static struct bins *new_bins(void)
{
	struct bins *b = bins_new(START);

	assert_non_null(b);
	b->shift = 2;
	return b;
}

static void has(const struct bins *b, unsigned int bucket, uint64_t first, uint64_t second,
		uint64_t third)
{
	assert_non_null(b->row[bucket]);
	assert_int_equal(b->row[bucket][0], first);
	assert_int_equal(b->row[bucket][1], second);
	assert_int_equal(b->row[bucket][2], third);
}

TEST(the_examples_of_the_header)
{
	struct bins *b = new_bins();

	bins_add(b, 1, START + 2, START + 9);
	has(b, 1, 2, 4, 1);
	bins_settle(b, (uint64_t[]){ 3, 4 }, 2);
	has(b, 0, 0, 2, 1);
	has(b, 1, 2, 2, 0);
	bins_free(b);
}

TEST(bins_become_wider_and_keep_all_time)
{
	struct bins *b = new_bins(), *copy;

	bins_add(b, 1, START, START + 4);
	bins_add(b, 1, START + 8, START + 9);
	bins_add(b, 2, START + 4 * BINS, START + 4 * BINS + 1);
	assert_int_equal(b->shift, 3);
	has(b, 1, 4, 1, 0);
	assert_int_equal(b->row[2][BINS / 2], 1);
	assert_int_equal(bins_end(b, START + 8), START + 16);
	copy = bins_copy(b);
	assert_non_null(copy);
	bins_add(copy, 2, START, UINT64_MAX);
	assert_int_equal(bins_sum(copy, 2), UINT64_MAX - START + 1);
	bins_add(copy, 3, 0, UINT64_MAX);	/* before the first bin: what there is room for */
	assert_int_equal(bins_sum(copy, 3), UINT64_MAX - START);
	assert_int_equal(bins_sum(copy, 1), 5);
	assert_int_equal(bins_sum(b, 2), 1);
	bins_free(copy);
	bins_free(b);
}

TEST(a_late_call_takes_the_time_that_is_there)
{
	struct bins *b = new_bins();

	bins_add(b, 0, START, START + 8);
	bins_move(b, 0, 3, 5, START + 2, START + 7);
	has(b, 0, 2, 1, 0);
	has(b, 3, 2, 3, 0);
	bins_move(b, 0, 3, 9, START, START + 100);	/* more than there is */
	has(b, 0, 0, 0, 0);
	has(b, 3, 4, 4, 0);
	bins_free(b);
}

#define LONGEST 40000
#define KINDS 5

TEST(each_bin_is_exact)
{
	static uint8_t kinds[LONGEST];

	for (int round = 0; round < random_rounds(300); round++) {
		const size_t n = 1 + below(LONGEST), width = 1 + below(n / (1 + below(20)));
		uint64_t want[KINDS] = { 0 };
		struct bins *b = new_bins();
		size_t step;

		for (size_t i = 0; i < n; i++)
			kinds[i] = i && below(width) ? kinds[i - 1] : (uint8_t)below(KINDS);
		for (size_t i = 0, end; i < n; i = end) {
			for (end = i + 1; end < n && kinds[end] == kinds[i] && below(width); end++)
				;
			bins_add(b, kinds[i], START + i, START + end);
		}
		step = (size_t)1 << b->shift;
		for (size_t i = 0; i < n; i++) {
			want[kinds[i]]++;
			if ((i + 1) % step && i + 1 < n)
				continue;
			for (unsigned int k = 0; k < KINDS; k++)
				assert_int_equal(b->row[k] ? b->row[k][i / step] : 0, want[k]);
			memset(want, 0, sizeof(want));
		}
		bins_free(b);
	}
}

static uint64_t of_bin(const struct bins *b, size_t at)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < BINS_BUCKETS; i++)
		ns += b->row[i] ? b->row[i][at] : 0;
	return ns;
}

TEST(settling_reaches_the_sums_and_leaves_each_bin_its_time)
{
	for (int round = 0; round < random_rounds(300); round++) {
		struct bins *b = new_bins(), *before;
		uint64_t sum[BINS_BUCKETS] = { 0 }, left = 0, at = START;

		for (int i = 0; i < 50; i++) {
			const uint64_t to = at + below(below(2) ? 3 : 3000);

			bins_add(b, (unsigned int)below(KINDS), at, to);
			left += to - at;
			at = to + below(20);
		}
		before = bins_copy(b);
		assert_non_null(before);
		for (unsigned int i = 0; i + 1 < KINDS; i++) {
			sum[i] = below(left + 1);
			left -= sum[i];
		}
		sum[KINDS + 1] = left;	/* a bucket that had nothing */
		bins_settle(b, sum, BINS_BUCKETS);
		for (unsigned int i = 0; i < BINS_BUCKETS; i++)
			assert_int_equal(bins_sum(b, i), sum[i]);
		for (size_t i = 0; i < BINS; i++)
			assert_int_equal(of_bin(b, i), of_bin(before, i));
		bins_free(before);
		bins_free(b);
	}
}

/* ---- books ----------------------------------------------------------------------------------- */

static void push_call(uint32_t tid, uint16_t func, uint32_t *seq, uint64_t start, uint64_t end)
{
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = tid, .func = func,
				.seq = ++*seq, .start_ns = start, .end_ns = end });
}

static void push_work(uint32_t correlation, uint64_t start, uint64_t end)
{
	static const char *const names[] = { "sgemm", "ncclDevKernel_AllReduce", "elementwise" };
	const bool is_copy = !below(4);
	struct work w = { .kind = is_copy ? WORK_KIND_COPY : WORK_KIND_KERNEL,
			  .stream = (uint32_t)below(3), .correlation = correlation };

	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = start, .end_ns = end,
				.work = work_named(w, is_copy ? NULL : names[below(3)]) });
}

/* Launches with works, syncs, waits and holes in two threads; times are as they come. */
static void run_session(void)
{
	uint64_t now[2] = { SECOND, SECOND };
	uint32_t seq[2] = { 0, 0 };

	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .start_ns = SECOND / 2,
				.task.comm = "train" });
	for (uint32_t i = 1; i < 300; i++) {
		const uint32_t tid = (uint32_t)below(2);
		const uint64_t start = now[tid] + below(below(3) ? 2000 : 3000000);
		const uint64_t end = start + 1 + below(below(5) ? 3000 : 2000000);

		seq[tid] += below(20) ? 0 : 3;		/* lost */
		push_call(7 + tid, below(3) ? L : S, &seq[tid], start, end);
		push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 7 + tid,
					.api.domain = 5, .api.correlation = i,
					.start_ns = start, .end_ns = end });
		if (below(3))
			push_work(i, end + below(5000), end + 5000 + below(3000000));
		if (!below(10))
			push(m, (struct event){ .kind = EVENT_OFF, .pid = 7, .tid = 7 + tid,
						.seq = ++seq[tid], .has = HAS_END,
						.start_ns = end, .end_ns = end + 1000,
						.off.reason = OFF_LOCK });
		now[tid] = end + 1000;
	}
	finish(m, num_max(now[0], now[1]) + 5000000);
}

static void assert_books(const struct snapshot *snap)
{
	assert_true(snap->devices.n > 0 && snap->threads.n > 1);
	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *d = &snap->devices.v[i];

		assert_non_null(d->bins);
		for (unsigned int k = 0; k < DEVICE_BUCKETS; k++)
			assert_int_equal(bins_sum(d->bins, k), d->sum.owned_ns[k]);
		for (unsigned int k = 0; k < IDLE_CAUSES; k++)
			assert_int_equal(bins_sum(d->bins, DEVICE_BUCKETS + k), d->idle_ns[k]);
	}
	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];

		if (!t->has_book)
			continue;
		assert_non_null(t->bins);
		for (unsigned int k = 0; k < BUCKET_END; k++)
			assert_int_equal(bins_sum(t->bins, k), t->book.ns[k]);
		for (size_t k = 0; k < BINS; k++)
			assert_true(of_bin(t->bins, k) <= UINT64_C(1) << t->bins->shift);
	}
}

TEST(books_are_their_bins)
{
	for (int round = 0; round < random_rounds(100); round++) {
		restart(SECOND);
		model_use_bins(m);
		run_session();
		assert_books(snap_of(m));
	}
}

TEST(without_being_asked_no_book_has_bins)
{
	const struct snapshot *snap;

	run_session();
	snap = snap_of(m);
	assert_null(snap->devices.v[0].bins);
	assert_null(snap->threads.v[0].bins);
	assert_null(snap->processes.v[0].memory_line);
}

/* A gap of several bins: waiting, own code and the launch lie where they were. */
TEST(causes_of_a_long_gap_are_in_their_bins)
{
	const uint64_t ms = 1000000;
	const struct snapshot *snap;
	const struct bins *b;
	uint32_t seq = 0;

	model_use_bins(m);
	push_call(7, S, &seq, SECOND, SECOND + 400 * ms);
	push_call(7, L, &seq, SECOND + 800 * ms, SECOND + 810 * ms);
	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 7, .api.domain = 5,
				.api.correlation = 1, .start_ns = SECOND + 801 * ms,
				.end_ns = SECOND + 809 * ms });
	push_work(1, SECOND + 900 * ms, SECOND + 1000 * ms);
	finish(m, SECOND + 1000 * ms);
	snap = snap_of(m);
	b = snap->devices.v[0].bins;
	assert_non_null(b);
	for (size_t i = 0; i < BINS; i++) {
		const uint64_t from = (uint64_t)i << b->shift, to = (uint64_t)(i + 1) << b->shift;

		if (to <= 400 * ms)
			assert_int_equal(b->row[DEVICE_BUCKETS + IDLE_SYNC][i], to - from);
		else if (from >= 400 * ms && to <= 800 * ms)
			assert_int_equal(b->row[DEVICE_BUCKETS + IDLE_OTHER][i], to - from);
		else if (from >= 810 * ms && to <= 900 * ms)
			assert_int_equal(b->row[DEVICE_BUCKETS + IDLE_QUEUED][i], to - from);
	}
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void act(struct memory_book *b, uint8_t op, uint64_t address, uint64_t bytes, uint64_t ns)
{
	assert_int_equal(memory_book_push(b, &(struct memory_act){
		.start_ns = ns, .end_ns = ns, .address = address, .bytes = bytes, .op = op,
		.kind = MEMORY_KIND_DEVICE, .is_record = true, .has_bytes = true }), 0);
}

/* Its first bins are 4096 ns wide. */
TEST(a_memory_line_has_the_most_of_each_bin)
{
	struct memory_room room = { .left = 10, .keeps_lines = true };
	struct memory_book *b = memory_book_new(&room, START);
	static const uint64_t want[] = { 10, 30, 20, 20 };
	const uint64_t bin = 4096;
	struct memory_line *l;

	assert_non_null(b);
	act(b, MEMORY_ALLOC, 1, 10, START + bin / 2);
	act(b, MEMORY_ALLOC, 2, 20, START + bin + 1);
	act(b, MEMORY_FREE, 1, 0, START + bin + 2);
	assert_int_equal(memory_book_settle(b, START + 10 * MEMORY_SLACK_NS), 0);
	l = memory_book_line(b, START + 4 * bin);
	assert_non_null(l);
	assert_int_equal(l->last, 3);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(l->most[MEMORY_KIND_DEVICE][i], want[i]);
	free(l);
	act(b, MEMORY_FREE, 2, 0, START + 100 * bin * MEMORY_LINE_BINS);
	assert_int_equal(memory_book_settle(b, UINT64_MAX), 0);
	l = memory_book_line(b, START + 128 * bin * MEMORY_LINE_BINS);
	assert_non_null(l);
	assert_int_equal(l->shift, 12 + 7);
	assert_int_equal(l->last, MEMORY_LINE_BINS - 1);
	assert_int_equal(l->most[MEMORY_KIND_DEVICE][0], 30);
	assert_int_equal(l->most[MEMORY_KIND_DEVICE][399], 20);
	assert_int_equal(l->most[MEMORY_KIND_DEVICE][400], 0);
	free(l);
	memory_book_free(b);
}

TEST_GROUP(random_seed, NULL);

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The book of a process on a device: the worked examples of its header, and the law that owned time
 * and gaps add up to the wall clock, on random works, against the specification. TEST_SEED repeats
 * a run.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/device_spec.h"
#include "lib/random.h"
#include "lib/test.h"

#define OPEN 1000
#define WORKS_MAX 64

struct gaps {			/* as they were given out */
	struct {
		uint64_t start_ns, end_ns, id;
	} v[DEVICE_SPEC_GAPS];
	size_t n;
};

static void keep_gap(void *ctx, const struct device_gap *gap)
{
	struct gaps *gaps = ctx;

	assert_true(gaps->n < DEVICE_SPEC_GAPS);
	gaps->v[gaps->n].start_ns = gap->start_ns;
	gaps->v[gaps->n].end_ns = gap->end_ns;
	gaps->v[gaps->n++].id = gap->ended_by ? gap->ended_by->id : UINT64_MAX;
}

static void assert_balanced(const struct device_sum *sum)
{
	uint64_t total = sum->idle_ns;

	for (int i = 0; i < DEVICE_BUCKETS; i++) {
		total += sum->owned_ns[i];
		assert_true(sum->busy_ns[i] >= sum->owned_ns[i]);
	}
	assert_int_equal(total, sum->close_ns - sum->open_ns);
}

static void assert_as_specified(const struct device_work *works, size_t n, uint64_t close_ns,
				const struct device_sum *sum, const struct gaps *gaps)
{
	static struct device_spec spec;

	device_spec(works, n, OPEN, close_ns, &spec);
	assert_balanced(sum);
	assert_memory_equal(sum, &spec.sum, sizeof(*sum));
	assert_int_equal(gaps->n, spec.gaps);
	for (size_t i = 0; i < spec.gaps; i++) {
		assert_int_equal(gaps->v[i].start_ns, spec.gap[i].start_ns);
		assert_int_equal(gaps->v[i].end_ns, spec.gap[i].end_ns);
		assert_int_equal(gaps->v[i].id, spec.gap[i].ended_by < 0 ? UINT64_MAX :
				 works[spec.gap[i].ended_by].id);
	}
}

/* ---- the examples of the header; times there begin at 0 -------------------------------------- */

#define T(ns) (OPEN + (ns))
#define W(on, from, to, name, where, what) \
	{ .start_ns = T(from), .end_ns = T(to), .lane = on, .id = name, .bucket = where, .state = what }
#define K(lane, from, to) W(lane, from, to, 0, 1, WORK_COMPUTE)
#define N(lane, from, to) W(lane, from, to, 1, 2, WORK_COMM)
#define C(lane, from, to, bucket) W(lane, from, to, bucket, bucket, WORK_COPY)

struct example {
	struct device_work works[2];
	uint64_t close, owned[5], busy[5], idle;	/* by bucket */
};

static const struct example examples[] = {
	{ { K(1, 10, 30), K(2, 20, 50) }, 100, { 0, 40 }, { 0, 50 }, 60 },
	{ { K(1, 10, 30), N(2, 0, 50) }, 100, { 0, 20, 30 }, { 0, 20, 50 }, 50 },
	{ { C(1, 10, 20, 3), C(2, 10, 30, 4) }, 100, { 0, 0, 0, 10, 10 }, { 0, 0, 0, 10, 20 }, 80 },
	{ { K(1, 10, 30), K(1, 30, 40) }, 100, { 0, 30 }, { 0, 30 }, 70 },
	{ { K(1, 90, 130), K(1, 130, 130) }, 100, { 0, 10 }, { 0, 10 }, 90 },
};

TEST(the_examples_of_the_header)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *e = &examples[i];
		struct device_book *b = device_book_new(OPEN, NULL, NULL);
		struct gaps gaps = { .n = 0 };
		struct device_sum sum;

		assert_non_null(b);
		for (int k = 0; k < 2; k++)
			assert_int_equal(device_book_push(b, &e->works[k]), 0);
		assert_int_equal(device_book_read(b, T(e->close), &sum, keep_gap, &gaps), 0);
		for (int k = 0; k < 5; k++) {
			assert_int_equal(sum.owned_ns[k], e->owned[k]);
			assert_int_equal(sum.busy_ns[k], e->busy[k]);
		}
		assert_int_equal(sum.idle_ns, e->idle);
		assert_as_specified(e->works, 2, T(e->close), &sum, &gaps);
		device_book_free(b);
	}
}

/* Those of a book that is settled first: a gap that has not ended is taken back. */
TEST(late_work_is_booked_in_unsettled_time)
{
	static const struct device_work before = K(1, 10, 50), late = K(1, 30, 95);

	for (int first = 0; first < 2; first++) {
		struct device_book *b = device_book_new(OPEN, NULL, NULL);
		struct gaps gaps = { .n = 0 };
		struct device_counts counts;
		struct device_sum sum;

		if (first)
			assert_int_equal(device_book_push(b, &before), 0);
		assert_int_equal(device_book_settle(b, T(90), keep_gap, &gaps), 0);
		assert_int_equal(gaps.n, first);
		assert_int_equal(device_book_push(b, &late), 0);
		assert_int_equal(device_book_read(b, T(100), &sum, keep_gap, &gaps), 0);
		assert_balanced(&sum);
		assert_int_equal(sum.owned_ns[1], first ? 85 : 65);
		assert_int_equal(sum.busy_ns[1], first ? 40 + 65 : 65);
		assert_int_equal(sum.idle_ns, first ? 15 : 35);
		counts = device_book_progress(b).counts;
		assert_int_equal(counts.late, first);
		assert_int_equal(counts.late_ns, first ? 20 : 0);
		device_book_free(b);
	}
}

/* ---- laws ------------------------------------------------------------------------------------ */

static struct device_work random_work(uint64_t id, uint64_t from, uint64_t span)
{
	uint64_t start = OPEN - 20 + from + below(span);
	struct device_work w = { .start_ns = start, .end_ns = start + below(60), .lane = below(3),
				 .id = id, .state = (uint8_t)below(WORK_STATES) };

	w.bucket = (uint16_t)(w.state * 4 + below(3));
	if (!below(40))
		w.end_ns = w.start_ns - 1;
	if (!below(40))
		w.state = WORK_STATES;
	if (!below(40))
		w.bucket = DEVICE_BUCKETS;
	return w;
}

static int by_start(const void *a, const void *b)
{
	const struct device_work *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

TEST(random_works_all_at_once)
{
	static struct device_work works[WORKS_MAX];

	for (int round = 0; round < random_rounds(3000); round++) {
		size_t n = below(WORKS_MAX);
		uint64_t span = 1 + below(500), close = OPEN + below(600);
		struct device_book *b = device_book_new(OPEN, NULL, NULL);
		struct device_counts counts;
		struct gaps gaps = { .n = 0 };
		struct device_sum sum;

		for (size_t i = 0; i < n; i++) {
			works[i] = random_work(i, 0, span);
			assert_int_equal(device_book_push(b, &works[i]), 0);
		}
		assert_int_equal(device_book_read(b, close, &sum, keep_gap, &gaps), 0);
		assert_as_specified(works, n, close, &sum, &gaps);
		counts = device_book_progress(b).counts;
		assert_int_equal(counts.late, 0);
		device_book_free(b);
	}
}

/* Settled step by step, as works come: the same in the end, and at every reading. */
TEST(random_works_settled_as_they_come)
{
	static struct device_work works[WORKS_MAX];

	for (int round = 0; round < random_rounds(3000); round++) {
		size_t n = 1 + below(WORKS_MAX - 1), given = 0;
		struct device_book *b = device_book_new(OPEN, NULL, NULL);
		struct device_counts counts;
		struct gaps settled = { .n = 0 }, gaps;
		struct device_sum sum;
		uint64_t close;

		for (size_t i = 0; i < n; i++)
			works[i] = random_work(i, 0, 1 + below(500));
		qsort(works, n, sizeof(*works), by_start);
		while (given < n) {
			size_t more = 1 + below(n - given);

			for (; more; more--, given++)
				assert_int_equal(device_book_push(b, &works[given]), 0);
			if (given < n)
				assert_int_equal(device_book_settle(b, works[given].start_ns, keep_gap,
								    &settled), 0);
		}
		close = works[n - 1].start_ns + below(80);
		gaps = settled;
		assert_int_equal(device_book_read(b, close, &sum, keep_gap, &gaps), 0);
		assert_as_specified(works, n, sum.close_ns, &sum, &gaps);
		assert_int_equal(device_book_settle(b, UINT64_MAX / 2, keep_gap, &settled), 0);
		counts = device_book_progress(b).counts;
		assert_int_equal(counts.late, 0);
		assert_int_equal(device_book_progress(b).waiting, 0);
		device_book_free(b);
	}
}

/* Settled far beyond each: as if all came in time. */
TEST(works_that_come_long_after_they_ended_are_as_specified)
{
	static struct device_work works[WORKS_MAX];

	for (int round = 0; round < random_rounds(3000); round++) {
		size_t n = 1 + below(WORKS_MAX - 1);
		struct device_book *b = device_book_new(OPEN, NULL, NULL);
		struct gaps gaps = { .n = 0 };
		struct device_counts counts;
		struct device_sum sum;
		uint64_t at = OPEN;

		for (size_t i = 0; i < n; i++) {
			works[i] = random_work(i, 0, 1);
			works[i].start_ns = at += below(50);
			works[i].end_ns = at += 1 + below(50);
			assert_int_equal(device_book_settle(b, at + below(100), keep_gap, &gaps), 0);
			assert_int_equal(device_book_push(b, &works[i]), 0);
		}
		at += 1 + below(100);
		assert_int_equal(device_book_read(b, at, &sum, keep_gap, &gaps), 0);
		assert_as_specified(works, n, sum.close_ns, &sum, &gaps);
		counts = device_book_progress(b).counts;
		assert_int_equal(counts.late, 0);
		device_book_free(b);
	}
}

/* What comes after its time was settled: no earlier figure changes, and it is counted. */
TEST(late_works_are_counted_and_break_no_sum)
{
	for (int round = 0; round < random_rounds(3000); round++) {
		struct device_book *b = device_book_new(OPEN, NULL, NULL);
		struct gaps gaps = { .n = 0 };
		struct device_counts counts;
		uint64_t horizon = OPEN, late_ns = 0, invalid = 0;
		struct device_sum sum;

		for (uint64_t i = 0; i < WORKS_MAX; i++) {
			struct device_work w = random_work(i, 0, 300);
			uint64_t from = w.start_ns < OPEN ? OPEN : w.start_ns;
			uint64_t got = device_book_progress(b).idle_since_ns;

			if (w.end_ns < w.start_ns || w.state >= WORK_STATES || w.bucket >= DEVICE_BUCKETS)
				invalid++;
			else if (from < got && w.end_ns > from)
				late_ns += (w.end_ns < got ? w.end_ns : got) - from;
			assert_int_equal(device_book_push(b, &w), 0);
			if (!below(4)) {
				horizon += below(40);
				assert_int_equal(device_book_settle(b, horizon, keep_gap, &gaps), 0);
			}
		}
		assert_int_equal(device_book_read(b, horizon + below(400), &sum, NULL, NULL), 0);
		assert_balanced(&sum);
		counts = device_book_progress(b).counts;
		assert_int_equal(counts.late_ns, late_ns);
		assert_int_equal(counts.invalid, invalid);
		device_book_free(b);
	}
}

/* Lane after lane, each in its order, as buffers of many lanes come; and sorted: the same. */
TEST(works_of_lane_after_lane_are_as_if_sorted)
{
	enum { WORKS = 20000, LANES = 4 };
	static struct device_work works[WORKS];
	struct device_room room = { 10 * WORKS };
	struct device_book *b[2] = { device_book_new(OPEN, &room, NULL), device_book_new(OPEN, &room, NULL) };
	struct device_sum sum[2];

	for (uint64_t i = 0; i < WORKS; i++) {
		works[i] = random_work(i, i % (WORKS / LANES) * 10, 30);
		works[i].lane = i / (WORKS / LANES);
		assert_int_equal(device_book_crowded(b[0]), 0);
		assert_int_equal(device_book_push(b[0], &works[i]), 0);
	}
	qsort(works, WORKS, sizeof(*works), by_start);
	for (size_t i = 0; i < WORKS; i++)
		assert_int_equal(device_book_push(b[1], &works[i]), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(device_book_read(b[i], OPEN + 10 * WORKS, &sum[i], NULL, NULL), 0);
	assert_memory_equal(&sum[0], &sum[1], sizeof(sum[0]));
	assert_int_equal(device_book_settle(b[0], OPEN + 2 * WORKS, NULL, NULL), 0);
	assert_int_equal(device_book_read(b[0], OPEN + 10 * WORKS, &sum[0], NULL, NULL), 0);
	assert_memory_equal(&sum[0], &sum[1], sizeof(sum[0]));
	device_book_free(b[0]);
	device_book_free(b[1]);
	assert_int_equal(room.left, 10 * WORKS);
}

/* Without room the oldest are settled before all may have come: sums balance, nothing waits more. */
TEST(a_full_book_settles_early_and_balances)
{
	struct device_room room = { 1000 };
	struct device_book *b = device_book_new(OPEN, &room, NULL);
	struct device_sum sum;
	uint64_t owned = 0;

	for (uint64_t i = 0; i < 100000; i++) {
		struct device_work w = random_work(i, i * 10, below(50) ? 30 : 20000);
		uint64_t until = device_book_crowded(b);

		if (until)
			assert_int_equal(device_book_settle(b, until, NULL, NULL), 0);
		assert_int_equal(device_book_push(b, &w), 0);
		assert_true(device_book_progress(b).waiting <= 1000 + 128);
	}
	assert_int_equal(device_book_read(b, OPEN + 1000000, &sum, NULL, NULL), 0);
	assert_balanced(&sum);
	for (int i = 0; i < DEVICE_BUCKETS; i++)
		owned += sum.owned_ns[i];
	assert_true(owned > 800000);
	device_book_free(b);
	assert_int_equal(room.left, 1000);
}

/* A long work under which a million short ones begin and end: memory follows what runs. */
TEST(finished_work_is_forgotten_below_running_work)
{
	struct device_book *b = device_book_new(0, NULL, NULL);
	struct device_work w = { .start_ns = 1, .end_ns = 10000000, .bucket = 1 };
	struct device_sum sum;

	assert_int_equal(device_book_push(b, &w), 0);
	for (uint64_t i = 1; i <= 1000000; i++) {
		w = (struct device_work){ .start_ns = 10 * i, .end_ns = 10 * i + 5, .bucket = 2 };
		assert_int_equal(device_book_push(b, &w), 0);
		assert_int_equal(device_book_settle(b, 10 * i + 1, NULL, NULL), 0);
		assert_int_equal(device_book_progress(b).waiting, 0);
	}
	assert_int_equal(device_book_read(b, 10000010, &sum, NULL, NULL), 0);
	assert_int_equal(sum.owned_ns[1], 9999999);
	assert_int_equal(sum.owned_ns[2], 5);
	assert_int_equal(sum.busy_ns[2], 5000000);
	assert_int_equal(sum.works[2], 1000000);
	device_book_free(b);
}

TEST_GROUP(random_seed, NULL);

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Depth and latency of lanes: the worked example of the header, and random sessions against a plain
 * specification: the depth at a moment is the number of works with launch's end <= moment < start.
 * TEST_SEED repeats a run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ledger/device_book.h"
#include "ledger/lanes.h"
#include "lib/random.h"
#include "lib/test.h"

#define WORKS_MAX 60
#define OPEN 1000

static struct device_book *new_book(struct lanes *lanes)
{
	struct device_book *b = device_book_new(OPEN, NULL, lanes);

	assert_non_null(b);
	return b;
}

TEST(the_example_of_the_header)
{
	static const uint64_t works[4][4] = { { 0, 10, 10, 30 }, { 12, 14, 30, 40 }, { 16, 20, 40, 90 },
					      { 50, 60, 90, 95 } };
	struct lanes lanes = { .depth_max = 0 };
	struct device_book *b = new_book(&lanes);

	for (int i = 0; i < 4; i++) {
		const struct device_work w = {
			.has_launch = true, .launch_start_ns = OPEN + works[i][0],
			.launch_end_ns = OPEN + works[i][1], .start_ns = OPEN + works[i][2],
			.end_ns = OPEN + works[i][3], .id = (uint64_t)i, .lane = 7 };

		assert_int_equal(device_book_push(b, &w), 0);
	}
	assert_int_equal(device_book_settle(b, OPEN + 100, NULL, NULL), 0);
	assert_int_equal(lanes_count(&lanes), 1);
	assert_int_equal(lanes_at(&lanes, 0)->depth_max, 2);
	assert_int_equal(lanes.depth_max, 2);
	assert_int_equal(lanes_at(&lanes, 0)->waited_ns, 16 + 20 + 30);
	assert_int_equal(lanes_at(&lanes, 0)->works, 4);
	assert_int_equal(lanes_at(&lanes, 0)->latency.total, 10 + 18 + 24 + 40);
	device_book_free(b);
	lanes_free(&lanes);
}

/* ---- the specification ------------------------------------------------------------------------ */

static uint64_t depth_at(const struct device_work *works, size_t n, uint64_t ns, uint64_t lane)
{
	uint64_t depth = 0;

	for (size_t i = 0; i < n; i++)
		depth += works[i].has_launch && (works[i].lane == lane || lane == UINT64_MAX) &&
			 works[i].launch_end_ns <= ns && ns < works[i].start_ns;
	return depth;
}

static uint64_t depth_max(const struct device_work *works, size_t n, uint64_t until, uint64_t lane)
{
	uint64_t most = 0;

	for (uint64_t ns = OPEN; ns < until; ns++)
		most = num_max(most, depth_at(works, n, ns, lane));
	return most;
}

static int by_start(const void *a, const void *b)
{
	const struct device_work *x = a, *y = b;

	return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static size_t random_works(struct device_work *works, uint64_t lanes)
{
	size_t n = 1 + below(WORKS_MAX - 1);

	for (size_t i = 0; i < n; i++) {
		uint64_t start = OPEN + 20 + below(300);

		works[i] = (struct device_work){
			.start_ns = start, .end_ns = start + 1 + below(60), .lane = below(lanes),
			.id = i, .has_launch = below(8) != 0,
			.launch_start_ns = start - 20 + below(10), .launch_end_ns = start - 10 + below(20) };
	}
	return n;
}

TEST(random_works_are_as_specified)
{
	static struct device_work works[WORKS_MAX];

	for (int round = 0; round < random_rounds(500); round++) {
		struct lanes lanes = { .depth_max = 0 };
		struct device_book *b = new_book(&lanes);
		size_t n = random_works(works, 3);
		uint64_t begun = 0;

		if (below(2))
			qsort(works, n, sizeof(*works), by_start);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(device_book_push(b, &works[i]), 0);
		for (uint64_t at = OPEN; at < OPEN + 400; at += 1 + below(100))
			assert_int_equal(device_book_settle(b, at, NULL, NULL), 0);
		assert_int_equal(device_book_settle(b, OPEN + 400, NULL, NULL), 0);
		for (size_t i = 0; i < lanes_count(&lanes); i++) {
			const struct lane_stats *lane = lanes_at(&lanes, i);

			assert_int_equal(lane->depth_max, depth_max(works, n, OPEN + 400, lane->key.lane));
			begun += lane->works;
		}
		assert_int_equal(lanes.depth_max, depth_max(works, n, OPEN + 400, UINT64_MAX));
		assert_int_equal(begun, n);
		device_book_free(b);
		lanes_free(&lanes);
	}
}

TEST(lanes_over_the_limit_are_one)
{
	struct lanes lanes = { .depth_max = 0 };
	struct device_book *b = new_book(&lanes);
	uint64_t works = 0;

	for (uint64_t i = 0; i < 10 * LANES_MAX; i++) {
		const struct device_work w = { .lane = i, .start_ns = OPEN + i, .end_ns = OPEN + i + 1 };

		assert_int_equal(device_book_push(b, &w), 0);
		assert_int_equal(device_book_push(b, &w), 0);
	}
	assert_int_equal(device_book_settle(b, OPEN + 10 * LANES_MAX, NULL, NULL), 0);
	assert_int_equal(lanes_count(&lanes), LANES_MAX + 1);
	assert_true(lanes_at(&lanes, LANES_MAX)->key.other);
	for (size_t i = 0; i < lanes_count(&lanes); i++)
		works += lanes_at(&lanes, i)->works;
	assert_int_equal(works, 20 * LANES_MAX);
	assert_int_equal(lanes_at(&lanes, LANES_MAX - 1)->works, 2);
	device_book_free(b);
	lanes_free(&lanes);
}

TEST_GROUP(random_seed, NULL);

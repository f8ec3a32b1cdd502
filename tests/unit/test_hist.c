// SPDX-License-Identifier: BSD-3-Clause
/* The histogram: exact totals, quantiles within 0.8 %, merging, every u64. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "lib/random.h"
#include "lib/test.h"

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void assert_near(uint64_t got, uint64_t truth)
{
	assert_true(fabs((double)got - (double)truth) <= 0.008 * (double)truth);
}

TEST(test_empty)
{
	struct hist h = { 0 };

	assert_int_equal(hist_quantile(&h, 0.5), 0);
	hist_free(&h);
}

TEST(test_small_values_are_exact)
{
	struct hist h = { 0 };

	for (uint64_t v = 0; v < 128; v++)
		assert_int_equal(hist_add(&h, v), 0);
	for (uint64_t v = 0; v < 128; v++)
		assert_int_equal(hist_quantile(&h, (double)(v + 1) / 128), v);
	assert_int_equal(h.total, 127 * 128 / 2);
	assert_int_equal(h.min, 0);
	assert_int_equal(h.max, 127);
	hist_free(&h);
}

/* Every bit length, around each power of two: in the right octave, within the error. */
TEST(test_every_octave)
{
	for (unsigned int bit = 0; bit < 64; bit++)
		for (int64_t off = -2; off <= 2; off++) {
			uint64_t v = (1ull << bit) + (uint64_t)off, top = UINT64_MAX;
			struct hist h = { 0 };

			hist_add(&h, v);
			hist_add(&h, v);
			hist_add(&h, 0);
			hist_add(&h, top);
			assert_true(hist_counter(v) < 59 * HIST_OCTAVE);
			assert_near(hist_quantile(&h, 0.5), v);
			hist_free(&h);
		}
}

TEST(test_quantiles)
{
	static uint64_t v[20000];
	static const double q[] = { 0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1 };
	const size_t n = sizeof(v) / sizeof(v[0]);
	struct hist h = { 0 }, halves[2] = { { 0 }, { 0 } };
	uint64_t total = 0;

	for (size_t i = 0; i < n; i++) {
		v[i] = random_next() >> (20 + random_next() % 44);
		total += v[i];
		hist_add(&h, v[i]);
		hist_add(&halves[i % 2], v[i]);
	}
	qsort(v, n, sizeof(v[0]), compare);
	assert_int_equal(hist_merge(&halves[0], &halves[1]), 0);
	assert_int_equal(h.count, n);
	assert_int_equal(h.total, total);
	assert_int_equal(h.min, v[0]);
	assert_int_equal(h.max, v[n - 1]);
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++) {
		size_t rank = (size_t)ceil(q[i] * (double)n);

		assert_near(hist_quantile(&h, q[i]), v[rank ? rank - 1 : 0]);
		assert_int_equal(hist_quantile(&h, q[i]), hist_quantile(&halves[0], q[i]));
	}
	assert_int_equal(halves[0].total, total);
	assert_int_equal(halves[0].min, v[0]);
	hist_subtract(&h, &halves[1]);
	hist_subtract(&halves[0], &halves[1]);
	assert_int_equal(h.count, halves[0].count);
	assert_int_equal(h.total, halves[0].total);
	for (size_t i = 0; i < sizeof(q) / sizeof(q[0]); i++)
		assert_int_equal(hist_quantile(&h, q[i]), hist_quantile(&halves[0], q[i]));
	assert_true(h.min <= hist_quantile(&h, 0) && h.max >= hist_quantile(&h, 1));
	hist_subtract(&h, &halves[0]);
	assert_int_equal(h.count + h.total + h.min + h.max, 0);
	assert_int_equal(hist_quantile(&h, 0.5), 0);
	hist_free(&h);
	hist_free(&halves[0]);
	hist_free(&halves[1]);
}

TEST(test_total_saturates)
{
	struct hist h = { 0 };

	hist_add(&h, UINT64_MAX);
	hist_add(&h, 5);
	assert_int_equal(h.total, UINT64_MAX);
	assert_int_equal(hist_quantile(&h, 0.5), 5);
	assert_int_equal(hist_quantile(&h, NAN), 5);
	hist_free(&h);
}

static void double_it(struct hist *h)
{
	struct hist same = { 0 };

	assert_int_equal(hist_merge(&same, h), 0);
	assert_int_equal(hist_merge(h, &same), 0);
	hist_free(&same);
}

/* Counters grow from 2 bytes to 4 and to 8 where one is full; nothing is lost on the way. */
TEST(test_counters_grow)
{
	struct hist h = { 0 }, fives = { 0 }, sum = { 0 };

	for (int i = 0; i < 80000; i++)
		assert_int_equal(hist_add(&h, i % 7 ? 1000 : 10), 0);
	assert_int_equal(h.width, sizeof(uint32_t));
	for (int i = 0; i < 10000; i++)
		assert_int_equal(hist_add(&fives, 5), 0);
	for (int i = 0; i < 20; i++)
		double_it(&fives);
	assert_int_equal(fives.width, sizeof(uint64_t));
	assert_int_equal(hist_add(&sum, 10), 0);
	assert_int_equal(hist_merge(&sum, &h), 0);
	assert_int_equal(hist_merge(&sum, &fives), 0);
	assert_int_equal(sum.count, 10485840001ull);
	assert_int_equal(hist_quantile(&sum, 0.9999), 5);
	assert_int_equal(hist_quantile(&sum, 10485765000.0 / 10485840001.0), 10);
	assert_near(hist_quantile(&sum, 10485780000.0 / 10485840001.0), 1000);
	hist_free(&fives);
	hist_free(&h);
	hist_free(&sum);
}

TEST_GROUP(random_seed, NULL);
// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is not seen of a gap: the worked examples of the header, and on random sets that every
 * nanosecond goes somewhere once. TEST_SEED repeats a run.
 */
#include <errno.h>
#include <stdlib.h>

#include "event/event.h"
#include "ledger/unseen.h"
#include "lib/random.h"
#include "lib/test.h"

struct parts {
	size_t n;
	uint64_t ns, last_end;
	struct device_gap v[8];
};

static int on_part(void *ctx, const struct device_gap *part)
{
	struct parts *p = ctx;

	assert_true(part->start_ns < part->end_ns);
	assert_true(part->start_ns >= p->last_end);
	p->last_end = part->end_ns;
	p->ns += part->end_ns - part->start_ns;
	if (p->n < 8)
		p->v[p->n] = *part;
	p->n++;
	return 0;
}

static struct unseen u;

AFTER_EACH
{
	unseen_free(&u);
}

static struct parts divide(uint64_t *lost, uint64_t *unknown)
{
	const struct device_gap gap = { 0, 100, NULL };
	uint64_t ns[IDLE_CAUSES] = { 0 };
	struct parts parts = { .n = 0 };

	assert_int_equal(unseen_divide(&u, &gap, ns, on_part, &parts), 0);
	*lost = ns[IDLE_LOST];
	*unknown = ns[IDLE_UNKNOWN];
	assert_int_equal(*lost + *unknown + parts.ns, 100);
	return parts;
}

static void assert_part(const struct parts *p, size_t i, uint64_t start, uint64_t end)
{
	assert_true(i < p->n);
	assert_int_equal(p->v[i].start_ns, start);
	assert_int_equal(p->v[i].end_ns, end);
}

TEST(the_examples_of_the_header)
{
	uint64_t lost, unknown;
	struct parts parts;

	assert_int_equal(unseen_add(&u, UNSEEN_LOST, 20, 40), 0);
	parts = divide(&lost, &unknown);
	assert_int_equal(lost, 20);
	assert_int_equal(parts.n, 2);
	assert_part(&parts, 0, 0, 20);
	assert_part(&parts, 1, 40, 100);
	assert_int_equal(unseen_add(&u, UNSEEN_UNKNOWN, 30, 60), 0);
	parts = divide(&lost, &unknown);
	assert_int_equal(lost, 20);
	assert_int_equal(unknown, 20);
	assert_part(&parts, 0, 0, 20);
	assert_part(&parts, 1, 60, 100);
	unseen_free(&u);
	assert_int_equal(unseen_add(&u, UNSEEN_UNKNOWN, 90, 200), 0);
	parts = divide(&lost, &unknown);
	assert_int_equal(unknown, 10);
	assert_int_equal(parts.n, 1);
	assert_part(&parts, 0, 0, 90);
}

TEST(impossible_values_are_refused)
{
	assert_int_equal(unseen_add(&u, 0, 1, 2), -EINVAL);
	assert_int_equal(unseen_add(&u, UNSEEN_END, 1, 2), -EINVAL);
	assert_int_equal(unseen_add(&u, UNSEEN_LOST, 2, 1), -EINVAL);
}

/* More intervals than there is room for are wider, never fewer. */
TEST(intervals_over_the_limit_stay_unseen)
{
	for (uint64_t i = 0; i < INTERVALS_MAX + 100; i++) {
		assert_int_equal(unseen_add(&u, UNSEEN_LOST, 1000 + i * 10, 1001 + i * 10), 0);
		assert_int_equal(intervals_overlap(&u.lost, 1000 + i * 10, 1001 + i * 10), 1);
	}
	assert_int_equal(unseen_add(&u, UNSEEN_LOST, 1, 2), 0);
	assert_int_equal(intervals_overlap(&u.lost, 1, 2), 1);
}

/* One part after the other they are all that is not seen, and nothing else. */
static void assert_nexts(const uint8_t why[100])
{
	uint64_t at = 0;
	struct interval hit;

	while (unseen_next(&u, at, 100, &hit)) {
		for (; at < hit.start; at++)
			assert_int_equal(why[at], 0);
		for (; at < hit.end; at++)
			assert_int_not_equal(why[at], 0);
	}
	for (; at < 100; at++)
		assert_int_equal(why[at], 0);
	assert_false(unseen_next(NULL, 0, 100, &hit));
}

TEST(every_nanosecond_goes_somewhere_once)
{
	random_seed(state);
	for (int round = 0; round < random_rounds(3000); round++) {
		uint8_t why[100] = { 0 };
		uint64_t lost, unknown, n[3] = { 0 };

		for (int i = 0; i < 6; i++) {
			uint64_t start = below(110), end = start + below(30);
			unsigned int kind = 1 + (unsigned int)below(2);

			assert_int_equal(unseen_add(&u, kind, start, end), 0);
			for (uint64_t t = start; t < end && t < 100; t++)
				why[t] = why[t] == UNSEEN_LOST ? UNSEEN_LOST : (uint8_t)kind;
		}
		for (int t = 0; t < 100; t++)
			n[why[t]]++;
		divide(&lost, &unknown);
		assert_int_equal(lost, n[UNSEEN_LOST]);
		assert_int_equal(unknown, n[UNSEEN_UNKNOWN]);
		assert_nexts(why);
		unseen_free(&u);
	}
}

TEST(past_intervals_are_forgotten)
{
	struct interval hit;

	assert_int_equal(unseen_add(&u, UNSEEN_LOST, 10, 20), 0);
	assert_int_equal(unseen_add(&u, UNSEEN_LOST, 40, 60), 0);
	assert_int_equal(unseen_add(&u, UNSEEN_UNKNOWN, 20, 30), 0);
	unseen_drop_before(&u, 50);
	assert_true(unseen_next(&u, 0, 100, &hit));
	assert_int_equal(hit.start, 40);
	assert_int_equal(hit.end, 60);
	assert_false(unseen_next(&u, 60, 100, &hit));
}

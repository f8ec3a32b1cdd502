// SPDX-License-Identifier: BSD-3-Clause
/* When a process's device activity is not recorded, and what had no room: the examples of the header. */
#include "source/helper/helpers.c"

#include "lib/test.h"

struct got {
	unsigned int n, why;
	uint64_t start_ns, end_ns;
};

static int take(void *ctx, const struct event *ev)
{
	struct got *t = ctx;

	assert_int_equal(ev->kind, EVENT_UNSEEN);
	assert_int_equal(ev->pid, 7);
	*t = (struct got){ t->n + 1, ev->unseen.why, ev->start_ns, ev->end_ns };
	return 0;
}

TEST(work_during_a_late_read_is_unknown_until_the_next_record)
{
	struct helper_gap d = { .over_ns = 10 };
	struct got t = { 0 };
	const struct event_sink sink = { take, &t };

	helper_gap_late(&d, 50, 10);
	assert_int_equal(helper_gap_update(&d, 7, 50, 92, &sink), 0);
	assert_int_equal(t.n, 0);
	assert_int_equal(helper_gap_update(&d, 7, 91, 92, &sink), 0);
	assert_int_equal(helper_gap_update(&d, 7, 95, 96, &sink), 0);
	assert_int_equal(t.n, 1);
	assert_int_equal(t.why, UNSEEN_UNKNOWN);
	assert_int_equal(t.start_ns, 50);
	assert_int_equal(t.end_ns, 91);
	assert_int_equal(d.away_ns, 41);
}

/* It was claimed at 10 and had recorded nothing: what was before is unknown anyhow. */
TEST(a_late_first_read_knows_nothing_since_it_attached)
{
	struct helper_gap d = { .over_ns = 10 };
	struct got t = { 0 };

	helper_gap_late(&d, 0, 10);
	assert_int_equal(helper_gap_update(&d, 7, 91, 92, &(struct event_sink){ take, &t }), 0);
	assert_int_equal(t.start_ns, 10);
	assert_int_equal(t.end_ns, 91);
}

/* A LOSS record that had no room may have been of both. */
TEST(a_full_ring_loses_the_records_it_had_no_space_for)
{
	struct helper_lost got = { 0 };
	struct got t = { 0 };
	const struct event_sink sink = { take, &t };

	assert_int_equal(helper_gap_lost(&got, &(struct helper_lost){ 0, 0 }, 7, 80, 112, &sink), 0);
	assert_int_equal(t.n, 0);
	assert_int_equal(helper_gap_lost(&got, &(struct helper_lost){ 2, 1 }, 7, 80, 112, &sink), 0);
	assert_int_equal(t.why, UNSEEN_LOST);
	assert_int_equal(t.start_ns, 80);
	assert_int_equal(t.end_ns, 112);
	assert_int_equal(helper_gap_lost(&got, &(struct helper_lost){ 2, 1 }, 7, 91, 117, &sink), 0);
	assert_int_equal(t.n, 1);
}

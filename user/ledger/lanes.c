// SPDX-License-Identifier: BSD-3-Clause
/*
 * Just before a work begins at t, its lane is as deep as there are submissions before t that have
 * not begun before t; no moment since the last begin was deeper. Works come in the order in which
 * they begin, their submissions nearly in order.
 */
#include "ledger/lanes.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"

#define CAP_FIRST 16
#define MOVES_MAX 64	/* submissions that make way for one: more are out of order in no lane */

static bool waits(const struct device_work *w)
{
	return w->has_launch && w->launch_end_ns < w->start_ns;
}

static void other_key(void *key)
{
	*(struct lane_key *)key = (struct lane_key){ .other = 1 };
}

/* Depths of lanes at different times: the deepest. */
static int add_lane(void *to, const void *from)
{
	struct lane_stats *lane = to;
	const struct lane_stats *more = from;

	lane->works += more->works;
	lane->busy_ns += more->busy_ns;
	lane->waited_ns += more->waited_ns;
	lane->depth_max = num_max(lane->depth_max, more->depth_max);
	return hist_merge(&lane->latency, &more->latency);
}

static void release_lane(void *row)
{
	struct lane_stats *lane = row;

	hist_free(&lane->latency);
	RING_FREE(&lane->submitted);
}

/* A copy is read only: it needs no submissions. */
static int own_lane(void *row)
{
	struct lane_stats *lane = row;

	memset(&lane->submitted, 0, sizeof(lane->submitted));
	return hist_own(&lane->latency);
}

static const struct rows_type type = {
	ROWS_OF(struct lane_stats), .max = LANES_MAX, .other = other_key, .add = add_lane,
	.own = own_lane,
	.release = release_lane,
};

static struct lane_stats *find(struct lanes *l, uint64_t lane)
{
	if (!l->last || l->last->key.lane != lane || l->last->key.other)
		l->last = rows_get(&l->rows, &type, &(struct lane_key){ .lane = lane }, NULL);
	return l->last;
}

static uint64_t *at(const struct lane_stats *lane, size_t i)
{
	return RING_AT(&lane->submitted, i);
}

static int insert(struct lane_stats *lane, uint64_t submitted_ns)
{
	size_t i;

	if (lane->submitted.n == lane->submitted.cap && RING_GROW(&lane->submitted, CAP_FIRST))
		return -ENOMEM;
	i = lane->submitted.n++;
	for (; i && i + MOVES_MAX > lane->submitted.n && *at(lane, i - 1) > submitted_ns; i--)
		*at(lane, i) = *at(lane, i - 1);
	*at(lane, i) = submitted_ns;
	return 0;
}

int lanes_submit(struct lanes *l, const struct device_work *work)
{
	struct lane_stats *lane;

	if (!waits(work))
		return 0;
	lane = find(l, work->lane);
	return lane ? insert(lane, work->launch_end_ns) : -ENOMEM;
}

/* How deep the lane is just before ns. */
static uint64_t depth_before(struct lane_stats *lane, uint64_t ns)
{
	while (lane->submitted.n && *at(lane, 0) < ns) {
		RING_DROP(&lane->submitted);
		lane->due++;
	}
	return lane->due - num_min(lane->begun, lane->due);
}

/* Of a new work, ns is when it begins: nothing was deeper since the one before. */
void lanes_settle(struct lanes *l, uint64_t ns)
{
	uint64_t all = 0;

	for (size_t i = 0; i < l->rows.n; i++) {
		struct lane_stats *lane = l->rows.v[i];
		uint64_t depth = depth_before(lane, ns);

		lane->depth_max = num_max(lane->depth_max, depth);
		all += depth;
	}
	l->depth_max = num_max(l->depth_max, all);
}

int lanes_begin(struct lanes *l, const struct device_work *work)
{
	struct lane_stats *lane = find(l, work->lane);

	if (!lane)
		return -ENOMEM;
	lane->works++;
	lane->busy_ns += work->end_ns - work->start_ns;
	if (waits(work)) {
		lanes_settle(l, work->start_ns);
		lane->waited_ns += work->start_ns - work->launch_end_ns;
		lane->begun++;
	}
	if (!work->has_launch)
		return 0;
	return hist_add(&lane->latency,
			work->start_ns - num_min(work->start_ns, work->launch_start_ns));
}

int lanes_merge(struct lanes *l, const struct lanes *from)
{
	struct lane_stats *to;
	int err = 0;

	if (!from->rows.n)
		return 0;
	to = rows_get(&l->rows, &type, &(struct lane_key){ .other = 1 }, NULL);
	if (!to)
		return -ENOMEM;
	l->depth_max = num_max(l->depth_max, from->depth_max);
	for (size_t i = 0; i < from->rows.n && !err; i++)
		err = add_lane(to, from->rows.v[i]);
	return err;
}

void lanes_cut(struct lanes *l)
{
	l->depth_max = 0;
	for (size_t i = 0; i < l->rows.n; i++) {
		struct lane_stats *lane = l->rows.v[i];

		lane->works = lane->busy_ns = lane->waited_ns = lane->depth_max = 0;
		hist_reset(&lane->latency);
	}
}

void lanes_trim(struct lanes *l)
{
	for (size_t i = 0; i < l->rows.n; i++) {
		struct lane_stats *lane = l->rows.v[i];

		if (!lane->submitted.n)
			RING_FREE(&lane->submitted);
	}
	rows_trim(&l->rows);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How works wait on the lanes of one device: how long from the beginning of the launching call
 * until the work begins (latency), how many had been submitted and not begun (depth). Works of
 * one lane are submitted when their launch returns; one that had begun by then never waited, one
 * whose launch is unknown is only counted. Bounded: lanes beyond LANES_MAX are one. Knows
 * nothing of kernels' names and of owners.
 *
 * Example; L a launch [start, end), W its work, all on one lane, over [0, 100):
 *
 *   L [0,10) W [10,30)   L [12,14) W [30,40)   L [16,20) W [40,90)   L [50,60) W [90,95)
 *
 *   depth is at most 2 (in [20,30)), and (0 + 16 + 20 + 30) / 100 on average; latency: 10 18 24 40
 */
#ifndef LEDGER_LANES_H
#define LEDGER_LANES_H

#include <stdbool.h>

#include "base/ring.h"
#include "base/rows.h"
#include "ledger/device_book.h"
#include "base/hist.h"

#define LANES_MAX 64

struct lane_key {
	uint64_t lane;			/* context << 32 | stream */
	uint64_t other;			/* 1: all lanes that have no row of their own */
};

struct lane_stats {
	struct lane_key key;
	uint64_t works;			/* that began */
	uint64_t busy_ns;
	uint64_t waited_ns;		/* from the launch's return to the work's begin, of all */
	uint64_t depth_max;
	struct hist latency;
	RING(uint64_t) submitted;	/* of works that have not begun, in order of time */
	uint64_t due, begun;		/* submissions before the last begin, begins before it */
};

struct lanes {
	struct rows rows;		/* struct lane_stats */
	uint64_t depth_max;		/* over all lanes */
	struct lane_stats *last;	/* that was found; NULL: none */
};

static inline size_t lanes_count(const struct lanes *l)
{
	return l->rows.n;
}

static inline const struct lane_stats *lanes_at(const struct lanes *l, size_t i)
{
	return l->rows.v[i];
}

/* A work that will begin is known; then, in order of time, that it begins. 0 or -ENOMEM. */
int lanes_submit(struct lanes *l, const struct device_work *work);
int lanes_begin(struct lanes *l, const struct device_work *work);

/* All that begins before ns has begun, and all that was submitted before is known. */
void lanes_settle(struct lanes *l, uint64_t ns);

/* All that from counts goes into one lane, `other`: depths of lanes at different times, the
 * deepest. from stays. 0, or -ENOMEM: l is of no use. */
int lanes_merge(struct lanes *l, const struct lanes *from);

/* Its readable part; to is zeroed. 0 or -ENOMEM. */
static inline int lanes_copy(struct lanes *to, const struct lanes *from)
{
	to->depth_max = from->depth_max;
	return rows_copy(&to->rows, &from->rows);
}

void lanes_cut(struct lanes *l);	/* a new interval: pending works stay pending */
/* gives back the memory that it does not need while nothing comes */
void lanes_trim(struct lanes *l);

static inline void lanes_free(struct lanes *l)
{
	rows_free(&l->rows);
	l->last = NULL;
}

#endif

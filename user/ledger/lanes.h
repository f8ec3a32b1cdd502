/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How works wait on the lanes of one device: how long from the beginning of the launching call
 * until the work begins (latency), how many had been submitted and not begun (depth). Works of
 * one lane are submitted when their launch returns; one that had begun by then never waited, one
 * whose launch is unknown is only counted. Bounded: lanes beyond LANES_MAX are one. Knows
 * nothing of kernels' names and of owners. A device's book fills them (ledger/device_book.c).
 *
 * Example; L a launch [start, end), W its work, all on one lane, over [0, 100):
 *
 *   L [0,10) W [10,30)   L [12,14) W [30,40)   L [16,20) W [40,90)   L [50,60) W [90,95)
 *
 *   depth is at most 2 (in [20,30)), and (0 + 16 + 20 + 30) / 100 on average; latency: 10 18 24 40
 */
#ifndef LEDGER_LANES_H
#define LEDGER_LANES_H

#include "base/hist.h"
#include "base/ring.h"
#include "base/rows.h"

#define LANES_MAX 64
#define LANES_RECENT 8	/* a power of two */

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
	uint64_t depth, depth_max;	/* over all lanes */
	/* Found last, by the low bits of their streams; NULL: none. */
	struct lane_stats *recent[LANES_RECENT];
};

static inline size_t lanes_count(const struct lanes *l)
{
	return l->rows.n;
}

static inline const struct lane_stats *lanes_at(const struct lanes *l, size_t i)
{
	return l->rows.v[i];
}

/* All that from counts goes into one lane, `other`: depths of lanes at different times, the
 * deepest. from stays. 0, or -ENOMEM: l is of no use. */
int lanes_merge(struct lanes *l, const struct lanes *from);

/* Its readable part; to is zeroed. 0 or -ENOMEM. */
static inline int lanes_copy(struct lanes *to, const struct lanes *from)
{
	to->depth_max = from->depth_max;
	return rows_copy(&to->rows, &from->rows);
}

/* Subtracts an earlier copy. Where depth_max was reached before, it becomes a depth that is known
 * of the time since then: of one of the copies, and 1 if any work waited. */
void lanes_subtract(struct lanes *from, const struct lanes *earlier);

static inline void lanes_free(struct lanes *l)
{
	rows_free(&l->rows);
	memset(l->recent, 0, sizeof(l->recent));
}

#endif

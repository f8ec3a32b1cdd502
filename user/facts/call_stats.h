/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of a process's calls: one row per (function, launch shape, result, stack). Every table
 * of calls is a grouping of these rows. Bounded: beyond CALL_STATS_MAX, new ones share one row per
 * function (CALL_SHAPE_MORE) and are counted in `more`. Knows nothing of threads and of time books.
 */
#ifndef FACTS_CALL_STATS_H
#define FACTS_CALL_STATS_H

#include "base/rows.h"
#include "event/event.h"
#include "base/hist.h"

#define CALL_STATS_MAX 16384	/* per process; rows of CALL_SHAPE_MORE come on top */

enum call_shape { CALL_SHAPE_NONE = 0, CALL_SHAPE_ONE, CALL_SHAPE_MORE };

struct call_key {
	uint16_t func;
	uint8_t shape;		/* enum call_shape; MORE: of several shapes, results and stacks */
	uint8_t has_result;	/* 0: the result is unknown, or there are several */
	int32_t result;
	uint64_t stack;		/* id; 0: none was taken */
	uint32_t dims[6];	/* grid and block of CALL_SHAPE_ONE, else 0 */
};

struct call_stat {
	struct call_key key;
	uint64_t count;		/* the first of its sums */
	uint64_t results_known;	/* calls whose result is known */
	uint64_t errors;	/* of these, neither 0 nor 600 (not ready) */
	uint64_t bytes;		/* sum over calls whose bytes are known, also if they failed */
	uint64_t bytes_known;	/* how many those are */
	uint64_t before;	/* began before they could be seen, and ended: not in count, bytes
				 * and time; in errors if the result is known. Plus those of `open`
				 * that began before */
	uint64_t open;		/* never returned, of threads that ended; in nothing else */
	/* works of the function's calls with that stack, whatever their shapes and results: in the
	 * row of CALL_SHAPE_NONE without a result, which may have no calls */
	uint64_t works, works_ns;
	struct hist time;	/* calls whose return was observed */
};

struct call_stats {
	struct rows rows;	/* struct call_stat */
	uint64_t more;		/* calls counted under CALL_SHAPE_MORE */
};

static inline size_t call_stats_count(const struct call_stats *cs)
{
	return cs->rows.n;
}

static inline const struct call_stat *call_stats_at(const struct call_stats *cs, size_t i)
{
	return cs->rows.v[i];
}

/* The row of a call; stable until rows_free. NULL on ENOMEM. */
struct call_stat *call_stats_find(struct call_stats *cs, const struct event *call);

/* The latest rows of a thread, so that most calls find theirs without hashing. Start zeroed. */
struct call_cache {
	struct call_stat *v[8];
};

/* Counts a call in its row. 0 or -ENOMEM. */
int call_cache_add(struct call_cache *c, struct call_stats *cs, const struct event *call);

/* Adds n works, which took ns in all, to the call that launched them. 0 or -ENOMEM. */
struct launch_call;
int call_cache_add_works(struct call_cache *c, struct call_stats *cs,
			 const struct launch_call *of, uint64_t n, uint64_t ns);

int call_stat_add(struct call_stat *s, const struct event *call);	/* 0 or -ENOMEM */
void call_stat_add_before(struct call_stat *s, const struct event *ev);	/* LEFT, or it ended */

/* A call of the function was open when its thread ended. 0 or -ENOMEM. */
int call_stats_leave(struct call_stats *cs, uint16_t func, bool began_before);

/* Adds all of from, which stays. 0, or -ENOMEM: `to` is of no use. */
int call_stats_merge(struct call_stats *to, const struct call_stats *from);

/* to is zeroed. 0 or -ENOMEM. */
static inline int call_stats_copy(struct call_stats *to, const struct call_stats *from)
{
	to->more = from->more;
	return rows_copy(&to->rows, &from->rows);
}
/* Subtracts an earlier copy: rows stay. */
static inline void call_stats_subtract(struct call_stats *from, const struct call_stats *earlier)
{
	from->more -= earlier->more;
	rows_subtract(&from->rows, &earlier->rows);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A join, what it passes on, and the events of one process, for the join's tests. */
#ifndef UNIT_JOIN_ROOM_H
#define UNIT_JOIN_ROOM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/num.h"
#include "join/join.h"
#include "lib/random.h"

#define EVENTS_MAX 256
#define LAUNCH_CBID 211		/* cudaLaunchKernel, of the runtime */
#define RUNTIME 5
#define SEC 1000000000ull
#define BASE (100 * SEC)

struct seen {			/* what was passed on; works are told by their `bytes` */
	struct {
		unsigned int times;
		struct launch by;	/* tid 0: none */
	} work[EVENTS_MAX];
	uint64_t passed, horizon;
	uint64_t untold_start, untold_end;	/* of all that were told together */
	enum join_graphs graphs;		/* as it is asked */
	uint64_t unended_start, unended_end;	/* the same */
	struct join_unended unended;		/* the latest */
};

static inline int on_work(void *ctx, const struct event *work, const struct launch *launch)
{
	struct seen *seen = ctx;

	assert_true(work->work->bytes < EVENTS_MAX);
	seen->work[work->work->bytes].times++;
	if (launch)
		seen->work[work->work->bytes].by = *launch;
	seen->passed++;
	return 0;
}

static inline int on_horizon(void *ctx, uint32_t pid, uint64_t horizon_ns)
{
	struct seen *seen = ctx;

	(void)pid;
	assert_true(horizon_ns > seen->horizon);
	seen->horizon = horizon_ns;
	return 0;
}

static inline int on_untold(void *ctx, uint32_t pid, uint64_t start_ns, uint64_t end_ns)
{
	struct seen *seen = ctx;

	(void)pid;
	assert_true(start_ns <= end_ns);
	seen->untold_start = seen->untold_end ? num_min(seen->untold_start, start_ns) : start_ns;
	seen->untold_end = num_max(seen->untold_end, end_ns);
	return 0;
}

static inline enum join_graphs graphs_run(void *ctx, uint32_t pid)
{
	const struct seen *seen = ctx;

	(void)pid;
	return seen->graphs;
}

static inline int on_unended(void *ctx, const struct join_unended *what, uint64_t start_ns, uint64_t end_ns)
{
	struct seen *seen = ctx;

	assert_true(what->since_ns <= start_ns && start_ns < end_ns);
	/* In order, or after a late work again for another. */
	assert_true(seen->unended.pid != what->pid || seen->unended_end <= start_ns || end_ns <= seen->horizon);
	seen->unended = *what;
	seen->unended_start = seen->unended_end ? seen->unended_start : start_ns;
	seen->unended_end = end_ns;
	return 0;
}

static inline struct join *new_join(struct seen *seen)
{
	struct join *j;

	memset(seen, 0, sizeof(*seen));
	j = join_new(&(struct join_sink){ on_work, on_horizon, on_untold, graphs_run, on_unended, seen });
	assert_non_null(j);
	return j;
}

static inline void push(struct join *j, const struct event *ev)
{
	assert_int_equal(join_push(j, ev), 0);
}

static inline void push_time(struct join *j, unsigned int kind, uint64_t ns)
{
	push(j, &(struct event){ .kind = (uint8_t)kind, .start_ns = ns, .end_ns = ns });
}

static inline void api(struct join *j, uint32_t correlation, uint64_t start, uint64_t end)
{
	push(j, &(struct event){ .kind = EVENT_API, .pid = 1, .tid = 5, .seq = correlation,
				 .func = LAUNCH_CBID, .dir = RUNTIME, .start_ns = start,
				 .end_ns = end });
}

static inline void work(struct join *j, uint32_t correlation, uint64_t start, uint64_t end)
{
	struct work w = { .kind = WORK_KIND_KERNEL, .correlation = correlation };

	push(j, &(struct event){ .kind = EVENT_WORK, .pid = 1, .start_ns = start, .end_ns = end,
				 .work = &w, .text = "kernel" });
}

static inline struct join_counts counts_of(struct join *j)
{
	struct join_counts c;

	join_counts(j, &c);
	return c;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The join of a test, what it passes on, and the events of one process. */
#ifndef UNIT_JOIN_ROOM_H
#define UNIT_JOIN_ROOM_H

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "join/join.h"
#include "join/scopes.h"
#include "lib/random.h"
#include "lib/test.h"
#include "lib/work_named.h"

#define EVENTS_MAX 256
#define LAUNCH_CBID 211		/* cudaLaunchKernel, of the runtime */
#define RUNTIME 5
#define SEC 1000000000ull
#define BASE (100 * SEC)

static struct join *j;
static struct scopes scopes;		/* of the process; the test frees it */

static struct seen {		/* what was passed on; a work's `bytes` is its place */
	struct {
		unsigned int times;
		struct launch by;	/* tid 0: none */
	} work[EVENTS_MAX];
	uint64_t passed, horizon;
	unsigned int called;		/* launches whose call came after their works */
	struct launch last_called;
	unsigned int asked;		/* for a scope */
	uint64_t asked_ns;
	struct part {	/* from the first to the last of them */
		uint64_t start, end;
	} lost, unknown;
} seen;

static inline int on_work(void *ctx, const struct event *work, const struct launch *launch)
{
	(void)ctx;
	assert_true(work->work.bytes < EVENTS_MAX);
	seen.work[work->work.bytes].times++;
	if (launch)
		seen.work[work->work.bytes].by = *launch;
	seen.passed++;
	return 0;
}

static inline int on_horizon(void *ctx, uint32_t pid, uint64_t horizon_ns)
{
	(void)ctx;
	(void)pid;
	assert_true(horizon_ns > seen.horizon);
	seen.horizon = horizon_ns;
	return 0;
}

static inline int on_unseen(void *ctx, uint32_t pid, unsigned int why, uint64_t start_ns, uint64_t end_ns)
{
	struct part *all = why == UNSEEN_LOST ? &seen.lost : &seen.unknown;

	(void)ctx;
	(void)pid;
	assert_true(start_ns <= end_ns);
	all->start = all->end ? num_min(all->start, start_ns) : start_ns;
	all->end = num_max(all->end, end_ns);
	return 0;
}

static inline void on_called(void *ctx, uint32_t pid, uint32_t correlation, const struct launch *launch)
{
	(void)ctx;
	(void)pid;
	(void)correlation;
	seen.called++;
	seen.last_called = *launch;
}

static inline const struct scope *on_scope(void *ctx, uint32_t process, uint32_t tid, uint64_t ns)
{
	(void)ctx;
	(void)process;
	seen.asked++;
	seen.asked_ns = ns;
	return scopes_at(&scopes, tid, ns);
}

static inline void restart(void)
{
	join_free(j);
	memset(&seen, 0, sizeof(seen));
	j = join_new(&(struct join_sink){ on_work, on_horizon, on_unseen, on_called, NULL });
	assert_non_null(j);
	join_use_scopes(j, on_scope);
}

AFTER_EACH
{
	join_free(j);
	j = NULL;
}

static inline void push(const struct event *ev)
{
	assert_int_equal(ev->kind == EVENT_API ? join_push_api(j, ev, NULL) : join_push(j, ev), 0);
}

static inline void push_time(unsigned int kind, uint64_t ns)
{
	push(&(struct event){ .kind = (uint8_t)kind, .start_ns = ns, .end_ns = ns });
}

static inline void api(uint32_t correlation, uint64_t start, uint64_t end)
{
	push(&(struct event){ .kind = EVENT_API, .process = 1, .tid = 5,
				 .api.correlation = correlation,
				 .api.cbid = LAUNCH_CBID, .api.domain = RUNTIME, .start_ns = start,
				 .end_ns = end });
}

static inline void work(uint32_t correlation, uint64_t start, uint64_t end)
{
	struct work w = { .kind = WORK_KIND_KERNEL, .correlation = correlation };

	push(&(struct event){ .kind = EVENT_WORK, .process = 1, .start_ns = start, .end_ns = end,
				 .work = work_named(w, "kernel") });
}

static inline struct join_counts counts_of(void)
{
	struct join_counts c;

	join_counts(j, &c);
	return c;
}

#endif

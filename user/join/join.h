/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launch <-> device work. A call (of uprobes or of CUPTI's API records, whichever came; both are one
 * call) meets the works that it launched: CUPTI's API record has the thread, the times and a
 * correlation, the works have the correlation, the uprobe's call has the thread and contains the API
 * record's times. Knows nothing of books, kernels' names or tables; tells what it found.
 *
 * Correlations are numbers of one process, 32 bits, that wrap: they match within a time window. What
 * waits on either side is bounded by time and by number; what leaves it is counted, never dropped in
 * silence:
 *   matched  a work met its launch
 *   late     it did, after the work had been passed on without it
 *   orphan   it was passed on without one: no such record came in time (or at all)
 *   skew     the work began before its launch, by less than the clock's error (at least 10 us): kept
 *   invalid  ... by more than 1 ms, or lies outside of the session: not passed on
 * A graph's launch meets many works; it stays known until the next launch of its stream's lane or the
 * window's end.
 *
 * Examples; A(c) an API record of correlation c with [start, end) on thread T, W(c) a work:
 *
 *   A(1) [10,14) T=5   W(1) [20,30)             launch: thread 5, [10,14), queued 6 (14 -> 20)
 *   W(1) [20,30)       A(1) [10,14) T=5         the same, whatever comes first
 *   A(1) [10,14) T=5   W(1) [12,30)             queued 0: it began inside the launch
 *   W(2) [20,30)       nothing                  orphan, once the window is over
 *   A(3) [10,14) T=5   W(3) W(3) W(3)           a graph: three works of one launch
 *   call [9,15) T=5    A(1) [10,14) T=5         one call: the launch is [9,15), as the uprobe saw it
 */
#ifndef JOIN_JOIN_H
#define JOIN_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "event/work.h"

#define JOIN_WINDOW_NS 10000000000ull	/* --max-late: so long one side waits for the other */
#define JOIN_WAITING_MAX 262144		/* of each side, over all processes */

struct launch {			/* who asked for a work */
	uint32_t tid;
	uint16_t func;		/* as in the source's funcs; FUNCS_MAX: only CUPTI's number is known */
	bool by_probe;		/* times are a uprobe's; else CUPTI's */
	uint64_t start_ns, end_ns;
};

/* A work and its launch, NULL: an orphan. Valid during the call. 0 or an error that ends it. */
struct join_sink {
	int (*work)(void *ctx, const struct event *work, const struct launch *launch);
	/* No work that starts before horizon_ns will be passed on any more. */
	int (*horizon)(void *ctx, uint32_t pid, uint64_t horizon_ns);
	void *ctx;
};

struct join_counts {
	uint64_t matched, late, orphan, skew, invalid;
	uint64_t waiting;	/* works, now */
};

struct join;

struct join *join_new(const struct join_sink *sink);	/* NULL + errno */
void join_free(struct join *j);

/* CALL and LEFT (launches of uprobes), API, WORK, START, STOP, WATERMARK and PROCESS, EXIT; others
 * are not looked at. 0, -ENOMEM or the sink's error. */
int join_push(struct join *j, const struct event *ev);

/* Nothing more will come: what waits is passed on as it stands. */
int join_end(struct join *j);

void join_counts(const struct join *j, struct join_counts *out);

#endif

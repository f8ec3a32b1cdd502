/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call <-> launch <-> device work: CUPTI's API record has the thread, the times and a
 * correlation, the works that it launched have the correlation, and the call that probes saw is
 * the one of its thread that launch_moment() of the record lies in. They meet here, once;
 * consumers get works with their launch. Knows nothing of books, kernels' names or tables.
 *
 * Both sides wait for the other, whichever comes first; bounded by number in each process and
 * by bytes in all together (the oldest of a process leave for its next ones), works also by
 * time. What leaves without the other is counted, never dropped in silence:
 *   matched  a work met its launch
 *   orphan   it was passed on without one: no such record came in time, or at all, or it is
 *            unknown which (WORK_HAS_NO_LAUNCH): these are passed on at once
 *   late     of both, it began before a horizon that was passed on: books take the part of it
 *            that they had not settled
 *   skew     of matched, it began before its launch, by up to 1 ms: kept
 *   invalid  ... by more, or it lies outside of the session (these alone: outside): not passed on
 * So matched + orphan is what was passed on. A launch that met nothing when the window is over,
 * or all (unless another file goes on where this ends: it may meet one there), was captured;
 * or, if it is of a kernel, it is `lost` from its return until it was over: a later launch into
 * its stream met a work, or a call of its thread that waits for its stream or context returned.
 * Until then it may run, to the end of its process; so may, after UNSEEN, what was launched before
 * its end (join.c: struct resumed). Copies, sets and graphs are only counted, since some give no
 * work. Correlations are numbers of one process that wrap: the newest record of a number has it;
 * records of one number and thread that overlap (the runtime's and the driver's inside) are one
 * launch, the outer one. A launch that was met stays known until the window is over since its last
 * work (a graph has many). What was launched before the process executed its program (PROCESS with
 * a time) and what ran after it are not one.
 *
 * The horizon of a process is the oldest of: its earliest launch or work that waits, a second
 * before its latest record or the watermark of the calls, that watermark. A launch or a work holds
 * it up by at most the window.
 *
 * Examples; A(c) an API record of correlation c with [start, end) on thread T, W(c) a work:
 *
 *   A(1) [10,14) T=5   W(1) [20,30)             launch: thread 5, [10,14)
 *   W(1) [20,30)       A(1) [10,14) T=5         the same, whatever comes first
 *   W(2) [20,30)       nothing                  orphan, once the window is over
 *   A(3) [10,14) T=5   W(3) W(3) W(3)           a graph: three works of one launch
 *   A(4) [11,13) T=5   A(4) [10,14) T=5  W(4)   one launch, [10,14)
 *   A(5) [10,14) T=5   W(5) [9,30)              matched, and skew
 *   C [8,16) T=5  A(6) [10,14) T=5  W(6)        launch: thread 5, [10,14), its call [8,16)
 *   A(6) [10,14) T=5  W(6)  C [8,16) T=5        W(6) is passed on without it, then called()
 */
#ifndef JOIN_JOIN_H
#define JOIN_JOIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "join/launch.h"

#define JOIN_WINDOW_NS 10000000000ull	/* so long one side waits for the other */
#define JOIN_SETTLE_NS 1000000000ull	/* works of the last second may be out of order */
#define JOIN_SKEW_NS 1000000ull
#define JOIN_LAUNCHES_MAX 16384		/* of one process */
#define JOIN_WORKS_MAX 4096		/* that wait, of one process */
#define JOIN_ROOM_BYTES (32u << 20)	/* of all processes; each has a few places without it */
#define JOIN_TEXT_BYTES (2u << 20)	/* for names of works that wait, of all processes */

/* The consumer of the join's results. launch NULL: an orphan. Both valid during the call. 0 or
 * an error that ends the push. */
struct join_sink {
	int (*work)(void *ctx, const struct event *work, const struct launch *launch);
	/* Works that start before horizon_ns will be passed on as late only. */
	int (*horizon)(void *ctx, uint32_t process, uint64_t horizon_ns);
	/* Works of the process that ran in [start_ns, end_ns) are lost (enum unseen_why), or it is
	 * unknown whether some run: to UINT64_MAX if nothing more will come. NULL: not wanted. */
	int (*unseen)(void *ctx, uint32_t process, unsigned int why, uint64_t start_ns,
		      uint64_t end_ns);
	/* The call of a launch came after works were passed on without it. NULL: not wanted. */
	void (*called)(void *ctx, uint32_t process, uint32_t correlation,
		       const struct launch *launch);
	void *ctx;
};

struct join_counts {
	uint64_t matched, orphan, late, skew, invalid, outside;
	uint64_t waiting;	/* works, now */
	uint64_t launches, met;	/* that CUPTI recorded; of these, that any work met */
	/* more of them, of which no work is to come: they were captured into a graph, or met
	 * none while something was */
	uint64_t captured;
	uint64_t awaited;	/* of launches that met none, those of which it may come yet */
	uint64_t lost;		/* ... and those whose work is over */
	uint64_t ended;		/* of lost, those that met none until their process ended */
};

struct join;
struct join *join_new(const struct join_sink *sink);	/* NULL + errno */
void join_free(struct join *j);

/* WORK (whose end is not before its start), START, STOP, WATERMARK, EXIT, PROCESS, UNSEEN; no
 * other. 0, -ENOMEM or the sink's error. */
int join_push(struct join *j, const struct event *ev);

/* API, and the call of its thread at its launch_moment(); NULL: that may come yet. 0, -ENOMEM or
 * the sink's error. */
int join_push_api(struct join *j, const struct event *api, const struct launch_call *call);

/* A launch has its scopes from now on: at is scopes_at of its process, ctx the sink's. */
void join_use_scopes(struct join *j, const struct scope *(*at)(void *ctx, uint32_t process,
							       uint32_t tid, uint64_t ns));

/* What was launched while nothing was recorded may be what a thread waits for. next: *at 0
 * begins; of each thread of the process its wait, if it lasted at ns or goes on. False: there
 * are no more. */
void join_use_waits(struct join *j, bool (*next)(void *ctx, uint32_t process, uint64_t ns,
						 size_t *at, struct join_wait *out));

/* Another file continues where this one ends: pending launches then stay pending. */
void join_goes_on(struct join *j);
void join_knows_earlier(struct join *j);	/* launches before the session, with their works */

/* A call of a thread of which records wait for their calls: those of a thread come in the order
 * of time. True: more wait. */
bool join_push_call(struct join *j, uint32_t process, uint32_t tid, const struct launch_call *call);

/* Nothing more will come: works that wait are passed on as they stand. */
int join_end(struct join *j);
bool join_knows(const struct join *j, uint32_t process);	/* records came, and more may */
void join_counts(const struct join *j, struct join_counts *out);

#endif

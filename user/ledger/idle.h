/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a device of a process idled: a gap of its book is divided by the activity of the thread
 * that launched the work which ended the gap. Pure functions; knows a gap, a launch, a thread's
 * timeline.
 *
 * From the launch's return to the gap's end the work was queued. Inside the launching call the time
 * is that call's: `launch`, but `copy-host` in a host copy, `comm-host` in a collective. Before it,
 * the thread's time goes to the causes of the calls that it was in, or of its being off the CPU.
 * The launching call is the launch's (join/join.h), or the one that the thread has not returned
 * from; if no probe saw it, CUPTI's record. Where a call is known to have been late, that is
 * `runqueue`, or `stopped`.
 *
 * Examples; S sync, L launch, a gap [0, 100):
 *
 *   S [0,40)  L [60,70)  launch [62,68)    sync 40, other 20, launch 10, queued 30
 *   S [0,40)             launch [62,68)    sync 40, other 22, launch 6, queued 32
 *   L [60,120)           launch [62,110)   other 60, launch 40
 *   off lock [0,40), runqueue [40,45)  L [60,70)  launch [62,68)
 *                                          lock 40, runqueue 5, other 15, launch 10, queued 30
 *   S [0,40) late 15, 5 after it  L [60,70)  launch [62,68)
 *                                          sync 25, runqueue 15, other 20, launch 10, queued 30
 *   S [0,62)  sampled stopped [30,60)  L [62,70)  launch [62,68)
 *                                          sync 32, stopped 30, launch 8, queued 30
 *   no launch known                        unknown 100
 *   a thread without calls, launch [62,68) unknown 62, launch 6, queued 32
 *   nothing ended it                       no-work 100 (a reading of what goes on calls it open)
 */
#ifndef LEDGER_IDLE_H
#define LEDGER_IDLE_H

#include "ledger/device_book.h"
#include "ledger/timeline.h"

enum idle_cause {
	IDLE_QUEUED,
	IDLE_OTHER_PROCESS,	/* queued while another process ran there: not of idle_divide */
	IDLE_LAUNCH,
	IDLE_SYNC,
	IDLE_COPY_HOST,
	IDLE_SET,
	IDLE_ALLOC,
	IDLE_EVENT,
	IDLE_STREAM,
	IDLE_GRAPH,
	IDLE_COMPILE,
	IDLE_COMM_HOST,
	IDLE_INIT,
	IDLE_LIBRARY,
	IDLE_QUERY,
	IDLE_OTHER,
	IDLE_RUNQUEUE,		/* ready without a CPU: outside calls, and at last in one */
	IDLE_DISK,		/* off the CPU outside calls, as the thread's book has it */
	IDLE_IO,
	IDLE_LOCK,
	IDLE_PAGE_FAULT,
	IDLE_SLEEP,
	IDLE_OFF_CPU,		/* for any other reason */
	IDLE_STOPPED,		/* by a signal or a debugger: outside calls, and in one */
	IDLE_NO_WORK,
	IDLE_OPEN,
	IDLE_LOST,
	IDLE_UNKNOWN,
	IDLE_UNARMED,
	IDLE_CAUSES
};

/* "queued", ..., "?" */
static inline const char *idle_name(unsigned int cause)
{
	static const char *const names[IDLE_CAUSES] = {
		[IDLE_QUEUED] = "queued", [IDLE_OTHER_PROCESS] = "other-process",
		[IDLE_LAUNCH] = "launch", [IDLE_SYNC] = "sync",
		[IDLE_COPY_HOST] = "copy-host", [IDLE_SET] = "set", [IDLE_ALLOC] = "alloc",
		[IDLE_EVENT] = "event", [IDLE_STREAM] = "stream", [IDLE_GRAPH] = "graph",
		[IDLE_COMPILE] = "compile", [IDLE_COMM_HOST] = "comm-host", [IDLE_INIT] = "init",
		[IDLE_LIBRARY] = "library", [IDLE_QUERY] = "query", [IDLE_OTHER] = "other",
		[IDLE_RUNQUEUE] = "runqueue", [IDLE_DISK] = "disk", [IDLE_IO] = "io",
		[IDLE_LOCK] = "lock", [IDLE_PAGE_FAULT] = "page-fault", [IDLE_SLEEP] = "sleep",
		[IDLE_OFF_CPU] = "off-cpu", [IDLE_STOPPED] = "stopped",
		[IDLE_NO_WORK] = "no-work", [IDLE_OPEN] = "open", [IDLE_LOST] = "lost",
		[IDLE_UNKNOWN] = "unknown", [IDLE_UNARMED] = "unarmed",
	};

	return cause < IDLE_CAUSES ? names[cause] : "?";
}

/* Of these, it is not certain that the device idled. */
static inline uint64_t idle_unknown_ns(const uint64_t ns[IDLE_CAUSES])
{
	return ns[IDLE_UNKNOWN] + ns[IDLE_LOST] + ns[IDLE_UNARMED];
}

/* A thread that launches, as it is known when the gap is divided. */
struct idle_thread {
	const struct timeline *timeline;
	uint64_t now_ns;		/* the timeline ends here; since then: */
	uint8_t now;			/* enum bucket */
	const struct intervals *unarmed;	/* of its process; may be NULL */
	const struct timeline *sampled;	/* ledger/sampled.h; NULL: none. It comes before what
					 * calls say */
	const uint64_t *stacks;		/* ids, by the numbers in the timeline; NULL: none */
};

/* Adds every nanosecond of the gap to one cause. who NULL: the thread is unknown. */
void idle_divide(const struct device_gap *gap, const struct idle_thread *who,
		 uint64_t ns[IDLE_CAUSES]);

#endif

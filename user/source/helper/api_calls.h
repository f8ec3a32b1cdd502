/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process's calls by CUPTI's API records, for sessions in which no probe sees any: one
 * EVENT_CALL for each outermost call of a function that the catalogue would probe, numbered and in
 * order within its thread, with an EVENT_THREAD before its first and an EVENT_EXIT after its last,
 * as probes would send them. Knows nothing of rings and clocks: times are the host's already.
 *
 * Where probes see most functions, those that were left out are pushed, and nothing else: an
 * EVENT_CUPTI_CALL for each outermost call of one of them, without number, thread or exit.
 *
 * A call's record comes when it has ended, those inside it before it; so calls are held for a
 * while (API_CALLS_SLACK_NS), in case they are inside another. Bounded: then they go out
 * earlier.
 *
 * Examples; A records of one thread, pushed at the end:
 *
 *   A malloc [10,20)  A launch [30,40)                      malloc, launch
 *   A cuMemAlloc [12,18)  A cudaMalloc [10,20)              cudaMalloc: the driver's is inside
 *   A cudaGetLastError [10,11)  A launch [12,20)            launch: the other is probed on request
 *   A a [10,20)  A b [15,25)                                both, as they are: b's book says skew
 */
#ifndef SOURCE_HELPER_API_CALLS_H
#define SOURCE_HELPER_API_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "source/helper/threads.h"

#define API_CALLS_SLACK_NS 500000000ull	/* an outer call ends at most so long after one inside */
#define API_CALLS_HELD_MAX 262144	/* records */
#define API_CALLS_ROOM 1048576		/* of all with the same rows */

/* CUPTI's numbers of functions -> rows of the catalogue (as struct funcs has them). Shared, and
 * with them the room for records that are held. */
struct api_rows;
struct api_rows *api_rows_new(void);	/* NULL + errno */
void api_rows_free(struct api_rows *r);

/* Probes see all rows but those that are left out from then on; before the first call is
 * taken. */
void api_rows_probed(struct api_rows *r);
void api_rows_leave_out(struct api_rows *r, unsigned int row);
bool api_rows_any(const struct api_rows *r);	/* is any function recorded? */
bool api_rows_are_all(const struct api_rows *r);	/* of no probe is known */

struct api_calls;

/* Both outlive it; threads NULL: rows are probed. NULL + errno. */
struct api_calls *api_calls_new(uint32_t pid, struct api_rows *rows,
				const struct helper_threads *threads);
void api_calls_free(struct api_calls *c);

/* One EVENT_API, of the host's tid. If no more can be held, calls before the slack of the newest
 * go out; if that does not help (a clock that stands still, on purpose), it is lost, and a
 * number of its thread with it. 0, -ENOMEM or the sink's error. */
int api_calls_take(struct api_calls *c, const struct event *api, const struct event_sink *sink);
uint64_t api_calls_lost(const struct api_calls *c);

/* All records of calls that ended before complete_ns were taken: pushes the calls that are
 * complete then. 0, -ENOMEM or the sink's error. */
int api_calls_push(struct api_calls *c, uint64_t complete_ns, const struct event_sink *sink);

/* Nothing more will come. exit_ns: the process has ended, and its threads with it; 0: it goes
 * on. */
int api_calls_end(struct api_calls *c, uint64_t exit_ns, const struct event_sink *sink);

/* Calls that ended before have been pushed. */
uint64_t api_calls_complete_ns(const struct api_calls *c);

#endif

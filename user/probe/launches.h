/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which launches need probes (--launch auto). The runtime launches by calling the driver, so a
 * launch that is probed in both is trapped twice, though one would do, unless a process also calls
 * the driver itself; and where CUPTI records the launches of all, none is needed. Decided from the
 * calls that probes see, for all processes together. Pure: makes no links.
 *
 *   all         at first, and whenever neither of the following holds; after LAUNCHES_LOOK_NS of
 *               the runtime's for LAUNCHES_ENOUGH launches more, to look
 *   runtime's   while each process that launches has done so LAUNCHES_ENOUGH times in the runtime
 *               since it last called the driver itself (twice as often each time that it calls
 *               it afterwards)
 *   none        while CUPTI records the launches of all processes that make calls, and never
 *               stopped to while none was probed
 *
 * Never within LAUNCHES_SETTLE_NS after all were brought back: a launch of the runtime that was
 * under way looks like one of the driver.
 *
 * Examples; P launches by the runtime, D by the driver itself, R is recorded by CUPTI:
 *
 *   P 1000 times                            runtime's
 *   ... 10 s later                          all, and after 1000 more launches: runtime's
 *   P 1000 times, D once                    all, until D has ended
 *   P 1000 times, D allocates               the same: it may be about to launch
 *   P 1000 times, P allocates by the driver all, and after 1000 more launches: runtime's
 *   ... and again                           all, and after 2000 more
 *   R                                       none
 *   R, P once                               all
 *   R, its records end and come again       all, from the end on
 */
#ifndef PROBE_LAUNCHES_H
#define PROBE_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"
#include "probe/attach.h"

#define LAUNCHES_ENOUGH 1000u
#define LAUNCHES_SETTLE_NS 200000000ull
#define LAUNCHES_LOOK_NS 10000000000ull

struct launches;
struct launches *launches_new(void);		/* NULL + errno */
void launches_free(struct launches *l);

void launches_push(struct launches *l, const struct event *ev);		/* CALL; no other */

struct launches_facts {		/* about the processes that make calls */
	bool (*is_recorded)(void *ctx, pid_t pid);	/* by CUPTI; NULL: none is */
	bool (*has_ended)(void *ctx, pid_t pid);
	void *ctx;
	uint64_t now_ns;
};

/* A process that called the driver itself while its launches there were not probed, or launched
 * there when they were again: it may have done so before, unseen. Each once; 0: none. */
pid_t launches_surprise(struct launches *l);

/* The same while none is probed, for their probes to come back: the runtime's, or all. */
enum plan_part launches_needed(struct launches *l, const struct launches_facts *facts);

/* The parts of plans before this one need probes. now: as it is. */
enum plan_part launches_choose(struct launches *l, const struct attach_launches *now,
			       const struct launches_facts *facts);

#endif

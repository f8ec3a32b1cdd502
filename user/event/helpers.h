/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helpers of all watched processes as one source: finds each one's ring when it appears, keeps
 * our leases, hands on events in the host's time. Used by the engine thread.
 */
#ifndef EVENT_HELPERS_H
#define EVENT_HELPERS_H

#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"
#include "event/helper_decode.h"
#include "gpuprof/ring.h"

struct helpers;

struct helpers_process {	/* a process that may have a helper */
	pid_t pid;
	pid_t own_pid;		/* as it sees itself */
	int64_t clock_offset_ns;	/* of its time namespace */
};

enum helpers_state { HELPERS_NONE, HELPERS_WATCHED, HELPERS_BUSY, HELPERS_BROKEN, HELPERS_ENDED };

struct helpers_status {
	pid_t pid;
	enum helpers_state state;	/* NONE: none found so far; BUSY: no slot is free */
	struct gp_ring_head head;	/* as it was read last; of state NONE: zero */
	struct helper_counts counts;
	uint64_t lost;			/* records for which the ring had no room */
};

struct helpers *helpers_new(void);	/* NULL + errno */
void helpers_free(struct helpers *h);	/* gives the slots back */

/* Known ones are kept. 0 or -ENOMEM. */
int helpers_add(struct helpers *h, const struct helpers_process *p);

/* Finds, renews and reads; to be called every 10 to 100 ms. now_ns: CLOCK_MONOTONIC. 0 or sink's
 * error or -ENOMEM. */
int helpers_pump(struct helpers *h, uint64_t now_ns, const struct event_sink *sink);

/* The last time: what waits for a reading of the clock goes out too. */
int helpers_end(struct helpers *h, uint64_t now_ns, const struct event_sink *sink);

size_t helpers_count(const struct helpers *h);
void helpers_status(const struct helpers *h, size_t i, struct helpers_status *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helpers of all watched processes as one source: finds each one's ring when it appears, keeps
 * our leases, hands on events in the host's time. Where no probe sees calls it pushes those that
 * CUPTI does. Used by the engine thread.
 */
#ifndef SOURCE_HELPER_HELPERS_H
#define SOURCE_HELPER_HELPERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"
#include "gpuprof/ring.h"
#include "source/helper/decode.h"
#include "source/helper/ring_reader.h"

/*
 * Processes that installed a seccomp filter on themselves after the helper came and before CUPTI
 * began: woken, the helper would load CUPTI, and a call that the filter denies may end the
 * process. Such a helper is left asleep. head is of its ring. False also where the kernel does
 * not count filters (before Linux 5.9).
 */
bool helper_is_confined(const struct gp_ring_head *head, pid_t pid);

struct helpers;

struct helpers_process {	/* a process that may have a helper */
	pid_t pid;
	pid_t own_pid;		/* as it sees itself */
	int64_t clock_offset_ns;	/* of its time namespace */
	struct ring_owner owner;	/* zero: whatever ring it has is its own */
	bool is_unlikely;	/* to have one: it is looked for less often */
	uint64_t exec_ns;	/* records up to then are of the program before; 0: of none */
};

enum helpers_state { HELPERS_NONE, HELPERS_WATCHED, HELPERS_BUSY, HELPERS_BROKEN, HELPERS_ENDED,
		     HELPERS_OTHER, HELPERS_CONFINED };

struct helpers_status {
	pid_t pid;
	/* NONE: none found so far; BUSY: no slot is free; OTHER: its ring is of an unknown
	 * version; CONFINED: it is left asleep (helper_is_confined) */
	enum helpers_state state;
	struct gp_ring_head head;	/* as it was read last; of state NONE: zero */
	struct helper_counts counts;
	uint64_t lost;			/* records for which the ring had no room */
	uint64_t lost_works;		/* of them, records of works */
	uint64_t lost_calls;		/* that could not be held (API_CALLS_HELD_MAX) */
	uint64_t unread_ns;		/* at its end, of which nothing was handed on */
	uint64_t kept_bytes;		/* of records that CUPTI did not hand on */
	uint64_t kept_ns;		/* up to its end, or now: when they may be of */
	/* not sent to us: its slot was another's, it took us for gone, or its ring broke */
	uint64_t away_ns;
};

/* UNPROBED: of those functions that helpers_leave_out names, as EVENT_CUPTI_CALL. */
enum helpers_calls { HELPERS_WORKS_ONLY, HELPERS_ALL_CALLS, HELPERS_UNPROBED_CALLS };

#define HELPERS_ENDED_MAX 1024	/* that ended are kept one by one */
#define API_CALLS_HELD_MAX 262144	/* records of calls that one process can have waiting */

struct helpers_totals {		/* of all processes, also of those that are not kept */
	uint64_t works, lost_works;	/* lost: also those that CUPTI dropped */
	uint64_t lost_calls;
	uint64_t kept_bytes;
	uint64_t forgotten;		/* processes with a helper */
};

/* wants: beside kinds, GP_RING_WANT_NODES, GP_RING_WANT_SUBSCRIBED. NULL + errno. */
struct helpers *helpers_new(enum helpers_calls calls, uint32_t wants);
void helpers_leave_out(struct helpers *h, unsigned int row);	/* no probe sees it, from now on */
/* No probe sees launches that begin in [since_ns, until_ns). since_ns 0: all are seen. */
void helpers_leave_out_launches(struct helpers *h, uint64_t since_ns, uint64_t until_ns);
void helpers_free(struct helpers *h);	/* gives the slots back */

bool helpers_know(const struct helpers *h, pid_t pid);	/* and it has not ended */

/* A process that has just begun, or has executed another program: it is checked soon. One that
 * has exited, and is not gone yet, stays unchanged. 0 or -ENOMEM. */
int helpers_add(struct helpers *h, const struct helpers_process *p);

/* The host's thread tid of process pid, which makes calls, is own_tid in its namespace, by the
 * probes: it is checked now. 0 or -ENOMEM. */
int helpers_add_thread(struct helpers *h, pid_t pid, uint32_t tid, uint32_t own_tid);

/* It may have executed another program: if so, the old one's records are read, and the new one's
 * helper is another. Nothing for an unknown process. */
void helpers_look_again(struct helpers *h, pid_t pid);

/* Finds, renews and reads, every 10 to 100 ms. now_ns: CLOCK_MONOTONIC. 0, sink's or -ENOMEM. */
int helpers_pump(struct helpers *h, uint64_t now_ns, const struct event_sink *sink);
bool helpers_note(struct helpers *h);	/* records wait: the next pump reads those */
bool helpers_are_busy(const struct helpers *h, uint64_t now_ns);	/* to be pumped soon */

/* The last time: living helpers deliver their records (within half a second), records that wait
 * for a reading of the clock go out too, and device time not known up to now_ns is unseen. */
int helpers_end(struct helpers *h, uint64_t now_ns, const struct event_sink *sink);

/* After helpers_end, and after the probes' last records: the calls that were held back for these
 * (HELPERS_UNPROBED_CALLS). */
int helpers_end_calls(struct helpers *h, const struct event_sink *sink);

/* Every call that ended before has been pushed, by processes that have a helper; no later than
 * now_ns. A silent process is waited for that long: records it sends later are late. */
#define HELPERS_LATE_NS 10000000000ull
uint64_t helpers_complete_ns(const struct helpers *h, uint64_t now_ns);

bool helpers_has_sent(const struct helpers *h, pid_t pid);	/* in any program of that number */
void helpers_totals(const struct helpers *h, struct helpers_totals *out);

/* The last one of that number which had or may have a helper; false: none is remembered. */
bool helpers_find(const struct helpers *h, pid_t pid, struct helpers_status *out);

/* Processes that live, and those that had a helper. Numbers change with every pump. */
size_t helpers_count(const struct helpers *h);
void helpers_status(const struct helpers *h, size_t i, struct helpers_status *out);

#endif

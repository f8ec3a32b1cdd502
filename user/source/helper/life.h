/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the devices of a helper's process went unrecorded, when it ended, and whether it may be
 * woken. All times but those of a ring's head are the host's. Knows no records.
 */
#ifndef SOURCE_HELPER_LIFE_H
#define SOURCE_HELPER_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"
#include "gpuprof/ring.h"

/*
 * Gaps in the knowledge of a process's devices: its helper was another reader's, or took us for
 * gone, or its ring broke. A gap is pushed as unseen while it lasts, for live views; so is the
 * time of records lost for lack of space. Knows no rings.
 *
 * Examples; claimed at 10, known until 50, late from 60 on, begins again at 90, next record at 91:
 *
 *   the helper looked at 70    its records since 50 had no reader: unknown [50,91)
 *   it did not look            all is known: it does not begin again
 */
#define HELPER_GAP_EVER 1		/* since an unknown time */
#define HELPER_GAP_EVERY_NS 500000000ull

struct helper_gap {		/* start zeroed */
	uint64_t since_ns;	/* not pushed yet; 0: there is no gap */
	uint64_t over_ns;	/* it is over when more than until then is known */
	bool away;		/* it was known before */
	uint64_t away_ns;	/* how much of that was pushed so far */
};

/* Nothing if there is a gap already. */
void helper_gap_begin(struct helper_gap *d, uint64_t since_ns, bool away);

/* We were late, and the helper stopped sending to us and begins again: nothing is known since
 * known_ns, or since our slot was claimed. */
static inline void helper_gap_late(struct helper_gap *d, uint64_t known_ns, uint64_t claim_ns)
{
	d->over_ns = num_max(d->over_ns, known_ns);
	helper_gap_begin(d, num_max(known_ns, claim_ns), true);
}

/* It goes on, at now_ns, or is over, since all is known until known_ns; or ends at
 * until_ns. 0 or the sink's error. */
int helper_gap_update(struct helper_gap *d, pid_t pid, uint64_t known_ns, uint64_t now_ns,
		     const struct event_sink *sink);
int helper_gap_end(struct helper_gap *d, pid_t pid, uint64_t until_ns,
		   const struct event_sink *sink);

struct helper_lost {		/* records without room in a ring */
	uint64_t works, memory;
};

/* Pushes a loss in that time if more was lost than was counted; then counted is as now. 0 or the
 * sink's error. */
int helper_gap_lost(struct helper_lost *counted, const struct helper_lost *now, pid_t pid,
		    uint64_t start_ns, uint64_t end_ns, const struct event_sink *sink);

/*
 * The end of a process, by its ring's last head: when it was, and since when records are
 * missing. All times but the head's are of the host. Knows no rings and no
 * records.
 *
 * Examples; the helper's clock is 5 ahead of the host's, the process was seen alive last at 90:
 *
 *   ENDED at 105                     it ended at 100; all launches before 100 are known
 *   ENDED at 105, last record 103    it ended at 103; all launches before 100 are known
 *   ... the last call's record 102   CUPTI recorded a while longer: all before 102 are known
 *   ENDED at 105, we were late at 95, known until 80:  [80, ...) is unknown
 *   AWAKE, known until 80            it ended at 90; [80, ...) is unknown
 *   VIRGIN                           it ended at 90; there was nothing to record
 *   ENDED at 900, found at 110       that cannot be: it ended at 90
 */
struct helper_exit {
	const struct gp_ring_head *head;
	int64_t offset_ns;		/* of the process's clock, as helpers_process has it */
	uint64_t alive_ns, found_ns;	/* seen last; found to have ended */
	/* the end of its last record, of its last record of a call; known until then, 0: nothing */
	uint64_t last_ns, last_call_ns, known_ns;
	uint64_t lapse_ns;		/* ring_reader_lapse_ns at the head's state */
	bool broken;			/* its ring is */
};

uint64_t helper_exit_unknown_since(struct helper_exit e);	/* 0: all is known */

/* Until when its works were recorded, if that is known (EVENT_RECORDED_NS), then when it ended
 * (EVENT_ENDED_NS), as facts about the process. 0 or the sink's error. */
int helper_exit_push(struct helper_exit e, pid_t pid, const struct event_sink *sink);

/*
 * Processes that installed a seccomp filter on themselves after the helper came and before CUPTI
 * began: woken, the helper would load CUPTI, and a call that the filter denies may end the
 * process. Such a helper is left asleep. head is of its ring. False also where the kernel does
 * not count filters (before Linux 5.9).
 */
bool helper_is_confined(const struct gp_ring_head *head, pid_t pid);

#endif

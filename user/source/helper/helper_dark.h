/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When nobody tells what a process's devices do: its helper was another reader's, or took us for gone, or its ring
 * broke. That time is told as unseen while it lasts, for who looks meanwhile; so is that of what had no room.
 * Knows no rings.
 *
 * Examples; claimed at 10, told until 50, late from 60 on, begins again at 90 and tells of 91:
 *
 *   the helper looked at 70    what it had since 50 was for nobody: unknown [50,91)
 *   it did not look            all is told: it does not begin again
 */
#ifndef SOURCE_HELPER_HELPER_DARK_H
#define SOURCE_HELPER_HELPER_DARK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "event/event.h"

#define HELPER_DARK_EVER 1		/* since when, if nobody knows */
#define HELPER_DARK_EVERY_NS 500000000ull

struct helper_dark {		/* start zeroed */
	uint64_t since_ns;	/* of what was not told yet; 0: it is not dark */
	uint64_t over_ns;	/* it is over when more than until then was told */
	bool away;		/* it was told before */
	uint64_t away_ns;	/* how much of that was told so far */
};

/* Nothing if it is dark already. */
void helper_dark_begin(struct helper_dark *d, uint64_t since_ns, bool away);

/* We were late, and the helper stopped to tell us and begins again: nothing came of what it has had since told_ns,
 * or since our slot was claimed. */
void helper_dark_late(struct helper_dark *d, uint64_t told_ns, uint64_t claim_ns);

/* It goes on, at now_ns, or is over, since what is told now is told until told_ns; or ends at until_ns. 0 or the
 * sink's error. */
int helper_dark_told(struct helper_dark *d, pid_t pid, uint64_t told_ns, uint64_t now_ns,
		     const struct event_sink *sink);
int helper_dark_end(struct helper_dark *d, pid_t pid, uint64_t until_ns, const struct event_sink *sink);

struct helper_lost {		/* records without room in a ring */
	uint64_t works, memory;
};

/* Of what more was lost than was told: in that time. told is what now is from then on. 0 or the sink's error. */
int helper_dark_lost(struct helper_lost *told, const struct helper_lost *now, pid_t pid, uint64_t start_ns,
		     uint64_t end_ns, const struct event_sink *sink);

#endif

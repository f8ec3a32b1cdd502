/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a device idled as a pure specification: says of every nanosecond of a gap what its cause is,
 * from the complete list of what the launching thread did. Slow and plain; ledger/timeline and
 * ledger/idle are tested against it.
 *
 *  1. A gap that no work ended is no-work; one whose launch is not known is unknown.
 *  2. The launching call is the one that the work's launch has; else the one that the thread is in, if the
 *     middle of CUPTI's record lies in it; else the record itself.
 *  3. From that call's end the time is queued; inside it launch, or copy-host, or comm-host.
 *     But runqueue where the span was late, here and in 4.
 *  4. Before it, it is the cause of the span that covers it; without one unarmed or other; what is
 *     forgotten is unknown, and so is all of it if nothing is known of the thread.
 */
#ifndef TESTS_IDLE_SPEC_H
#define TESTS_IDLE_SPEC_H

#include "ledger/idle.h"

struct idle_spec_thread {
	const struct timeline_span *spans;	/* all that there ever were, disjoint */
	size_t n;
	uint64_t forgotten_ns;
	const struct intervals *unarmed;
};

void idle_spec(const struct device_gap *gap, const struct idle_spec_thread *who,
	       uint64_t ns[IDLE_CAUSES]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a thread was off the CPU, estimated from procfs's accounts of it (EVENT_SCHED) where the
 * scheduler's events are not recorded. How long it ran, was ready without a CPU and slept is exact
 * between two readings; when is not, and is placed on the thread's calls. Knows no devices.
 *
 * A thread that was stopped at a reading has not run from then until it has run again, and made no
 * call: as much of the time as it did not run, up to the next begin or end of a call, is `stopped`.
 *
 * A thread that sleeps or has no CPU begins and ends no call: such time is where it made none for
 * longest, at the end of these stretches, and never in any shorter than 32 us. It sleeps inside of
 * calls, which is their time and not placed, or outside of them: as often as readings found it in
 * either, as far as there is such time. Outside it is of the reason that was found last.
 *
 * Examples; an account of [0, 100), times in ms, L and S calls:
 *
 *   stopped at its begin and its end, ran 0            stopped [0,100)
 *   L [10,11), stopped at its end, ran 20              stopped [20,100): all that it did not run
 *   L [30,31), stopped at its end, ran 31              stopped [31,100)
 *   stopped at its begin, L [60,61), ran 40            stopped [0,60)
 *   L [10,11) L [70,71), ran 50, delayed 50            runqueue [20,70)
 *   S [10,60), in a futex at its end, ran 20           lock [0,10) and [60,100), 30 in S
 *   S [10,100), asleep in it at its end, ran 30        nothing
 */
#ifndef LEDGER_SAMPLED_H
#define LEDGER_SAMPLED_H

#include "ledger/idle.h"

/* Of one thread. Start zeroed. */
struct sampled {
	struct timeline spans;		/* of buckets that bucket_is_off() */
	uint64_t end_ns;		/* of the latest account */
	uint64_t inside, outside;	/* readings that found it asleep, of late */
	uint8_t reason;			/* of the last one outside of calls; 0: none yet */
};

/* An account: its thread's calls up to its end are in who, and it is not before an earlier one's
 * end. False: it is, or contradicts itself. */
bool sampled_add(struct sampled *s, struct timeline_room *room, const struct idle_thread *who,
		 const struct event *ev);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launches that probes saw and CUPTI did not record, although a helper was awake: another client
 * of CUPTI has its records, and nothing says so. The device's time is unknown from the first such
 * launch to the next record of its process; without this it would be idle.
 *
 * Whole processes are looked at, not single calls: a silence is a time of at least
 * SILENCE_NS without a record of a call or a work's begin. A launch in it has none by
 * definition, whichever thread made it and in whatever order buffers came. It is judged a second
 * later (by the join's horizon): records of a process come every 100 ms. A record that comes later
 * takes that back, as far as the time is not settled.
 *
 * At the session's end a record may only be late: CUPTI keeps those of a thread as long as a work
 * of them runs. From a thread's first launch after its last record on the time is unknown, but no
 * record is missed.
 *
 * Examples, in ms; R a record of a call [start,end), L a launch without one:
 *
 *   R [0,1)  L [5,6)  R [10,11)                     too short to be a silence
 *   R [0,1)  L [50,51)  L [60,61)  R [100,101)      2 launches, unknown [50,100)
 *   R [0,1)  L [50,51)  R of it [50,51) late        none
 *   R [0,1)  sync [1,99)  R [100,101)               none: it launched nothing
 */
#ifndef MODEL_SILENCES_H
#define MODEL_SILENCES_H

#include "base/vec.h"
#include "facts/consumer.h"

#define SILENCE_NS 20000000ull

struct silence {
	uint64_t start_ns, end_ns;	/* UINT64_MAX: it goes on */
	uint64_t judged_ns;		/* up to then */
	uint64_t missing_ns;	/* begin of its first launch without a record; 0: none */
	uint64_t launches;
};

struct silences {		/* of a process; start zeroed */
	VEC(struct silence) v;	/* one at most goes on */
	uint64_t last_ns;	/* the latest record */
	uint64_t checked_ns;
	bool is_recorded;	/* a helper has sent its devices, or a call */
};

/* API, WORK, DEVICE, UNSEEN. */
extern const struct consumer silences_consumer;

#endif

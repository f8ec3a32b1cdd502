/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpuprof's own cost for the measured threads, estimated from calibrated costs, and the bucket
 * `gpuprof` of their books. Pure functions of a snapshot and of a book's reading.
 *
 * Half of the cost of a recorded call falls before its first stamp and behind its last one: in the
 * time around the call (`other`). The other half falls in the call, as do nested hits that are not
 * recorded, and single steps: those are counted for all calls together, and each call has its part
 * of them. It is time on a CPU, so no bucket gives more than it has of that, and rows still add up.
 *
 * Probes that are being taken off (--budget, --launch auto) are hit for a moment, not recorded.
 * Whose hits these were is not known: their cost is in the sum alone.
 *
 * Which threads' operators were is not known: their cost is in the sum alone, and no more than a
 * lower bound, since a framework's code leaves little of them in the CPU's caches.
 *
 * Examples; launch 100, of which blocked 20, in 10 calls, other 50, a call costs 6:
 *
 *                                   launch 70, other 20, gpuprof 60
 *   ... 40 nested of all 20 calls, 2 each   launch 30, other 20, gpuprof 100
 *   ... 80 nested of all 20 calls, 2 each   launch 20, other 20, gpuprof 110 (no more was on a CPU)
 *   entries alone, of no duration   launch 100, other 0, gpuprof 50
 *   nothing is calibrated           launch 100, other 50
 */
#ifndef MODEL_OWN_COST_H
#define MODEL_OWN_COST_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger/thread_bucket.h"
#include "model/snapshot.h"

struct own_cost {		/* of a snapshot's interval */
	uint64_t calls;		/* recorded */
	uint64_t call_ns;	/* the cost of each; 0: unknown */
	uint64_t nested;	/* inside these, hit and not recorded */
	uint64_t nested_ns;
	uint64_t silent;	/* hit while probes were taken off: each costs a nested one's */
	uint64_t stepped;	/* of calls: of functions that are single-stepped */
	uint64_t step_ns;	/* the additional cost of each */
	uint64_t ops;		/* operators and modules: each costs a call's, */
	uint64_t entries;	/* but these, whose return is not probed, half of that */
	bool calls_only;	/* nested and silent are not known: the kernel's counters are read
				 * at the end, of all */
};

struct own_cost own_cost_read(const struct snapshot *snap);
uint64_t own_cost_ns(const struct own_cost *c);		/* saturates */

/* Moves it to BUCKET_GPUPROF; sum->own_ns: from where. */
void own_cost_take(const struct own_cost *c, struct book_sum *sum);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranges of mix: what it pushes to NVTX, and a line in a file of each that has ended:
 *
 *   TID DOMAIN NAME push|start BEFORE AFTER BEFORE AFTER
 *
 * DOMAIN "-" is the default one; the times are CLOCK_MONOTONIC's in ns around the call that began it and
 * around the one that ended it. Knows nothing of works.
 */
#ifndef MIX_RANGES_H
#define MIX_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct mix_range {
	const char *name;	/* NULL: it is not open */
	bool in_domain, is_start;
	uint64_t id, before_ns, after_ns;
};

/* DIR/PID.ranges, before threads are. 0 or -1. */
int mix_ranges_open(const char *dir);

struct mix_range mix_range_begin(const char *name, bool in_domain, bool is_start);
void mix_range_end(struct mix_range *r);	/* nothing if it is not open */

#endif

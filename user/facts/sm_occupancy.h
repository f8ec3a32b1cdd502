/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The number of a kernel's blocks that fit on one multiprocessor at once, and the limiting
 * resource: a function of the launch and the device's properties. It is theoretical: the
 * achieved occupancy depends on the blocks' waits. Pure; knows nothing of events.
 *
 * Source of the formula: the limits of the CUDA C++ Programming Guide (compute capabilities), with
 * registers and shared memory given out in units; tests hold it against the toolkit's calculator.
 *
 *   warps  = ceil(threads / 32)                    blocks by warps: floor(warps_sm / warps)
 *   regs   = roundup(registers * 32, 256) a warp   blocks by registers: what four quarters hold
 *   shared = roundup(static + dynamic + reserved, 128)   blocks by shared memory
 *   blocks = the least of these and of blocks_sm;  occupancy = blocks * warps / warps_sm
 */
#ifndef FACTS_SM_OCCUPANCY_H
#define FACTS_SM_OCCUPANCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum occupancy_limiter {
	LIMIT_UNKNOWN = 0,
	LIMIT_WARPS,		/* threads: the multiprocessor is full of them */
	LIMIT_BLOCKS,
	LIMIT_REGISTERS,
	LIMIT_SHARED,
};

struct occupancy_device {
	uint32_t cc_major, cc_minor;
	uint32_t multiprocessors;
	uint32_t threads_per_sm, blocks_per_sm, registers_per_sm;
	uint32_t shared_per_sm, shared_reserved;	/* bytes; reserved: by the system for a
							 * block */
};

struct occupancy_launch {
	uint64_t blocks;		/* of the grid */
	uint32_t threads;		/* of a block */
	uint32_t registers;		/* of a thread */
	uint64_t shared_bytes;		/* of a block: static and dynamic */
	uint64_t shared_executed;	/* how much the multiprocessor was set to; 0: unknown */
};

struct occupancy {
	uint32_t blocks;		/* on a multiprocessor */
	enum occupancy_limiter limiter;
	double share;			/* of the warps it can hold, 0..1 */
	double waves;			/* blocks of the grid / what all multiprocessors hold at
					 * once */
};

/* False: the device's properties are not known, or no block fits. */
bool occupancy_of(const struct occupancy_device *device, const struct occupancy_launch *launch,
		  struct occupancy *out);

/* "registers", ... */
static inline const char *occupancy_limiter_name(enum occupancy_limiter limiter)
{
	static const char *const names[] = {
		[LIMIT_UNKNOWN] = NULL, [LIMIT_WARPS] = "warps", [LIMIT_BLOCKS] = "blocks",
		[LIMIT_REGISTERS] = "registers", [LIMIT_SHARED] = "shared",
	};

	return names[limiter];
}

#endif

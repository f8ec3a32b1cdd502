// SPDX-License-Identifier: BSD-3-Clause
#include "facts/sm_occupancy.h"

#define WARP 32
#define QUARTERS 4		/* of a multiprocessor: each has its own registers */
#define REGISTER_UNIT 256	/* registers are given to warps in such units */
#define REGISTERS_MAX 255

static uint64_t round_up(uint64_t v, uint64_t unit)
{
	return (v + unit - 1) / unit * unit;
}

static uint64_t by_registers(const struct occupancy_device *d, const struct occupancy_launch *l,
			     uint64_t warps)
{
	uint64_t a_warp = round_up((uint64_t)l->registers * WARP, REGISTER_UNIT);
	uint64_t in_quarter;

	if (!l->registers)
		return UINT64_MAX;
	if (l->registers > REGISTERS_MAX ||
	    a_warp * round_up(warps, QUARTERS) > d->registers_per_sm)
		return 0;
	in_quarter = d->registers_per_sm / QUARTERS / a_warp;
	return in_quarter * QUARTERS / warps;
}

static uint64_t by_shared(const struct occupancy_device *d, const struct occupancy_launch *l)
{
	uint64_t unit = d->cc_major >= 8 ? 128 : 256;
	uint64_t a_block = round_up(l->shared_bytes + d->shared_reserved, unit);
	uint64_t there = l->shared_executed ? l->shared_executed : d->shared_per_sm;

	return a_block ? there / a_block : UINT64_MAX;
}

bool occupancy_of(const struct occupancy_device *d, const struct occupancy_launch *l,
		  struct occupancy *out)
{
	uint64_t warps = (l->threads + (uint64_t)WARP - 1) / WARP,
		 warps_sm = d->threads_per_sm / WARP;
	uint64_t most[] = {
		[LIMIT_UNKNOWN] = UINT64_MAX,
		[LIMIT_WARPS] = warps ? warps_sm / warps : 0,
		[LIMIT_BLOCKS] = d->blocks_per_sm,
		[LIMIT_REGISTERS] = warps ? by_registers(d, l, warps) : 0,
		[LIMIT_SHARED] = by_shared(d, l),
	};
	enum occupancy_limiter limiter = LIMIT_UNKNOWN;

	*out = (struct occupancy){ .limiter = LIMIT_UNKNOWN };
	for (enum occupancy_limiter i = LIMIT_WARPS; i <= LIMIT_SHARED; i++)
		if (most[i] < most[limiter])
			limiter = i;
	if (!warps_sm || !d->multiprocessors || !most[limiter])
		return false;
	out->blocks = (uint32_t)most[limiter];
	out->limiter = limiter;
	out->share = (double)(most[limiter] * warps) / (double)warps_sm;
	out->waves = (double)l->blocks / ((double)most[limiter] * d->multiprocessors);
	return true;
}

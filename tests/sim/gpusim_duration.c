// SPDX-License-Identifier: BSD-3-Clause
/*
 * How long work takes. Kernels: what gpusim_kernel_duration said, else 3 us plus 1 ns per 64
 * threads of the grid, varied by up to 1/16 by a hash of (seed, stream, number of the work on it),
 * so that one seed gives one run. Copies: bytes by bandwidth, exactly. Sets: as copies within the
 * device.
 */
#include "gpusim_internal.h"

enum {
	KERNEL_BASE_NS = 3000,
	KERNEL_THREADS_PER_NS = 64,
	KERNEL_JITTER_SHARE = 16,
	DEVICE_GBPS = 1000
};

static struct fixed_duration {
	const void *entity;
	uint64_t ns;
} fixed[256];

void gpusim_kernel_duration(const void *entity, uint64_t ns)
{
	size_t i;

	gpusim_lock();
	for (i = 0; i < GPUSIM_COUNT(fixed); i++) {
		if (fixed[i].entity && fixed[i].entity != entity)
			continue;
		fixed[i].entity = entity;
		fixed[i].ns = ns;
		break;
	}
	gpusim_unlock();
}

static const struct fixed_duration *find_fixed(const void *entity)
{
	size_t i;

	for (i = 0; i < GPUSIM_COUNT(fixed) && fixed[i].entity; i++)
		if (fixed[i].entity == entity)
			return &fixed[i];
	return NULL;
}

uint64_t gpusim_copy_duration(enum gpusim_work_kind kind, uint64_t bytes)
{
	bool within = kind == GPUSIM_COPY_DTOD || kind == GPUSIM_SET;
	uint64_t gbps;

	gpusim_init();
	gbps = within ? DEVICE_GBPS : gpusim_world.config.copy_gbps;
	return bytes / gbps; /* a GB/s is a byte per nanosecond */
}

static uint64_t mix(uint64_t word)
{
	word ^= word >> 32;
	word *= 0xd6e8feb86659fd93;
	word ^= word >> 29;
	word *= 0xd6e8feb86659fd93;
	return word ^ word >> 32;
}

static uint64_t by_rule(const struct gpusim_stream *stream, const struct gpusim_shape *shape)
{
	uint64_t threads = 1;
	uint64_t ns, share;
	int axis;

	for (axis = 0; axis < 3; axis++)
		threads *= (uint64_t)shape->grid[axis] * shape->block[axis];
	ns = KERNEL_BASE_NS + threads / KERNEL_THREADS_PER_NS;
	share = ns / KERNEL_JITTER_SHARE;
	return ns - share +
	       mix(gpusim_world.config.seed ^ mix((uint64_t)stream->id << 40 ^ stream->works)) %
		       (2 * share);
}

uint64_t gpusim_work_duration(const struct gpusim_stream *stream, const struct gpusim_work *work)
{
	const struct fixed_duration *exact;

	if (stream->hung)
		return GPUSIM_FOREVER;
	if (work->pageable)
		return work->bytes / gpusim_world.config.pageable_gbps;
	if (work->kind != GPUSIM_KERNEL)
		return gpusim_copy_duration(work->kind, work->bytes);
	exact = find_fixed(work->entity);
	return exact ? exact->ns : by_rule(stream, &work->shape);
}

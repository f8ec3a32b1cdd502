// SPDX-License-Identifier: BSD-3-Clause
/* CUPTI's numbers of kinds of memory become ours: a table. */
#include "source/helper/helper_memory.h"

#include "event/event.h"
#include "gpuprof/cuda_numbers.h"

void helper_fill_memory(const struct gp_ring_memory *m, struct event *ev)
{
	static const uint8_t kinds[] = {
		[GP_KIND_PINNED] = MEMORY_KIND_PINNED, [GP_KIND_DEVICE] = MEMORY_KIND_DEVICE,
		[GP_KIND_ARRAY] = MEMORY_KIND_ARRAY, [GP_KIND_MANAGED] = MEMORY_KIND_MANAGED,
		[GP_KIND_DEVICE_STATIC] = MEMORY_KIND_STATIC,
		[GP_KIND_MANAGED_STATIC] = MEMORY_KIND_STATIC,
	};

	ev->kind = EVENT_MEMORY;
	ev->has = HAS_BYTES;
	ev->memory.op = m->what == GP_MEMORY_ALLOC ? MEMORY_ALLOC : MEMORY_FREE;
	ev->memory.kind = m->kind < sizeof(kinds) ? kinds[m->kind] : MEMORY_KIND_UNKNOWN;
	if (ev->memory.kind == MEMORY_KIND_DEVICE && m->is_async)
		ev->memory.kind = MEMORY_KIND_POOL;
	ev->memory.device = m->device;
	ev->memory.address = m->address;
	ev->memory.bytes = m->bytes;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What a kernel's launch asked of the device, of its work (event/work.h): pure data. */
#ifndef FACTS_KERNEL_LAUNCH_H
#define FACTS_KERNEL_LAUNCH_H

#include <stdbool.h>
#include <string.h>

#include "event/work.h"

struct kernel_launch {
	uint32_t grid[3], block[3], cluster[3];
	uint32_t static_shared, dynamic_shared, shared_executed;	/* bytes */
	uint16_t registers;		/* per thread */
	uint8_t has;			/* WORK_HAS_* */
	uint8_t kind;			/* enum work_kind; 0: it is of several */
};

static inline void kernel_launch_of(struct kernel_launch *l, const struct work *w)
{
	memcpy(l->grid, w->grid, sizeof(l->grid));
	memcpy(l->block, w->block, sizeof(l->block));
	memcpy(l->cluster, w->cluster, sizeof(l->cluster));
	l->static_shared = w->static_shared;
	l->dynamic_shared = w->dynamic_shared;
	l->shared_executed = w->shared_executed;
	l->registers = w->registers;
	l->has = w->has;
	l->kind = w->kind;
}

/* Do they have the same grid and block? */
static inline bool kernel_launch_is_like(const struct kernel_launch *l, const uint32_t grid[3],
					 const uint32_t block[3])
{
	return !memcmp(l->grid, grid, sizeof(l->grid)) && !memcmp(l->block, block, sizeof(l->block));
}

#endif

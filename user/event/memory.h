/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to memory, as every source tells it. Pure data; the numbers leave the process in
 * captures: append only.
 */
#ifndef EVENT_MEMORY_H
#define EVENT_MEMORY_H

enum memory_op { MEMORY_ALLOC = 1, MEMORY_FREE = 2, MEMORY_OP_END };

enum memory_kind {
	MEMORY_KIND_UNKNOWN = 0,
	MEMORY_KIND_DEVICE = 1,
	MEMORY_KIND_PINNED = 2,		/* of the host, page-locked */
	MEMORY_KIND_MANAGED = 3,
	MEMORY_KIND_POOL = 4,		/* of the device, in the order of a stream */
	MEMORY_KIND_ARRAY = 5,
	MEMORY_KIND_STATIC = 6,		/* variables of a module */
	MEMORY_KIND_PHYSICAL = 7,	/* without an address yet (cuMemCreate) */
	MEMORY_KIND_END
};

#endif

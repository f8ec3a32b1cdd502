/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of CUDA's functions allocate and free memory, and of which kind, by their roles in the
 * catalogue. Knows no processes.
 *
 * A reset frees all memory of the process on one device; no source names the device.
 */
#ifndef FACTS_MEMORY_CALLS_H
#define FACTS_MEMORY_CALLS_H

#include <stdbool.h>

#include "event/event.h"

enum { MEMORY_CALL_RESET = MEMORY_OP_END };

/* no other is one */
#define MEMORY_CALL_CLASSES (1u << CLASS_ALLOC | 1u << CLASS_FREE | 1u << CLASS_INIT)

struct memory_call {
	uint8_t op;		/* enum memory_op, MEMORY_CALL_RESET; 0: it does neither */
	uint8_t kind;		/* enum memory_kind; for frees the usual one */
};

static inline struct memory_call memory_call_of(enum func_role role)
{
	static const struct memory_call calls[ROLE_LAST] = {
		[ROLE_ALLOC_DEVICE] = { MEMORY_ALLOC, MEMORY_KIND_DEVICE },
		[ROLE_ALLOC_PINNED] = { MEMORY_ALLOC, MEMORY_KIND_PINNED },
		[ROLE_ALLOC_MANAGED] = { MEMORY_ALLOC, MEMORY_KIND_MANAGED },
		[ROLE_ALLOC_POOL] = { MEMORY_ALLOC, MEMORY_KIND_POOL },
		[ROLE_ALLOC_ARRAY] = { MEMORY_ALLOC, MEMORY_KIND_ARRAY },
		[ROLE_ALLOC_PHYSICAL] = { MEMORY_ALLOC, MEMORY_KIND_PHYSICAL },
		[ROLE_ALLOC_TORCH] = { MEMORY_ALLOC, MEMORY_KIND_TORCH },
		[ROLE_FREE_DEVICE] = { MEMORY_FREE, MEMORY_KIND_DEVICE },
		[ROLE_FREE_PINNED] = { MEMORY_FREE, MEMORY_KIND_PINNED },
		[ROLE_FREE_POOL] = { MEMORY_FREE, MEMORY_KIND_POOL },
		[ROLE_FREE_ARRAY] = { MEMORY_FREE, MEMORY_KIND_ARRAY },
		[ROLE_FREE_PHYSICAL] = { MEMORY_FREE, MEMORY_KIND_PHYSICAL },
		[ROLE_FREE_TORCH] = { MEMORY_FREE, MEMORY_KIND_TORCH },
		[ROLE_RESET] = { MEMORY_CALL_RESET, MEMORY_KIND_UNKNOWN },
	};

	return calls[role];
}

/* "device", "pinned", ..., "?" */
static inline const char *memory_kind_name(unsigned int kind)
{
	static const char *const names[MEMORY_KIND_END] = {
		[MEMORY_KIND_UNKNOWN] = "unknown", [MEMORY_KIND_DEVICE] = "device",
		[MEMORY_KIND_PINNED] = "pinned", [MEMORY_KIND_MANAGED] = "managed",
		[MEMORY_KIND_POOL] = "pool", [MEMORY_KIND_ARRAY] = "array",
		[MEMORY_KIND_STATIC] = "static", [MEMORY_KIND_PHYSICAL] = "physical",
		[MEMORY_KIND_TORCH] = "torch",
	};

	return kind < MEMORY_KIND_END ? names[kind] : "?";
}

/* Memory of the device alone, until it is freed. */
static inline bool memory_kind_is_device(unsigned int kind)
{
	static const bool is[MEMORY_KIND_END] = {
		[MEMORY_KIND_DEVICE] = true, [MEMORY_KIND_POOL] = true, [MEMORY_KIND_ARRAY] = true,
		[MEMORY_KIND_PHYSICAL] = true,
	};

	return kind < MEMORY_KIND_END && is[kind];
}

#endif

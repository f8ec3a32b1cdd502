/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of CUDA's functions allocate and free memory, and of which kind, by their roles in the
 * catalogue. Knows no processes.
 *
 * A reset frees all memory of the process on one device; no source names the device.
 */
#ifndef FACTS_MEMORY_CALLS_H
#define FACTS_MEMORY_CALLS_H

#include "event/event.h"

enum { MEMORY_CALL_RESET = MEMORY_OP_END };

/* no other is one */
#define MEMORY_CALL_CLASSES (1u << CLASS_ALLOC | 1u << CLASS_FREE | 1u << CLASS_INIT)

struct memory_call {
	uint8_t op;		/* enum memory_op, MEMORY_CALL_RESET; 0: it does neither */
	uint8_t kind;		/* enum memory_kind; for frees the usual one */
};

struct memory_call memory_call_of(enum func_role role);

const char *memory_kind_name(unsigned int kind);	/* "device", "pinned", ..., "?" */
bool memory_kind_is_device(unsigned int kind);	/* of the device alone, until it is freed */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A launch as consumers get it with its works: CUPTI's record, and the call that probes saw. */
#ifndef JOIN_LAUNCH_H
#define JOIN_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/num.h"

struct scope;			/* join/scopes.h */

/* A stream by the number that its process's handle of it has: 0 is unknown; then the handles 0 to 2
 * (the default streams, which mean one per thread or context), then all others. */
#define LAUNCH_STREAM_UNKNOWN 0
#define LAUNCH_STREAM_DEFAULTS 3

struct launch_call {		/* a call that probes saw */
	uint64_t start_ns, end_ns;	/* as its thread's book has them */
	uint16_t func;
	uint8_t class;			/* enum call_class; CLASS_OTHER: there is no call */
	bool captured;			/* into a graph: no work is awaited of it */
	uint16_t stream;		/* its number */
	uint64_t stack;			/* id; 0: unknown */
	uint64_t op, module;		/* that it was made in; 0: none is known */
};

struct launch {			/* the launch of a work */
	uint32_t tid;
	uint32_t works;			/* that it was met by before this one */
	uint64_t works_ns;		/* their times, added up */
	uint64_t start_ns, end_ns;	/* as CUPTI's record has them */
	struct launch_call call;
	/* With a work: the innermost that its thread had open at its launch_moment(), and by
	 * scope.below all. NULL: none. */
	struct scope *scope;
};

struct join_wait {		/* a call in which a thread waits for devices */
	uint64_t start_ns, end_ns;	/* UINT64_MAX: it has not returned */
	uint32_t tid;
	uint16_t stream;		/* its number */
};

/* The moment of a record that is in the call it is of: clocks of records and calls differ. */
static inline uint64_t launch_moment(uint64_t start_ns, uint64_t end_ns)
{
	return num_middle(start_ns, end_ns);
}

#endif

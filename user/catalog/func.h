/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that calls can name, and the classes that they are of. Pure data: part of the event
 * model, which all rooms speak of.
 */
#ifndef CATALOG_FUNC_H
#define CATALOG_FUNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Classes of calls (design §4), which are also the names of the thread book's buckets. They leave
 * the process in captures: append only. */
enum call_class {
	CLASS_OTHER = 0,	/* thread book: time in no call at all */
	CLASS_LAUNCH = 1,
	CLASS_SYNC = 2,
	CLASS_COPY = 3,
	CLASS_SET = 4,
	CLASS_ALLOC = 5,
	CLASS_FREE = 6,
	CLASS_EVENT = 7,
	CLASS_STREAM = 8,
	CLASS_GRAPH = 9,
	CLASS_COMPILE = 10,
	CLASS_COLLECTIVE = 11,
	CLASS_INIT = 12,	/* contexts, devices: made, set up, ended */
	CLASS_LIBRARY = 13,	/* a routine of cublas, cudnn ...; it launches inside */
	CLASS_QUERY = 14,	/* reads or sets an attribute, does no work */
	CLASS_END
};

/* The effect of a function on captures, graphs and memory, beyond its class. */
enum func_role {
	ROLE_NONE,
	ROLE_KERNEL,		/* gives a stream a kernel; one that captures gets a node */
	ROLE_COPY, ROLE_SET,
	/* of a library: launches kernels on streams that it does not name, for example */
	ROLE_ROUTINE,
	ROLE_BEGIN,		/* a stream captures from now on */
	ROLE_END,		/* ... and has made a graph */
	ROLE_SPOIL,		/* adds nodes that are no calls to the stream's capture */
	ROLE_CLONE,		/* a graph of a graph */
	ROLE_MAKE,		/* an executable graph of a graph */
	ROLE_UPDATE,		/* an executable graph is like another graph from now on */
	ROLE_LAUNCH,		/* runs an executable graph; in a stream that captures it spoils */
	ROLE_FORGET,		/* a graph is no more */
	ROLE_FORGET_EXEC,
	ROLE_RECORD,		/* an event is where a stream is */
	/* a stream waits for an event: it captures too if that was captured */
	ROLE_WAIT,
	ROLE_GRAPHS_END,	/* roles before it concern captures and graphs */
	ROLE_ALLOC_DEVICE, ROLE_ALLOC_PINNED, ROLE_ALLOC_MANAGED, ROLE_ALLOC_POOL, ROLE_ALLOC_ARRAY,
	ROLE_ALLOC_PHYSICAL, ROLE_ALLOC_TORCH,
	ROLE_FREE_DEVICE, ROLE_FREE_PINNED, ROLE_FREE_POOL, ROLE_FREE_ARRAY, ROLE_FREE_PHYSICAL,
	ROLE_FREE_TORCH,
	ROLE_PREFETCH,		/* of managed memory: CUPTI records no work of it */
	/* returns when all that was launched in the thread's context is over */
	ROLE_SYNC,
	ROLE_RESET,		/* frees all that the process has on one device */
	ROLE_LAST
};

const char *class_name(unsigned int class);	/* "launch", ..., "?" */

/* The host goes on only when such a call returns: it may run a device dry, and who makes it is of
 * interest. */
static inline bool class_blocks(unsigned int class)
{
	return class == CLASS_SYNC || class == CLASS_COPY || class == CLASS_ALLOC ||
	       class == CLASS_FREE || class == CLASS_COMPILE || class == CLASS_COLLECTIVE;
}

/*
 * A function that calls can name. Live sources fill the table from the catalogue (index = row); a
 * capture brings its own, so that a report needs no catalogue of the same version.
 */
struct func {
	const char *name;	/* "cudaLaunchKernel" */
	const char *library;	/* "cudart", "cuda", "nccl": also selects the names of results */
	uint8_t class;		/* enum call_class */
	uint8_t two;		/* sends EVENT_ENTER before EVENT_CALL, with its own seq */
};

#define FUNCS_MAX 4096

struct funcs {
	size_t n;
	struct func v[FUNCS_MAX];
};

#endif

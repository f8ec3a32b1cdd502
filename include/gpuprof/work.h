/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The payloads of gpuprof/ring.h's records: device activity, as the helper read it from CUPTI,
 * and the facts needed to understand it. Times are of the clock that CUPTI used: gp_ring_clock
 * joins it to the host's. Ids (context, stream, correlation, graph) are CUPTI's and of this
 * process; device is the process's own ordinal, which gp_ring_device ties to a UUID. Names are
 * numbers that gp_ring_name has defined before; 0: unknown. 0 in `has` bits means unknown, not
 * zero.
 */
#ifndef GPUPROF_WORK_H
#define GPUPROF_WORK_H

#include <stdint.h>

/* Read in this order: the device clock's value lies between the other two. */
struct gp_ring_clock {
	uint64_t host_before_ns;	/* CLOCK_MONOTONIC of the target's time namespace */
	uint64_t device_ns;
	uint64_t host_after_ns;
};

struct gp_ring_name {
	uint32_t id;		/* 1, 2, 3... */
	uint32_t bytes;		/* of the text that follows, which has no 0 */
};

struct gp_ring_device {
	uint32_t device;
	uint32_t name;
	uint8_t uuid[16];
	uint16_t cc_major, cc_minor;
	uint32_t multiprocessors;
	uint32_t warp_threads, threads_per_sm, blocks_per_sm, registers_per_sm;
	uint32_t shared_per_sm, shared_per_block, shared_reserved;	/* bytes */
	uint32_t pad;
	uint64_t memory_bytes;
};

struct gp_ring_context {
	uint32_t context;
	uint32_t device;
	uint32_t null_stream;	/* the id of its default stream */
	uint32_t pad;
};

/* gp_ring_kernel.has */
#define GP_KERNEL_HAS_GRAPH 0x01	/* graph, graph_node are known; 0: it was not in a graph */
#define GP_KERNEL_HAS_CLUSTER 0x02
#define GP_KERNEL_HAS_MAX_CLUSTERS 0x04
#define GP_KERNEL_HAS_SUBMITTED 0x08

struct gp_ring_kernel {
	uint64_t start, end;
	uint64_t submitted;
	uint64_t graph_node;
	uint32_t device, context, stream, correlation;
	uint32_t name, graph;
	uint32_t grid[3], block[3], cluster[3];
	uint32_t static_shared, dynamic_shared, shared_executed;	/* bytes */
	uint32_t local_per_thread;	/* bytes */
	uint32_t max_active_clusters;
	uint16_t registers;		/* per thread */
	uint8_t launch_type;		/* CUPTI's: GP_LAUNCH_REGULAR, else cooperative */
	uint8_t has;
	uint32_t pad;
};

struct gp_ring_copy {			/* copies and sets */
	uint64_t start, end;
	uint64_t bytes;
	uint64_t graph_node;
	uint32_t device, context, stream, correlation;
	uint32_t graph;
	uint32_t peer_from, peer_to;	/* devices; of copies between devices */
	uint8_t copy_kind;		/* GP_COPY_*; 0 unknown */
	uint8_t from_kind, to_kind;	/* GP_KIND_*; 0 unknown */
	uint8_t is_peer;
};

struct gp_ring_graph {
	uint64_t start, end;
	uint32_t device, context, stream, correlation;
	uint32_t graph;
	uint32_t pad;
};

struct gp_ring_api {
	uint64_t start, end;
	uint32_t tid;		/* as the process itself sees it */
	uint32_t correlation;
	uint32_t cbid;		/* CUPTI's number of the function */
	uint32_t result;
	uint32_t domain;	/* CUPTI's activity kind: 4 driver, 5 runtime */
	uint32_t pad;
};

/* gp_ring_range.what */
#define GP_RANGE_PUSH 1
#define GP_RANGE_POP 2
#define GP_RANGE_START 3	/* ends in any thread, by its id */
#define GP_RANGE_END 4
#define GP_RANGE_MARK 5
#define GP_RANGE_LEAVE 6	/* the thread ends, in whatever ranges; of all domains */

struct gp_ring_range {
	uint64_t time_ns;	/* CLOCK_MONOTONIC of the target's time namespace */
	uint64_t id;		/* START, END */
	uint32_t tid;
	uint32_t domain;	/* a name; 0: the default domain */
	uint32_t name;
	uint32_t what;
};

/* gp_ring_memory.what */
#define GP_MEMORY_ALLOC 1
#define GP_MEMORY_FREE 2

struct gp_ring_memory {
	uint64_t time;		/* of the clock that CUPTI used */
	uint64_t address;
	uint64_t bytes;
	uint32_t device, context, stream, correlation;
	uint8_t what;
	uint8_t kind;		/* GP_KIND_*; 0 unknown */
	uint8_t is_async;
	uint8_t pad[5];
};

/* gp_ring_loss.cause */
#define GP_LOSS_DROPPED 1	/* CUPTI reports that many records as dropped */
#define GP_LOSS_BUFFERS 2	/* no buffer was free */
#define GP_LOSS_NO_TIME 3	/* records without times */
#define GP_LOSS_UNKNOWN 4	/* records of an unknown kind or size */
/* CUDA worked meanwhile and nothing was recorded: not armed, or yielded */
#define GP_LOSS_UNSEEN 5
#define GP_LOSS_KEPT 6	/* buffers that CUPTI did not give back at the end */
/* as UNSEEN: all was disabled and enabled anew; what was in flight has an end of then */
#define GP_LOSS_RENEWED 7

struct gp_ring_loss {
	/* CLOCK_MONOTONIC of the target's time namespace; since 0: ever */
	uint64_t since_ns, until_ns;
	uint64_t count;			/* of records; 0: unknown */
	uint32_t cause;
	uint32_t kinds;			/* bit n: of kind n; 0: of any */
};

struct gp_ring_node {			/* a node came into a graph */
	uint64_t time_ns;	/* CLOCK_MONOTONIC of the target's time namespace */
	uint64_t node;		/* as works have it in graph_node */
	/* it is a clone of that node; 0: the call made it that tid was in */
	uint64_t original;
	uint32_t tid;
	uint32_t pad;
};

_Static_assert(sizeof(struct gp_ring_clock) == 24, "clock");
_Static_assert(sizeof(struct gp_ring_name) == 8, "name");
_Static_assert(sizeof(struct gp_ring_device) == 72, "device");
_Static_assert(sizeof(struct gp_ring_context) == 16, "context");
_Static_assert(sizeof(struct gp_ring_kernel) == 120, "kernel");
_Static_assert(sizeof(struct gp_ring_copy) == 64, "copy");
_Static_assert(sizeof(struct gp_ring_graph) == 40, "graph");
_Static_assert(sizeof(struct gp_ring_api) == 40, "api");
_Static_assert(sizeof(struct gp_ring_range) == 32, "range");
_Static_assert(sizeof(struct gp_ring_memory) == 48, "memory");
_Static_assert(sizeof(struct gp_ring_loss) == 32, "loss");
_Static_assert(sizeof(struct gp_ring_node) == 32, "node");

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a device did, as every source delivers it: the details of EVENT_WORK, EVENT_DEVICE and
 * EVENT_API. Pure data without padding, so that equal ones compare equal. Times are in the event, of
 * the host's clock; ids are the process's own. Knows nothing of CUPTI, BPF or files.
 */
#ifndef EVENT_WORK_H
#define EVENT_WORK_H

#include <stdint.h>

/* They leave the process in captures: append only. */
enum work_kind {
	WORK_KIND_KERNEL = 1,
	WORK_KIND_COPY = 2,
	WORK_KIND_PEER = 3,		/* a copy between devices */
	WORK_KIND_SET = 4,
	WORK_KIND_GRAPH = 5,		/* a whole graph, whose nodes are not told one by one */
	WORK_KIND_END
};

/* Host memory that a copy reads or writes. */
enum work_memory { MEMORY_UNKNOWN = 0, MEMORY_PAGEABLE = 1, MEMORY_PINNED = 2 };

/* work.has */
#define WORK_HAS_GRAPH 0x01	/* graph, graph_node are known; graph 0: it was in none */
#define WORK_HAS_CLUSTER 0x02
#define WORK_HAS_MAX_CLUSTERS 0x04
#define WORK_HAS_DIR 0x08

struct work {
	uint8_t kind;			/* enum work_kind */
	uint8_t has;			/* WORK_HAS_* */
	uint8_t dir;			/* enum copy_dir */
	uint8_t memory;			/* enum work_memory */
	uint16_t registers;		/* per thread */
	uint8_t launch_type;		/* 0 regular, else cooperative */
	uint8_t pad;
	uint32_t device;		/* of EVENT_DEVICE */
	uint32_t context, stream;
	uint32_t correlation;		/* of the launch's EVENT_API */
	uint32_t graph;
	uint32_t max_active_clusters;
	uint64_t graph_node;
	uint64_t bytes;			/* copies, sets */
	uint32_t peer_from, peer_to;	/* devices */
	uint32_t grid[3], block[3], cluster[3];
	uint32_t static_shared, dynamic_shared, shared_executed;	/* bytes */
	uint32_t local_per_thread;	/* bytes */
	uint32_t pad2;
	uint64_t error_ns;		/* the times may be off by as much, together */
};

#define DEVICE_UUID_LEN 40		/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */

struct device_facts {
	uint32_t device;		/* the process's own ordinal */
	uint32_t cc_major, cc_minor;
	uint32_t multiprocessors;
	uint32_t warp_threads, threads_per_sm, blocks_per_sm, registers_per_sm;
	uint32_t shared_per_sm, shared_per_block, shared_reserved;	/* bytes */
	uint32_t pad;
	uint64_t memory_bytes;
	char uuid[DEVICE_UUID_LEN + 8];	/* 0s to the end */
};

#endif

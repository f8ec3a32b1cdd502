/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's activity records, read without its headers and whatever its version: a newer record is an
 * older one with more at its end, so a field is at one place in all that have it. How long records
 * are, the library itself shows by where the next one begins; versions do not show it.
 *
 * RECORD_kind_n: the fields that records of at least n bytes have. Each row: our field, CUPTI's
 * field, its offset, its type. tests/cupti/layout.c holds the lists against the real headers.
 */
#ifndef HELPER_RECORDS_H
#define HELPER_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gpuprof/work.h"

/* CUPTI's kinds of activity, of which the helper reads records. */
#define CUPTI_MEMCPY 1
#define CUPTI_MEMSET 2
#define CUPTI_DRIVER 4
#define CUPTI_RUNTIME 5
#define CUPTI_DEVICE 8
#define CUPTI_KERNEL 10		/* concurrent: 3 would serialise */
#define CUPTI_MEMCPY_PEER 22
#define CUPTI_MEMORY2 49
#define CUPTI_GRAPH_TRACE 51
#define CUPTI_KINDS 64

#define RECORD_KERNEL_144(X) \
	X(registers, registersPerThread, 6, uint16_t) \
	X(start, start, 16, uint64_t) \
	X(end, end, 24, uint64_t) \
	X(device, deviceId, 40, uint32_t) \
	X(context, contextId, 44, uint32_t) \
	X(stream, streamId, 48, uint32_t) \
	X(grid[0], gridX, 52, uint32_t) \
	X(grid[1], gridY, 56, uint32_t) \
	X(grid[2], gridZ, 60, uint32_t) \
	X(block[0], blockX, 64, uint32_t) \
	X(block[1], blockY, 68, uint32_t) \
	X(block[2], blockZ, 72, uint32_t) \
	X(static_shared, staticSharedMemory, 76, uint32_t) \
	X(dynamic_shared, dynamicSharedMemory, 80, uint32_t) \
	X(local_per_thread, localMemoryPerThread, 84, uint32_t) \
	X(correlation, correlationId, 92, uint32_t) \
	X(submitted, submitted, 128, uint64_t) \
	X(launch_type, launchType, 136, uint8_t) \
	X(shared_executed, sharedMemoryExecuted, 140, uint32_t)
#define RECORD_KERNEL_160(X) \
	X(graph_node, graphNodeId, 144, uint64_t) \
	X(graph, graphId, 156, uint32_t)
#define RECORD_KERNEL_200(X) \
	X(cluster[0], clusterX, 176, uint32_t) \
	X(cluster[1], clusterY, 180, uint32_t) \
	X(cluster[2], clusterZ, 184, uint32_t)
#define RECORD_KERNEL_208(X) \
	X(max_active_clusters, maxActiveClusters, 204, uint32_t)
#define RECORD_KERNEL_NAME_AT 104	/* const char *name */

/* What copies and sets of memory have at the same places. */
#define RECORD_TRANSFER(X) \
	X(bytes, bytes, 8, uint64_t) \
	X(start, start, 16, uint64_t) \
	X(end, end, 24, uint64_t) \
	X(device, deviceId, 32, uint32_t) \
	X(context, contextId, 36, uint32_t) \
	X(stream, streamId, 40, uint32_t)
#define RECORD_COPY_KINDS(X) \
	X(copy_kind, copyKind, 4, uint8_t) \
	X(from_kind, srcKind, 5, uint8_t) \
	X(to_kind, dstKind, 6, uint8_t)

#define RECORD_SET_56(X) \
	RECORD_TRANSFER(X) \
	X(correlation, correlationId, 44, uint32_t)
#define RECORD_SET_72(X) \
	X(graph_node, graphNodeId, 64, uint64_t)
#define RECORD_SET_80(X) \
	X(graph, graphId, 72, uint32_t)

#define RECORD_COPY_64(X) \
	RECORD_COPY_KINDS(X) \
	RECORD_SET_56(X)
#define RECORD_COPY_72(X) RECORD_SET_72(X)
#define RECORD_COPY_80(X) RECORD_SET_80(X)

#define RECORD_PEER_72(X) \
	RECORD_COPY_KINDS(X) \
	RECORD_TRANSFER(X) \
	X(peer_from, srcDeviceId, 44, uint32_t) \
	X(peer_to, dstDeviceId, 52, uint32_t) \
	X(correlation, correlationId, 60, uint32_t)
#define RECORD_PEER_80(X) \
	X(graph_node, graphNodeId, 72, uint64_t)
#define RECORD_PEER_88(X) \
	X(graph, graphId, 80, uint32_t)

#define RECORD_API_40(X) \
	X(cbid, cbid, 4, uint32_t) \
	X(start, start, 8, uint64_t) \
	X(end, end, 16, uint64_t) \
	X(tid, threadId, 28, uint32_t) \
	X(correlation, correlationId, 32, uint32_t) \
	X(result, returnValue, 36, uint32_t)

#define RECORD_GRAPH_48(X) \
	X(correlation, correlationId, 4, uint32_t) \
	X(start, start, 8, uint64_t) \
	X(end, end, 16, uint64_t) \
	X(device, deviceId, 24, uint32_t) \
	X(graph, graphId, 28, uint32_t) \
	X(context, contextId, 32, uint32_t) \
	X(stream, streamId, 36, uint32_t)

#define RECORD_MEMORY_120(X) \
	X(what, memoryOperationType, 4, uint32_t) \
	X(kind, memoryKind, 8, uint32_t) \
	X(correlation, correlationId, 12, uint32_t) \
	X(address, address, 16, uint64_t) \
	X(bytes, bytes, 24, uint64_t) \
	X(time, timestamp, 32, uint64_t) \
	X(device, deviceId, 52, uint32_t) \
	X(context, contextId, 56, uint32_t) \
	X(stream, streamId, 60, uint32_t) \
	X(is_async, isAsync, 72, uint32_t)

typedef int (*record_next_fn)(uint8_t *buffer, size_t valid_bytes, void **record);

union record {
	struct gp_ring_kernel kernel;
	struct gp_ring_copy copy;	/* of a set of memory, too */
	struct gp_ring_graph graph;
	struct gp_ring_api api;
	struct gp_ring_memory memory;
};

/* rec: a record of one of CUPTI's kinds, of which `bytes` may be read. False: too short to be one,
 * or of a kind that is not read. Names are left 0. */
bool record_read(uint32_t kind, const void *rec, size_t bytes, union record *out);

/* CUPTI's own; NULL: none */
static inline const char *record_kernel_name(const void *rec, size_t bytes)
{
	const char *name = NULL;

	if (bytes >= 144)
		memcpy(&name, (const char *)rec + RECORD_KERNEL_NAME_AT, sizeof(name));
	return name;
}

#endif

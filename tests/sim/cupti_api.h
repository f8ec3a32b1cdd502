/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUPTI's activity API as the simulated libcupti offers it: functions, numbers, and records laid
 * out as those of CUDA 13.0. A record of an older version is the beginning of one of these.
 */
#ifndef CUPTI_API_H
#define CUPTI_API_H

#include <stddef.h>
#include <stdint.h>

enum {
	CUPTI_SUCCESS = 0,
	CUPTI_ERROR_INVALID_PARAMETER = 1,
	CUPTI_ERROR_MAX_LIMIT_REACHED = 12,
	CUPTI_ERROR_NOT_COMPATIBLE = 14,
	CUPTI_ERROR_NOT_INITIALIZED = 15,
	CUPTI_ERROR_INVALID_KIND = 21,
	CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED = 39,
	CUPTI_ERROR_UNKNOWN = 999,
};

/* The domain of callbacks about resources, and two of them. */
enum {
	DOMAIN_RESOURCE = 3,
	RESOURCE_NODE_CREATED = 13,
	RESOURCE_NODE_CLONED = 20,
};

enum {
	KIND_MEMCPY = 1,
	KIND_MEMSET = 2,
	KIND_DRIVER = 4,
	KIND_RUNTIME = 5,
	KIND_DEVICE = 8,
	KIND_CONCURRENT_KERNEL = 10,
	KIND_OVERHEAD = 17, /* can be enabled, has no records */
	KIND_MEMCPY2 = 22,
	KIND_CUDA_EVENT = 36, /* the same */
	KIND_SYNCHRONIZATION = 38,
	KIND_EXTERNAL_CORRELATION = 39,
	KIND_MEMORY2 = 49,
	KIND_GRAPH_TRACE = 51,
	KIND_ODD = 60, /* of no client's */
	KINDS = 64,
};

struct cupti_kernel {
	uint32_t kind;
	uint8_t cache_config, shared_config;
	uint16_t registers;
	uint32_t partitioned_requested, partitioned_executed;
	uint64_t start, end, completed;
	uint32_t device, context, stream;
	int32_t grid[3], block[3];
	int32_t static_shared, dynamic_shared;
	uint32_t local_per_thread, local_total;
	uint32_t correlation;
	int64_t grid_id;
	const char *name;
	void *reserved;
	uint64_t queued, submitted;
	uint8_t launch_type, carveout_requested, carveout;
	uint8_t pad;
	uint32_t shared_executed;
	uint64_t graph_node;
	uint32_t shmem_limit;
	uint32_t graph;
	void *access_policy;
	uint32_t channel, channel_type;
	uint32_t cluster[3];
	uint32_t cluster_policy;
	uint64_t local_total_v2;
	uint32_t max_potential_cluster, max_active_clusters;
	uint8_t is_device_launched;
	uint8_t pad2[7];
	int32_t priority, pad3; /* 13.1 */
	uint32_t execution_model, pad4; /* 13.3 */
	uint64_t source_graph, source_node; /* 13.5 */
};

struct cupti_memcpy {
	uint32_t kind;
	uint8_t copy_kind, from_kind, to_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation, runtime_correlation;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel, channel_type;
	uint8_t is_device_launched, pad2[3];
	uint64_t copy_count;
};

struct cupti_memcpy_peer {
	uint32_t kind;
	uint8_t copy_kind, from_kind, to_kind, flags;
	uint64_t bytes, start, end;
	uint32_t device, context, stream;
	uint32_t from_device, from_context, to_device, to_context, correlation;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph, channel, channel_type, pad;
};

struct cupti_sync {
	uint32_t kind, type;
	uint64_t start, end;
	uint32_t correlation, context, stream, event;
};

/* A call's correlation is that of a number which the client gave the thread. */
struct cupti_external {
	uint32_t kind, external_kind;
	uint64_t external;
	uint32_t correlation, pad;
};

struct cupti_memset {
	uint32_t kind, value;
	uint64_t bytes, start, end;
	uint32_t device, context, stream, correlation;
	uint16_t flags, memory_kind;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node;
	uint32_t graph;
	uint32_t channel, channel_type;
	uint8_t is_device_launched, pad2[3];
};

struct cupti_graph_trace {
	uint32_t kind, correlation;
	uint64_t start, end;
	uint32_t device, graph, context, stream;
	void *reserved;
	uint32_t end_device, end_context;
};

struct cupti_memory {
	uint32_t kind, operation, memory_kind, correlation;
	uint64_t address, bytes, timestamp, pc;
	uint32_t pid, device, context, stream;
	const char *name;
	uint32_t is_async, pad;
	uint32_t pool_type, pad2;
	uint64_t pool_address, pool_threshold, pool_size, pool_used;
	const char *source;
};

struct cupti_api {
	uint32_t kind, cbid;
	uint64_t start, end;
	uint32_t pid, tid, correlation, result;
};

struct cupti_graph_data {
	void *graph, *original_graph, *node, *original_node;
	int node_type;
	uint32_t pad;
	void *dependency, *exec;
};

struct cupti_resource_data {
	void *context, *handle, *descriptor;
};

_Static_assert(sizeof(struct cupti_kernel) == 248, "kernel of 13.5");
_Static_assert(offsetof(struct cupti_kernel, priority) == 216, "kernel of 13.0");
_Static_assert(offsetof(struct cupti_memcpy_peer, correlation) == 60, "peer copy");
_Static_assert(offsetof(struct cupti_memcpy_peer, graph) == 80, "peer copy");
_Static_assert(offsetof(struct cupti_kernel, correlation) == 92, "kernel");
_Static_assert(offsetof(struct cupti_kernel, name) == 104, "kernel");
_Static_assert(offsetof(struct cupti_kernel, graph_node) == 144, "kernel");
_Static_assert(offsetof(struct cupti_kernel, cluster) == 176, "kernel");
_Static_assert(sizeof(struct cupti_memcpy) == 96, "memcpy of 13.0");
_Static_assert(offsetof(struct cupti_memcpy, graph_node) == 64, "memcpy");
_Static_assert(sizeof(struct cupti_memset) == 88, "memset of 13.0");
_Static_assert(sizeof(struct cupti_graph_trace) == 56, "graph trace of 13.0");
_Static_assert(sizeof(struct cupti_memory) == 128, "memory of 13.0");
_Static_assert(offsetof(struct cupti_memory, is_async) == 72, "memory");
_Static_assert(sizeof(struct cupti_api) == 40, "API");
_Static_assert(sizeof(struct cupti_external) == 24, "external correlation");

typedef void (*cupti_request_fn)(uint8_t **buffer, size_t *bytes, size_t *max_records);
typedef void (*cupti_complete_fn)(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
				  size_t valid_bytes);
typedef void (*cupti_callback_fn)(void *ctx, int domain, uint32_t cbid, const void *data);

int cuptiGetVersion(uint32_t *version);
int cuptiGetResultString(int result, const char **text);
int cuptiGetTimestamp(uint64_t *ns);
int cuptiSubscribe(void **subscriber, cupti_callback_fn callback, void *ctx);
int cuptiUnsubscribe(void *subscriber);
int cuptiEnableCallback(uint32_t enable, void *subscriber, int domain, uint32_t cbid);
int cuptiGetGraphNodeId(void *node, uint64_t *id);
int cuptiSetThreadIdType(int type);
int cuptiActivityRegisterCallbacks(cupti_request_fn request, cupti_complete_fn complete);
int cuptiActivityEnable(uint32_t kind);
int cuptiActivityDisable(uint32_t kind);
int cuptiActivityFlushAll(uint32_t flag);
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record);
int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped);
int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable);
int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable);
int cuptiActivityRegisterTimestampCallback(uint64_t (*ticks)(void));
int cuptiActivityGetAttribute(int attribute, size_t *size, void *value);
int cuptiActivitySetAttribute(int attribute, size_t *size, void *value);
int cuptiActivityFlushPeriod(uint32_t ms);
int cuptiActivityEnableAndDump(uint32_t kind);
int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last);
int cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable);
int cuptiEnableDomain(uint32_t enable, void *subscriber, int domain);
int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name);
int cuptiFinalize(void);

/* From 13.2 on. */
int cuptiActivityGetEnabledKinds(void *subscriber, uint32_t *kinds, uint32_t *bytes, uint32_t *n);
int cuptiActivityGetStructSize(uint32_t kind, uint32_t version, size_t *bytes);
/* From 13.3 on they do not mix with those above. */
int cuptiActivityEnable_v2(void *subscriber, uint32_t kind, void *config);
int cuptiActivityDisable_v2(void *subscriber, uint32_t kind, void *config);
int cuptiActivityGetNextRecord_v2(void *subscriber, uint8_t *buffer, size_t valid_bytes, void **record);

#endif

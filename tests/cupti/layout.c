// SPDX-License-Identifier: BSD-3-Clause
/*
 * The lists of user/helper/records.h against CUPTI's own headers, at compile time. To be included
 * once for each struct of a version, which is given as KERNEL, COPY, PEER, SET, GRAPH or MEMORY, of
 * KERNEL_BYTES and so on. Knows nothing of the library; tests/cupti/check gives the structs.
 */
#include <stddef.h>
#include <stdint.h>

#include <cupti.h>

#include "gpuprof/cuda_numbers.h"
#include "helper/cupti.h"
#include "helper/records.h"

#define CHECK(type, theirs, at, ours) \
	_Static_assert(offsetof(type, theirs) == (at), #type "." #theirs ": offset"); \
	_Static_assert(sizeof(((type *)0)->theirs) == sizeof(ours), #type "." #theirs ": size");

#define KERNEL_ROW(to, theirs, at, ours) CHECK(KERNEL, theirs, at, ours)
#define COPY_ROW(to, theirs, at, ours) CHECK(COPY, theirs, at, ours)
#define PEER_ROW(to, theirs, at, ours) CHECK(PEER, theirs, at, ours)
#define SET_ROW(to, theirs, at, ours) CHECK(SET, theirs, at, ours)
#define API_ROW(to, theirs, at, ours) CHECK(CUpti_ActivityAPI, theirs, at, ours)
#define GRAPH_ROW(to, theirs, at, ours) CHECK(GRAPH, theirs, at, ours)

#define MEMORY_ROW(to, theirs, at, ours) CHECK(MEMORY, theirs, at, ours)

#ifdef KERNEL
_Static_assert(sizeof(KERNEL) == KERNEL_BYTES, "kernel: bytes");
RECORD_KERNEL_144(KERNEL_ROW)
CHECK(KERNEL, name, RECORD_KERNEL_NAME_AT, const char *)
#if KERNEL_BYTES >= 160
RECORD_KERNEL_160(KERNEL_ROW)
#endif
#if KERNEL_BYTES >= 200
RECORD_KERNEL_200(KERNEL_ROW)
#endif
#if KERNEL_BYTES >= 208
RECORD_KERNEL_208(KERNEL_ROW)
#endif
#endif

#ifdef COPY
_Static_assert(sizeof(COPY) == COPY_BYTES, "copy: bytes");
RECORD_COPY_64(COPY_ROW)
#if COPY_BYTES >= 72
RECORD_COPY_72(COPY_ROW)
#endif
#if COPY_BYTES >= 80
RECORD_COPY_80(COPY_ROW)
#endif
#endif

#ifdef PEER
_Static_assert(sizeof(PEER) == PEER_BYTES, "copy between devices: bytes");
RECORD_PEER_72(PEER_ROW)
#if PEER_BYTES >= 80
RECORD_PEER_80(PEER_ROW)
#endif
#if PEER_BYTES >= 88
RECORD_PEER_88(PEER_ROW)
#endif
#endif

#ifdef SET
_Static_assert(sizeof(SET) == SET_BYTES, "set: bytes");
RECORD_SET_56(SET_ROW)
#if SET_BYTES >= 72
RECORD_SET_72(SET_ROW)
#endif
#if SET_BYTES >= 80
RECORD_SET_80(SET_ROW)
#endif
#endif

#ifdef GRAPH
_Static_assert(sizeof(GRAPH) == GRAPH_BYTES, "graph: bytes");
RECORD_GRAPH_48(GRAPH_ROW)
#endif

#ifdef MEMORY
_Static_assert(sizeof(MEMORY) == MEMORY_BYTES, "memory: bytes");
RECORD_MEMORY_120(MEMORY_ROW)
#endif

RECORD_API_40(API_ROW)
_Static_assert(CUPTI_ACTIVITY_KIND_MEMORY2 == CUPTI_MEMORY2, "kind");
_Static_assert(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION == GP_MEMORY_ALLOC &&
	       CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE == GP_MEMORY_FREE, "what happened");
_Static_assert(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED == CUPTI_FLUSH_FORCED, "flag");
_Static_assert(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM == CUPTI_THREAD_ID_SYSTEM, "kind of thread ids");
#define CHECK_NUMBER(ours, number, theirs) _Static_assert((int)(theirs) == (ours), #theirs);
GP_CUDA_NUMBERS(CHECK_NUMBER)
_Static_assert(CUPTI_ACTIVITY_KIND_MEMCPY == CUPTI_MEMCPY, "kind");
_Static_assert(CUPTI_ACTIVITY_KIND_MEMSET == CUPTI_MEMSET, "kind");
_Static_assert(CUPTI_ACTIVITY_KIND_DRIVER == CUPTI_DRIVER, "kind");
_Static_assert(CUPTI_ACTIVITY_KIND_RUNTIME == CUPTI_RUNTIME, "kind");
_Static_assert(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL == CUPTI_KERNEL, "kind");
_Static_assert(CUPTI_ACTIVITY_KIND_MEMCPY2 == CUPTI_MEMCPY_PEER, "kind");
_Static_assert(CUPTI_ACTIVITY_KIND_GRAPH_TRACE == CUPTI_GRAPH_TRACE, "kind");
_Static_assert(CUPTI_ACTIVITY_KIND_DEVICE == CUPTI_DEVICE, "kind");
_Static_assert(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE == CUPTI_DEVICE_BUFFER_BYTES, "attribute");
_Static_assert(CUPTI_CB_DOMAIN_DRIVER_API == CUPTI_DOMAIN_DRIVER, "domain");
_Static_assert(CUPTI_CB_DOMAIN_RUNTIME_API == CUPTI_DOMAIN_RUNTIME, "domain");
_Static_assert(CUPTI_ERROR_NOT_COMPATIBLE == CUPTI_NOT_COMPATIBLE, "result");
_Static_assert(CUPTI_ERROR_NOT_INITIALIZED == CUPTI_NOT_INITIALIZED, "result");
_Static_assert(CUPTI_ERROR_UNKNOWN == CUPTI_UNKNOWN, "result");

#define CHECK_POINTER(type, theirs, ours, field) \
	_Static_assert(offsetof(type, theirs) == offsetof(ours, field) && \
		       sizeof(((type *)0)->theirs) == sizeof(((ours *)0)->field), #type "." #theirs);
CHECK_POINTER(CUpti_ResourceData, resourceDescriptor, struct cupti_resource, graph)
CHECK_POINTER(CUpti_GraphData, node, struct cupti_graph, node)
CHECK_POINTER(CUpti_GraphData, originalNode, struct cupti_graph, original)
_Static_assert(CUPTI_CB_DOMAIN_RESOURCE == CUPTI_DOMAIN_RESOURCE, "domain");
_Static_assert(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED == CUPTI_NODE_CREATED, "callback");
_Static_assert(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED == CUPTI_NODE_CLONED, "callback");
_Static_assert(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED == CUPTI_BUSY, "result");
_Static_assert(__builtin_types_compatible_p(
		       __typeof__(&cuptiActivityGetAttribute),
		       CUptiResult (*)(CUpti_ActivityAttribute, size_t *, void *)), "get_attribute");
#if CUPTI_API_VERSION >= 130200
_Static_assert(__builtin_types_compatible_p(
		       __typeof__(&cuptiActivityGetEnabledKinds),
		       CUptiResult (*)(CUpti_SubscriberHandle, CUpti_ActivityKind *, uint32_t *,
				       uint32_t *)), "enabled_kinds");
#endif
_Static_assert(__builtin_types_compatible_p(__typeof__(&cuptiGetGraphNodeId),
					    CUptiResult (*)(CUgraphNode, uint64_t *)), "node_id");
_Static_assert(__builtin_types_compatible_p(
		       __typeof__(&cuptiEnableCallback),
		       CUptiResult (*)(uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain,
				       CUpti_CallbackId)), "enable_callback");

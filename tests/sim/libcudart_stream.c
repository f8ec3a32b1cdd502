// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: synchronising, streams, events, graphs.
 * Twins are for the per-thread default stream.
 */
#include <stdlib.h>

#include "libcudart.h"

RUNTIME_CALL(cudaDeviceSynchronize, (void), 0, runtime_driver.cuCtxSynchronize())
RUNTIME_CALL(cudaStreamSynchronize, (cudaStream_t stream), 0,
	     runtime_legacy.cuStreamSynchronize(stream))
RUNTIME_CALL(cudaStreamSynchronize_ptsz, (cudaStream_t stream), 0,
	     runtime_per_thread.cuStreamSynchronize(stream))
RUNTIME_CALL(cudaEventSynchronize, (cudaEvent_t event), 0, runtime_driver.cuEventSynchronize(event))
RUNTIME_CALL(cudaStreamCreate, (cudaStream_t * out), 0, runtime_driver.cuStreamCreate(out, 0))
RUNTIME_CALL(cudaStreamCreateWithFlags, (cudaStream_t * out, unsigned int flags), 0,
	     runtime_driver.cuStreamCreate(out, flags))
RUNTIME_CALL(cudaStreamDestroy, (cudaStream_t stream), 0, runtime_driver.cuStreamDestroy(stream))
RUNTIME_CALL(cudaStreamQuery, (cudaStream_t stream), 0, runtime_legacy.cuStreamQuery(stream))
RUNTIME_CALL(cudaStreamQuery_ptsz, (cudaStream_t stream), 0,
	     runtime_per_thread.cuStreamQuery(stream))
RUNTIME_CALL(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags), 0,
	     runtime_legacy.cuStreamWaitEvent(stream, event, flags))
RUNTIME_CALL(cudaStreamWaitEvent_ptsz, (cudaStream_t stream, cudaEvent_t event, unsigned int flags),
	     0, runtime_per_thread.cuStreamWaitEvent(stream, event, flags))
RUNTIME_CALL(cudaStreamBeginCapture, (cudaStream_t stream, int mode), 0,
	     runtime_legacy.cuStreamBeginCapture(stream, mode))
RUNTIME_CALL(cudaStreamBeginCapture_ptsz, (cudaStream_t stream, int mode), 0,
	     runtime_per_thread.cuStreamBeginCapture(stream, mode))
RUNTIME_CALL(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *out), 0,
	     runtime_legacy.cuStreamEndCapture(stream, out))
RUNTIME_CALL(cudaStreamEndCapture_ptsz, (cudaStream_t stream, cudaGraph_t *out), 0,
	     runtime_per_thread.cuStreamEndCapture(stream, out))
RUNTIME_CALL(cudaGraphInstantiate,
	     (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags), 0,
	     runtime_driver.cuGraphInstantiateWithFlags(out, graph, flags))
RUNTIME_CALL(cudaGraphDestroy, (cudaGraph_t graph), 0, runtime_driver.cuGraphDestroy(graph))
RUNTIME_CALL(cudaGraphExecDestroy, (cudaGraphExec_t exec), 0,
	     runtime_driver.cuGraphExecDestroy(exec))
RUNTIME_CALL(cudaEventCreate, (cudaEvent_t * out), 0, runtime_driver.cuEventCreate(out, 0))
RUNTIME_CALL(cudaEventCreateWithFlags, (cudaEvent_t * out, unsigned int flags), 0,
	     runtime_driver.cuEventCreate(out, flags))
RUNTIME_CALL(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), 0,
	     runtime_legacy.cuEventRecord(event, stream))
RUNTIME_CALL(cudaEventRecord_ptsz, (cudaEvent_t event, cudaStream_t stream), 0,
	     runtime_per_thread.cuEventRecord(event, stream))
RUNTIME_CALL(cudaEventQuery, (cudaEvent_t event), 0, runtime_driver.cuEventQuery(event))
RUNTIME_CALL(cudaEventElapsedTime, (float *milliseconds, cudaEvent_t from, cudaEvent_t to), 0,
	     runtime_driver.cuEventElapsedTime(milliseconds, from, to))
RUNTIME_CALL(cudaEventDestroy, (cudaEvent_t event), 0, runtime_driver.cuEventDestroy(event))
RUNTIME_EXPORT(cudaEventRecordWithFlags,
	(cudaEvent_t event, cudaStream_t stream, unsigned int flags),
	runtime_legacy.cuEventRecord(event, stream))

/* ---- priorities, functions of the host --------------------------------------------------------- */

static int create_with_priority(cudaStream_t *out, unsigned int flags, int priority)
{
	int result = runtime_driver.cuStreamCreate(out, flags);

	return result ? result : gpusim_stream_set_priority(*out, priority);
}

static int priority_range(int *least, int *greatest)
{
	if (least)
		*least = 0;
	if (greatest)
		*greatest = GPUSIM_PRIORITY_GREATEST;
	return GPUSIM_OK;
}

/* Kinder than real: they run at once, in the thread that asks for it. A capture drops them. */
static bool captures(cudaStream_t stream)
{
	struct gpusim_graph *graph;
	uint64_t id;

	return !gpusim_capture_query(stream, &id, &graph) && graph;
}

static int run_on_host(cudaStream_t stream, void (*function)(void *), void *data)
{
	if (!function)
		return GPUSIM_INVALID_VALUE;
	if (!captures(stream))
		function(data);
	return GPUSIM_OK;
}

static int call_back(cudaStream_t stream, void (*function)(cudaStream_t, cudaError_t, void *),
		     void *data)
{
	if (!function)
		return GPUSIM_INVALID_VALUE;
	if (captures(stream))
		return GPUSIM_CAPTURE_UNSUPPORTED;
	function(stream, GPUSIM_OK, data);
	return GPUSIM_OK;
}

RUNTIME_EXPORT(cudaStreamCreateWithPriority,
	(cudaStream_t * out, unsigned int flags, int priority),
	create_with_priority(out, flags, priority))
RUNTIME_EXPORT(cudaStreamGetPriority, (cudaStream_t stream, int *priority),
	gpusim_stream_priority(stream, priority))
RUNTIME_EXPORT(cudaDeviceGetStreamPriorityRange, (int *least, int *greatest),
	priority_range(least, greatest))
RUNTIME_EXPORT(cudaLaunchHostFunc,
	(cudaStream_t stream, void (*function)(void *), void *data),
	run_on_host(stream, function, data))
RUNTIME_EXPORT(cudaStreamAddCallback,
	(cudaStream_t stream, void (*function)(cudaStream_t, cudaError_t, void *), void *data,
	 unsigned int flags), call_back(stream, function, data))

/* ---- capture ----------------------------------------------------------------------------------- */

enum { CAPTURE_NONE, CAPTURE_ACTIVE };

static int is_capturing(cudaStream_t stream, int *status)
{
	if (!status)
		return GPUSIM_INVALID_VALUE;
	*status = captures(stream) ? CAPTURE_ACTIVE : CAPTURE_NONE;
	return GPUSIM_OK;
}

/* Where a capture's next node would hang in the graph is not known: the simulation's have an order. */
struct capture_info {
	int *status;
	unsigned long long *id;
	cudaGraph_t *graph;
	const void **dependencies, **edges;
	size_t *count;
};

static int capture_info(cudaStream_t stream, const struct capture_info *info)
{
	struct gpusim_graph *graph;
	uint64_t id;
	int result = gpusim_capture_query(stream, &id, &graph);

	if (result || !info->status)
		return result ? result : GPUSIM_INVALID_VALUE;
	*info->status = graph ? CAPTURE_ACTIVE : CAPTURE_NONE;
	if (info->id)
		*info->id = id;
	if (info->graph)
		*info->graph = graph;
	if (info->dependencies)
		*info->dependencies = NULL;
	if (info->edges)
		*info->edges = NULL;
	if (info->count)
		*info->count = 0;
	return GPUSIM_OK;
}

static int exchange_mode(int *mode)
{
	static __thread int current;
	int before = current;

	if (!mode || *mode < 0 || *mode > 2)
		return GPUSIM_INVALID_VALUE;
	current = *mode;
	*mode = before;
	return GPUSIM_OK;
}

/* With nodes, so many of them at most as there is room for: a node is known by its place. */
static int graph_nodes(cudaGraph_t graph, uintptr_t *nodes, size_t *count)
{
	size_t room = count ? *count : 0, i;
	int result = count ? gpusim_graph_nodes(graph, count) : GPUSIM_INVALID_VALUE;

	for (i = 0; !result && nodes && i < room; i++)
		nodes[i] = i < *count ? i + 1 : 0;
	return result;
}

RUNTIME_EXPORT(cudaStreamIsCapturing, (cudaStream_t stream, int *status),
	is_capturing(stream, status))
RUNTIME_EXPORT(cudaStreamGetCaptureInfo,
	(cudaStream_t stream, int *status, unsigned long long *id, cudaGraph_t *graph,
	 const void **dependencies, const void **edges, size_t *count),
	capture_info(stream, &(struct capture_info){ status, id, graph, dependencies, edges, count }))
RUNTIME_EXPORT(cudaStreamUpdateCaptureDependencies,
	(cudaStream_t stream, void **nodes, const void *edges, size_t count, unsigned int flags),
	GPUSIM_OK)
RUNTIME_EXPORT(cudaThreadExchangeStreamCaptureMode, (int *mode), exchange_mode(mode))
RUNTIME_EXPORT(cudaStreamBeginCaptureToGraph,
	(cudaStream_t stream, cudaGraph_t graph, const void *nodes, const void *edges, size_t count,
	 int mode), GPUSIM_NOT_SUPPORTED)
RUNTIME_EXPORT(cudaGraphInstantiateWithFlags,
	(cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags),
	runtime_driver.cuGraphInstantiateWithFlags(out, graph, flags))
RUNTIME_EXPORT(cudaGraphGetNodes, (cudaGraph_t graph, uintptr_t *nodes, size_t *count),
	graph_nodes(graph, nodes, count))
RUNTIME_EXPORT(cudaGraphNodeGetDependencies,
	(uintptr_t node, void *nodes, void *edges, size_t *count), GPUSIM_NOT_SUPPORTED)
RUNTIME_EXPORT(cudaGraphAddNode,
	(void **out, cudaGraph_t graph, const void *nodes, const void *edges, size_t count,
	 void *what), GPUSIM_NOT_SUPPORTED)
RUNTIME_EXPORT(cudaGraphConditionalHandleCreate,
	(void *out, cudaGraph_t graph, unsigned int value, unsigned int flags),
	GPUSIM_NOT_SUPPORTED)

/* ---- user objects: kept until their last reference goes, but a graph keeps its for ever -------- */

struct user_object {
	unsigned int references;
	void (*destroy)(void *);
	void *data;
};

static int create_object(struct user_object **out, void *data, void (*destroy)(void *),
			 unsigned int references)
{
	if (!out || !destroy || !references)
		return GPUSIM_INVALID_VALUE;
	*out = malloc(sizeof(**out));
	if (!*out)
		return GPUSIM_OUT_OF_MEMORY;
	**out = (struct user_object){ references, destroy, data };
	return GPUSIM_OK;
}

static int release_object(struct user_object *object, unsigned int count)
{
	if (!object || count > __atomic_load_n(&object->references, __ATOMIC_ACQUIRE))
		return GPUSIM_INVALID_VALUE;
	if (__atomic_sub_fetch(&object->references, count, __ATOMIC_ACQ_REL))
		return GPUSIM_OK;
	object->destroy(object->data);
	free(object);
	return GPUSIM_OK;
}

/* A reference that moves to the graph is the caller's no more; one that does not is added. */
static int retain_object(struct user_object *object, unsigned int count, unsigned int flags)
{
	enum { MOVES = 1 };

	if (!object)
		return GPUSIM_INVALID_VALUE;
	if (!(flags & MOVES))
		__atomic_add_fetch(&object->references, count, __ATOMIC_ACQ_REL);
	return GPUSIM_OK;
}

RUNTIME_EXPORT(cudaUserObjectCreate,
	(struct user_object **out, void *data, void (*destroy)(void *), unsigned int references,
	 unsigned int flags), create_object(out, data, destroy, references))
RUNTIME_EXPORT(cudaUserObjectRelease, (struct user_object *object, unsigned int count),
	release_object(object, count))
RUNTIME_EXPORT(cudaGraphRetainUserObject,
	(cudaGraph_t graph, struct user_object *object, unsigned int count, unsigned int flags),
	retain_object(object, count, flags))

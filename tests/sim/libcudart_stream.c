// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: synchronising, streams, events, graphs.
 * Twins are for the per-thread default stream.
 */
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

// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: synchronising, streams, events, graphs.
 */
#include "libcudart.h"

cudaError_t cudaDeviceSynchronize(void)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaDeviceSynchronize);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuCtxSynchronize();
	return runtime_end(&call, result);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamSynchronize);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuStreamSynchronize(stream);
	return runtime_end(&call, result);
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaEventSynchronize);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuEventSynchronize(event);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamCreate(cudaStream_t *out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamCreate);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuStreamCreate(out, 0);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamCreateWithFlags);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuStreamCreate(out, flags);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamDestroy);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuStreamDestroy(stream);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamQuery);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuStreamQuery(stream);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamWaitEvent);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuStreamWaitEvent(stream, event, flags);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, int mode)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamBeginCapture);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuStreamBeginCapture(stream, mode);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamEndCapture);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuStreamEndCapture(stream, out);
	return runtime_end(&call, result);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaGraphInstantiate);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuGraphInstantiateWithFlags(out, graph, flags);
	return runtime_end(&call, result);
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaGraphDestroy);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuGraphDestroy(graph);
	return runtime_end(&call, result);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaGraphExecDestroy);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuGraphExecDestroy(exec);
	return runtime_end(&call, result);
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaEventCreate);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuEventCreate(out, 0);
	return runtime_end(&call, result);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *out, unsigned int flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaEventCreateWithFlags);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuEventCreate(out, flags);
	return runtime_end(&call, result);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaEventRecord);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuEventRecord(event, stream);
	return runtime_end(&call, result);
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaEventQuery);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuEventQuery(event);
	return runtime_end(&call, result);
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaEventElapsedTime);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuEventElapsedTime(milliseconds, from, to);
	return runtime_end(&call, result);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaEventDestroy);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuEventDestroy(event);
	return runtime_end(&call, result);
}

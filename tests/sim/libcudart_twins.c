// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: the twins that programs call which were compiled for the
 * per-thread default stream. Each calls the driver's twin; those of launches are with the launches.
 */
#include "libcudart.h"

#include <string.h>

static CUdeviceptr address(const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory;
}

static int copy_on_host(void *to, const void *from, size_t bytes)
{
	memmove(to, from, bytes);
	return GPUSIM_OK;
}

static int copy_now(void *to, const void *from, size_t bytes, int kind)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
		return copy_on_host(to, from, bytes);
	case cudaMemcpyHostToDevice:
		return runtime_twins.cuMemcpyHtoD(address(to), from, bytes);
	case cudaMemcpyDeviceToHost:
		return runtime_twins.cuMemcpyDtoH(to, address(from), bytes);
	case cudaMemcpyDeviceToDevice:
		return runtime_twins.cuMemcpyDtoD(address(to), address(from), bytes);
	case cudaMemcpyDefault:
		return runtime_twins.cuMemcpy(address(to), address(from), bytes);
	default:
		return GPUSIM_INVALID_MEMCPY_DIRECTION;
	}
}

static int copy_later(void *to, const void *from, size_t bytes, int kind, CUstream stream)
{
	switch (kind) {
	case cudaMemcpyHostToHost:
		return copy_on_host(to, from, bytes);
	case cudaMemcpyHostToDevice:
		return runtime_twins.cuMemcpyHtoDAsync(address(to), from, bytes, stream);
	case cudaMemcpyDeviceToHost:
		return runtime_twins.cuMemcpyDtoHAsync(to, address(from), bytes, stream);
	case cudaMemcpyDeviceToDevice:
		return runtime_twins.cuMemcpyDtoDAsync(address(to), address(from), bytes, stream);
	case cudaMemcpyDefault:
		return runtime_twins.cuMemcpyAsync(address(to), address(from), bytes, stream);
	default:
		return GPUSIM_INVALID_MEMCPY_DIRECTION;
	}
}

cudaError_t cudaMemcpy_ptds(void *to, const void *from, size_t bytes, int kind)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMemcpy_ptds);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = copy_now(to, from, bytes, kind);
	return runtime_end(&call, result);
}

cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, int kind,
				 cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMemcpyAsync_ptsz);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = copy_later(to, from, bytes, kind, stream);
	return runtime_end(&call, result);
}

cudaError_t cudaMemset_ptds(void *to, int value, size_t bytes)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMemset_ptds);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = runtime_twins.cuMemsetD8(address(to), (unsigned char)value, bytes);
	return runtime_end(&call, result);
}

cudaError_t cudaMemsetAsync_ptsz(void *to, int value, size_t bytes, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMemsetAsync_ptsz);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = runtime_twins.cuMemsetD8Async(address(to), (unsigned char)value, bytes,
						       stream);
	return runtime_end(&call, result);
}

cudaError_t cudaMallocAsync_ptsz(void **out, size_t bytes, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMallocAsync_ptsz);
	CUdeviceptr found = 0;
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result && !out)
		result = GPUSIM_INVALID_VALUE;
	if (!result && bytes)
		result = runtime_twins.cuMemAllocAsync(&found, bytes, stream);
	if (!result)
		*out = (void *)(uintptr_t)found;
	return runtime_end(&call, result);
}

cudaError_t cudaFreeAsync_ptsz(void *memory, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaFreeAsync_ptsz);
	int result = runtime_ready();

	if (!result)
		result = runtime_twins.cuMemFreeAsync(address(memory), stream);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamSynchronize_ptsz);
	int result = runtime_ready();

	if (!result)
		result = runtime_twins.cuStreamSynchronize(stream);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamQuery_ptsz);
	int result = runtime_ready();

	if (!result)
		result = runtime_twins.cuStreamQuery(stream);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamWaitEvent_ptsz);
	int result = runtime_ready();

	if (!result)
		result = runtime_twins.cuStreamWaitEvent(stream, event, flags);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, int mode)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamBeginCapture_ptsz);
	int result = runtime_ready();

	if (!result)
		result = runtime_twins.cuStreamBeginCapture(stream, mode);
	return runtime_end(&call, result);
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t *out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaStreamEndCapture_ptsz);
	int result = runtime_ready();

	if (!result)
		result = runtime_twins.cuStreamEndCapture(stream, out);
	return runtime_end(&call, result);
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaEventRecord_ptsz);
	int result = runtime_ready();

	if (!result)
		result = runtime_twins.cuEventRecord(event, stream);
	return runtime_end(&call, result);
}

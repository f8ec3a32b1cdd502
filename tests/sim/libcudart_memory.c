// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: memory, copies, sets.
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
		return runtime_driver.cuMemcpyHtoD(address(to), from, bytes);
	case cudaMemcpyDeviceToHost:
		return runtime_driver.cuMemcpyDtoH(to, address(from), bytes);
	case cudaMemcpyDeviceToDevice:
		return runtime_driver.cuMemcpyDtoD(address(to), address(from), bytes);
	case cudaMemcpyDefault:
		return runtime_driver.cuMemcpy(address(to), address(from), bytes);
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
		return runtime_driver.cuMemcpyHtoDAsync(address(to), from, bytes, stream);
	case cudaMemcpyDeviceToHost:
		return runtime_driver.cuMemcpyDtoHAsync(to, address(from), bytes, stream);
	case cudaMemcpyDeviceToDevice:
		return runtime_driver.cuMemcpyDtoDAsync(address(to), address(from), bytes, stream);
	case cudaMemcpyDefault:
		return runtime_driver.cuMemcpyAsync(address(to), address(from), bytes, stream);
	default:
		return GPUSIM_INVALID_MEMCPY_DIRECTION;
	}
}

/* A pointer of the runtime is an address of the driver; who wants no byte gets no address. */
static int alloc(void **out, size_t bytes)
{
	CUdeviceptr found = 0;
	int result = GPUSIM_INVALID_VALUE;

	if (out)
		result = bytes ? runtime_driver.cuMemAlloc(&found, bytes) : GPUSIM_OK;
	if (!result)
		*out = (void *)(uintptr_t)found;
	return result;
}

static int alloc_later(void **out, size_t bytes, CUstream stream)
{
	CUdeviceptr found = 0;
	int result = GPUSIM_INVALID_VALUE;

	if (out)
		result = bytes ? runtime_driver.cuMemAllocAsync(&found, bytes, stream) : GPUSIM_OK;
	if (!result)
		*out = (void *)(uintptr_t)found;
	return result;
}

static int free_unless_null(void *memory)
{
	return memory ? runtime_driver.cuMemFree(address(memory)) : GPUSIM_OK;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMemcpy);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = copy_now(to, from, bytes, kind);
	return runtime_end(&call, result);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMemcpyAsync);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = copy_later(to, from, bytes, kind, stream);
	return runtime_end(&call, result);
}

cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMemset);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = runtime_driver.cuMemsetD8(address(to), (unsigned char)value, bytes);
	return runtime_end(&call, result);
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMemsetAsync);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = runtime_driver.cuMemsetD8Async(address(to), (unsigned char)value, bytes,
							stream);
	return runtime_end(&call, result);
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMalloc);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = alloc(out, bytes);
	return runtime_end(&call, result);
}

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMallocAsync);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = alloc_later(out, bytes, stream);
	return runtime_end(&call, result);
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMallocHost);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = runtime_driver.cuMemHostAlloc(out, bytes, 0);
	return runtime_end(&call, result);
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned int flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaHostAlloc);
	int result = runtime_ready();

	call.bytes = bytes;
	if (!result)
		result = runtime_driver.cuMemHostAlloc(out, bytes, flags);
	return runtime_end(&call, result);
}

cudaError_t cudaFree(void *memory)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaFree);
	int result = runtime_ready();

	if (!result)
		result = free_unless_null(memory);
	return runtime_end(&call, result);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaFreeAsync);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuMemFreeAsync(address(memory), stream);
	return runtime_end(&call, result);
}

cudaError_t cudaFreeHost(void *memory)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaFreeHost);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuMemFreeHost(memory);
	return runtime_end(&call, result);
}

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaMemGetInfo);
	int result = runtime_ready();

	if (!result)
		result = runtime_driver.cuMemGetInfo(free_bytes, total_bytes);
	return runtime_end(&call, result);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda.so.1, the simulated driver: memory, copies, sets. Addresses are checked (host or device).
 */
#include "libcuda.h"

SHIM_BYTES(CUresult, cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes), bytes,
	cuda_transfer_now(&call, GPUSIM_STREAM_LEGACY, 0, cuda_direction(to, from)))
SHIM_BYTES(CUresult, cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream
	stream), bytes,
	cuda_transfer(&call, 0, cuda_direction(to, from), stream))

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuMemcpyHtoD_v2);

	call.bytes = bytes;
	return gpusim_call_end(&call,
			       cuda_transfer_now(&call, GPUSIM_STREAM_LEGACY, GPUSIM_COPY_HTOD,
						 cuda_direction(to, cuda_address(from))));
}

CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuMemcpyDtoH_v2);

	call.bytes = bytes;
	return gpusim_call_end(&call,
			       cuda_transfer_now(&call, GPUSIM_STREAM_LEGACY, GPUSIM_COPY_DTOH,
						 cuda_direction(cuda_address(to), from)));
}

SHIM_BYTES(CUresult, cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes), bytes,
	cuda_transfer_now(&call, GPUSIM_STREAM_LEGACY, GPUSIM_COPY_DTOD, cuda_direction(to, from)))
SHIM_BYTES(CUresult, cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes,
	CUstream stream), bytes,
	cuda_transfer(&call, GPUSIM_COPY_HTOD, cuda_direction(to, cuda_address(from)), stream))
SHIM_BYTES(CUresult, cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream
	stream), bytes,
	cuda_transfer(&call, GPUSIM_COPY_DTOH, cuda_direction(cuda_address(to), from), stream))
SHIM_BYTES(CUresult, cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes,
	CUstream stream), bytes,
	cuda_transfer(&call, GPUSIM_COPY_DTOD, cuda_direction(to, from), stream))

SHIM_BYTES(CUresult, cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, size_t count), count,
	cuda_set(&call, to, value, 1, GPUSIM_STREAM_LEGACY))
SHIM_BYTES(CUresult, cuMemsetD32_v2, (CUdeviceptr to, unsigned int value, size_t count), 4 *
	count,
	cuda_set(&call, to, value, 4, GPUSIM_STREAM_LEGACY))
CUDA_TWINS(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream),
	count, cuda_set(&call, to, value, 1, stream))
CUDA_TWINS(cuMemsetD32Async, (CUdeviceptr to, unsigned int value, size_t count, CUstream stream),
	4 * count, cuda_set(&call, to, value, 4, stream))
SHIM_BYTES(CUresult, cuMemAlloc_v2, (CUdeviceptr *out, size_t bytes), bytes, cuda_alloc(&call, out))
SHIM_BYTES(CUresult, cuMemAllocAsync, (CUdeviceptr *out, size_t bytes, CUstream stream), bytes,
	cuda_alloc(&call, out))
SHIM_BYTES(CUresult, cuMemAllocHost_v2, (void **out, size_t bytes), bytes,
	gpusim_host_alloc(bytes, out))
SHIM_BYTES(CUresult, cuMemHostAlloc, (void **out, size_t bytes, unsigned int flags), bytes,
	gpusim_host_alloc(bytes, out))

/* As the real one does, a free waits for the device. */
CUresult cuMemFree_v2(CUdeviceptr memory)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuMemFree_v2);
	CUresult result = memory ? gpusim_context_sync() : GPUSIM_OK;

	if (memory && !result)
		result = gpusim_memory_free(memory);
	return gpusim_call_end(&call, result);
}

SHIM(CUresult, cuMemFreeAsync, (CUdeviceptr memory, CUstream stream), gpusim_memory_free(memory))
SHIM(CUresult, cuMemFreeHost, (void *memory), gpusim_host_free(memory))

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuMemGetInfo_v2);
	struct gpusim_context *context = gpusim_context_current();
	CUresult result = GPUSIM_INVALID_CONTEXT;

	if (!free_bytes || !total_bytes)
		result = GPUSIM_INVALID_VALUE;
	else if (context)
		result = gpusim_device_memory(gpusim_context_device(context), free_bytes,
					      total_bytes);
	return gpusim_call_end(&call, result);
}

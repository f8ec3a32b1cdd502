// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda.so.1, the simulated driver: the twins that programs call which were compiled for the
 * per-thread default stream. To them no stream means that of the thread.
 */
#include "libcuda.h"

/* One copy of each kind: from and to are what the arguments are called as addresses. */
#define COPY_NOW(name, kind, to_type, from_type, to_address, from_address)                   \
	CUresult name(to_type to, from_type from, size_t bytes)                              \
	{                                                                                    \
		struct gpusim_call call = shim_begin(GPUSIM_FN_##name);                      \
                                                                                             \
		call.bytes = bytes;                                                          \
		return gpusim_call_end(                                                      \
			&call, cuda_transfer_now(&call, GPUSIM_STREAM_PER_THREAD, kind,      \
						 cuda_direction(to_address, from_address))); \
	}
COPY_NOW(cuMemcpy_ptds, 0, CUdeviceptr, CUdeviceptr, to, from)
COPY_NOW(cuMemcpyHtoD_v2_ptds, GPUSIM_COPY_HTOD, CUdeviceptr, const void *, to, cuda_address(from))
COPY_NOW(cuMemcpyDtoH_v2_ptds, GPUSIM_COPY_DTOH, void *, CUdeviceptr, cuda_address(to), from)
COPY_NOW(cuMemcpyDtoD_v2_ptds, GPUSIM_COPY_DTOD, CUdeviceptr, CUdeviceptr, to, from)

#define COPY_LATER(name, kind, to_type, from_type, to_address, from_address)                   \
	CUresult name(to_type to, from_type from, size_t bytes, CUstream stream)               \
	{                                                                                      \
		struct gpusim_call call = shim_begin(GPUSIM_FN_##name);                        \
                                                                                               \
		call.bytes = bytes;                                                            \
		return gpusim_call_end(&call,                                                  \
				       cuda_transfer(&call, kind,                              \
						     cuda_direction(to_address, from_address), \
						     cuda_or_per_thread(stream)));             \
	}
COPY_LATER(cuMemcpyAsync_ptsz, 0, CUdeviceptr, CUdeviceptr, to, from)
COPY_LATER(cuMemcpyHtoDAsync_v2_ptsz, GPUSIM_COPY_HTOD, CUdeviceptr, const void *, to,
	   cuda_address(from))
COPY_LATER(cuMemcpyDtoHAsync_v2_ptsz, GPUSIM_COPY_DTOH, void *, CUdeviceptr, cuda_address(to), from)
COPY_LATER(cuMemcpyDtoDAsync_v2_ptsz, GPUSIM_COPY_DTOD, CUdeviceptr, CUdeviceptr, to, from)

SHIM_BYTES(CUresult, cuMemsetD8_v2_ptds, (CUdeviceptr to, unsigned char value, size_t count),
	count,
	cuda_set(&call, to, value, 1, GPUSIM_STREAM_PER_THREAD))
SHIM_BYTES(CUresult, cuMemsetD32_v2_ptds, (CUdeviceptr to, unsigned int value, size_t count), 4
	* count,
	cuda_set(&call, to, value, 4, GPUSIM_STREAM_PER_THREAD))
SHIM_BYTES(CUresult, cuMemAllocAsync_ptsz, (CUdeviceptr *out, size_t bytes, CUstream stream),
	bytes,
	cuda_alloc(&call, out))
SHIM(CUresult, cuMemFreeAsync_ptsz, (CUdeviceptr memory, CUstream stream),
	gpusim_memory_free(memory))

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside libcudart.so.13 (or 12), the simulated runtime: the driver functions it uses, resolved as
 * the real one does by cuGetProcAddress_v2 of a libcuda.so.1 opened at first use, and the begin and
 * end of its own functions.
 */
#ifndef LIBCUDART_H
#define LIBCUDART_H

#include "shim.h"

#include "cuda_api.h"
#include "cudart_api.h"

/* Asked for by the plain name: F(plain name, function whose prototype it has). */
// clang-format off
#define RUNTIME_DRIVER_FUNCTIONS(F) \
	F(cuInit, cuInit) \
	F(cuDriverGetVersion, cuDriverGetVersion) \
	F(cuDeviceGetCount, cuDeviceGetCount) \
	F(cuDeviceGetAttribute, cuDeviceGetAttribute) \
	F(cuDeviceGetName, cuDeviceGetName) \
	F(cuDeviceGetUuid, cuDeviceGetUuid) \
	F(cuDeviceTotalMem, cuDeviceTotalMem_v2) \
	F(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain) \
	F(cuCtxSetCurrent, cuCtxSetCurrent) \
	F(cuCtxSynchronize, cuCtxSynchronize) \
	F(cuMemAlloc, cuMemAlloc_v2) \
	F(cuMemHostAlloc, cuMemHostAlloc) \
	F(cuMemFree, cuMemFree_v2) \
	F(cuMemFreeHost, cuMemFreeHost) \
	F(cuMemGetInfo, cuMemGetInfo_v2) \
	F(cuEventCreate, cuEventCreate) \
	F(cuEventQuery, cuEventQuery) \
	F(cuEventSynchronize, cuEventSynchronize) \
	F(cuEventElapsedTime, cuEventElapsedTime_v2) \
	F(cuEventDestroy, cuEventDestroy_v2) \
	F(cuStreamCreate, cuStreamCreate) \
	F(cuStreamDestroy, cuStreamDestroy_v2) \
	F(cuGraphInstantiateWithFlags, cuGraphInstantiateWithFlags) \
	F(cuGraphDestroy, cuGraphDestroy) \
	F(cuGraphExecDestroy, cuGraphExecDestroy)

/* So are these, and once more for the per-thread default stream. */
#define RUNTIME_STREAM_FUNCTIONS(F) \
	F(cuLaunchKernel, cuLaunchKernel) \
	F(cuLaunchKernelEx, cuLaunchKernelEx) \
	F(cuGraphLaunch, cuGraphLaunch) \
	F(cuMemcpy, cuMemcpy) \
	F(cuMemcpyHtoD, cuMemcpyHtoD_v2) \
	F(cuMemcpyDtoH, cuMemcpyDtoH_v2) \
	F(cuMemcpyDtoD, cuMemcpyDtoD_v2) \
	F(cuMemcpyAsync, cuMemcpyAsync) \
	F(cuMemcpyHtoDAsync, cuMemcpyHtoDAsync_v2) \
	F(cuMemcpyDtoHAsync, cuMemcpyDtoHAsync_v2) \
	F(cuMemcpyDtoDAsync, cuMemcpyDtoDAsync_v2) \
	F(cuMemsetD8, cuMemsetD8_v2) \
	F(cuMemsetD8Async, cuMemsetD8Async) \
	F(cuMemAllocAsync, cuMemAllocAsync) \
	F(cuMemFreeAsync, cuMemFreeAsync) \
	F(cuEventRecord, cuEventRecord) \
	F(cuStreamQuery, cuStreamQuery) \
	F(cuStreamSynchronize, cuStreamSynchronize) \
	F(cuStreamWaitEvent, cuStreamWaitEvent) \
	F(cuStreamBeginCapture, cuStreamBeginCapture_v2) \
	F(cuStreamEndCapture, cuStreamEndCapture)
// clang-format on

#define RUNTIME_SLOT(name, function) __typeof__(function) *name;
struct runtime_driver {
	RUNTIME_DRIVER_FUNCTIONS(RUNTIME_SLOT)
};

/* To the first of them no stream means that of the device, to the other that of the thread. */
struct runtime_streams {
	RUNTIME_STREAM_FUNCTIONS(RUNTIME_SLOT)
};
#undef RUNTIME_SLOT

extern struct runtime_driver runtime_driver __attribute__((visibility("hidden")));
extern struct runtime_streams runtime_legacy __attribute__((visibility("hidden")));
extern struct runtime_streams runtime_per_thread __attribute__((visibility("hidden")));

/* load: the driver is there and started; ready: and this thread has its device's context */
int runtime_load(void) __attribute__((visibility("hidden")));
int runtime_ready(void) __attribute__((visibility("hidden")));
int runtime_end(const struct gpusim_call *call, int result) __attribute__((visibility("hidden")));

/* A function of the driver, by the name and flags of cuGetProcAddress; NULL: it has none. */
void *runtime_driver_function(const char *name, uint64_t flags)
	__attribute__((visibility("hidden")));

/* An exported function of so many bytes that does `act` once the runtime is ready: most do. */
#define RUNTIME_CALL(name, parameters, size, act)                       \
	cudaError_t name parameters                                     \
	{                                                               \
		struct gpusim_call call = shim_begin(GPUSIM_FN_##name); \
		int result = runtime_ready();                           \
                                                                        \
		call.bytes = (size);                                    \
		if (!result)                                            \
			result = (act);                                 \
		return runtime_end(&call, result);                      \
	}

/* The same; only programs made with CUDA's own headers call it, so cudart_api.h has it not. */
#define RUNTIME_EXPORT_BYTES(name, parameters, size, act) \
	cudaError_t name parameters;                      \
	RUNTIME_CALL(name, parameters, size, act)
#define RUNTIME_EXPORT(name, parameters, act) RUNTIME_EXPORT_BYTES(name, parameters, 0, act)

#endif

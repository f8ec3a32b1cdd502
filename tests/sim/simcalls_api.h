/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside simcalls: the functions it calls, through pointers, so that linked and dlopened runtimes
 * are called alike.
 */
#ifndef SIMCALLS_API_H
#define SIMCALLS_API_H

#include "simcalls.h"

// clang-format off
#define SIMCALLS_RUNTIME(F) \
	F(cudaLaunchKernel) F(cudaLaunchKernel_ptsz) F(__cudaLaunchKernel) \
	F(__cudaLaunchKernel_ptsz) F(cudaLaunchKernelExC) F(cudaLaunchKernelExC_ptsz) \
	F(cudaGraphLaunch) F(cudaGraphLaunch_ptsz) F(cudaDeviceSynchronize) \
	F(cudaStreamSynchronize) F(cudaEventSynchronize) F(cudaMemcpy) F(cudaMemcpyAsync) \
	F(cudaMemset) F(cudaMemsetAsync) F(cudaMalloc) F(cudaMallocAsync) F(cudaMallocHost) \
	F(cudaHostAlloc) F(cudaFree) F(cudaFreeAsync) F(cudaFreeHost) F(cudaMemGetInfo) \
	F(cudaEventCreate) F(cudaEventRecord) F(cudaEventQuery) F(cudaEventElapsedTime) \
	F(cudaEventDestroy) F(cudaStreamCreate) F(cudaStreamDestroy) F(cudaStreamQuery) \
	F(cudaStreamWaitEvent) F(cudaStreamBeginCapture) F(cudaStreamEndCapture) \
	F(cudaGraphInstantiate) F(cudaGraphDestroy) F(cudaGetDeviceCount) F(cudaSetDevice) \
	F(cudaGetDevice) F(cudaGetLastError) \
	F(cudaStreamSynchronize_ptsz) F(cudaStreamQuery_ptsz) F(cudaStreamWaitEvent_ptsz) \
	F(cudaEventRecord_ptsz) F(cudaMemcpy_ptds) F(cudaMemcpyAsync_ptsz) F(cudaMemset_ptds) \
	F(cudaMemsetAsync_ptsz) F(cudaMallocAsync_ptsz) F(cudaFreeAsync_ptsz)

#define SIMCALLS_DRIVER(F) \
	F(cuLaunchKernel) F(cuLaunchKernel_ptsz) F(cuLaunchKernelEx) F(cuGraphLaunch) \
	F(cuCtxSynchronize) F(cuStreamSynchronize) F(cuEventRecord) F(cuMemAlloc_v2) \
	F(cuMemFree_v2) F(cuMemcpyHtoD_v2) F(cuMemcpyDtoH_v2) F(cuMemcpyHtoDAsync_v2) \
	F(cuMemcpyDtoHAsync_v2) F(cuMemsetD8_v2) F(cuMemsetD32_v2) F(cuInit) \
	F(cuDevicePrimaryCtxRetain) F(cuCtxSetCurrent) \
	F(cuStreamSynchronize_ptsz) F(cuEventRecord_ptsz) F(cuMemcpyHtoD_v2_ptds) \
	F(cuMemcpyDtoH_v2_ptds) F(cuMemcpyHtoDAsync_v2_ptsz) F(cuMemcpyDtoHAsync_v2_ptsz) \
	F(cuMemsetD8_v2_ptds) F(cuMemsetD32_v2_ptds)
// clang-format on

#define SIMCALLS_SLOT(name) __typeof__(name) *name;
struct simcalls_runtime_api {
	SIMCALLS_RUNTIME(SIMCALLS_SLOT)
};

struct simcalls_driver_api {
	SIMCALLS_DRIVER(SIMCALLS_SLOT)
};
#undef SIMCALLS_SLOT

/* Filled by simcalls_load, and by the first simcalls_prepare that wants the driver. */
extern struct simcalls_runtime_api simcalls_runtime_api;
extern struct simcalls_driver_api simcalls_driver_api;

enum { SIMCALLS_COPY_BYTES = 4096, SIMCALLS_ALLOC_BYTES = 1024 };

enum simcalls_need {
	NEEDS_STREAM = 1,
	NEEDS_MEMORY = 2,
	NEEDS_EVENTS = 4,
	NEEDS_GRAPH = 8,
	NEEDS_CONTEXT = 16,
};

struct simcalls_function {
	const char *name;
	int (*call)(struct simcalls_caller *caller);
	unsigned int needs;
};

extern const dim3 simcalls_grids[2], simcalls_blocks[2]; /* the shapes of the launches, in turn */
void *simcalls_kernel(void);

#endif

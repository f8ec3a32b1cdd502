// SPDX-License-Identifier: BSD-3-Clause
/*
 * simcalls: how one call of each function is made. A call that takes something back (free, destroy)
 * takes what an earlier one made, else NULL where that is allowed. Launches take two shapes in
 * turn.
 */
#include "simcalls_api.h"

#include <stdio.h>
#include <string.h>

static const struct simcalls_runtime_api *const runtime = &simcalls_runtime_api;
static const struct simcalls_driver_api *const driver = &simcalls_driver_api;

const dim3 simcalls_grids[2] = { { 64, 1, 1 }, { 8, 4, 2 } };
const dim3 simcalls_blocks[2] = { { 128, 1, 1 }, { 16, 16, 1 } };

static void device_code(void)
{
}

void *simcalls_kernel(void)
{
	return (void *)device_code;
}

static void keep(struct simcalls_stack *stack, void *handle)
{
	if (stack->depth < SIMCALLS_KEPT)
		stack->handles[stack->depth++] = handle;
}

static void *take(struct simcalls_stack *stack)
{
	return stack->depth ? stack->handles[--stack->depth] : NULL;
}

static cudaLaunchConfig_t config_of(const struct simcalls_caller *caller)
{
	return (cudaLaunchConfig_t){
		.gridDim = simcalls_grids[caller->made % 2],
		.blockDim = simcalls_blocks[caller->made % 2],
		.stream = caller->stream,
	};
}

#define DEFINE_LAUNCH(name)                                                                       \
	static int call_##name(struct simcalls_caller *caller)                                    \
	{                                                                                         \
		return runtime->name(simcalls_kernel(), simcalls_grids[caller->made % 2],         \
				     simcalls_blocks[caller->made % 2], NULL, 0, caller->stream); \
	}
DEFINE_LAUNCH(cudaLaunchKernel)
DEFINE_LAUNCH(cudaLaunchKernel_ptsz)
DEFINE_LAUNCH(__cudaLaunchKernel)
DEFINE_LAUNCH(__cudaLaunchKernel_ptsz)

#define DEFINE_LAUNCH_EX(name)                                          \
	static int call_##name(struct simcalls_caller *caller)          \
	{                                                               \
		cudaLaunchConfig_t config = config_of(caller);          \
                                                                        \
		return runtime->name(&config, simcalls_kernel(), NULL); \
	}
DEFINE_LAUNCH_EX(cudaLaunchKernelExC)
DEFINE_LAUNCH_EX(cudaLaunchKernelExC_ptsz)

#define DEFINE_DRIVER_LAUNCH(name)                                                               \
	static int call_##name(struct simcalls_caller *caller)                                   \
	{                                                                                        \
		const dim3 grid = simcalls_grids[caller->made % 2],                              \
			   block = simcalls_blocks[caller->made % 2];                            \
                                                                                                 \
		return driver->name(simcalls_kernel(), grid.x, grid.y, grid.z, block.x, block.y, \
				    block.z, 0, caller->stream, NULL, NULL);                     \
	}
DEFINE_DRIVER_LAUNCH(cuLaunchKernel)
DEFINE_DRIVER_LAUNCH(cuLaunchKernel_ptsz)

static int call_cuLaunchKernelEx(struct simcalls_caller *caller)
{
	const dim3 grid = simcalls_grids[caller->made % 2],
		   block = simcalls_blocks[caller->made % 2];
	CUlaunchConfig config = {
		.gridDimX = grid.x,
		.gridDimY = grid.y,
		.gridDimZ = grid.z,
		.blockDimX = block.x,
		.blockDimY = block.y,
		.blockDimZ = block.z,
		.hStream = caller->stream,
	};

	return driver->cuLaunchKernelEx(&config, simcalls_kernel(), NULL, NULL);
}

/* A call that is one expression of the caller, and one that makes a handle and keeps it. */
#define DEFINE_CALL(name, expression)                          \
	static int call_##name(struct simcalls_caller *caller) \
	{                                                      \
		(void)caller;                                  \
		return expression;                             \
	}
#define DEFINE_MAKE(name, type, stack, expression)             \
	static int call_##name(struct simcalls_caller *caller) \
	{                                                      \
		type made = 0;                                 \
		int result = expression;                       \
                                                               \
		if (!result)                                   \
			keep(&caller->stack, (void *)made);    \
		return result;                                 \
	}

static CUdeviceptr address(const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory;
}

/* Copies go to the device and back in turn. */
static int copy_kind(const struct simcalls_caller *caller)
{
	return caller->made % 2 ? cudaMemcpyDeviceToHost : cudaMemcpyHostToDevice;
}

static void *copy_to(const struct simcalls_caller *caller)
{
	return caller->made % 2 ? caller->host : caller->memory;
}

static void *copy_from(const struct simcalls_caller *caller)
{
	return caller->made % 2 ? caller->memory : caller->host;
}

DEFINE_CALL(cudaGraphLaunch, runtime->cudaGraphLaunch(caller->graph, caller->stream))
DEFINE_CALL(cudaGraphLaunch_ptsz, runtime->cudaGraphLaunch_ptsz(caller->graph, caller->stream))
DEFINE_CALL(cudaDeviceSynchronize, runtime->cudaDeviceSynchronize())
DEFINE_CALL(cudaStreamSynchronize, runtime->cudaStreamSynchronize(caller->stream))
DEFINE_CALL(cudaEventSynchronize, runtime->cudaEventSynchronize(caller->after))
DEFINE_CALL(cudaMemcpy, runtime->cudaMemcpy(copy_to(caller), copy_from(caller), SIMCALLS_COPY_BYTES,
					    copy_kind(caller)))
DEFINE_CALL(cudaMemcpyAsync,
	    runtime->cudaMemcpyAsync(copy_to(caller), copy_from(caller), SIMCALLS_COPY_BYTES,
				     copy_kind(caller), caller->stream))
DEFINE_CALL(cudaMemset, runtime->cudaMemset(caller->memory, 0, SIMCALLS_COPY_BYTES))
DEFINE_CALL(cudaMemsetAsync,
	    runtime->cudaMemsetAsync(caller->memory, 0, SIMCALLS_COPY_BYTES, caller->stream))
DEFINE_MAKE(cudaMalloc, void *, memories, runtime->cudaMalloc(&made, SIMCALLS_ALLOC_BYTES))
DEFINE_MAKE(cudaMallocAsync, void *, async_memories,
	    runtime->cudaMallocAsync(&made, SIMCALLS_ALLOC_BYTES, caller->stream))
DEFINE_MAKE(cudaMallocHost, void *, host_memories,
	    runtime->cudaMallocHost(&made, SIMCALLS_ALLOC_BYTES))
DEFINE_MAKE(cudaHostAlloc, void *, host_memories,
	    runtime->cudaHostAlloc(&made, SIMCALLS_ALLOC_BYTES, 0))
DEFINE_CALL(cudaFree, runtime->cudaFree(take(&caller->memories)))
DEFINE_CALL(cudaFreeAsync, runtime->cudaFreeAsync(take(&caller->async_memories), caller->stream))
DEFINE_CALL(cudaFreeHost, runtime->cudaFreeHost(take(&caller->host_memories)))
DEFINE_MAKE(cudaEventCreate, cudaEvent_t, events, runtime->cudaEventCreate(&made))
DEFINE_CALL(cudaEventRecord, runtime->cudaEventRecord(caller->after, caller->stream))
DEFINE_CALL(cudaEventQuery, runtime->cudaEventQuery(caller->after))
DEFINE_CALL(cudaEventDestroy, runtime->cudaEventDestroy(take(&caller->events)))
DEFINE_MAKE(cudaStreamCreate, cudaStream_t, streams, runtime->cudaStreamCreate(&made))
DEFINE_CALL(cudaStreamDestroy, runtime->cudaStreamDestroy(take(&caller->streams)))
DEFINE_CALL(cudaStreamQuery, runtime->cudaStreamQuery(caller->stream))
DEFINE_CALL(cudaStreamWaitEvent, runtime->cudaStreamWaitEvent(caller->stream, caller->before, 0))
DEFINE_CALL(cudaSetDevice, runtime->cudaSetDevice(0))
DEFINE_CALL(cudaGetLastError, runtime->cudaGetLastError())
DEFINE_CALL(cuGraphLaunch, driver->cuGraphLaunch(caller->graph, caller->stream))
DEFINE_CALL(cuCtxSynchronize, driver->cuCtxSynchronize())
DEFINE_CALL(cuStreamSynchronize, driver->cuStreamSynchronize(caller->stream))
DEFINE_CALL(cuEventRecord, driver->cuEventRecord(caller->after, caller->stream))
DEFINE_MAKE(cuMemAlloc_v2, CUdeviceptr, memories,
	    driver->cuMemAlloc_v2(&made, SIMCALLS_ALLOC_BYTES))
DEFINE_CALL(cuMemFree_v2, driver->cuMemFree_v2(address(take(&caller->memories))))
DEFINE_CALL(cuMemcpyHtoD_v2,
	    driver->cuMemcpyHtoD_v2(address(caller->memory), caller->host, SIMCALLS_COPY_BYTES))
DEFINE_CALL(cuMemcpyDtoH_v2,
	    driver->cuMemcpyDtoH_v2(caller->host, address(caller->memory), SIMCALLS_COPY_BYTES))
DEFINE_CALL(cuMemcpyHtoDAsync_v2,
	    driver->cuMemcpyHtoDAsync_v2(address(caller->memory), caller->host, SIMCALLS_COPY_BYTES,
					 caller->stream))
DEFINE_CALL(cuMemcpyDtoHAsync_v2,
	    driver->cuMemcpyDtoHAsync_v2(caller->host, address(caller->memory), SIMCALLS_COPY_BYTES,
					 caller->stream))
DEFINE_CALL(cuMemsetD8_v2, driver->cuMemsetD8_v2(address(caller->memory), 0, SIMCALLS_COPY_BYTES))
DEFINE_CALL(cuMemsetD32_v2,
	    driver->cuMemsetD32_v2(address(caller->memory), 0, SIMCALLS_COPY_BYTES / 4))

/* Twins for the per-thread default stream, called without a stream. */
DEFINE_CALL(cudaStreamSynchronize_ptsz, runtime->cudaStreamSynchronize_ptsz(NULL))
DEFINE_CALL(cudaStreamQuery_ptsz, runtime->cudaStreamQuery_ptsz(NULL))
DEFINE_CALL(cudaStreamWaitEvent_ptsz, runtime->cudaStreamWaitEvent_ptsz(NULL, caller->before, 0))
DEFINE_CALL(cudaEventRecord_ptsz, runtime->cudaEventRecord_ptsz(caller->after, NULL))
DEFINE_CALL(cudaMemcpy_ptds, runtime->cudaMemcpy_ptds(copy_to(caller), copy_from(caller),
						      SIMCALLS_COPY_BYTES, copy_kind(caller)))
DEFINE_CALL(cudaMemcpyAsync_ptsz,
	    runtime->cudaMemcpyAsync_ptsz(copy_to(caller), copy_from(caller), SIMCALLS_COPY_BYTES,
					  copy_kind(caller), NULL))
DEFINE_CALL(cudaMemset_ptds, runtime->cudaMemset_ptds(caller->memory, 0, SIMCALLS_COPY_BYTES))
DEFINE_CALL(cudaMemsetAsync_ptsz,
	    runtime->cudaMemsetAsync_ptsz(caller->memory, 0, SIMCALLS_COPY_BYTES, NULL))
DEFINE_MAKE(cudaMallocAsync_ptsz, void *, async_memories,
	    runtime->cudaMallocAsync_ptsz(&made, SIMCALLS_ALLOC_BYTES, NULL))
DEFINE_CALL(cudaFreeAsync_ptsz, runtime->cudaFreeAsync_ptsz(take(&caller->async_memories), NULL))
DEFINE_CALL(cuStreamSynchronize_ptsz, driver->cuStreamSynchronize_ptsz(NULL))
DEFINE_CALL(cuEventRecord_ptsz, driver->cuEventRecord_ptsz(caller->after, NULL))
DEFINE_CALL(cuMemcpyHtoD_v2_ptds, driver->cuMemcpyHtoD_v2_ptds(address(caller->memory),
							       caller->host, SIMCALLS_COPY_BYTES))
DEFINE_CALL(cuMemcpyDtoH_v2_ptds,
	    driver->cuMemcpyDtoH_v2_ptds(caller->host, address(caller->memory),
					 SIMCALLS_COPY_BYTES))
DEFINE_CALL(cuMemcpyHtoDAsync_v2_ptsz,
	    driver->cuMemcpyHtoDAsync_v2_ptsz(address(caller->memory), caller->host,
					      SIMCALLS_COPY_BYTES, NULL))
DEFINE_CALL(cuMemcpyDtoHAsync_v2_ptsz,
	    driver->cuMemcpyDtoHAsync_v2_ptsz(caller->host, address(caller->memory),
					      SIMCALLS_COPY_BYTES, NULL))
DEFINE_CALL(cuMemsetD8_v2_ptds,
	    driver->cuMemsetD8_v2_ptds(address(caller->memory), 0, SIMCALLS_COPY_BYTES))
DEFINE_CALL(cuMemsetD32_v2_ptds,
	    driver->cuMemsetD32_v2_ptds(address(caller->memory), 0, SIMCALLS_COPY_BYTES / 4))

static int call_cudaEventElapsedTime(struct simcalls_caller *caller)
{
	float milliseconds;

	return runtime->cudaEventElapsedTime(&milliseconds, caller->before, caller->after);
}

static int call_cudaMemGetInfo(struct simcalls_caller *caller)
{
	size_t free_bytes, total_bytes;

	(void)caller;
	return runtime->cudaMemGetInfo(&free_bytes, &total_bytes);
}

static int call_cudaGetDevice(struct simcalls_caller *caller)
{
	int device;

	(void)caller;
	return runtime->cudaGetDevice(&device);
}

static int call_cudaGetDeviceCount(struct simcalls_caller *caller)
{
	int count;

	(void)caller;
	return runtime->cudaGetDeviceCount(&count);
}

// clang-format off
#define ROW(name, needs) { #name, call_##name, needs },
static const struct simcalls_function functions[] = {
	ROW(cudaLaunchKernel, NEEDS_STREAM)
	ROW(cudaLaunchKernel_ptsz, NEEDS_STREAM)
	ROW(__cudaLaunchKernel, NEEDS_STREAM)
	ROW(__cudaLaunchKernel_ptsz, NEEDS_STREAM)
	ROW(cudaLaunchKernelExC, NEEDS_STREAM)
	ROW(cudaLaunchKernelExC_ptsz, NEEDS_STREAM)
	ROW(cudaGraphLaunch, NEEDS_STREAM | NEEDS_GRAPH)
	ROW(cudaGraphLaunch_ptsz, NEEDS_STREAM | NEEDS_GRAPH)
	ROW(cudaDeviceSynchronize, 0)
	ROW(cudaStreamSynchronize, NEEDS_STREAM)
	ROW(cudaEventSynchronize, NEEDS_EVENTS)
	ROW(cudaMemcpy, NEEDS_MEMORY)
	ROW(cudaMemcpyAsync, NEEDS_STREAM | NEEDS_MEMORY)
	ROW(cudaMemset, NEEDS_MEMORY)
	ROW(cudaMemsetAsync, NEEDS_STREAM | NEEDS_MEMORY)
	ROW(cudaMalloc, 0)
	ROW(cudaMallocAsync, NEEDS_STREAM)
	ROW(cudaMallocHost, 0)
	ROW(cudaHostAlloc, 0)
	ROW(cudaFree, 0)
	ROW(cudaFreeAsync, NEEDS_STREAM)
	ROW(cudaFreeHost, 0)
	ROW(cudaMemGetInfo, 0)
	ROW(cudaEventCreate, 0)
	ROW(cudaEventRecord, NEEDS_STREAM | NEEDS_EVENTS)
	ROW(cudaEventQuery, NEEDS_EVENTS)
	ROW(cudaEventElapsedTime, NEEDS_EVENTS)
	ROW(cudaEventDestroy, 0)
	ROW(cudaStreamCreate, 0)
	ROW(cudaStreamDestroy, 0)
	ROW(cudaStreamQuery, NEEDS_STREAM)
	ROW(cudaStreamWaitEvent, NEEDS_STREAM | NEEDS_EVENTS)
	ROW(cudaGetDeviceCount, 0)
	ROW(cudaSetDevice, 0)
	ROW(cudaGetDevice, 0)
	ROW(cudaGetLastError, 0)
	ROW(cuLaunchKernel, NEEDS_CONTEXT)
	ROW(cuLaunchKernel_ptsz, NEEDS_CONTEXT)
	ROW(cuLaunchKernelEx, NEEDS_CONTEXT)
	ROW(cuGraphLaunch, NEEDS_CONTEXT | NEEDS_GRAPH)
	ROW(cuCtxSynchronize, NEEDS_CONTEXT)
	ROW(cuStreamSynchronize, NEEDS_CONTEXT)
	ROW(cuEventRecord, NEEDS_CONTEXT | NEEDS_EVENTS)
	ROW(cuMemAlloc_v2, NEEDS_CONTEXT)
	ROW(cuMemFree_v2, NEEDS_CONTEXT)
	ROW(cuMemcpyHtoD_v2, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemcpyDtoH_v2, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemcpyHtoDAsync_v2, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemcpyDtoHAsync_v2, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemsetD8_v2, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemsetD32_v2, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cudaStreamSynchronize_ptsz, 0)
	ROW(cudaStreamQuery_ptsz, 0)
	ROW(cudaStreamWaitEvent_ptsz, NEEDS_EVENTS)
	ROW(cudaEventRecord_ptsz, NEEDS_EVENTS)
	ROW(cudaMemcpy_ptds, NEEDS_MEMORY)
	ROW(cudaMemcpyAsync_ptsz, NEEDS_MEMORY)
	ROW(cudaMemset_ptds, NEEDS_MEMORY)
	ROW(cudaMemsetAsync_ptsz, NEEDS_MEMORY)
	ROW(cudaMallocAsync_ptsz, 0)
	ROW(cudaFreeAsync_ptsz, 0)
	ROW(cuStreamSynchronize_ptsz, NEEDS_CONTEXT)
	ROW(cuEventRecord_ptsz, NEEDS_CONTEXT | NEEDS_EVENTS)
	ROW(cuMemcpyHtoD_v2_ptds, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemcpyDtoH_v2_ptds, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemcpyHtoDAsync_v2_ptsz, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemcpyDtoHAsync_v2_ptsz, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemsetD8_v2_ptds, NEEDS_CONTEXT | NEEDS_MEMORY)
	ROW(cuMemsetD32_v2_ptds, NEEDS_CONTEXT | NEEDS_MEMORY)
};
#undef ROW
// clang-format on

enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

const struct simcalls_function *simcalls_find(const char *name)
{
	size_t i;

	for (i = 0; i < FUNCTIONS; i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	return NULL;
}

void simcalls_list(void)
{
	size_t i;

	for (i = 0; i < FUNCTIONS; i++)
		puts(functions[i].name);
}

int simcalls_call(struct simcalls_caller *caller, const struct simcalls_function *function)
{
	int result = function->call(caller);

	caller->made++;
	return result;
}

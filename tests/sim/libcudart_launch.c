// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart.so.13, the simulated runtime: launches. Each calls the driver, as the real one does.
 */
#include "libcudart.h"

/* Since CUDA 13 compiled code launches through __cudaLaunchKernel, which is nothing but a jump. */
#if defined(__CET__) && (__CET__ & 1)
#define LANDING "\tendbr64\n"
#else
#define LANDING ""
#endif

#if defined(__x86_64__)
#define JUMP(to) LANDING "\tpush %rbp\n\tmov %rsp, %rbp\n\tpop %rbp\n\tjmp " to "\n"
#elif defined(__aarch64__)
#define JUMP(to) "\tb " to "\n"
#else
#error "no jump known for this architecture"
#endif

#define JUMPING_FUNCTION(name, to)                                                             \
	__asm__("\t.text\n\t.p2align 4\n\t.globl " name "\n\t.type " name ", %function\n" name \
		":\n" JUMP(to) "\t.size " name ", .-" name "\n")

JUMPING_FUNCTION("__cudaLaunchKernel", "cudaLaunchKernel");
JUMPING_FUNCTION("__cudaLaunchKernel_ptsz", "cudaLaunchKernel_ptsz");

static struct gpusim_shape shape_of(dim3 grid, dim3 block)
{
	return (struct gpusim_shape){ { grid.x, grid.y, grid.z }, { block.x, block.y, block.z } };
}

static CUfunction as_kernel(const void *function)
{
	return (CUfunction)(uintptr_t)function;
}

/* What the driver calls an invalid value in a launch is an invalid configuration to the runtime. */
static int launch_result(int result)
{
	return result == GPUSIM_INVALID_VALUE ? GPUSIM_INVALID_CONFIGURATION : result;
}

/* driver: where the driver's function will be once the runtime is loaded. */
static int launch(struct gpusim_call *call, __typeof__(cuLaunchKernel) *const *driver,
		  const void *function, struct gpusim_shape shape, size_t shared_bytes,
		  CUstream stream)
{
	int result = runtime_ready();

	call->has_shape = true;
	call->shape = shape;
	if (!result && !function)
		result = GPUSIM_INVALID_DEVICE_FUNCTION;
	if (!result)
		result = launch_result((*driver)(as_kernel(function), shape.grid[0], shape.grid[1],
						 shape.grid[2], shape.block[0], shape.block[1],
						 shape.block[2], (unsigned int)shared_bytes, stream,
						 NULL, NULL));
	return runtime_end(call, result);
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
			     size_t shared_bytes, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaLaunchKernel);

	(void)arguments;
	return launch(&call, &runtime_legacy.cuLaunchKernel, function, shape_of(grid, block),
		      shared_bytes, stream);
}

cudaError_t cudaLaunchKernel_ptsz(const void *function, dim3 grid, dim3 block, void **arguments,
				  size_t shared_bytes, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaLaunchKernel_ptsz);

	(void)arguments;
	return launch(&call, &runtime_per_thread.cuLaunchKernel, function, shape_of(grid, block),
		      shared_bytes, stream);
}

cudaError_t cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block,
					void **arguments, size_t shared_bytes, cudaStream_t stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaLaunchCooperativeKernel);

	(void)arguments;
	return launch(&call, &runtime_legacy.cuLaunchKernel, function, shape_of(grid, block),
		      shared_bytes, stream);
}

static int launch_config(struct gpusim_call *call, __typeof__(cuLaunchKernelEx) *const *driver,
			 const cudaLaunchConfig_t *config, const void *function)
{
	struct gpusim_shape shape = shape_of(config->gridDim, config->blockDim);
	CUlaunchConfig passed = {
		.gridDimX = config->gridDim.x,
		.gridDimY = config->gridDim.y,
		.gridDimZ = config->gridDim.z,
		.blockDimX = config->blockDim.x,
		.blockDimY = config->blockDim.y,
		.blockDimZ = config->blockDim.z,
		.sharedMemBytes = (unsigned int)config->dynamicSmemBytes,
		.hStream = config->stream,
		.attrs = config->attrs,
		.numAttrs = config->numAttrs,
	};
	int result = runtime_ready();

	call->has_shape = true;
	call->shape = shape;
	if (!result && !function)
		result = GPUSIM_INVALID_DEVICE_FUNCTION;
	if (!result)
		result = launch_result((*driver)(&passed, as_kernel(function), NULL, NULL));
	return runtime_end(call, result);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *function,
				void **arguments)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaLaunchKernelExC);

	(void)arguments;
	if (!config)
		return runtime_end(&call, GPUSIM_INVALID_VALUE);
	return launch_config(&call, &runtime_legacy.cuLaunchKernelEx, config, function);
}

cudaError_t cudaLaunchKernelExC_ptsz(const cudaLaunchConfig_t *config, const void *function,
				     void **arguments)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cudaLaunchKernelExC_ptsz);

	(void)arguments;
	if (!config)
		return runtime_end(&call, GPUSIM_INVALID_VALUE);
	return launch_config(&call, &runtime_per_thread.cuLaunchKernelEx, config, function);
}

RUNTIME_CALL(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), 0,
	     runtime_legacy.cuGraphLaunch(exec, stream))
RUNTIME_CALL(cudaGraphLaunch_ptsz, (cudaGraphExec_t exec, cudaStream_t stream), 0,
	     runtime_per_thread.cuGraphLaunch(exec, stream))

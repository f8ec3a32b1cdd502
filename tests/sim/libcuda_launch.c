// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda.so.1, the simulated driver: launches, streams, events, graphs.
 */
#include "libcuda.h"

static CUresult launch(struct gpusim_call *call, const void *function, struct gpusim_shape shape,
		       CUstream stream)
{
	struct gpusim_work work = { .kind = GPUSIM_KERNEL, .entity = function, .shape = shape };

	call->has_shape = true;
	call->shape = shape;
	return gpusim_call_end(call, gpusim_submit(stream, &work));
}

CUresult cuLaunchKernel(CU_KERNEL_ARGUMENTS)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuLaunchKernel);
	struct gpusim_shape shape = { { grid_x, grid_y, grid_z }, { block_x, block_y, block_z } };

	(void)shared_bytes, (void)arguments, (void)extra;
	return launch(&call, function, shape, stream);
}

CUresult cuLaunchKernel_ptsz(CU_KERNEL_ARGUMENTS)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuLaunchKernel_ptsz);
	struct gpusim_shape shape = { { grid_x, grid_y, grid_z }, { block_x, block_y, block_z } };

	(void)shared_bytes, (void)arguments, (void)extra;
	return launch(&call, function, shape, cuda_or_per_thread(stream));
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
				   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
				   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
				   void **arguments)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuLaunchCooperativeKernel);
	struct gpusim_shape shape = { { grid_x, grid_y, grid_z }, { block_x, block_y, block_z } };

	(void)shared_bytes, (void)arguments;
	return launch(&call, function, shape, stream);
}

static struct gpusim_shape shape_of(const CUlaunchConfig *config)
{
	return (struct gpusim_shape){
		{ config->gridDimX, config->gridDimY, config->gridDimZ },
		{ config->blockDimX, config->blockDimY, config->blockDimZ },
	};
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
			  void **extra)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuLaunchKernelEx);

	(void)arguments, (void)extra;
	if (!config)
		return gpusim_call_end(&call, GPUSIM_INVALID_VALUE);
	return launch(&call, function, shape_of(config), config->hStream);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **arguments,
			       void **extra)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuLaunchKernelEx_ptsz);

	(void)arguments, (void)extra;
	if (!config)
		return gpusim_call_end(&call, GPUSIM_INVALID_VALUE);
	return launch(&call, function, shape_of(config), cuda_or_per_thread(config->hStream));
}

CUDA_TWINS(cuGraphLaunch, (CUgraphExec exec, CUstream stream), 0, gpusim_graph_launch(exec, stream))
SHIM(CUresult, cuStreamCreate, (CUstream *out, unsigned int flags),
	gpusim_stream_create(flags, out))
SHIM(CUresult, cuStreamDestroy_v2, (CUstream stream), gpusim_stream_destroy(stream))
CUDA_TWINS(cuStreamSynchronize, (CUstream stream), 0, gpusim_stream_sync(stream))
CUDA_TWINS(cuStreamQuery, (CUstream stream), 0, gpusim_stream_query(stream))
CUDA_TWINS(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags),
	0, gpusim_stream_wait_event(stream, event))
SHIM(CUresult, cuEventCreate, (CUevent *out, unsigned int flags), gpusim_event_create(out))
CUDA_TWINS(cuEventRecord, (CUevent event, CUstream stream), 0, gpusim_event_record(event, stream))
SHIM(CUresult, cuEventQuery, (CUevent event), gpusim_event_query(event))
SHIM(CUresult, cuEventSynchronize, (CUevent event), gpusim_event_sync(event))
SHIM(CUresult, cuEventElapsedTime, (float *milliseconds, CUevent from, CUevent to),
	gpusim_event_elapsed(milliseconds, from, to))
SHIM(CUresult, cuEventElapsedTime_v2, (float *milliseconds, CUevent from, CUevent to),
	gpusim_event_elapsed(milliseconds, from, to))
SHIM(CUresult, cuEventDestroy_v2, (CUevent event), gpusim_event_destroy(event))
CUDA_TWINS(cuStreamBeginCapture_v2, (CUstream stream, int mode), 0, gpusim_capture_begin(stream))
CUDA_TWINS(cuStreamEndCapture, (CUstream stream, CUgraph *out), 0, gpusim_capture_end(stream, out))
SHIM(CUresult, cuGraphInstantiateWithFlags, (CUgraphExec *out, CUgraph graph, unsigned long long
	flags),
	gpusim_graph_instantiate(graph, out))
SHIM(CUresult, cuGraphDestroy, (CUgraph graph), gpusim_graph_destroy(graph))
SHIM(CUresult, cuGraphExecDestroy, (CUgraphExec exec), gpusim_graph_exec_destroy(exec))

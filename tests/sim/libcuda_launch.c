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

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuGraphLaunch);

	return gpusim_call_end(&call, gpusim_graph_launch(exec, stream));
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuGraphLaunch_ptsz);

	return gpusim_call_end(&call, gpusim_graph_launch(exec, cuda_or_per_thread(stream)));
}

CUresult cuStreamCreate(CUstream *out, unsigned int flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuStreamCreate);

	return gpusim_call_end(&call, gpusim_stream_create(flags, out));
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuStreamDestroy_v2);

	return gpusim_call_end(&call, gpusim_stream_destroy(stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuStreamSynchronize);

	return gpusim_call_end(&call, gpusim_stream_sync(stream));
}

CUresult cuStreamQuery(CUstream stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuStreamQuery);

	return gpusim_call_end(&call, gpusim_stream_query(stream));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuStreamWaitEvent);

	(void)flags;
	return gpusim_call_end(&call, gpusim_stream_wait_event(stream, event));
}

CUresult cuEventCreate(CUevent *out, unsigned int flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuEventCreate);

	(void)flags;
	return gpusim_call_end(&call, gpusim_event_create(out));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuEventRecord);

	return gpusim_call_end(&call, gpusim_event_record(event, stream));
}

CUresult cuEventQuery(CUevent event)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuEventQuery);

	return gpusim_call_end(&call, gpusim_event_query(event));
}

CUresult cuEventSynchronize(CUevent event)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuEventSynchronize);

	return gpusim_call_end(&call, gpusim_event_sync(event));
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuEventElapsedTime);

	return gpusim_call_end(&call, gpusim_event_elapsed(milliseconds, from, to));
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent from, CUevent to)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuEventElapsedTime_v2);

	return gpusim_call_end(&call, gpusim_event_elapsed(milliseconds, from, to));
}

CUresult cuEventDestroy_v2(CUevent event)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuEventDestroy_v2);

	return gpusim_call_end(&call, gpusim_event_destroy(event));
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuStreamBeginCapture_v2);

	(void)mode;
	return gpusim_call_end(&call, gpusim_capture_begin(stream));
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *out)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuStreamEndCapture);

	return gpusim_call_end(&call, gpusim_capture_end(stream, out));
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph, unsigned long long flags)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuGraphInstantiateWithFlags);

	(void)flags;
	return gpusim_call_end(&call, gpusim_graph_instantiate(graph, out));
}

CUresult cuGraphDestroy(CUgraph graph)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuGraphDestroy);

	return gpusim_call_end(&call, gpusim_graph_destroy(graph));
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
	struct gpusim_call call = shim_begin(GPUSIM_FN_cuGraphExecDestroy);

	return gpusim_call_end(&call, gpusim_graph_exec_destroy(exec));
}

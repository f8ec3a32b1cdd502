// SPDX-License-Identifier: BSD-3-Clause
/* libcuda: the CUDA driver. Argument positions: CUDA Driver API reference. */
#include "probe/catalog.h"

#define ROW(symbol, ...) { .name = #symbol, __VA_ARGS__ }
#define PTSZ(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_ptsz, __VA_ARGS__)
#define PTDS(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_ptds, __VA_ARGS__)

#define LAUNCH .class = CLASS_LAUNCH, .entity = 1, .shape = SHAPE_SIX, \
	       .extra = GP_EXTRA_STACK, .extra_words = 3, .stream = 9
#define LAUNCH_CONFIG .class = CLASS_LAUNCH, .entity = 2, .shape = SHAPE_DRIVER_CONFIG, \
		      .extra = GP_EXTRA_DEREF, .extra_words = 5, .stream = 11
#define COPY .class = CLASS_COPY, .two = 1, .bytes = 3
#define COPY_ASYNC .class = CLASS_COPY, .bytes = 3

static const struct catalog_row rows[] = {
	PTSZ(cuLaunchKernel, LAUNCH),
	PTSZ(cuLaunchCooperativeKernel, LAUNCH),
	PTSZ(cuLaunchKernelEx, LAUNCH_CONFIG),
	PTSZ(cuGraphLaunch, .class = CLASS_LAUNCH, .entity = 1, .stream = 2),

	PTSZ(cuStreamSynchronize, .class = CLASS_SYNC, .two = 1, .stream = 1),
	ROW(cuCtxSynchronize, .class = CLASS_SYNC, .two = 1),
	ROW(cuCtxSynchronize_v2, .class = CLASS_SYNC, .two = 1),
	ROW(cuEventSynchronize, .class = CLASS_SYNC, .two = 1),

	PTDS(cuMemcpy, COPY, .dir = DIR_DEFAULT),
	PTSZ(cuMemcpyAsync, COPY_ASYNC, .dir = DIR_DEFAULT, .stream = 4),
	PTDS(cuMemcpyHtoD_v2, COPY, .dir = DIR_H2D),
	PTDS(cuMemcpyDtoH_v2, COPY, .dir = DIR_D2H),
	PTDS(cuMemcpyDtoD_v2, COPY, .dir = DIR_D2D),
	PTSZ(cuMemcpyHtoDAsync_v2, COPY_ASYNC, .dir = DIR_H2D, .stream = 4),
	PTSZ(cuMemcpyDtoHAsync_v2, COPY_ASYNC, .dir = DIR_D2H, .stream = 4),
	PTSZ(cuMemcpyDtoDAsync_v2, COPY_ASYNC, .dir = DIR_D2D, .stream = 4),

	PTDS(cuMemsetD8_v2, .class = CLASS_SET, .bytes = 3),
	PTDS(cuMemsetD16_v2, .class = CLASS_SET, .bytes = 3, .scale = 2),
	PTDS(cuMemsetD32_v2, .class = CLASS_SET, .bytes = 3, .scale = 4),
	PTSZ(cuMemsetD8Async, .class = CLASS_SET, .bytes = 3, .stream = 4),
	PTSZ(cuMemsetD16Async, .class = CLASS_SET, .bytes = 3, .scale = 2, .stream = 4),
	PTSZ(cuMemsetD32Async, .class = CLASS_SET, .bytes = 3, .scale = 4, .stream = 4),

	ROW(cuMemAlloc_v2, .class = CLASS_ALLOC, .bytes = 2),
	PTSZ(cuMemAllocAsync, .class = CLASS_ALLOC, .bytes = 2, .stream = 3),
	ROW(cuMemAllocManaged, .class = CLASS_ALLOC, .bytes = 2),
	ROW(cuMemAllocHost_v2, .class = CLASS_ALLOC, .bytes = 2),
	ROW(cuMemHostAlloc, .class = CLASS_ALLOC, .bytes = 2),
	ROW(cuMemFree_v2, .class = CLASS_FREE, .two = 1),
	PTSZ(cuMemFreeAsync, .class = CLASS_FREE, .stream = 2),
	ROW(cuMemFreeHost, .class = CLASS_FREE, .two = 1),

	ROW(cuEventCreate, .class = CLASS_EVENT),
	PTSZ(cuEventRecord, .class = CLASS_EVENT, .stream = 2),
	ROW(cuEventQuery, .class = CLASS_EVENT),
	ROW(cuEventElapsedTime, .class = CLASS_EVENT),
	ROW(cuEventDestroy_v2, .class = CLASS_EVENT),

	ROW(cuStreamCreate, .class = CLASS_STREAM),
	ROW(cuStreamCreateWithPriority, .class = CLASS_STREAM),
	ROW(cuStreamDestroy_v2, .class = CLASS_STREAM),
	PTSZ(cuStreamWaitEvent, .class = CLASS_STREAM, .stream = 1),
	PTSZ(cuStreamQuery, .class = CLASS_STREAM, .stream = 1),

	ROW(cuGraphInstantiate_v2, .class = CLASS_GRAPH, .two = 1),
	ROW(cuGraphInstantiateWithFlags, .class = CLASS_GRAPH, .two = 1),

	ROW(cuModuleLoad, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(cuModuleLoadData, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(cuModuleLoadDataEx, .class = CLASS_COMPILE, .two = 1, .rare = 1),
	ROW(cuLibraryLoadData, .class = CLASS_COMPILE, .two = 1, .rare = 1),
};

const struct catalog_library catalog_cuda = {
	.name = "cuda",
	.file = "libcuda.so",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
};

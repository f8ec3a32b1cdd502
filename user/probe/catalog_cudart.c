// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart: the CUDA runtime, 11 to 13, shared or linked statically (then its symbols are local).
 * Argument positions: CUDA Runtime API reference.
 */
#include "probe/catalog.h"

/* Twins for the per-thread default stream take the same arguments. */
#define ROW(symbol, ...) { .name = #symbol, __VA_ARGS__ }
#define PTSZ(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_ptsz, __VA_ARGS__)
#define PTDS(symbol, ...) ROW(symbol, __VA_ARGS__), ROW(symbol##_ptds, __VA_ARGS__)

#define LAUNCH .class = CLASS_LAUNCH, .entity = 1, .shape = SHAPE_DIM3, \
	       .extra = GP_EXTRA_STACK, .extra_words = 2, .stream = 8
#define LAUNCH_CONFIG .class = CLASS_LAUNCH, .entity = 2, .shape = SHAPE_RUNTIME_CONFIG, \
		      .extra = GP_EXTRA_DEREF, .extra_words = 5, .stream = 11

static const struct catalog_row rows[] = {
	PTSZ(cudaLaunchKernel, LAUNCH),
	PTSZ(__cudaLaunchKernel, LAUNCH),	/* what nvcc 13's <<<>>> calls */
	PTSZ(cudaLaunchCooperativeKernel, LAUNCH),
	PTSZ(cudaLaunchKernelExC, LAUNCH_CONFIG),
	PTSZ(cudaGraphLaunch, .class = CLASS_LAUNCH, .entity = 1, .stream = 2),

	PTSZ(cudaStreamSynchronize, .class = CLASS_SYNC, .two = 1, .stream = 1),
	ROW(cudaDeviceSynchronize, .class = CLASS_SYNC, .two = 1),
	ROW(cudaThreadSynchronize, .class = CLASS_SYNC, .two = 1),
	ROW(cudaEventSynchronize, .class = CLASS_SYNC, .two = 1),

	PTDS(cudaMemcpy, .class = CLASS_COPY, .two = 1, .bytes = 3, .dir = DIR_WORD, .dir_word = 4),
	PTSZ(cudaMemcpyAsync, .class = CLASS_COPY, .bytes = 3, .dir = DIR_WORD, .dir_word = 4,
	     .stream = 5),
	PTDS(cudaMemset, .class = CLASS_SET, .bytes = 3),
	PTSZ(cudaMemsetAsync, .class = CLASS_SET, .bytes = 3, .stream = 4),

	ROW(cudaMalloc, .class = CLASS_ALLOC, .bytes = 2),
	PTSZ(cudaMallocAsync, .class = CLASS_ALLOC, .bytes = 2, .stream = 3),
	ROW(cudaMallocManaged, .class = CLASS_ALLOC, .bytes = 2),
	ROW(cudaMallocHost, .class = CLASS_ALLOC, .bytes = 2),
	ROW(cudaHostAlloc, .class = CLASS_ALLOC, .bytes = 2),
	ROW(cudaFree, .class = CLASS_FREE, .two = 1),	/* waits for the device */
	PTSZ(cudaFreeAsync, .class = CLASS_FREE, .stream = 2),
	ROW(cudaFreeHost, .class = CLASS_FREE, .two = 1),

	ROW(cudaEventCreate, .class = CLASS_EVENT),
	ROW(cudaEventCreateWithFlags, .class = CLASS_EVENT),
	PTSZ(cudaEventRecord, .class = CLASS_EVENT, .stream = 2),
	ROW(cudaEventQuery, .class = CLASS_EVENT),
	ROW(cudaEventElapsedTime, .class = CLASS_EVENT),
	ROW(cudaEventDestroy, .class = CLASS_EVENT),

	ROW(cudaStreamCreate, .class = CLASS_STREAM),
	ROW(cudaStreamCreateWithFlags, .class = CLASS_STREAM),
	ROW(cudaStreamCreateWithPriority, .class = CLASS_STREAM),
	ROW(cudaStreamDestroy, .class = CLASS_STREAM),
	PTSZ(cudaStreamWaitEvent, .class = CLASS_STREAM, .stream = 1),
	PTSZ(cudaStreamQuery, .class = CLASS_STREAM, .stream = 1),

	ROW(cudaGraphInstantiate, .class = CLASS_GRAPH, .two = 1),
	ROW(cudaGraphInstantiateWithFlags, .class = CLASS_GRAPH, .two = 1),
};

const struct catalog_library catalog_cudart = {
	.name = "cudart",
	.file = "libcudart.so",
	.marker = "cudaLaunchKernel",
	.rows = rows,
	.n_rows = sizeof(rows) / sizeof(rows[0]),
};

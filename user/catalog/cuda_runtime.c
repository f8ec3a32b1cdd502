// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcudart: the CUDA runtime, 11 to 13, shared or linked statically (then its symbols are local).
 * Argument positions: CUDA Runtime API reference, and the headers, from which scripts/gen-catalog
 * makes the tables. Where a function's arguments differ between versions (cudaMemPrefetchAsync,
 * batches), what differs is left unknown.
 */
#include "catalog/catalog.h"
#include "catalog/rows.h"

#define LAUNCH_DIM3 .class = CLASS_LAUNCH, .entity = 1, .shape = SHAPE_DIM3, \
		    .extra = GP_EXTRA_STACK, .extra_words = 2, .stream = 8
#define LAUNCH_CONFIG .class = CLASS_LAUNCH, .entity = 2, .shape = SHAPE_RUNTIME_CONFIG, \
		      .extra = GP_EXTRA_DEREF, .extra_words = 5, .stream = 11

/* cudaMemcpy3DParms: srcArray 0, dstArray 8, extent 16-18, kind 19 */
#define COPY_3D .extra = GP_EXTRA_DEREF_AT, .extra_words = 6, .at = { 0, 8, 16, 17, 18, 19 }, \
		.arrays = 7, .bytes = 9, .times = { 10, 11 }, .dir = DIR_WORD, .dir_word = 12
/* cudaMemcpy3DPeerParms: srcArray 0, dstArray 9, extent 18-20 */
#define COPY_3D_PEER .extra = GP_EXTRA_DEREF_AT, .extra_words = 5, .at = { 0, 9, 18, 19, 20 }, \
		     .arrays = 7, .bytes = 9, .times = { 10, 11 }, .dir = DIR_D2D

/* cudaMemset3D(cudaPitchedPtr, int, cudaExtent, ...), cudaMalloc3D(void *, cudaExtent) */
#define VOLUME .bytes = 7, .times = { 8, 9 }
#define SET_3D EXTENT(3, 4), VOLUME
#define ALLOC_3D EXTENT(2, 0), VOLUME

static const struct catalog_row rows[] = {
#define COMMON DEFAULT_ROWS
	PTSZ(__cudaLaunchKernel, LAUNCH_DIM3, .jumps = 1),	/* called by nvcc 13's <<<>>> */
#include "catalog/cuda_runtime.inc"
#undef COMMON
#define COMMON QUERY_ROWS
	ROW(__cudaGetKernel),
#undef COMMON
};

const struct catalog_library catalog_cudart = {
	.name = "cudart", .file = "libcudart.so", ROWS(rows),
	.marker = "cudaLaunchKernel",
};

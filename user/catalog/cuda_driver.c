// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcuda: the CUDA driver. Argument positions: CUDA Driver API reference, and the header, from
 * which scripts/gen-catalog makes the tables. Functions that later ones with the suffix _v2
 * replaced take 32-bit sizes; 64-bit programs do not call them, their bytes are left unknown.
 */
#include "catalog/catalog.h"
#include "catalog/rows.h"

#define LAUNCH_SIX .class = CLASS_LAUNCH, .entity = 1, .shape = SHAPE_SIX, \
		   .extra = GP_EXTRA_STACK, .extra_words = 3, .stream = 9
#define LAUNCH_CONFIG .class = CLASS_LAUNCH, .entity = 2, .shape = SHAPE_DRIVER_CONFIG, \
		      .extra = GP_EXTRA_DEREF, .extra_words = 5, .stream = 11

/* CUDA_MEMCPY2D: srcMemoryType 2, dstMemoryType 9, WidthInBytes 14, Height 15 */
#define COPY_2D .extra = GP_EXTRA_DEREF_AT, .extra_words = 4, .at = { 2, 9, 14, 15 }, \
		.dir = DIR_TYPES, .dir_word = 7, .bytes = 9, .times = { 10 }
/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER: the types 4 and 15, WidthInBytes, Height, Depth 22-24 */
#define COPY_3D .extra = GP_EXTRA_DEREF_AT, .extra_words = 5, .at = { 4, 15, 22, 23, 24 }, \
		.dir = DIR_TYPES, .dir_word = 7, .bytes = 9, .times = { 10, 11 }

static const struct catalog_row rows[] = {
#define COMMON DEFAULT_ROWS
#include "catalog/cuda_driver.inc"
#undef COMMON
};

const struct catalog_library catalog_cuda = {
	.name = "cuda", .file = "libcuda.so", ROWS(rows),
};

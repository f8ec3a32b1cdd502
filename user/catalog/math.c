// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcublas, libcublasLt and libcudnn: their routines, with the shape of a matrix product where it
 * is in plain arguments. All on request (tier 1): a launch inside a routine is the routine's
 * detail, so with these probes on, its kernels are no longer launches of their own.
 */
#include "catalog/catalog.h"
#include "catalog/rows.h"

#define COMMON .tier = 1
#define PRODUCTS(count) .class = CLASS_LIBRARY, .shape = SHAPE_GEMMS, \
			.extra = GP_EXTRA_STACK_AT, .extra_words = 1, .at = { (count) }

static const struct catalog_row cublas_rows[] = {
	/* Half precision is declared to C++ only. */
	WIDE(cublasHgemm, .class = CLASS_LIBRARY, .shape = SHAPE_GEMM),
	WIDE(cublasHgemmBatched, PRODUCTS(8)),
	WIDE(cublasHgemmStridedBatched, PRODUCTS(11)),
#include "catalog/cublas.inc"
};

static const struct catalog_row cublaslt_rows[] = {
#include "catalog/cublaslt.inc"
};

static const struct catalog_row cudnn_rows[] = {
#include "catalog/cudnn.inc"
};

const struct catalog_library catalog_cublas = {
	.name = "cublas", .file = "libcublas.so", ROWS(cublas_rows),
};

const struct catalog_library catalog_cublaslt = {
	.name = "cublaslt", .file = "libcublasLt.so", ROWS(cublaslt_rows),
};

const struct catalog_library catalog_cudnn = {
	.name = "cudnn", .file = "libcudnn.so", ROWS(cudnn_rows),
};

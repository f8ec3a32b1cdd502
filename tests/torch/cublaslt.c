// SPDX-License-Identifier: BSD-3-Clause
/*
 * A stand-in of libcublasLt.so.13: a product is one kernel with a name of the real library's, whose
 * grid is that of tiles of the result. Operations and layouts are where the real library has them
 * (tests/torch-older/products.py asks it).
 */
#include <stdlib.h>
#include <string.h>

#include "stand_in.h"

enum { VERSION = 130400, RUNTIME = 13020, EXECUTION_FAILED = 13, DESCRIPTION_BYTES = 512 };

struct layout {
	uint32_t type, order;
	uint64_t rows, columns, ld;
	int32_t batch;
	uint16_t pad, more;
	int64_t stride;
	uint64_t rest[2];
};

struct operation {
	uint32_t compute, rest, more[3];
	int32_t on_a, on_b, on_c;
	uint32_t fill, epilogue;
};

static const char kernel; /* known by its address */

static __attribute__((constructor)) void register_kernel(void)
{
	__cudaRegisterFunction(NULL, &kernel, NULL, "nvjet_sm90_tst_128x64_64x4_1x2_h_bz_coopA_bias_TNT",
			       0, NULL, NULL, NULL, NULL, NULL);
}

static int launch(cudaStream_t stream, uint64_t m, uint64_t n)
{
	dim3 grid = product_grid(m, n), block = { 384, 1, 1 };

	return cudaLaunchKernel(&kernel, grid, block, NULL, 0, stream) ? EXECUTION_FAILED : 0;
}

static int describe(void **out)
{
	*out = calloc(1, DESCRIPTION_BYTES);
	return *out ? 0 : STAND_IN_FAILED;
}

static int forget(void *description)
{
	free(description);
	return 0;
}

size_t cublasLtGetVersion(void)
{
	return VERSION;
}

size_t cublasLtGetCudartVersion(void)
{
	return RUNTIME;
}

int cublasLtCreate(void **out)
{
	return describe(out);
}

int cublasLtDestroy(void *handle)
{
	return forget(handle);
}

int cublasLtMatmulDescCreate(struct operation **out, int compute, int scale)
{
	if (describe((void **)out))
		return STAND_IN_FAILED;
	**out = (struct operation){ .compute = (uint32_t)compute, .rest = 0x44, .epilogue = 1 };
	(void)scale;
	return 0;
}

int cublasLtMatmulDescSetAttribute(struct operation *op, int attribute, const void *value,
				   size_t size)
{
	enum { ON_A = 3, ON_B = 4, EPILOGUE = 7 };

	if (size != sizeof(int32_t))
		return 0;
	if (attribute == ON_A)
		memcpy(&op->on_a, value, size);
	else if (attribute == ON_B)
		memcpy(&op->on_b, value, size);
	else if (attribute == EPILOGUE)
		memcpy(&op->epilogue, value, size);
	return 0;
}

int cublasLtMatmulDescDestroy(void *description)
{
	return forget(description);
}

int cublasLtMatrixLayoutCreate(struct layout **out, int type, uint64_t rows, uint64_t columns,
			       int64_t ld)
{
	if (describe((void **)out))
		return STAND_IN_FAILED;
	**out = (struct layout){ .type = (uint32_t)type, .rows = rows, .columns = columns,
				 .ld = (uint64_t)ld, .batch = 1, .more = 1 };
	return 0;
}

int cublasLtMatrixLayoutSetAttribute(struct layout *l, int attribute, const void *value,
				     size_t size)
{
	enum { ORDER = 1, BATCH = 5, STRIDE = 6 };

	if (attribute == ORDER && size == sizeof(l->order))
		memcpy(&l->order, value, size);
	else if (attribute == BATCH && size == sizeof(l->batch))
		memcpy(&l->batch, value, size);
	else if (attribute == STRIDE && size == sizeof(l->stride))
		memcpy(&l->stride, value, size);
	return 0;
}

int cublasLtMatrixLayoutDestroy(void *description)
{
	return forget(description);
}

int cublasLtMatmulPreferenceCreate(void **out)
{
	return describe(out);
}

int cublasLtMatmulPreferenceDestroy(void *description)
{
	return forget(description);
}

/* One way to do it, which needs no workspace. */
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a, void *b, void *c, void *d,
				   void *preference, int wanted, void *out, int *count)
{
	enum { RESULT_BYTES = 96 };

	(void)handle, (void)operation, (void)a, (void)b, (void)c, (void)d, (void)preference;
	if (wanted < 1)
		return STAND_IN_FAILED;
	memset(out, 0, RESULT_BYTES);
	*count = 1;
	return 0;
}

int cublasLtMatmul(void *handle, void *operation, const void *alpha, const void *a, void *a_layout,
		   const void *b, void *b_layout, const void *beta, const void *c, void *c_layout,
		   void *d, struct layout *d_layout, const void *algorithm, void *workspace,
		   size_t bytes, cudaStream_t stream)
{
	(void)handle, (void)operation, (void)alpha, (void)a, (void)a_layout, (void)b, (void)b_layout;
	(void)beta, (void)c, (void)c_layout, (void)d, (void)algorithm, (void)workspace, (void)bytes;
	return launch(stream, d_layout->rows, d_layout->columns);
}

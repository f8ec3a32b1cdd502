// SPDX-License-Identifier: BSD-3-Clause
/*
 * A stand-in of libcublasLt.so.13: a product is one kernel with a name of the real library's. The
 * descriptions of matrices are taken and forgotten, so its grid is always the same.
 */
#include <stdlib.h>
#include <string.h>

#include "stand_in.h"

enum { VERSION = 130400, RUNTIME = 13020, EXECUTION_FAILED = 13, DESCRIPTION_BYTES = 512 };

static const char kernel; /* known by its address */

static __attribute__((constructor)) void register_kernel(void)
{
	__cudaRegisterFunction(NULL, &kernel, NULL, "nvjet_sm90_tst_128x64_64x4_1x2_h_bz_coopA_bias_TNT",
			       0, NULL, NULL, NULL, NULL, NULL);
}

static int launch(cudaStream_t stream)
{
	dim3 grid = { 8, 8, 1 }, block = { 384, 1, 1 };

	return cudaLaunchKernel(&kernel, grid, block, NULL, 0, stream) ? EXECUTION_FAILED : 0;
}

/* Of functions that are not known here, and so have no stream. */
int blas_launch(void *handle, int m, int n)
{
	(void)handle, (void)m, (void)n;
	return launch(NULL);
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

int cublasLtMatmulDescCreate(void **out)
{
	return describe(out);
}

int cublasLtMatmulDescDestroy(void *description)
{
	return forget(description);
}

int cublasLtMatrixLayoutCreate(void **out)
{
	return describe(out);
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
		   void *d, void *d_layout, const void *algorithm, void *workspace, size_t bytes,
		   cudaStream_t stream)
{
	(void)handle, (void)operation, (void)alpha, (void)a, (void)a_layout, (void)b, (void)b_layout;
	(void)beta, (void)c, (void)c_layout, (void)d, (void)d_layout, (void)algorithm;
	(void)workspace, (void)bytes;
	return launch(stream);
}

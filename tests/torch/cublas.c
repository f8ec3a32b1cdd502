// SPDX-License-Identifier: BSD-3-Clause
/*
 * A stand-in of libcublas.so.13: a product is one kernel with a name of the real library's, whose grid
 * is product_grid. Nothing is computed. What a handle is asked for it answers.
 */
#include <stdlib.h>

#include "stand_in.h"

enum { THREADS = 256, VERSION = 130400, EXECUTION_FAILED = 13 };

struct handle {
	cudaStream_t stream;
	int math_mode, pointer_mode;
};

static const char kernel; /* known by its address */

static __attribute__((constructor)) void register_kernel(void)
{
	__cudaRegisterFunction(NULL, &kernel, NULL,
			       "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32", 0, NULL,
			       NULL, NULL, NULL, NULL);
}

int blas_launch(void *handle, int m, int n)
{
	const struct handle *h = handle;
	dim3 grid = product_grid(m > 0 ? (uint64_t)m : 0, n > 0 ? (uint64_t)n : 0);
	dim3 block = { THREADS, 1, 1 };

	return cudaLaunchKernel(&kernel, grid, block, NULL, 0, h->stream) ? EXECUTION_FAILED : 0;
}

int cublasCreate_v2(struct handle **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : STAND_IN_FAILED;
}

int cublasDestroy_v2(struct handle *handle)
{
	free(handle);
	return 0;
}

int cublasSetStream_v2(struct handle *handle, cudaStream_t stream)
{
	handle->stream = stream;
	return 0;
}

int cublasGetStream_v2(struct handle *handle, cudaStream_t *stream)
{
	*stream = handle->stream;
	return 0;
}

int cublasSetMathMode(struct handle *handle, int mode)
{
	handle->math_mode = mode;
	return 0;
}

int cublasGetMathMode(struct handle *handle, int *mode)
{
	*mode = handle->math_mode;
	return 0;
}

int cublasSetPointerMode_v2(struct handle *handle, int mode)
{
	handle->pointer_mode = mode;
	return 0;
}

int cublasGetPointerMode_v2(struct handle *handle, int *mode)
{
	*mode = handle->pointer_mode;
	return 0;
}

int cublasGetSmCountTarget(struct handle *handle, int *count)
{
	(void)handle;
	*count = 0;
	return 0;
}

int cublasGetEmulationStrategy(struct handle *handle, int *strategy)
{
	(void)handle;
	*strategy = 0;
	return 0;
}

int cublasGetVersion_v2(struct handle *handle, int *version)
{
	(void)handle;
	*version = VERSION;
	return 0;
}

int cublasGetProperty(int which, int *value)
{
	static const int parts[] = { VERSION / 10000, VERSION / 100 % 100, VERSION % 100 };

	*value = which >= 0 && which < 3 ? parts[which] : 0;
	return 0;
}

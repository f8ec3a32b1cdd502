// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program as nvcc makes them: launches with <<<>>>, whose host stub enters libcudart by
 * __cudaLaunchKernel, which jumps into cudaLaunchKernel. The truth says one launch for each.
 */
#include <cuda_runtime.h>

#include "target.h"

__global__ void add_one(float *values, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		values[i] += 1;
}

static const truth_shape shapes[] = {
	{ { 3, 1, 1 }, { 64, 1, 1 }, 0 },
	{ { 16, 4, 2 }, { 32, 4, 1 }, 0 },
	{ { 1000, 1, 1 }, { 256, 1, 1 }, 0 },
};

static const char *result_name(int code)
{
	return cudaGetErrorName((cudaError_t)code);
}

int main(int argc, char **argv)
{
	static truth truth;
	unsigned long launches = 0;
	const target_option options[] = {
		{ "launches", &launches, NULL, "<<<>>> launches" },
		{ NULL, NULL, NULL, NULL },
	};
	target_control control;

	target_begin(argc, argv, options, &control);
	for (unsigned long i = 0; i < launches; i++) {
		const truth_shape *s = &shapes[i % (sizeof(shapes) / sizeof(shapes[0]))];
		dim3 grid(s->grid[0], s->grid[1], s->grid[2]);
		dim3 block(s->block[0], s->block[1], s->block[2]);
		uint64_t start_ns = truth_now_ns();

		add_one<<<grid, block>>>(NULL, 0);
		truth_launch(truth_call(&truth, "__cudaLaunchKernel", start_ns, (int)cudaGetLastError()),
			     s->grid, s->block);
	}
	return target_end(&control, truth_write(control.truth, &truth, 1, result_name));
}

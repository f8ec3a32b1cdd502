// SPDX-License-Identifier: BSD-3-Clause
/* A stand-in for libcudart.so.13 with two functions, which begin with a push as the real ones do
 * and take about 12 ns: what is measured is the probe. */
#include <stddef.h>

struct dim3 {
	unsigned int x, y, z;
};

int cudaLaunchKernel(const void *func, struct dim3 grid, struct dim3 block, void **args,
		     size_t shared, void *stream);
int cudaLaunchKernel(const void *func, struct dim3 grid, struct dim3 block, void **args,
		     size_t shared, void *stream)
{
	volatile unsigned int x = grid.x ^ block.x;

	for (int i = 0; i < 4; i++)
		x = x * 2654435761u + (unsigned int)(shared + (size_t)args + (size_t)stream);
	return x == 1 && func == NULL;
}

int cudaStreamSynchronize(void *stream);
int cudaStreamSynchronize(void *stream)
{
	volatile unsigned int x = 1;

	for (int i = 0; i < 4; i++)
		x = x * 2654435761u + (unsigned int)(size_t)stream;
	return x == 1;
}

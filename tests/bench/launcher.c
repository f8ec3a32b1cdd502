// SPDX-License-Identifier: BSD-3-Clause
/*
 * The target of bench-probes. First prints where cudaLaunchKernel of the libcudart.so.13 beside it
 * (launchee.c) is. Then, for each line on stdin, a number of calls, it makes so many calls PARTS
 * times over and prints what a call of each part cost: ns of thread CPU time, because wall time is
 * disturbed by other load.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct dim3 {
	unsigned int x, y, z;
};

int cudaLaunchKernel(const void *func, struct dim3 grid, struct dim3 block, void **args,
		     size_t shared, void *stream);

#define PARTS 9

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static double call(unsigned long calls)
{
	const struct dim3 grid = { 128, 2, 1 }, block = { 256, 1, 1 };
	double start = cpu_ns();

	for (unsigned long i = 0; i < calls; i++)
		cudaLaunchKernel(&grid, grid, block, NULL, 4096, NULL);
	return (cpu_ns() - start) / (double)calls;
}

int main(void)
{
	char line[64];
	unsigned long calls;

	printf("%" PRIxPTR "\n", (uintptr_t)&cudaLaunchKernel);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		calls = strtoul(line, NULL, 10);
		for (int i = 0; i < PARTS && calls; i++)
			printf("%.2f ", call(calls));
		printf("\n");
		fflush(stdout);
	}
	return 0;
}

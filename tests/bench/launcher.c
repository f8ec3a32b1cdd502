// SPDX-License-Identifier: BSD-3-Clause
/*
 * The target of bench-probes. First prints where cudaLaunchKernel, or with an argument
 * cudaStreamSynchronize, of the libcudart.so.13 beside it (launchee.c) is. Then, for each line on stdin, a number of calls, it makes so many calls PARTS
 * times over and prints what a call of each part cost: ns of thread CPU time, because wall time is
 * disturbed by other load. As a process with CUDA has, it has threads beside: alone, the C library's
 * locks would cost less.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct dim3 {
	unsigned int x, y, z;
};

int cudaLaunchKernel(const void *func, struct dim3 grid, struct dim3 block, void **args,
		     size_t shared, void *stream);
int cudaStreamSynchronize(void *stream);

#define PARTS 9

static double cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

static void launch(unsigned long calls)
{
	const struct dim3 grid = { 128, 2, 1 }, block = { 256, 1, 1 };

	for (unsigned long i = 0; i < calls; i++)
		cudaLaunchKernel(&grid, grid, block, NULL, 4096, NULL);
}

static void synchronize(unsigned long calls)
{
	for (unsigned long i = 0; i < calls; i++)
		cudaStreamSynchronize(NULL);
}

static double measure(void (*call)(unsigned long calls), unsigned long calls)
{
	double start = cpu_ns();

	call(calls);
	return (cpu_ns() - start) / (double)calls;
}

static void *stay(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	const bool syncs = argc > 1 && argv[1][0];
	char line[64];
	unsigned long calls;
	pthread_t beside;

	if (pthread_create(&beside, NULL, stay, NULL))
		return 1;
	printf("%" PRIxPTR "\n",
	       syncs ? (uintptr_t)&cudaStreamSynchronize : (uintptr_t)&cudaLaunchKernel);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		calls = strtoul(line, NULL, 10);
		for (int i = 0; i < PARTS && calls; i++)
			printf("%.2f ", measure(syncs ? synchronize : launch, calls));
		printf("\n");
		fflush(stdout);
	}
	return 0;
}

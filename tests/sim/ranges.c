// SPDX-License-Identifier: BSD-3-Clause
/*
 * ranges N: N times ranges of each sort, in two libraries that have their own NVTX and in two
 * threads, the first before CUDA starts. Prints what it has launched.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

#include <nvtx3/nvToolsExt.h>

#include "cudart_api.h"
#include "ranges.h"

static char kernel;
static nvtxRangeId_t crossing;	/* ends in another thread */

static void launch(void)
{
	dim3 one = { 1, 1, 1 };

	cudaLaunchKernel(&kernel, one, one, NULL, 0, NULL);
}

static void *end_it(void *unused)
{
	nvtxRangeEnd(crossing);
	return unused;
}

static void once(unsigned int i)
{
	pthread_t thread;
	char name[32];

	nvtxRangePushA("step");
	ranges_part(launch);
	crossing = nvtxRangeStartA("crossing");
	if (pthread_create(&thread, NULL, end_it, NULL) || pthread_join(thread, NULL))
		abort();
	nvtxRangePushW(L"w\u00efde");
	nvtxRangePop();
	snprintf(name, sizeof(name), "mark %u", i % 2);	/* other texts at one address */
	nvtxMarkA(name);
	nvtxRangePop();
}

int main(int argc, char **argv)
{
	unsigned int n = argc == 2 ? (unsigned int)atoi(argv[1]) : 1;

	nvtxMarkA("before CUDA");
	for (unsigned int i = 0; i < n; i++)
		once(i);
	printf("%u launches, sync %d\n", n, cudaDeviceSynchronize());
	return 0;
}

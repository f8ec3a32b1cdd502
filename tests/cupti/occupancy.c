// SPDX-License-Identifier: BSD-3-Clause
/*
 * Our occupancy against the calculator that CUDA's toolkit brings as a header, on random launches and
 * on devices of several architectures. Exits 1 at the first difference.
 */
#include <cuda_occupancy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "facts/sm_occupancy.h"

static const struct occupancy_device devices[] = {
	{ 7, 0, 80, 2048, 32, 65536, 98304, 0 },     { 7, 5, 72, 1024, 16, 65536, 65536, 0 },
	{ 8, 0, 108, 2048, 32, 65536, 167936, 1024 }, { 8, 6, 84, 1536, 16, 65536, 102400, 1024 },
	{ 8, 9, 128, 1536, 24, 65536, 102400, 1024 }, { 9, 0, 132, 2048, 32, 65536, 233472, 1024 },
};

static int theirs(const struct occupancy_device *d, const struct occupancy_launch *l, int *blocks)
{
	cudaOccDeviceProp prop = { 0 };
	cudaOccFuncAttributes attributes = { 0 };
	cudaOccDeviceState state = { 0 };
	cudaOccResult result;

	prop.computeMajor = (int)d->cc_major;
	prop.computeMinor = (int)d->cc_minor;
	prop.maxThreadsPerBlock = 1024;
	prop.maxThreadsPerMultiprocessor = (int)d->threads_per_sm;
	prop.regsPerBlock = prop.regsPerMultiprocessor = (int)d->registers_per_sm;
	prop.warpSize = 32;
	prop.sharedMemPerBlock = 49152;
	prop.sharedMemPerMultiprocessor = d->shared_per_sm;
	prop.numSms = (int)d->multiprocessors;
	prop.sharedMemPerBlockOptin = d->shared_per_sm - d->shared_reserved;
	prop.reservedSharedMemPerBlock = d->shared_reserved;
	attributes.maxThreadsPerBlock = 1024;
	attributes.numRegs = (int)l->registers;
	attributes.sharedSizeBytes = 0;
	attributes.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
	attributes.maxDynamicSharedSizeBytes = prop.sharedMemPerBlockOptin;
	state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
	if (cudaOccMaxActiveBlocksPerMultiprocessor(&result, &prop, &attributes, &state,
						    (int)l->threads, (size_t)l->shared_bytes))
		return -1;
	*blocks = result.activeBlocksPerMultiprocessor;
	return 0;
}

int main(void)
{
	int compared = 0;

	srand48(time(NULL));
	for (int i = 0; i < 200000; i++) {
		const struct occupancy_device *d =
			&devices[(size_t)lrand48() % (sizeof(devices) / sizeof(devices[0]))];
		struct occupancy_launch l = {
			.blocks = 1, .threads = 1 + (uint32_t)lrand48() % 1024,
			.registers = 1 + (uint32_t)lrand48() % 255,
			.shared_bytes = lrand48() % 2 ? 0 : (uint64_t)lrand48() %
					(d->shared_per_sm - d->shared_reserved) };
		struct occupancy o;
		int blocks;

		if (theirs(d, &l, &blocks))
			continue;
		compared++;
		occupancy_of(d, &l, &o);
		if ((int)o.blocks != blocks) {
			printf("cc %u.%u, %u threads, %u registers, %llu bytes: %u, they say %d\n",
			       d->cc_major, d->cc_minor, l.threads, l.registers,
			       (unsigned long long)l.shared_bytes, o.blocks, blocks);
			return 1;
		}
	}
	printf("%d launches\n", compared);
	return compared < 100000;
}

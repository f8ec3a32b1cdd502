// SPDX-License-Identifier: BSD-3-Clause
/*
 * client WHEN [FILE]: a program with a profiler of its own, as torch.profiler was seen to behave: it
 * subscribes once, and if that fails never has events; when it profiles it registers its callbacks,
 * whoever had theirs, and enables kinds that are everybody's. It counts what began since. Prints what
 * it saw. WHEN: before: from the start; during: after launches that it does not profile; after: the
 * same, once FILE is there.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart_api.h"
#include "cupti_api.h"

enum { BUFFER = 1 << 20, LAUNCHES = 1500, SOME = 200 };

static char kernel;
static uint64_t began, seen;
static void *subscriber;

static void launch(int n)
{
	dim3 one = { 1, 1, 1 };

	for (int i = 0; i < n; i++) {
		cudaLaunchKernel(&kernel, one, one, NULL, 0, NULL);
		usleep(1000);
	}
	cudaDeviceSynchronize();
}

static void on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = malloc(BUFFER);
	*bytes = BUFFER;
	*max_records = 0;
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			size_t valid_bytes)
{
	void *rec = NULL;

	(void)context;
	(void)stream;
	(void)bytes;
	while (!cuptiActivityGetNextRecord(buffer, valid_bytes, &rec)) {
		const struct cupti_kernel *k = rec;

		seen += k->kind == KIND_CONCURRENT_KERNEL && k->start >= began;
	}
	free(buffer);
}

static void on_callback(void *ctx, int domain, uint32_t cbid, const void *data)
{
	(void)ctx;
	(void)domain;
	(void)cbid;
	(void)data;
}

static bool begin(void)
{
	if (!subscriber && cuptiSubscribe(&subscriber, on_callback, NULL))
		return false;
	cuptiActivityRegisterCallbacks(on_request, on_complete);
	cuptiGetTimestamp(&began);
	cuptiActivityEnable(KIND_CONCURRENT_KERNEL);
	cuptiActivityEnable(KIND_RUNTIME);
	return true;
}

static void finish(void)
{
	cuptiActivityFlushAll(1);
	cuptiActivityDisable(KIND_CONCURRENT_KERNEL);
	cuptiActivityDisable(KIND_RUNTIME);
}

int main(int argc, char **argv)
{
	bool before = argc > 1 && !strcmp(argv[1], "before"), subscribed;
	const uint64_t wanted = before ? LAUNCHES + SOME : LAUNCHES;

	subscribed = before && begin();
	launch(SOME);
	while (argc > 2 && access(argv[2], F_OK))
		usleep(1000);
	if (!before)
		subscribed = begin();
	launch(LAUNCHES);
	finish();
	printf("profiler: %s, %s\n", subscribed ? "on" : "it could not subscribe",
	       seen == wanted ? "all kernels" : "not all kernels");
	launch(SOME);
	return 0;
}

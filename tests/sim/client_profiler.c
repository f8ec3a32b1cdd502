// SPDX-License-Identifier: BSD-3-Clause
/*
 * libtorch_cpu.so, of which this is all: a profiler that behaves as torch.profiler was seen to. It subscribes
 * once, at its first window, and if that fails never has events; each window registers its callbacks,
 * replacing any others, enables kinds that are everybody's, and at its end flushes by force and disables
 * them. It keeps its subscription, or (teardown) gives it back.
 */
#include "client.h"

#include <stdlib.h>

#include "cupti_api.h"

enum { BUFFER = 1 << 20 };

static const uint32_t kinds[] = { KIND_CONCURRENT_KERNEL, KIND_MEMCPY, KIND_MEMSET, KIND_RUNTIME };

static uint64_t began, seen;
static void *subscriber;
static bool tried;

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

bool profiler_begin(void)
{
	if (!subscriber && !tried && cuptiSubscribe(&subscriber, on_callback, NULL))
		subscriber = NULL;
	tried = true;
	if (!subscriber)
		return false;
	seen = 0;
	cuptiActivityRegisterCallbacks(on_request, on_complete);
	cuptiGetTimestamp(&began);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		cuptiActivityEnable(kinds[i]);
	return true;
}

uint64_t profiler_end(bool teardown)
{
	if (!subscriber)
		return 0;
	cuptiActivityFlushAll(1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		cuptiActivityDisable(kinds[i]);
	if (teardown) {
		cuptiUnsubscribe(subscriber);
		subscriber = NULL;
		tried = false;
	}
	return seen;
}

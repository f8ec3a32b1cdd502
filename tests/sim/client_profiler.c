// SPDX-License-Identifier: BSD-3-Clause
/*
 * libtorch_cpu.so, of which this is all: a profiler that behaves as those of real frameworks were seen to
 * (struct style). Each window registers its callbacks, replacing any others, enables kinds that are
 * everybody's, and at its end flushes by force and disables them, or the other way round, as kineto does.
 * Buffers that are not its own it drops, as that does ("unknown buffer").
 */
#include "client.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cupti_api.h"

enum { BUFFER = 1 << 20, BUFFERS = 4096, REST_US = 900000 };

static const struct style {
	const char *name;
	bool subscribes;  /* once, at its first window; if that fails it never has events */
	bool ticks;	  /* its clock is the processor's counter, for good */
	bool one_buffer;  /* ends each window by CUPTI's attribute for one buffer of all threads */
	bool finalizes;	  /* ends each window by cuptiFinalize */
	bool rests;	  /* disables its kinds, and flushes some time after that */
} styles[] = {
	{ "torch", .ticks = true, .one_buffer = true }, /* kineto#1250, PyTorch since August 2026 */
	{ "torch-resting", .ticks = true, .one_buffer = true, .rests = true }, /* on a busy machine */
	{ "torch-2.11", .subscribes = true },		 /* before */
	{ "xla", .subscribes = true, .finalizes = true }, /* device_tracer_cuda.cc */
};

static const uint32_t kinds[] = { KIND_CONCURRENT_KERNEL, KIND_MEMCPY, KIND_MEMSET, KIND_RUNTIME };

static const struct style *style = &styles[2];
static uint64_t began, seen;
static void *subscriber;
static bool tried;
static uint8_t *own[BUFFERS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool profiler_choose(const char *name)
{
	for (size_t i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		if (!strcmp(styles[i].name, name)) {
			style = &styles[i];
			return true;
		}
	return false;
}

/* 2.1 ticks a nanosecond, as a processor's counter might. */
static uint64_t read_ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return ((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec) * 21 / 10;
}

/* True: it was there, and is no more. */
static bool swap(uint8_t *from, uint8_t *to)
{
	bool found = false;

	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < BUFFERS && !found; i++)
		if (own[i] == from) {
			own[i] = to;
			found = true;
		}
	pthread_mutex_unlock(&lock);
	return found;
}

static void on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = malloc(BUFFER);
	*bytes = BUFFER;
	*max_records = 0;
	swap(NULL, *buffer);
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			size_t valid_bytes)
{
	void *rec = NULL;

	(void)context;
	(void)stream;
	(void)bytes;
	if (!swap(buffer, NULL))
		return;
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
	if (style->subscribes && !subscriber && !tried &&
	    cuptiSubscribe(&subscriber, on_callback, NULL))
		subscriber = NULL;
	if (style->ticks && !tried)
		cuptiActivityRegisterTimestampCallback(read_ticks);
	tried = true;
	if (style->subscribes && !subscriber)
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
	static const uint8_t off;
	size_t size = sizeof(off);

	if (style->subscribes && !subscriber)
		return 0;
	if (!style->rests)
		cuptiActivityFlushAll(1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		cuptiActivityDisable(kinds[i]);
	if (style->rests) {
		usleep(REST_US);
		cuptiActivityFlushAll(1);
	}
	if (style->one_buffer)
		cuptiActivitySetAttribute(9, &size, (void *)&off);
	if (style->finalizes)
		cuptiFinalize();
	else if (teardown && subscriber)
		cuptiUnsubscribe(subscriber);
	if (style->finalizes || (teardown && subscriber)) {
		subscriber = NULL;
		tried = false;
	}
	return seen;
}

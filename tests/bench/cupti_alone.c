// SPDX-License-Identifier: BSD-3-Clause
/*
 * An injection that does with CUPTI what the helper does, with the same buffers, and nothing with
 * what comes: what is left of a launch's cost is CUPTI's own.
 */
#include <pthread.h>
#include <unistd.h>

#include "cupti_api.h"
#include "helper/buffers.h"
#include "helper/calls_wanted.h"

enum { PERIOD_US = 100000 };

static struct buffers buffers;

int InitializeInjection(void);

static void on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = buffers_take(&buffers, BUFFER_BYTES, true, 1);
	*bytes = *buffer ? BUFFER_BYTES : 0;
	*max_records = 0;
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			size_t valid_bytes)
{
	(void)context;
	(void)stream;
	(void)bytes;
	buffers_give(&buffers, buffer, valid_bytes);
}

static void *flush(void *unused)
{
	for (;;) {
		usleep(PERIOD_US);
		cuptiActivityFlushAll(0);
	}
	return unused;
}

int InitializeInjection(void)
{
#define NUMBER(n) n,
	static const uint32_t runtime[] = { CALLS_WANTED_RUNTIME(NUMBER) };
	static const uint32_t driver[] = { CALLS_WANTED_DRIVER(NUMBER) };
	pthread_t thread;

	if (buffers_open(&buffers))
		return 0;
	cuptiActivityRegisterCallbacks(on_request, on_complete);
	cuptiActivityEnable(KIND_CONCURRENT_KERNEL);
	cuptiActivityEnable(KIND_MEMCPY);
	cuptiActivityEnable(KIND_MEMSET);
	for (size_t i = 0; i < sizeof(runtime) / sizeof(runtime[0]); i++)
		cuptiActivityEnableRuntimeApi(runtime[i], 1);
	for (size_t i = 0; i < sizeof(driver) / sizeof(driver[0]); i++)
		cuptiActivityEnableDriverApi(driver[i], 1);
	return pthread_create(&thread, NULL, flush, NULL) == 0;
}

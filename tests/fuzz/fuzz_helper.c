// SPDX-License-Identifier: BSD-3-Clause
/*
 * Any records of a helper: what comes out is well formed, and each record is an event, waits, or is
 * counted. Input: kind, length, payload; and so on.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "event/helper_decode.h"
#include "event/work.h"
#include "gpuprof/ring.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int holds)
{
	if (!holds)
		abort();
}

static int push(void *ctx, const struct event *ev)
{
	uint64_t *events = ctx;

	++*events;
	check(ev->pid == 1 && (!ev->text || strlen(ev->text) <= 4096));
	switch (ev->kind) {
	case EVENT_WORK:
		check(ev->work && ev->end_ns >= ev->start_ns && ev->work->kind &&
		      ev->work->kind < WORK_KIND_END);
		break;
	case EVENT_API:
		check(ev->end_ns >= ev->start_ns);
		break;
	case EVENT_RANGE:
		check(ev->dir && ev->dir < RANGE_WHAT_END);
		check(!ev->text2 || strlen(ev->text2) <= 4096);
		break;
	case EVENT_DEVICE:
		check(ev->device && strlen(ev->device->uuid) <= DEVICE_UUID_LEN);
		break;
	default:
		abort();
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct helper_decoder *d = helper_decoder_new(1, 1000);
	uint64_t events = 0, records = 0;
	struct event_sink sink = { .push = push, .ctx = &events };
	struct helper_counts counts;

	log_threshold = LOG_ERROR;
	check(d != NULL);
	while (size >= 2) {
		/* Of its exact length, so that reading beyond it is seen. */
		size_t len = data[1] < size - 2 ? data[1] : size - 2;
		void *payload = malloc(len ? len : 1);

		check(payload != NULL);
		memcpy(payload, data + 2, len);
		check(helper_decode(d, data[0], payload, len, &sink) == 0);
		free(payload);
		records++;
		data += 2 + len;
		size -= 2 + len;
	}
	check(helper_decode_end(d, &sink) == 0);
	helper_decoder_counts(d, &counts);
	check(counts.received == records && events + counts.invalid + counts.unknown <= records);
	helper_decoder_free(d);
	return 0;
}

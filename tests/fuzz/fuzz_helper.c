// SPDX-License-Identifier: BSD-3-Clause
/*
 * Any records of a helper: what comes out is well formed, and each record is an event, waits, or is
 * counted; the calls that are made of it are numbered and in order, and ranges add up to what can be.
 * Input: kind, length, payload; and so on.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "source/helper/helpers.c"
#include "event/event.h"
#include "gpuprof/ring.h"
#include "facts/ranges.h"

#define NO_PID 0x7fffffff	/* no process: threads are guessed */
#define OPEN_NS 1		/* the session of the ranges begins */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	uint64_t events;
	uint64_t early;		/* of ranges, before the session: they open them, but do not count */
	struct api_calls *calls;
	struct ranges *ranges;
	struct event before;	/* of calls: the one that came last */
};

static void check(int holds)
{
	if (!holds)
		abort();
}

/* Calls of one thread come in order, with numbers that have no hole, after its birth. */
static int check_call(void *ctx, const struct event *ev)
{
	struct seen *seen = ctx;
	bool same = seen->before.tid == ev->tid;

	check(ev->pid == 1 && ev->tid);
	if (ev->kind == EVENT_CALL) {
		check(same && ev->seq == seen->before.seq + 1 && ev->end_ns >= ev->start_ns);
		check(seen->before.kind != EVENT_CALL || ev->start_ns >= seen->before.start_ns);
	} else {
		check(ev->kind == EVENT_THREAD || ev->kind == EVENT_EXIT);
	}
	seen->before = *ev;
	return 0;
}

static int push(void *ctx, const struct event *ev)
{
	struct seen *seen = ctx;

	/* Beside its record's: when something was not seen, and works of which it is not known when. */
	bool bad = ev->kind == EVENT_WORK && !ev->end_ns;

	seen->events += ev->kind != EVENT_UNSEEN && !bad;
	check(ev->pid == 1);
	switch (ev->kind) {
	case EVENT_WORK:
		check((bad || ev->end_ns >= ev->start_ns) && ev->work.kind &&
		      ev->work.kind < WORK_KIND_END);
		check(!ev->work.name || strlen(ev->work.name) <= 4096);
		break;
	case EVENT_API:
		check(ev->end_ns >= ev->start_ns);
		check(api_calls_take(seen->calls, ev, &(struct event_sink){ check_call, seen }) == 0);
		break;
	case EVENT_RANGE:
		check(ev->range.what && ev->range.what < RANGE_WHAT_END);
		check(!ev->range.name || strlen(ev->range.name) <= 4096);
		check(!ev->range.domain || strlen(ev->range.domain) <= 4096);
		seen->early += ev->start_ns < OPEN_NS;
		ranges_push(seen->ranges, ev);
		break;
	case EVENT_DEVICE:
		check(strlen(ev->device.facts.uuid) <= DEVICE_UUID_LEN);
		break;
	case EVENT_NODE:
		check(ev->node.id && ev->node.id != ev->node.original);
		break;
	case EVENT_UNSEEN:
	case EVENT_MEMORY:
		check(ev->end_ns >= ev->start_ns);
		break;
	default:
		abort();
	}
	return 0;
}

static void check_ranges(struct ranges *r, uint64_t early)
{
	struct range_sum sum;

	ranges_stop(r, UINT64_MAX);
	for (size_t i = 0; i < ranges_count(r); i++) {
		ranges_read(r, i, UINT64_MAX, &sum);
		check(sum.open <= sum.count + early && sum.kind < RANGE_KINDS);
	}
	ranges_free(r);
}

static void decode(struct helper_decoder *d, const uint8_t *data, size_t size, struct seen *seen)
{
	struct event_sink sink = { .push = push, .ctx = seen };
	struct helper_counts counts;
	uint64_t records = 0;

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
	counts = helper_decoder_progress(d).counts;
	check(counts.received == records &&
	      seen->events + counts.invalid + counts.unknown <= records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct api_rows *rows;
	struct helper_threads *threads = helper_threads_new(NO_PID, NO_PID);
	struct helper_decoder *d = helper_decoder_new(1, 1000, threads);
	struct scopes scopes = { 0 };
	struct seen seen = { .ranges = ranges_new(OPEN_NS, &scopes) };

	log_threshold = LOG_ERROR;
	if (!rows)
		rows = api_rows_new();
	check(d && threads && rows && seen.ranges);
	seen.calls = api_calls_new(1, rows, threads);
	check(seen.calls != NULL);
	decode(d, data, size, &seen);
	check(api_calls_end(seen.calls, 1, &(struct event_sink){ check_call, &seen }) == 0);
	scopes_settle(&scopes, UINT64_MAX);
	check_ranges(seen.ranges, seen.early);
	scopes_free(&scopes);
	api_calls_free(seen.calls);
	helper_decoder_free(d);
	helper_threads_free(threads);
	return 0;
}

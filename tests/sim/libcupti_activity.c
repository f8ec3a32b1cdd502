// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcupti.so.13, the simulated CUPTI: the activity API. As in the real one
 * the last callbacks that were registered are called, of any client, and a thread of its
 * own completes buffers that are full.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "libcupti.h"

enum { WORKER_PERIOD_US = 20000, WORKER_RECORDS = 2000, CBIDS = 2048 };

static cupti_request_fn request;
static cupti_complete_fn complete;
static uint64_t enabled; /* kinds, bits */
static bool renewed; /* no kind of work was enabled meanwhile */
static uint8_t single[2][CBIDS]; /* functions enabled one by one: runtime, driver */
static bool any_single;
static bool worker_started;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_on(uint32_t kind)
{
	return __atomic_load_n(&enabled, __ATOMIC_RELAXED) >> kind & 1;
}

/* The buffers on the device take so many nodes since all was enabled. */
static bool is_used_up(void)
{
	static uint64_t nodes;
	uint64_t room = cupti_faults()->device;

	if (__atomic_exchange_n(&renewed, false, __ATOMIC_RELAXED) && !cupti_faults()->device_stays)
		nodes = 0;
	return room && ++nodes > room;
}

static void on_work(const struct gpusim_trace_work *work)
{
	union cupti_record rec;
	bool whole = work->graph && is_on(KIND_GRAPH_TRACE);

	if (whole && !cupti_record_graph(&rec, work))
		return;
	if (!whole)
		cupti_record_work(&rec, work);
	if (!is_on(rec.kind))
		return;
	if (work->graph && !whole && is_used_up())
		cupti_record_forget_times(&rec);
	cupti_queue_add(&rec, work->work.end_ns);
}

static void on_call(const struct gpusim_trace_call *call)
{
	union cupti_record rec;

	if (!cupti_record_call(&rec, call))
		return;
	if (is_on(rec.kind) ||
	    (rec.api.cbid < CBIDS && single[rec.kind == KIND_DRIVER][rec.api.cbid]))
		cupti_queue_add(&rec, call->end_ns);
}

static void on_memory(const struct gpusim_trace_memory *memory)
{
	union cupti_record rec;

	if (!is_on(KIND_MEMORY2))
		return;
	cupti_record_memory(&rec, memory);
	cupti_queue_add(&rec, memory->at_ns);
}

static const struct gpusim_tracer tracer = { .work = on_work, .call = on_call, .memory = on_memory,
					      .node = cupti_callback_node };

static void *work_for_ever(void *unused)
{
	for (;;) {
		usleep(WORKER_PERIOD_US);
		if (cupti_queue_ready() >= WORKER_RECORDS)
			cupti_queue_flush(false, request, complete);
	}
	return unused;
}

static void start_worker(void)
{
	sigset_t all, before;
	pthread_t thread;

	if (worker_started)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, work_for_ever, NULL)) {
		pthread_setname_np(thread, "gpusim-cupti");
		pthread_detach(thread);
		worker_started = true;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = cupti_version()->number;
	return cupti_faults()->unusable ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

int cuptiGetResultString(int result, const char **text)
{
	static const struct {
		int result;
		const char *text;
	} texts[] = {
		{ CUPTI_SUCCESS, "CUPTI_SUCCESS" },
		{ CUPTI_ERROR_INVALID_PARAMETER, "CUPTI_ERROR_INVALID_PARAMETER" },
		{ CUPTI_ERROR_MAX_LIMIT_REACHED, "CUPTI_ERROR_MAX_LIMIT_REACHED" },
		{ CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED" },
		{ CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN" },
		{ CUPTI_ERROR_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND" },
		{ CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
		  "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" },
	};
	size_t i;

	for (i = 0; text && i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].result == result) {
			*text = texts[i].text;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiSetThreadIdType(int type)
{
	return type == 0 || type == 1 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiActivityRegisterCallbacks(cupti_request_fn ask, cupti_complete_fn done)
{
	if (!ask || !done)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (cupti_faults()->unusable)
		return CUPTI_ERROR_UNKNOWN;
	request = ask;
	complete = done;
	return CUPTI_SUCCESS;
}

/* With the lock held. */
static void listen(void)
{
	gpusim_trace_to(enabled || any_single || cupti_callback_is_any() ? &tracer : NULL);
}

void cupti_listen(void)
{
	pthread_mutex_lock(&lock);
	listen();
	pthread_mutex_unlock(&lock);
}

static int switch_kind(uint32_t kind, bool on)
{
	if (kind >= KINDS || !cupti_version()->bytes[kind])
		return CUPTI_ERROR_INVALID_KIND;
	if (on && (!request || cupti_faults()->refuse))
		return CUPTI_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&lock);
	start_worker();
	if (on)
		__atomic_fetch_or(&enabled, 1ull << kind, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&enabled, ~(1ull << kind), __ATOMIC_RELAXED);
	if (!is_on(KIND_CONCURRENT_KERNEL) && !is_on(KIND_MEMCPY))
		__atomic_store_n(&renewed, true, __ATOMIC_RELAXED);
	listen();
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

int cuptiActivityEnable(uint32_t kind)
{
	return switch_kind(kind, true);
}

int cuptiActivityDisable(uint32_t kind)
{
	return switch_kind(kind, false);
}

static int switch_function(int domain, uint32_t cbid, uint8_t on)
{
	if (!cupti_version()->single_functions)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (cbid >= CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	start_worker();
	single[domain][cbid] = on;
	any_single = memchr(single, 1, sizeof(single)) != NULL;
	listen();
	pthread_mutex_unlock(&lock);
	return CUPTI_SUCCESS;
}

int cuptiActivityEnableRuntimeApi(uint32_t cbid, uint8_t enable)
{
	return switch_function(0, cbid, enable);
}

int cuptiActivityEnableDriverApi(uint32_t cbid, uint8_t enable)
{
	return switch_function(1, cbid, enable);
}

int cuptiActivityFlushAll(uint32_t flag)
{
	while (cupti_faults()->hang)
		pause();
	cupti_queue_flush(flag & 1, request, complete);
	return CUPTI_SUCCESS;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = cupti_queue_dropped();
	return CUPTI_SUCCESS;
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record)
{
	const struct cupti_version *version = cupti_version();
	size_t at = 0;
	uint32_t kind;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (cupti_faults()->unusable)
		return CUPTI_ERROR_UNKNOWN;
	if (*record) {
		memcpy(&kind, *record, sizeof(kind));
		if (kind >= KINDS || !version->bytes[kind])
			return CUPTI_ERROR_INVALID_KIND;
		at = (size_t)((uint8_t *)*record - buffer) + version->bytes[kind];
	}
	if (at + sizeof(kind) > valid_bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	memcpy(&kind, buffer + at, sizeof(kind));
	if (kind >= KINDS || !version->bytes[kind] || at + version->bytes[kind] > valid_bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = buffer + at;
	return CUPTI_SUCCESS;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcupti.so.13, the simulated CUPTI: the activity API. As in the real one kinds and callbacks are the
 * process's, as any client set them last, and a thread of its own completes buffers that are full.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpusim_internal.h"
#include "libcupti.h"

enum { WORKER_PERIOD_US = 20000, CBIDS = 2048 };
enum { ATTRIBUTE_ZEROED_OUT = 5, ATTRIBUTE_PER_THREAD = 9, DEVICE_BUFFER_BYTES = 3200000 };

static uint64_t enabled; /* kinds, bits */
static bool renewed; /* no kind of work was enabled meanwhile */
static struct api { /* runtime, driver */
	uint8_t on[CBIDS]; /* its functions: all with its kind, or one by one */
	bool any_single;   /* one was switched on since the kind was switched last */
	bool seen;	   /* its calls give records */
} apis[2];
static struct { /* executable graphs made while whole ones are recorded, by number: [from, to) */
	uint32_t from, to;
} made_whole[64];
static size_t n_made_whole;
static bool worker_started;
static unsigned int sessions; /* begun by enabling kernels */
static unsigned int flushing; /* threads */
static bool finalizing;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void cupti_die(const char *why)
{
	sigset_t fault;

	fprintf(stderr, "gpusim: SIGSEGV: %s\n", why);
	sigemptyset(&fault);
	sigaddset(&fault, SIGSEGV);
	pthread_sigmask(SIG_UNBLOCK, &fault, NULL);
	raise(SIGSEGV);
}

static bool is_on(uint32_t kind)
{
	return __atomic_load_n(&enabled, __ATOMIC_RELAXED) >> kind & 1;
}

/* The buffers on the device take so many nodes since all was enabled, and none twice. */
static bool is_used_up(void)
{
	static uint64_t nodes;
	uint64_t room = cupti_faults()->device;

	if (__atomic_exchange_n(&renewed, false, __ATOMIC_RELAXED) && !cupti_faults()->device_stays)
		nodes = 0;
	return room && ++nodes > room;
}

/* Before 13.1 U1, later sessions give graphs' nodes the correlation of another call. */
static uint32_t graph_correlation(uint32_t correlation)
{
	bool wrong = cupti_version()->wrong_graphs && !cupti_faults()->steady && sessions > 1;

	return wrong && correlation > 1 ? correlation - 1 : correlation;
}

/* CUPTI before 13.2 ends a process that launches a graph made while they were not recorded whole; 13.2 and
 * later record nothing of it (measured with 12.4 to 13.5 on an H200, driver 580). */
static bool is_made_whole(uint32_t graph)
{
	for (size_t i = 0; i < n_made_whole; i++)
		if (graph >= made_whole[i].from && graph < made_whole[i].to)
			return true;
	if (cupti_version()->whole_kills)
		cupti_die("launch of a graph made while graphs were not recorded whole");
	return false;
}

static bool on_work(const struct gpusim_trace_work *traced)
{
	struct gpusim_trace_work copy = *traced;
	const struct gpusim_trace_work *work = &copy;
	union cupti_record rec;
	bool whole = work->graph && is_on(KIND_GRAPH_TRACE);

	if (work->graph)
		copy.correlation = graph_correlation(work->correlation);
	if (work->graph && (whole ? !is_made_whole(work->graph) :
				    cupti_version()->whole_stays && n_made_whole))
		return false;
	if (whole && !cupti_record_graph(&rec, work))
		return true; /* the graph's last node makes it */
	if (!whole)
		cupti_record_work(&rec, work);
	if (!is_on(rec.kind))
		return false;
	if (work->graph && !whole && is_used_up())
		cupti_record_forget_times(&rec);
	cupti_buffers_add(&rec, work->work.end_ns);
	return true;
}

static void on_call(const struct gpusim_trace_call *call)
{
	const struct api *api;
	union cupti_record rec;

	if (is_on(KIND_SYNCHRONIZATION) && cupti_record_sync(&rec, call))
		cupti_buffers_add(&rec, call->end_ns);
	if (is_on(KIND_EXTERNAL_CORRELATION))
		cupti_external_record(call->correlation, call->end_ns);
	if (!cupti_record_call(&rec, call))
		return;
	api = &apis[rec.kind == KIND_DRIVER];
	if (rec.api.cbid < CBIDS && api->seen && api->on[rec.api.cbid])
		cupti_buffers_add(&rec, call->end_ns);
}

static void on_memory(const struct gpusim_trace_memory *memory)
{
	union cupti_record rec;

	if (!is_on(KIND_MEMORY2))
		return;
	cupti_record_memory(&rec, memory);
	cupti_buffers_add(&rec, memory->at_ns);
}

static const struct gpusim_tracer tracer = { .work = on_work, .call = on_call, .memory = on_memory,
					      .node = cupti_callback_node };

static void *work_for_ever(void *unused)
{
	for (;;) {
		usleep(WORKER_PERIOD_US);
		cupti_buffers_work();
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
	int result = version ? cupti_enter_query() : CUPTI_ERROR_INVALID_PARAMETER;

	if (!result)
		*version = cupti_version()->number;
	return result;
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
		{ CUPTI_ERROR_NOT_COMPATIBLE, "CUPTI_ERROR_NOT_COMPATIBLE" },
		{ CUPTI_ERROR_NOT_INITIALIZED, "CUPTI_ERROR_NOT_INITIALIZED" },
		{ CUPTI_ERROR_UNKNOWN, "CUPTI_ERROR_UNKNOWN" },
		{ CUPTI_ERROR_INVALID_KIND, "CUPTI_ERROR_INVALID_KIND" },
		{ CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED,
		  "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED" },
	};
	size_t i;

	if (cupti_version()->overflows)
		cupti_enter_query();
	for (i = 0; text && i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].result == result) {
			*text = texts[i].text;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

int cuptiSetThreadIdType(int type)
{
	if (type != 0 && type != 1)
		return CUPTI_ERROR_INVALID_PARAMETER;
	cupti_record_threads(type == 1);
	return cupti_enter(1);
}

int cuptiActivityRegisterCallbacks(cupti_request_fn ask, cupti_complete_fn done)
{
	int result = ask && done ? cupti_enter(1) : CUPTI_ERROR_INVALID_PARAMETER;

	if (!result)
		cupti_buffers_register(ask, done);
	return result;
}

int cuptiActivityRegisterTimestampCallback(uint64_t (*ticks)(void))
{
	int result = cupti_enter(1);

	if (!result)
		cupti_clock_callback(ticks);
	return result;
}

/* All have the same value. */
int cuptiActivitySetAttribute(int attribute, size_t *size, void *value)
{
	if (!size || !value || *size < 1)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (attribute == ATTRIBUTE_ZEROED_OUT)
		cupti_buffers_are_zeroed(*(uint8_t *)value);
	if (attribute == ATTRIBUTE_PER_THREAD)
		cupti_buffers_per_thread(*(uint8_t *)value);
	return cupti_enter(1);
}

int cuptiActivityGetAttribute(int attribute, size_t *size, void *value)
{
	const size_t device_bytes = DEVICE_BUFFER_BYTES;
	const uint8_t per_thread = cupti_buffers_are_per_thread();
	const bool is_byte = attribute == ATTRIBUTE_PER_THREAD;
	const size_t bytes = is_byte ? sizeof(per_thread) : sizeof(device_bytes);
	int result = cupti_enter(1);

	if (result || attribute < 0 || !size || *size < bytes || !value)
		return result ? result : CUPTI_ERROR_INVALID_PARAMETER;
	memcpy(value, is_byte ? (const void *)&per_thread : &device_bytes, bytes);
	return CUPTI_SUCCESS;
}

int cuptiActivityFlushPeriod(uint32_t ms)
{
	(void)ms; /* full and complete buffers come anyway */
	return cupti_enter(1);
}

/* With the lock held. */
static void listen(void)
{
	gpusim_trace_to(enabled || apis[0].any_single || apis[1].any_single ||
				cupti_callback_is_any() ? &tracer : NULL);
}

void cupti_listen(void)
{
	pthread_mutex_lock(&lock);
	listen();
	pthread_mutex_unlock(&lock);
}

/* CUPTI instruments the modules that are loaded; launches wait. */
static void warm_up(void)
{
	static bool warm;

	if (!warm && cupti_faults()->cold_ms) {
		gpusim_lock();
		usleep((useconds_t)cupti_faults()->cold_ms * 1000);
		gpusim_unlock();
	}
	warm = true;
}

/* With the lock held: all functions of an API, whatever was chosen before. */
static void switch_api(struct api *api, bool on)
{
	memset(api->on, on, sizeof(api->on));
	api->seen = on;
	api->any_single = false;
}

/* With the lock held. */
static void switch_whole(bool on)
{
	uint32_t next = gpusim_graphs_made() + 1;

	if (on && n_made_whole < sizeof(made_whole) / sizeof(made_whole[0]))
		made_whole[n_made_whole++].from = next;
	if (n_made_whole)
		made_whole[n_made_whole - 1].to = on ? UINT32_MAX : next;
}

static int switch_kind(uint32_t kind, bool on)
{
	uint64_t bit = 1ull << kind;
	bool was;

	if (kind >= KINDS || !cupti_version()->bytes[kind])
		return CUPTI_ERROR_INVALID_KIND;
	if (on && (!cupti_buffers_have_client() || cupti_faults()->refuse))
		return CUPTI_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&lock);
	start_worker();
	was = is_on(kind);
	if (on && kind == KIND_CONCURRENT_KERNEL && !was) {
		warm_up();
		sessions++;
	}
	if (kind == KIND_RUNTIME || kind == KIND_DRIVER)
		switch_api(&apis[kind == KIND_DRIVER], on);
	if (kind == KIND_GRAPH_TRACE && on != was)
		switch_whole(on);
	if (on)
		__atomic_fetch_or(&enabled, bit, __ATOMIC_RELAXED);
	else
		__atomic_fetch_and(&enabled, ~bit, __ATOMIC_RELAXED);
	if (!is_on(KIND_CONCURRENT_KERNEL) && !is_on(KIND_MEMCPY))
		__atomic_store_n(&renewed, true, __ATOMIC_RELAXED);
	listen();
	pthread_mutex_unlock(&lock);
	if (on && !was)
		cupti_buffers_return(kind);
	if (!on && was)
		cupti_buffers_hold(kind);
	return CUPTI_SUCCESS;
}

int cuptiActivityEnable(uint32_t kind)
{
	int result = cupti_enter(1);

	return result ? result : switch_kind(kind, true);
}

int cuptiActivityDisable(uint32_t kind)
{
	int result = cupti_enter(1);

	return result ? result : switch_kind(kind, false);
}

/* It gives a record of each device there is, which goes to the client that registered callbacks last. */
int cuptiActivityEnableAndDump(uint32_t kind)
{
	const union cupti_record rec = { .kind = kind };
	int result = cuptiActivityEnable(kind);

	if (!result && kind == KIND_DEVICE)
		cupti_buffers_add(&rec, 0);
	return result;
}

int cuptiActivityEnable_v2(void *subscriber, uint32_t kind, void *config)
{
	int result = subscriber ? cupti_enter(2) : CUPTI_ERROR_INVALID_PARAMETER;

	(void)config;
	return result ? result : switch_kind(kind, true);
}

int cuptiActivityDisable_v2(void *subscriber, uint32_t kind, void *config)
{
	int result = subscriber ? cupti_enter(2) : CUPTI_ERROR_INVALID_PARAMETER;

	(void)config;
	return result ? result : switch_kind(kind, false);
}

/* As the real ones count: 13.2 leaves out functions that are on one by one, and gives no kind but how
 * many there are; 13.3 has an API's kind from its first function on until the kind is disabled. */
static uint64_t kinds_to_show(void)
{
	uint64_t on = __atomic_load_n(&enabled, __ATOMIC_RELAXED);
	int n = __builtin_popcountll(on);

	if (cupti_version()->overflows)
		return n ? UINT64_MAX >> (64 - n) : 0;
	if (on >> KIND_MEMCPY & 1)
		on |= 1ull << KIND_MEMCPY2;
	return on | (uint64_t)apis[0].any_single << KIND_RUNTIME |
	       (uint64_t)apis[1].any_single << KIND_DRIVER;
}

/* With buffer NULL only their number. */
int cuptiActivityGetEnabledKinds(void *subscriber, uint32_t *kinds, uint32_t *bytes, uint32_t *n)
{
	uint64_t on = kinds_to_show();
	int result = cupti_enter_kinds();
	uint32_t kind, room = kinds && bytes ? *bytes / (uint32_t)sizeof(*kinds) : 0;

	(void)subscriber;
	if (result || !n)
		return result ? result : CUPTI_ERROR_INVALID_PARAMETER;
	*n = 0;
	for (kind = 0; kind < KINDS; kind++) {
		if (!(on >> kind & 1))
			continue;
		if (*n < room)
			kinds[*n] = kind;
		++*n;
	}
	return CUPTI_SUCCESS;
}

int cuptiActivityGetStructSize(uint32_t kind, uint32_t version, size_t *bytes)
{
	int result = cupti_enter_query();

	if (result || !bytes || version)
		return result ? result : CUPTI_ERROR_INVALID_PARAMETER;
	if (kind >= KINDS || !cupti_version()->bytes[kind])
		return CUPTI_ERROR_INVALID_KIND;
	*bytes = cupti_version()->bytes[kind];
	return CUPTI_SUCCESS;
}

/* Without its API's kind a function that is switched on before 13.3 gives records only where there was
 * no context yet. */
static int switch_function(int domain, uint32_t cbid, uint8_t on)
{
	struct api *api = &apis[domain];
	int result = cupti_enter(1);

	if (result)
		return result;
	if (!cupti_version()->single_functions)
		return CUPTI_ERROR_NOT_INITIALIZED;
	if (cbid >= CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_mutex_lock(&lock);
	start_worker();
	api->on[cbid] = on;
	api->any_single |= on;
	if (on && (cupti_version()->single_late || !gpusim_context_is_any()))
		api->seen = true;
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

/* A flush beside a finalize ends the process (kineto#686). */
#define BESIDE_FINALIZE "cuptiActivityFlushAll beside cuptiFinalize"

int cuptiActivityFlushAll(uint32_t flag)
{
	int result = cupti_enter(1);

	while (cupti_faults()->hang)
		pause();
	if (result)
		return result;
	__atomic_add_fetch(&flushing, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&finalizing, __ATOMIC_SEQ_CST))
		cupti_die(BESIDE_FINALIZE);
	cupti_buffers_flush(flag & 1);
	__atomic_sub_fetch(&flushing, 1, __ATOMIC_SEQ_CST);
	return CUPTI_SUCCESS;
}

/* All that is anybody's ends: kinds, callbacks, the subscription, buffers that are out. */
int cuptiFinalize(void)
{
	__atomic_store_n(&finalizing, true, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&flushing, __ATOMIC_SEQ_CST))
		cupti_die(BESIDE_FINALIZE);
	usleep((useconds_t)(cupti_faults()->finalize_ms * 1000));
	pthread_mutex_lock(&lock);
	if (is_on(KIND_GRAPH_TRACE))
		switch_whole(false);
	__atomic_store_n(&enabled, 0, __ATOMIC_RELAXED);
	memset(apis, 0, sizeof(apis));
	__atomic_store_n(&renewed, true, __ATOMIC_RELAXED);
	cupti_callback_forget();
	listen();
	pthread_mutex_unlock(&lock);
	cupti_buffers_forget();
	cupti_leave_all();
	__atomic_store_n(&finalizing, false, __ATOMIC_SEQ_CST);
	return CUPTI_SUCCESS;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *dropped)
{
	(void)context;
	(void)stream;
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = cupti_buffers_dropped();
	return cupti_enter(1);
}

int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid_bytes, void **record)
{
	const struct cupti_version *version = cupti_version();
	size_t at = 0;
	uint32_t kind;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (cupti_enter_query())
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

int cuptiActivityGetNextRecord_v2(void *subscriber, uint8_t *buffer, size_t valid_bytes, void **record)
{
	return subscriber ? cuptiActivityGetNextRecord(buffer, valid_bytes, record) :
			    CUPTI_ERROR_INVALID_PARAMETER;
}

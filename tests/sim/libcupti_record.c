// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcupti.so.13, the simulated CUPTI: what is reported becomes records.
 */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpuprof/cbids.h"
#include "libcupti.h"

enum { SET_BACK_AFTER_NS = 60000000 };

#define NAME_OF(name, class) [GPUSIM_FN_##name] = #name,
static const char *const names[GPUSIM_FUNCTIONS] = {
	GPUSIM_RUNTIME_FUNCTIONS(NAME_OF) GPUSIM_DRIVER_FUNCTIONS(NAME_OF)
};

struct number {
	uint32_t cbid;
	const char *name;
};

#define NUMBER_OF(cbid, name) { cbid, #name },
static const struct number runtime[] = { GP_RUNTIME_CBIDS(NUMBER_OF) };
static const struct number driver[] = { GP_DRIVER_CBIDS(NUMBER_OF) };

static struct {
	uint32_t kind, cbid; /* 0: of no API that CUPTI records */
} functions[GPUSIM_FUNCTIONS];
static uint64_t realtime_less_monotonic;
static uint64_t set_back_at_ns;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void number_all(uint32_t kind, const struct number *numbers, size_t count)
{
	size_t f, i;

	for (f = 0; f < GPUSIM_FUNCTIONS; f++)
		for (i = 0; names[f] && i < count; i++)
			if (strcmp(names[f], numbers[i].name) == 0) {
				functions[f].kind = kind;
				functions[f].cbid = numbers[i].cbid;
			}
}

static void prepare(void)
{
	struct timespec real, mono;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	realtime_less_monotonic = (uint64_t)(real.tv_sec - mono.tv_sec) * 1000000000 +
				  (uint64_t)(real.tv_nsec - mono.tv_nsec);
	set_back_at_ns = gpusim_now_ns() + SET_BACK_AFTER_NS;
	number_all(KIND_RUNTIME, runtime, sizeof(runtime) / sizeof(runtime[0]));
	number_all(KIND_DRIVER, driver, sizeof(driver) / sizeof(driver[0]));
}

/* The device's clock runs off the host's and back, by 100 ms each. */
static int64_t drift_ns(uint64_t monotonic_ns)
{
	uint64_t phase_us = monotonic_ns / 1000 % 200000, up_us = phase_us < 100000 ? phase_us : 200000 - phase_us;

	return (int64_t)(up_us * cupti_faults()->drift_ppb / 1000000);
}

static struct {
	uint64_t (*now)(void); /* the client's; NULL: CLOCK_REALTIME */
	uint64_t first_ns, first_ticks;
} ticks;

/* As the real one: process-wide, and kept when the client is gone. */
void cupti_clock_callback(uint64_t (*now)(void))
{
	if (now) {
		ticks.first_ns = gpusim_now_ns();
		ticks.first_ticks = now();
		usleep(2000); /* for a rate */
	}
	ticks.now = now;
}

/* Interpolated between the registration and now. */
static uint64_t in_ticks(uint64_t monotonic_ns)
{
	uint64_t now_ns = gpusim_now_ns(), now = ticks.now();
	double rate = (double)(now - ticks.first_ticks) / (double)(now_ns - ticks.first_ns);

	return now + (uint64_t)(int64_t)(rate * (double)(int64_t)(monotonic_ns - now_ns));
}

uint64_t cupti_clock_ns(uint64_t monotonic_ns)
{
	pthread_once(&once, prepare);
	if (ticks.now)
		return in_ticks(monotonic_ns);
	if (cupti_faults()->back_ms && monotonic_ns >= set_back_at_ns)
		monotonic_ns -= cupti_faults()->back_ms * 1000000;
	return monotonic_ns + realtime_less_monotonic;
}

/* Of the device. */
static uint64_t real_ns(uint64_t monotonic_ns)
{
	return cupti_clock_ns(monotonic_ns + (uint64_t)drift_ns(monotonic_ns));
}

int cuptiGetTimestamp(uint64_t *ns)
{
	int result = ns ? cupti_enter_query() : CUPTI_ERROR_INVALID_PARAMETER;

	if (result)
		return result;
	*ns = cupti_clock_ns(gpusim_now_ns());
	if (cupti_faults()->clock_us)
		usleep((useconds_t)cupti_faults()->clock_us);
	return CUPTI_SUCCESS;
}

/* Anything, but always the same for a name. */
static uint16_t registers_of(const char *name)
{
	uint32_t hash = 5381;

	while (name && *name)
		hash = hash * 33 + (unsigned char)*name++;
	return (uint16_t)(16 + hash % 15 * 8);
}

static void record_kernel(struct cupti_kernel *k, const struct gpusim_trace_work *w)
{
	int axis;

	k->kind = KIND_CONCURRENT_KERNEL;
	k->start = real_ns(w->work.start_ns);
	k->end = k->completed = real_ns(w->work.end_ns);
	k->device = (uint32_t)w->device;
	k->context = w->context;
	k->stream = w->stream;
	for (axis = 0; axis < 3; axis++) {
		k->grid[axis] = (int32_t)w->work.shape.grid[axis];
		k->block[axis] = (int32_t)w->work.shape.block[axis];
	}
	k->correlation = w->correlation;
	k->name = gpusim_kernel_name(w->work.entity);
	k->registers = registers_of(k->name);
	k->graph = w->graph;
	k->graph_node = w->graph_node;
}

enum { PINNED = 2 }; /* CUPTI's number of such memory */

static void record_copy(struct cupti_memcpy *c, const struct gpusim_trace_work *w)
{
	static const struct {
		uint8_t copy, from, to; /* CUPTI's numbers of directions and of memory */
	} ways[GPUSIM_WORK_KINDS] = {
		[GPUSIM_COPY_HTOD] = { 1, 1, 3 },
		[GPUSIM_COPY_DTOH] = { 2, 3, 1 },
		[GPUSIM_COPY_DTOD] = { 8, 3, 3 },
	};

	c->kind = KIND_MEMCPY;
	c->copy_kind = ways[w->work.kind].copy;
	c->from_kind = ways[w->work.kind].from;
	c->to_kind = ways[w->work.kind].to;
	if (w->work.kind == GPUSIM_COPY_HTOD && !w->work.pageable)
		c->from_kind = PINNED;
	if (w->work.kind == GPUSIM_COPY_DTOH && !w->work.pageable)
		c->to_kind = PINNED;
	c->bytes = w->work.bytes;
	c->start = real_ns(w->work.start_ns);
	c->end = real_ns(w->work.end_ns);
	c->device = (uint32_t)w->device;
	c->context = w->context;
	c->stream = w->stream;
	c->correlation = w->correlation;
	c->graph = w->graph;
	c->graph_node = w->graph_node;
	c->copy_count = 1;
}

static void record_set(struct cupti_memset *s, const struct gpusim_trace_work *w)
{
	s->kind = KIND_MEMSET;
	s->bytes = w->work.bytes;
	s->start = real_ns(w->work.start_ns);
	s->end = real_ns(w->work.end_ns);
	s->device = (uint32_t)w->device;
	s->context = w->context;
	s->stream = w->stream;
	s->correlation = w->correlation;
	s->graph = w->graph;
	s->graph_node = w->graph_node;
	s->memory_kind = 3;
}

void cupti_record_work(union cupti_record *rec, const struct gpusim_trace_work *work)
{
	memset(rec, 0, sizeof(*rec));
	switch (work->work.kind) {
	case GPUSIM_KERNEL:
		record_kernel(&rec->kernel, work);
		break;
	case GPUSIM_SET:
		record_set(&rec->set, work);
		break;
	default:
		record_copy(&rec->copy, work);
	}
}

void cupti_record_forget_times(union cupti_record *rec)
{
	switch (rec->kind) {
	case KIND_CONCURRENT_KERNEL:
		rec->kernel.start = rec->kernel.end = 0;
		break;
	case KIND_MEMCPY:
		rec->copy.start = rec->copy.end = 0;
		break;
	case KIND_MEMSET:
		rec->set.start = rec->set.end = 0;
		break;
	case KIND_GRAPH_TRACE:
		rec->graph.start = rec->graph.end = 0;
		break;
	case KIND_MEMORY2:
		rec->memory.timestamp = 0;
		break;
	default:
		break;
	}
}

/* Of a work that was in flight while its kind was disabled. */
void cupti_record_end_now(union cupti_record *rec)
{
	uint64_t now_ns = cupti_clock_ns(gpusim_now_ns());

	switch (rec->kind) {
	case KIND_CONCURRENT_KERNEL:
		rec->kernel.end = rec->kernel.completed = now_ns;
		break;
	case KIND_MEMCPY:
		rec->copy.end = now_ns;
		break;
	case KIND_MEMSET:
		rec->set.end = now_ns;
		break;
	case KIND_GRAPH_TRACE:
		rec->graph.end = now_ns;
		break;
	default:
		break;
	}
}

/* One launch's nodes come one after the other, some launches' at the same time. */
bool cupti_record_graph(union cupti_record *rec, const struct gpusim_trace_work *node)
{
	enum { LAUNCHES = 4096, ON_HOST = 0x7fffffff };
	static struct {
		uint64_t start_ns;
		uint32_t device;
	} started[LAUNCHES], *first;

	first = &started[node->correlation % LAUNCHES];
	if (!node->graph_index) {
		first->start_ns = node->work.start_ns;
		first->device = node->work.kind == GPUSIM_COPY_HTOD ? ON_HOST : (uint32_t)node->device;
	}
	if (node->graph_index + 1 < node->graph_count)
		return false;
	memset(rec, 0, sizeof(*rec));
	rec->graph = (struct cupti_graph_trace){
		.kind = KIND_GRAPH_TRACE, .correlation = node->correlation,
		.start = real_ns(first->start_ns), .end = real_ns(node->work.end_ns),
		.device = first->device, .graph = node->graph, .context = node->context,
		.stream = node->stream, .end_device = (uint32_t)node->device,
		.end_context = node->context };
	return true;
}

void cupti_record_memory(union cupti_record *rec, const struct gpusim_trace_memory *memory)
{
	static const uint8_t kinds[GPUSIM_MEMORY_KINDS] = { 3, 3, 2 }; /* CUPTI's: device, pinned */

	memset(rec, 0, sizeof(*rec));
	rec->memory = (struct cupti_memory){
		.kind = KIND_MEMORY2,
		.operation = memory->is_free ? 2 : 1,
		.memory_kind = kinds[memory->kind],
		.correlation = memory->correlation,
		.address = memory->address,
		.bytes = memory->bytes,
		.timestamp = cupti_clock_ns(memory->at_ns),
		.pid = (uint32_t)getpid(),
		.device = (uint32_t)memory->device,
		.context = memory->context,
		.is_async = memory->kind == GPUSIM_POOL_MEMORY,
	};
}

int cuptiGetCallbackName(int domain, uint32_t cbid, const char **name)
{
	enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME };
	const struct number *numbers = domain == DOMAIN_DRIVER ? driver : runtime;
	size_t i, count = domain == DOMAIN_DRIVER ? sizeof(driver) / sizeof(driver[0]) :
						    sizeof(runtime) / sizeof(runtime[0]);

	if (domain != DOMAIN_DRIVER && domain != DOMAIN_RUNTIME)
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (i = 0; name && i < count; i++)
		if (numbers[i].cbid == cbid) {
			*name = numbers[i].name;
			return CUPTI_SUCCESS;
		}
	return CUPTI_ERROR_INVALID_PARAMETER;
}

static bool system_ids;

void cupti_record_threads(bool system)
{
	system_ids = system;
}

bool cupti_record_call(union cupti_record *rec, const struct gpusim_trace_call *call)
{
	pthread_once(&once, prepare);
	memset(rec, 0, sizeof(*rec));
	if (!functions[call->function].kind)
		return false;
	rec->api = (struct cupti_api){
		.kind = functions[call->function].kind,
		.cbid = functions[call->function].cbid,
		.start = cupti_clock_ns(call->start_ns),
		.end = cupti_clock_ns(call->end_ns),
		.pid = (uint32_t)getpid(),
		.tid = system_ids ? (uint32_t)call->tid : (uint32_t)(uintptr_t)pthread_self(),
		.correlation = call->correlation,
		.result = (uint32_t)call->result,
	};
	return true;
}

/* A call that waits for a context; of others the simulation does not know what they wait for. */
bool cupti_record_sync(union cupti_record *rec, const struct gpusim_trace_call *call)
{
	if (call->function != GPUSIM_FN_cudaDeviceSynchronize)
		return false;
	memset(rec, 0, sizeof(*rec));
	rec->sync = (struct cupti_sync){ .kind = KIND_SYNCHRONIZATION, .type = 4,
		.start = cupti_clock_ns(call->start_ns), .end = cupti_clock_ns(call->end_ns),
		.correlation = call->correlation, .context = 1 };
	return true;
}

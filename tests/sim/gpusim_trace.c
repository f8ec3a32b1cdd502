// SPDX-License-Identifier: BSD-3-Clause
/*
 * Works whose times are not known yet wait here; the gates settle them. Names of kernels.
 */
#include "gpusim_trace.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpusim_board.h"
#include "gpusim_internal.h"
#include "gpusim_log.h"
#include "gpusim_trace_internal.h"

enum { WAITING = 8192, NAMES = 1 << 17, NAMES_BITS = 17 };

struct waiting {
	struct gpusim_trace_work traced;
	struct gpusim_time begin, end;
};

static const struct gpusim_tracer *tracer;
static struct waiting waiting[WAITING];
static size_t waiting_count;

/* A hash with open addressing: PyTorch registers 48,000 kernels before main. */
static struct {
	const void *entity; /* NULL: free */
	const char *name;
} names[NAMES];
static size_t names_count;

void gpusim_trace_to(const struct gpusim_tracer *to)
{
	gpusim_lock();
	__atomic_store_n(&tracer, to, __ATOMIC_RELEASE);
	gpusim_unlock();
}

const struct gpusim_tracer *gpusim_trace_listener(void)
{
	return __atomic_load_n(&tracer, __ATOMIC_ACQUIRE);
}

static bool report(struct waiting *w)
{
	if (!gpusim_time_known(&w->begin) || !gpusim_time_known(&w->end))
		return false;
	w->traced.work.start_ns = w->begin.at_ns;
	w->traced.work.end_ns = w->end.at_ns;
	gpusim_log_work(&w->traced, tracer && tracer->work(&w->traced));
	if (w->traced.work.kind == GPUSIM_KERNEL)
		gpusim_board_work(w->traced.device, w->begin.at_ns, w->end.at_ns);
	return true;
}

void gpusim_trace_work(const struct gpusim_stream *stream, const struct gpusim_trace_work *traced,
		       const struct gpusim_time *begin, const struct gpusim_time *end)
{
	struct waiting w = { .traced = *traced, .begin = *begin, .end = *end };

	if (!tracer && !gpusim_log_is_wanted() && !gpusim_board_is_wanted())
		return;
	w.traced.device = stream->context->device;
	w.traced.context = gpusim_context_id(stream->context);
	w.traced.stream = stream->id + GPUSIM_STREAM_ID_BASE;
	if (report(&w))
		return;
	if (waiting_count == WAITING) {
		fprintf(stderr, "gpusim: more than %d works wait for collectives\n", WAITING);
		abort();
	}
	waiting[waiting_count++] = w;
}

void gpusim_traces_settle(const struct gpusim_gate *gate, uint64_t end_ns)
{
	size_t i, kept = 0;

	for (i = 0; i < waiting_count; i++) {
		gpusim_time_settle(&waiting[i].begin, gate, end_ns);
		gpusim_time_settle(&waiting[i].end, gate, end_ns);
		if (!report(&waiting[i]))
			waiting[kept++] = waiting[i];
	}
	waiting_count = kept;
}

/* Where an entity is, or would be. */
static size_t find_name(const void *entity)
{
	size_t i = (uint64_t)(uintptr_t)entity * 0x9E3779B97F4A7C15ULL >> (64 - NAMES_BITS);

	while (names[i].entity && names[i].entity != entity)
		i = (i + 1) % NAMES;
	return i;
}

void gpusim_kernel_register(const void *entity, const char *name)
{
	size_t i;

	gpusim_lock();
	i = find_name(entity);
	if (!names[i].entity && names_count < NAMES / 2) {
		names_count++;
		names[i].name = name;
		__atomic_store_n(&names[i].entity, entity, __ATOMIC_RELEASE);
	}
	gpusim_unlock();
}

const char *gpusim_kernel_name(const void *entity)
{
	return names[find_name(entity)].name;
}

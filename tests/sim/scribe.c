// SPDX-License-Identifier: BSD-3-Clause
/*
 * scribe CAPTURE LOG: a simulation in virtual time that writes a capture directly, as a recorder would
 * have of processes whose every stamp is exact, and the log of gpusim_log.h beside it. For laws that
 * live runs cannot show to the nanosecond. It launches nothing and needs no privilege.
 *
 * scribe CAPTURE LOG [--devices N] [--streams N] [--threads N] [--rounds N] [--seed N]
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "capture/capture.h"
#include "lib/work_named.h"
#include "event/event.h"

enum { DEVICES = 16, STREAMS = 16, THREADS = 64, PID = 4000, US = 1000, MS = 1000000 };
#define BEGIN 1000000000000ull

enum function { LAUNCH, SYNC, COPY, SET, ALLOC, FREE, FUNCTIONS };
static const struct funcs funcs = {
	.n = FUNCTIONS,
	.v = {
		[LAUNCH] = { "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 },
		[SYNC] = { "cudaStreamSynchronize", "cudart", CLASS_SYNC, 0 },
		[COPY] = { "cudaMemcpy", "cudart", CLASS_COPY, 0 },
		[SET] = { "cudaMemsetAsync", "cudart", CLASS_SET, 0 },
		[ALLOC] = { "cudaMalloc", "cudart", CLASS_ALLOC, 0 },
		[FREE] = { "cudaFree", "cudart", CLASS_FREE, 0 },
	},
};
/* CUPTI's numbers of those that launch. */
static const uint16_t cbids[FUNCTIONS] = { [LAUNCH] = 211, [COPY] = 31, [SET] = 51 };

struct options {
	uint64_t devices, streams, threads, rounds, seed;
};

struct got {			/* an event, and when a recorder has it */
	uint64_t at_ns;
	struct event ev;
	struct work work;
};

struct run {
	struct options o;
	uint64_t random, end_ns;
	uint64_t busy_ns[DEVICES][STREAMS];
	uint64_t now_ns[THREADS];
	uint32_t calls[THREADS], correlations;
	VEC(struct got) all;
	FILE *works, *calls_log;
	bool any_work, any_call;
};

static uint64_t draw(struct run *r, uint64_t below)
{
	r->random ^= r->random << 13;
	r->random ^= r->random >> 7;
	r->random ^= r->random << 17;
	return (r->random >> 11) % below;
}

static struct got *report(struct run *r, uint64_t at_ns, const struct event *ev)
{
	struct got *t = VEC_PUSH(&r->all);

	if (!t)
		abort();
	*t = (struct got){ .at_ns = at_ns, .ev = *ev };
	r->end_ns = ev->end_ns > r->end_ns ? ev->end_ns : r->end_ns;
	return t;
}

static void log_work(struct run *r, const struct work *w, const char *name, uint64_t start, uint64_t end)
{
	static const char *const kinds[] = { [WORK_KIND_KERNEL] = "kernel", [WORK_KIND_COPY] = "h2d",
					     [WORK_KIND_SET] = "set" };

	fprintf(r->works, "%s{\"device\": %u, \"kind\": \"%s\", \"name\": ", r->any_work ? ",\n" : "",
		w->device, kinds[w->kind]);
	fprintf(r->works, name ? "\"%s\"" : "null", name);
	fprintf(r->works, ", \"context\": %u, \"stream\": %u, \"correlation\": %u, \"bytes\": %" PRIu64,
		w->context, w->stream, w->correlation, w->bytes);
	fprintf(r->works, ", \"start\": %" PRIu64 ", \"end\": %" PRIu64 "}", start, end);
	r->any_work = true;
}

/* A work on some stream of some device that cannot begin before from_ns. Returns its end. */
static uint64_t give_work(struct run *r, enum function f, uint64_t from_ns)
{
	static const char *const names[] = { "sgemm_128x64_nn", "flash_attention", "bias_relu_kernel" };
	uint64_t device = draw(r, r->o.devices), stream = draw(r, r->o.streams);
	uint64_t *busy = &r->busy_ns[device][stream];
	uint64_t start = *busy > from_ns ? *busy : from_ns, end = start + 1 + draw(r, 200 * US);
	const char *name = f == LAUNCH ? names[draw(r, 3)] : NULL;
	struct got *t = report(r, end + draw(r, 150 * MS), &(struct event){
		.kind = EVENT_WORK, .pid = PID, .start_ns = start, .end_ns = end,
		.work.name = name });

	*busy = end;
	t->work = (struct work){
		.kind = f == LAUNCH ? WORK_KIND_KERNEL : f == COPY ? WORK_KIND_COPY : WORK_KIND_SET,
		.has = f == COPY ? WORK_HAS_DIR : 0, .dir = COPY_H2D, .device = (uint32_t)device,
		.context = (uint32_t)device + 1, .stream = (uint32_t)stream + 7,
		.correlation = r->correlations, .bytes = f == LAUNCH ? 0 : 1 + draw(r, 1 << 20) };
	log_work(r, &t->work, name, start, end);
	return end;
}

static void log_call(struct run *r, uint64_t thread, enum function f, uint64_t start, uint64_t end)
{
	fprintf(r->calls_log, "%s{\"tid\": %d, \"class\": \"%s\", \"function\": \"%s\"",
		r->any_call ? ",\n" : "", PID + (int)thread, class_name(funcs.v[f].class),
		funcs.v[f].name);
	fprintf(r->calls_log, ", \"start\": %" PRIu64 ", \"end\": %" PRIu64, start, end);
	fprintf(r->calls_log, ", \"correlation\": %u, \"result\": 0}", cbids[f] ? r->correlations : 0);
	r->any_call = true;
}

static void give_call(struct run *r, uint64_t thread)
{
	static const uint8_t often[] = { LAUNCH, LAUNCH, LAUNCH, LAUNCH, LAUNCH, SYNC, COPY, SET, ALLOC, FREE };
	enum function f = often[draw(r, sizeof(often))];
	uint64_t start = r->now_ns[thread] + 1 + draw(r, 60 * US), end = start + 1000 + draw(r, 8 * US);
	const uint32_t tid = (uint32_t)(PID + thread);

	if (cbids[f]) {
		uint64_t api_start = start + draw(r, 200), api_end = end - draw(r, 200), done;

		r->correlations++;
		done = give_work(r, f, api_start + draw(r, 12 * US));
		if (f == COPY && done > end)
			end = api_end = done;	/* it waits */
		report(r, end + draw(r, 120 * MS), &(struct event){
			.kind = EVENT_API, .has = HAS_RESULT | HAS_END, .pid = PID, .tid = tid,
			.api.correlation = r->correlations, .api.cbid = cbids[f], .api.domain = 5,
			.start_ns = api_start,
			.end_ns = api_end });
	} else if (f == SYNC) {
		uint64_t until = r->busy_ns[draw(r, r->o.devices)][draw(r, r->o.streams)];

		end = until > end ? until + draw(r, 500) : end;
	}
	report(r, end, &(struct event){ .kind = EVENT_CALL, .has = HAS_RESULT | HAS_END, .func = (uint16_t)f,
				      .pid = PID, .tid = tid, .seq = ++r->calls[thread],
				      .start_ns = start, .end_ns = end });
	log_call(r, thread, f, start, end);
	r->now_ns[thread] = end;
}

static void simulate(struct run *r)
{
	for (uint64_t i = 0; i < r->o.threads; i++)
		r->now_ns[i] = BEGIN;
	for (uint64_t n = 0; n < r->o.rounds * r->o.threads; n++) {
		uint64_t next = 0;	/* the thread that is behind: streams take what comes first */

		for (uint64_t i = 1; i < r->o.threads; i++)
			if (r->now_ns[i] < r->now_ns[next])
				next = i;
		give_call(r, next);
	}
}

static int by_arrival(const void *a, const void *b)
{
	const struct got *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->ev.seq < y->ev.seq ? -1 : x->ev.seq > y->ev.seq;
}

static void push(struct capture_writer *w, const struct event *ev)
{
	struct event own = *ev;

	own.process = own.pid ? 1 : 0;
	if (capture_push(w, &own))
		exit(1);
}

/* With a watermark every so often: calls come as they end. */
static void write_events(struct run *r, struct capture_writer *w, uint64_t stop_ns)
{
	uint64_t watermark_ns = BEGIN;

	push(w, &(struct event){ .kind = EVENT_START, .start_ns = BEGIN });
	push(w, &(struct event){ .kind = EVENT_PROCESS, .pid = PID, .start_ns = BEGIN,
				 .task.comm = "scribe" });
	qsort(r->all.v, r->all.n, sizeof(*r->all.v), by_arrival);
	for (size_t i = 0; i < r->all.n; i++) {
		struct got *t = &r->all.v[i];

		if (t->at_ns > watermark_ns + 20 * MS) {
			watermark_ns = t->at_ns;
			push(w, &(struct event){ .kind = EVENT_WATERMARK, .end_ns = watermark_ns });
		}
		if (t->ev.kind == EVENT_WORK)
			t->ev.work = work_named(t->work, t->ev.work.name);
		push(w, &t->ev);
	}
	push(w, &(struct event){ .kind = EVENT_STOP, .end_ns = stop_ns });
	for (uint64_t i = 0; i < r->o.threads; i++)
		push(w, &(struct event){ .kind = EVENT_TAIL, .pid = PID, .tid = (uint32_t)(PID + i),
					 .seq = r->calls[i] });
}

static int write_all(struct run *r, const char *capture, const char *log)
{
	char *works, *calls;
	size_t size;
	uint64_t stop_ns;
	FILE *f = fopen(log, "we");
	struct capture_writer *w = capture_create(capture, &funcs);

	r->works = open_memstream(&works, &size);
	r->calls_log = open_memstream(&calls, &size);
	if (!f || !w || !r->works || !r->calls_log)
		return 1;
	simulate(r);
	stop_ns = r->end_ns + 1 + draw(r, MS);
	write_events(r, w, stop_ns);
	fclose(r->works);
	fclose(r->calls_log);
	fprintf(f, "{\"log_version\": 1, \"simulated\": true, \"pid\": %d, \"seed\": %" PRIu64, PID,
		r->o.seed);
	fprintf(f, ", \"session\": [%llu, %" PRIu64 "],\n\"works\": [%s],\n\"calls\": [%s]}\n", BEGIN,
		stop_ns, works, calls);
	free(works);
	free(calls);
	VEC_FREE(&r->all);
	return (fclose(f) | capture_close(w, NULL)) != 0;
}

static bool parse(struct options *o, char **argv)
{
	const struct {
		const char *name;
		uint64_t *number, most;
	} numbers[] = {
		{ "--devices", &o->devices, DEVICES }, { "--streams", &o->streams, STREAMS },
		{ "--threads", &o->threads, THREADS }, { "--rounds", &o->rounds, 1000000 },
		{ "--seed", &o->seed, UINT64_MAX },
	};
	const size_t n = sizeof(numbers) / sizeof(numbers[0]);
	char *end = NULL;

	for (; *argv; argv += 2) {
		size_t i = 0;

		while (i < n && strcmp(*argv, numbers[i].name))
			i++;
		if (i == n || !argv[1])
			return false;
		*numbers[i].number = strtoull(argv[1], &end, 0);
		if (*end || *numbers[i].number > numbers[i].most)
			return false;
	}
	return o->devices && o->streams && o->threads;
}

int main(int argc, char **argv)
{
	struct run r = { .o = { .devices = 1, .streams = 2, .threads = 1, .rounds = 1000, .seed = 1 } };

	if (argc < 3 || !parse(&r.o, argv + 3)) {
		fputs("usage: scribe CAPTURE LOG [--devices N] [--streams N] [--threads N] [--rounds N] "
		      "[--seed N]\n", stderr);
		return 2;
	}
	fputs("scribe: a simulation, no device ran\n", stderr);
	r.random = (r.o.seed + 1) * 0x9e3779b97f4a7c15u;
	return write_all(&r, argv[1], argv[2]);
}

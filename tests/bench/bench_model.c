// SPDX-License-Identifier: BSD-3-Clause
/*
 * What an event costs the model: nanoseconds per push of calls as a training loop makes them, and
 * of ones that miss every cache, without what it costs to make them. Prints one line per case; fails
 * when the plain case is above MAX_NS (argument 1, default 60).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "model/model.h"

#define ROUNDS 4000000u

static const struct funcs funcs = {
	.n = 4,
	.v = {
		{ "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 },
		{ "cudaMemcpyAsync", "cudart", CLASS_COPY, 0 },
		{ "cudaStreamSynchronize", "cudart", CLASS_SYNC, 1 },
		{ "cudaEventRecord", "cudart", CLASS_EVENT, 0 },
	},
};

struct load {
	const char *what;
	unsigned int threads, shapes, two;	/* two: every n-th call has an enter; 0 none */
};

struct thread_at {
	uint32_t seq;
	uint64_t now_ns;
};

/* m NULL: it is only made. */
static void push(struct model *m, const struct event *ev)
{
	if (!m)
		__asm__ volatile("" : : "r"(ev) : "memory");
	else if (model_push(m, ev)) {
		fprintf(stderr, "bench_model: out of memory\n");
		exit(1);
	}
}

static unsigned int push_one(struct model *m, const struct load *load, struct thread_at *at,
			     unsigned int i)
{
	struct event ev = {
		.kind = EVENT_CALL, .has = HAS_RESULT | HAS_END, .process = 1, .pid = 100,
		.tid = 100 + i % load->threads, .func = (uint16_t)(i & 1),
	};

	at += i % load->threads;
	ev.start_ns = at->now_ns + 700;
	ev.end_ns = ev.start_ns + 300 + (i * 2654435761u >> 22);
	if (ev.func == 0) {
		unsigned int shape = i / 2 % load->shapes + 1;

		ev.has |= HAS_SHAPE;
		ev.call.shape = (struct launch_shape){ { shape, 1, 1 }, { 256, 1, 1 }, 0 };
	} else {
		ev.has |= HAS_BYTES;
		ev.call.bytes = 4096;
	}
	at->now_ns = ev.end_ns;
	if (load->two && i % load->two == 0) {
		ev.func = 2;
		ev.has = 0;
		ev.kind = EVENT_ENTER;
		ev.seq = ++at->seq;
		push(m, &ev);
		ev.kind = EVENT_CALL;
		ev.has = HAS_RESULT | HAS_END;
	}
	ev.seq = ++at->seq;
	push(m, &ev);
	return load->two && i % load->two == 0 ? 2 : 1;
}

/* ns an event. */
static double time_events(const struct load *load, struct model *m)
{
	struct thread_at *at = calloc(load->threads, sizeof(*at));
	uint64_t start, events = 0;
	double ns;

	if (!at)
		exit(1);
	push(m, &(struct event){ .kind = EVENT_START, .start_ns = 1 });
	for (unsigned int i = 0; i < 100000; i++)
		push_one(m, load, at, i);
	start = time_now_ns();
	for (unsigned int i = 100000; i < 100000 + ROUNDS; i++)
		events += push_one(m, load, at, i);
	ns = (double)(time_now_ns() - start) / (double)events;
	free(at);
	return ns;
}

static double measure(const struct load *load)
{
	struct model *m = model_new(&funcs);
	double ns, made;

	if (!m)
		exit(1);
	made = time_events(load, NULL);
	ns = time_events(load, m) - made;
	printf("model_push  %-44s %6.1f ns/event (%.1f to make it)\n", load->what, ns, made);
	model_free(m);
	return ns;
}

int main(int argc, char **argv)
{
	static const struct load loads[] = {
		{ "1 thread, launches of one shape and copies", 1, 1, 0 },
		{ "1 thread, also syncs with an enter", 1, 1, 8 },
		{ "8 threads by turns", 8, 1, 8 },
		{ "1 thread, 1000 shapes by turns", 1, 1000, 0 },
		{ "1000 threads by turns, 100 shapes", 1000, 100, 8 },
	};
	double max = argc > 1 ? atof(argv[1]) : 60, plain = 0;

	for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
		double ns = measure(&loads[i]);

		if (!i)
			plain = ns;
	}
	if (plain > max)
		fprintf(stderr, "bench_model: %.1f ns/event: above %.0f\n", plain, max);
	return plain > max;
}

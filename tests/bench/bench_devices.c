// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the join and the books of devices cost: nanoseconds of CPU time per event that the model
 * takes, of the stream of work_stream.h, the best of a few passes; making the events is not counted.
 * One line per case; fails when one is above MAX_NS (argument 1, default 150). Argument 2 is the
 * number of a case to measure alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/work_stream.h"
#include "model/model.h"

#define EVENTS 1000000u
#define WARM 100000u
#define BATCH 1024u
#define PASSES 3

static const struct funcs funcs = {
	.n = 1,
	.v = { { "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 } },
};

struct batch {
	struct event ev[BATCH];
};

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void push(struct model *m, const struct event *ev)
{
	if (model_push(m, ev)) {
		fprintf(stderr, "bench_devices: out of memory\n");
		exit(1);
	}
}

static void fill(struct batch *b, struct work_stream *s)
{
	for (unsigned int i = 0; i < BATCH; i++)
		work_stream_next(s, &b->ev[i]);
}

static double pass(const struct work_load *load, struct work_stream *s, struct batch *b)
{
	struct model *m = model_new(&funcs);
	uint64_t ns = 0;
	unsigned int done = 0;

	if (!m)
		exit(1);
	work_stream_init(s, load);
	push(m, &(struct event){ .kind = EVENT_START, .start_ns = work_stream_now(s) });
	/* A launch that no work follows, as of a copy between buffers of the host. */
	push(m, &(struct event){ .kind = EVENT_API, .process = 4000, .pid = 4000, .tid = 4000,
				 .api.correlation = UINT32_MAX,
				 .api.cbid = 211, .api.domain = 5, .start_ns = work_stream_now(s),
				 .end_ns = work_stream_now(s) });
	for (; done < WARM + EVENTS; done += BATCH) {
		uint64_t start;

		fill(b, s);
		start = cpu_ns();
		for (unsigned int i = 0; i < BATCH; i++)
			push(m, &b->ev[i]);
		push(m, &(struct event){ .kind = EVENT_WATERMARK, .end_ns = work_stream_now(s) });
		ns += done >= WARM ? cpu_ns() - start : 0;
	}
	model_free(m);
	return (double)ns / EVENTS;
}

static double measure(const struct work_load *load, struct work_stream *s, struct batch *b)
{
	double best = 1e9;

	for (int i = 0; i < PASSES; i++) {
		double ns = pass(load, s, b);

		best = ns < best ? ns : best;
	}
	printf("join + ledger  %-44s %6.1f ns/event\n", load->what, best);
	return best;
}

int main(int argc, char **argv)
{
	static const struct work_load loads[] = {
		{ "1 stream, 40 kernels", 1, 1, 40, 100, false },
		{ "1 stream, 40 kernels, calls too", 1, 1, 40, 100, true },
		{ "4 streams, 40 kernels", 1, 4, 40, 100, false },
		{ "4 streams, 4000 kernels", 1, 4, 4000, 400, false },
		{ "64 processes, 4 streams, 40 kernels, calls too", 64, 4, 40, 100, true },
	};
	struct work_stream *s = malloc(sizeof(*s));
	struct batch *b = malloc(sizeof(*b));
	double max = argc > 1 ? atof(argv[1]) : 150;
	size_t only = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	int over = 0;

	for (size_t i = 0; s && b && i < sizeof(loads) / sizeof(loads[0]); i++) {
		double ns = only && only != i + 1 ? 0 : measure(&loads[i], s, b);

		if (ns <= max)
			continue;
		fprintf(stderr, "bench_devices: %.1f ns/event: above %.0f\n", ns, max);
		over = 1;
	}
	free(s);
	free(b);
	return over;
}

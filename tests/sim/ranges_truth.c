// SPDX-License-Identifier: BSD-3-Clause
/*
 * ranges_truth THREADS STEPS FILE: threads with ranges that nest, repeat inside themselves, overlap,
 * end in another thread or never or are left open by a thread that ends, in two domains, and launches in them. Writes what is true of each
 * range to FILE (json): how often it began, how many launches it had, between which bounds its time
 * on threads lies. What was launched in a range has a name of its own, so that the device's time in
 * it is the sum of some kernels.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <nvtx3/nvToolsExt.h>

#include "program.h"

#define RANGES(F) F(step) F(forward) F(layer) F(load) F(window) F(handoff) F(replay) F(whole) F(gate) \
	F(left)
#define NUMBER(name) R_##name,
#define TEXT(name) #name,
enum { RANGES(NUMBER) N_RANGES };
static const char *const names[] = { RANGES(TEXT) };

enum { THREADS_MAX = 64, BYTES = 4096, MARKS = 2 };

struct truth {
	uint64_t count, launches, least_ns, most_ns;
	unsigned int open;
	uint64_t before_ns, after_ns;	/* of the begin of the outermost */
};

struct worker {
	pthread_t thread;
	unsigned int steps, marks;
	struct truth of[N_RANGES];
	nvtxDomainHandle_t io;
	nvtxStringHandle_t load;
	nvtxRangeId_t handoff;
	uint64_t left_ns;		/* shortly before its thread ended */
	cudaStream_t stream;
	cudaGraphExec_t graph;
	char *memory, host[BYTES];
};

static char k_forward, k_layer, k_window, k_replay;

static __attribute__((constructor)) void register_kernels(void)
{
	__cudaRegisterFunction(NULL, &k_forward, NULL, "k_forward", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(NULL, &k_layer, NULL, "k_layer", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(NULL, &k_window, NULL, "k_window", -1, NULL, NULL, NULL, NULL, NULL);
	__cudaRegisterFunction(NULL, &k_replay, NULL, "k_replay", -1, NULL, NULL, NULL, NULL, NULL);
}

/* ---- what is true --------------------------------------------------------------------------- */

static void begun(struct worker *w, int range, uint64_t before_ns)
{
	struct truth *t = &w->of[range];

	t->count++;
	if (t->open++)
		return;
	t->before_ns = before_ns;
	t->after_ns = now_ns();
}

static void ended(struct worker *w, int range, uint64_t before_ns)
{
	struct truth *t = &w->of[range];

	if (--t->open)
		return;
	t->least_ns += before_ns - t->after_ns;
	t->most_ns += now_ns() - t->before_ns;
}

static void launched(struct worker *w)
{
	for (int i = 0; i < N_RANGES; i++)
		w->of[i].launches += w->of[i].open > 0;
}

/* ---- what is done --------------------------------------------------------------------------- */

static void push(struct worker *w, int range)
{
	uint64_t before = now_ns();

	nvtxRangePushA(names[range]);
	begun(w, range, before);
}

static void pop(struct worker *w, int range)
{
	uint64_t before = now_ns();

	nvtxRangePop();
	ended(w, range, before);
}

static void launch(struct worker *w, const void *kernel)
{
	dim3 one = { 1, 1, 1 };

	cudaLaunchKernel(kernel, one, one, NULL, 0, w->stream);
	launched(w);
}

static void load(struct worker *w)
{
	nvtxEventAttributes_t a = { .version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
				    .messageType = NVTX_MESSAGE_TYPE_REGISTERED };
	uint64_t before = now_ns();

	a.message.registered = w->load;
	nvtxDomainRangePushEx(w->io, &a);
	begun(w, R_load, before);
	if (cudaMemcpyAsync(w->memory, w->host, BYTES, 1, w->stream))
		exit(1);
	launched(w);
	/* The domain's stack is its own: the outer range of the other one ends first. */
	push(w, R_gate);
	before = now_ns();
	nvtxDomainRangePop(w->io);
	ended(w, R_load, before);
	pop(w, R_gate);
}

static void forward(struct worker *w)
{
	push(w, R_forward);
	launch(w, &k_forward);
	push(w, R_layer);
	push(w, R_layer);
	launch(w, &k_layer);
	pop(w, R_layer);
	launch(w, &k_layer);
	pop(w, R_layer);
	pop(w, R_forward);
}

static void step(struct worker *w, unsigned int number)
{
	nvtxRangeId_t window;
	uint64_t before;
	char mark[32];

	push(w, R_step);
	load(w);
	forward(w);
	before = now_ns();
	window = nvtxRangeStartA(names[R_window]);
	begun(w, R_window, before);
	push(w, R_replay);
	cudaGraphLaunch(w->graph, w->stream);
	launched(w);
	pop(w, R_replay);
	pop(w, R_step);
	launch(w, &k_window);	/* in what overlaps the step */
	before = now_ns();
	nvtxRangeEnd(window);
	ended(w, R_window, before);
	snprintf(mark, sizeof(mark), "mark %u", number % MARKS);
	nvtxMarkA(mark);
	w->marks++;
	cudaStreamSynchronize(w->stream);
}

static void make_graph(struct worker *w)
{
	dim3 one = { 1, 1, 1 };
	cudaGraph_t graph;

	cudaStreamBeginCapture(w->stream, 0);
	cudaLaunchKernel(&k_replay, one, one, NULL, 0, w->stream);
	cudaLaunchKernel(&k_replay, one, one, NULL, 0, w->stream);
	cudaStreamEndCapture(w->stream, &graph);
	if (cudaGraphInstantiate(&w->graph, graph, 0))
		exit(1);
}

/* In a thread that makes no call, too. */
static void *leave_open(void *ctx)
{
	struct worker *w = ctx;

	push(w, R_left);
	push(w, R_left);
	w->left_ns = now_ns();
	return NULL;
}

static void join(struct worker *w)
{
	pthread_join(w->thread, NULL);
	ended(w, R_left, w->left_ns);
	ended(w, R_left, w->left_ns);
}

static void *work(void *ctx)
{
	struct worker *w = ctx;
	uint64_t before;

	if (cudaStreamCreate(&w->stream) || cudaMalloc((void **)&w->memory, BYTES))
		exit(1);
	w->io = nvtxDomainCreateA("io");
	w->load = nvtxDomainRegisterStringA(w->io, names[R_load]);
	make_graph(w);
	before = now_ns();
	w->handoff = nvtxRangeStartA(names[R_handoff]);
	begun(w, R_handoff, before);
	for (unsigned int i = 0; i < w->steps; i++)
		step(w, i);
	return leave_open(w);
}

/* ---- the file ------------------------------------------------------------------------------- */

static void write_truth(FILE *f, const struct worker *w, unsigned int n)
{
	unsigned int marks = 0;

	fprintf(f, "{\"ranges\": {");
	for (int r = 0; r < N_RANGES; r++) {
		struct truth sum = { 0 };

		for (unsigned int i = 0; i <= n + 1; i++) {
			const struct truth *t = &w[i].of[r];

			sum.count += t->count;
			sum.launches += t->launches;
			sum.least_ns += t->least_ns + (t->open ? now_ns() - t->after_ns : 0);
			sum.most_ns += t->most_ns;
			sum.open += t->open;
		}
		fprintf(f, "%s\"%s\": {\"domain\": \"%s\", \"count\": %" PRIu64 ", \"launches\": %" PRIu64
			", \"open\": %" PRIu64 ", \"least_ns\": %" PRIu64 ", \"most_ns\": %" PRIu64 "}",
			r ? ",\n " : "", names[r], r == R_load ? "io" : "", sum.count, sum.launches,
			r == R_left ? sum.count : sum.open, sum.least_ns, sum.most_ns);
	}
	for (unsigned int i = 0; i <= n; i++)
		marks += w[i].marks;
	fprintf(f, "},\n \"marks\": %u}\n", marks);
}

int main(int argc, char **argv)
{
	/* the last two are main's and that of a thread without calls */
	static struct worker w[THREADS_MAX + 2];
	unsigned int n = argc == 4 ? (unsigned int)atoi(argv[1]) : 0;
	uint64_t before;
	FILE *f;

	if (!n || n > THREADS_MAX)
		return 2;
	push(&w[n], R_whole);		/* is never popped */
	for (unsigned int i = 0; i < n; i++) {
		w[i].steps = (unsigned int)atoi(argv[2]);
		if (pthread_create(&w[i].thread, NULL, work, &w[i]))
			abort();
	}
	if (pthread_create(&w[n + 1].thread, NULL, leave_open, &w[n + 1]))
		abort();
	join(&w[n + 1]);
	for (unsigned int i = 0; i < n; i++) {
		join(&w[i]);
		before = now_ns();
		nvtxRangeEnd(w[i].handoff);
		ended(&w[i], R_handoff, before);
	}
	f = fopen(argv[3], "we");
	if (!f)
		return 1;
	write_truth(f, w, n);
	return fclose(f) || cudaDeviceSynchronize();
}

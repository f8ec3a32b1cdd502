// SPDX-License-Identifier: BSD-3-Clause
/*
 * mix: any mixture of works, for tests that hold a profiler against the truth. Each process has a
 * thread for each of its devices, which gives streams of that device kernels, copies, sets and
 * captured graphs in an order that the seed decides, and waits now and then. It knows the CUDA
 * runtime's public functions alone.
 *
 * mix [--processes N] [--devices N] [--streams N] [--rounds N] [--graphs never|some|only]
 *     [--nodes N] [--pause-us N] [--seed N] [--wait-file FILE] [--mark FILE] [--exec] [--fork]
 *     [--destroy] [--ranges DIR]
 *
 * --nodes: so many in each graph, else up to 12 by the seed. --pause-us: up to so long it does
 * nothing between two rounds. --mark: FILE is written when half is done. --fork: then a child is
 * made, too, that ends at once. --destroy: streams are destroyed with what they still have to do, and
 * a context of its own that has given works. --exec: when all is done it executes itself once more.
 * --ranges: with ranges, of which DIR/PID.ranges says what they were (mix_ranges.h).
 * It waits for a file, if any, when everything is ready. Exit status 0: every call succeeded. Prints
 * how many works it gave.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda_api.h"
#include "mix_ranges.h"
#include "program.h"

enum { MAX_STREAMS = 16, MAX_DEVICES = 16, MAX_NODES = 12, BUFFER = 1 << 20, PAGE = 4096, SYNC_EVERY = 24,
       STEP = 8 };
enum graphs { NEVER, SOME, ONLY };

struct options {
	uint64_t processes, devices, streams, rounds, nodes, pause_us, seed;
	enum graphs graphs;
	const char *wait_file, *mark, *ranges;
	bool exec, fork, destroy;
};

struct worker {
	const struct options *options;
	int device;
	uint64_t random, works;
	cudaStream_t stream[MAX_STREAMS];
	cudaGraphExec_t graph[MAX_STREAMS];
	uint64_t nodes[MAX_STREAMS];
	char *memory, *host;
	struct mix_range step, window;
};

/* Kernels of every class that has a name, and one of none. */
static const char *const names[] = {
	"_Z20sgemm_128x64_nn_kerniiiPKfS0_Pf", "_Z15flash_attentionPfPKfi",
	"_Z16bias_relu_kernelPfPKfi", "_Z22softmax_forward_kernelPfi",
	"_Z23multi_tensor_adam_applyPfPKfS_S_f", "_Z17layer_norm_kernelPfi", "_Z9somethingv",
};
enum { KERNELS = sizeof(names) / sizeof(names[0]) };
static char kernels[KERNELS]; /* their addresses are the host functions */

static __attribute__((constructor)) void register_kernels(void)
{
	for (size_t i = 0; i < KERNELS; i++)
		__cudaRegisterFunction(NULL, &kernels[i], NULL, (char *)(uintptr_t)names[i], -1,
				       NULL, NULL, NULL, NULL, NULL);
}

static uint64_t draw(struct worker *w, uint64_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 11) % below;
}

static void give_kernel(struct worker *w, cudaStream_t stream)
{
	static const dim3 grids[] = { { 1, 1, 1 }, { 64, 8, 1 }, { 4096, 1, 1 }, { 128, 128, 2 } };
	static const dim3 blocks[] = { { 32, 1, 1 }, { 256, 1, 1 }, { 16, 16, 1 } };

	CHECK(cudaLaunchKernel(&kernels[draw(w, KERNELS)], grids[draw(w, 4)], blocks[draw(w, 3)],
			       NULL, 0, stream));
}

static void give_copy(struct worker *w, cudaStream_t stream, int kind)
{
	size_t bytes = 1 + draw(w, BUFFER / 2);
	char *to = kind == cudaMemcpyDeviceToHost ? w->host : w->memory;
	const char *from = kind == cudaMemcpyHostToDevice ? w->host : w->memory + BUFFER / 2;

	CHECK(cudaMemcpyAsync(to, from, bytes, kind, stream));
}

static void give_work(struct worker *w, cudaStream_t stream)
{
	static const int ways[] = { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
				    cudaMemcpyDeviceToDevice };
	uint64_t what = draw(w, 10);

	w->works++;
	if (what < 6)
		give_kernel(w, stream);
	else if (what < 9)
		give_copy(w, stream, ways[what - 6]);
	else
		CHECK(cudaMemsetAsync(w->memory, 0, 1 + draw(w, BUFFER), stream));
}

static void make_graph(struct worker *w, size_t i)
{
	cudaGraph_t graph;
	uint64_t before = w->works;

	w->nodes[i] = w->options->nodes ? w->options->nodes : 1 + draw(w, MAX_NODES);
	CHECK(cudaStreamBeginCapture(w->stream[i], 0));
	for (uint64_t n = 0; n < w->nodes[i]; n++)
		give_work(w, w->stream[i]);
	CHECK(cudaStreamEndCapture(w->stream[i], &graph));
	CHECK(cudaGraphInstantiate(&w->graph[i], graph, 0));
	CHECK(cudaGraphDestroy(graph));
	w->works = before; /* captured ones did not run */
}

/* Of each device another number of bytes, and of what is freed. */
static void allocate(struct worker *w)
{
	size_t more = (size_t)w->device * PAGE;
	void *freed;

	CHECK(cudaMalloc((void **)&w->memory, BUFFER + more));
	CHECK(cudaMallocHost((void **)&w->host, BUFFER + 2 * more));
	for (int i = 0; i < w->device; i++) {
		CHECK(cudaMallocAsync(&freed, PAGE + more, NULL));
		CHECK(cudaFreeAsync(freed, NULL));
	}
}

static void prepare(struct worker *w)
{
	CHECK(cudaSetDevice(w->device));
	allocate(w);
	for (size_t i = 0; i < w->options->streams; i++) {
		CHECK(cudaStreamCreateWithFlags(&w->stream[i], i % 2));
		if (w->options->graphs != NEVER)
			make_graph(w, i);
	}
}

static void *driver_function(const char *name)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *at = driver ? dlsym(driver, name) : NULL;

	if (!at)
		exit(1);
	return at;
}

/* In a context of its own, which is gone before its works are over. */
static void use_context(struct worker *w)
{
	__typeof__(cuCtxCreate_v2) *create;
	__typeof__(cuCtxDestroy_v2) *destroy;
	__typeof__(cuCtxGetCurrent) *get;
	__typeof__(cuCtxSetCurrent) *set;
	__typeof__(cuLaunchKernel) *launch;
	CUcontext own, before;
	int failed;

	*(void **)&create = driver_function("cuCtxCreate_v2");
	*(void **)&destroy = driver_function("cuCtxDestroy_v2");
	*(void **)&get = driver_function("cuCtxGetCurrent");
	*(void **)&set = driver_function("cuCtxSetCurrent");
	*(void **)&launch = driver_function("cuLaunchKernel");
	failed = get(&before) || create(&own, 0, w->device);
	for (int i = 0; i < 10 && !failed; i++, w->works++)
		failed = launch((CUfunction)(void *)&kernels[0], 64, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	if (failed || destroy(own) || set(before))
		exit(1);
}

static void half_done(const struct options *o)
{
	FILE *mark = o->mark ? fopen(o->mark, "we") : NULL;

	if (mark)
		fclose(mark);
	if (o->fork && !fork())
		_exit(0);
}

static void give(struct worker *w)
{
	size_t i = draw(w, w->options->streams), of = draw(w, w->options->streams);

	if (w->options->graphs == ONLY || (w->options->graphs == SOME && !draw(w, 4))) {
		CHECK(cudaGraphLaunch(w->graph[of], w->stream[i]));
		w->works += w->nodes[of];
	} else {
		give_work(w, w->stream[i]);
	}
}

static void sync_with_some(struct worker *w)
{
	CHECK(draw(w, 2) ? cudaDeviceSynchronize() :
			   cudaStreamSynchronize(w->stream[draw(w, w->options->streams)]));
}

/* A step is some rounds, in it are operations; windows begin and end anywhere. */
static void give_in_ranges(struct worker *w, uint64_t round)
{
	static const char *const parts[] = { "load", "forward", "backward" };
	struct mix_range op = { 0 };

	if (round % STEP == 1)
		w->step = mix_range_begin("step", false, false);
	if (!draw(w, 5))
		mix_range_end(&w->window);
	if (!w->window.name && !draw(w, 5))
		w->window = mix_range_begin("window", draw(w, 2), true);
	if (draw(w, 4))
		op = mix_range_begin(parts[draw(w, 3)], draw(w, 3), false);
	give(w);
	mix_range_end(&op);
	if (round % STEP == 0 || round == w->options->rounds)
		mix_range_end(&w->step);
	if (round == w->options->rounds)
		mix_range_end(&w->window);
}

static void *run(void *argument)
{
	struct worker *w = argument;

	prepare(w);
	while (w->options->wait_file && access(w->options->wait_file, F_OK))
		usleep(1000);
	for (uint64_t round = 1; round <= w->options->rounds; round++) {
		if (w->options->ranges)
			give_in_ranges(w, round);
		else
			give(w);
		if (round == w->options->rounds / 2 && !w->device)
			half_done(w->options);
		if (w->options->pause_us)
			usleep((useconds_t)draw(w, w->options->pause_us + 1));
		if (round % SYNC_EVERY == 0)
			sync_with_some(w);
	}
	if (w->options->destroy)
		use_context(w);
	for (size_t i = 0; w->options->destroy && i < w->options->streams; i++)
		CHECK(cudaStreamDestroy(w->stream[i]));
	CHECK(cudaDeviceSynchronize());
	return NULL;
}

static int run_process(const struct options *options, uint64_t number)
{
	struct worker workers[MAX_DEVICES];
	pthread_t threads[MAX_DEVICES];
	uint64_t works = 0;

	if (options->seed % 2)
		CHECK(cudaFree(NULL)); /* CUDA starts, else NVTX does before it */
	if (options->ranges && mix_ranges_open(options->ranges))
		return 1;
	for (uint64_t i = 0; i < options->devices; i++) {
		workers[i] = (struct worker){ .options = options, .device = (int)i };
		workers[i].random = (options->seed + 1) * 0x9e3779b97f4a7c15u ^
				    (number << 32 | (i + 1) << 8);
		if (pthread_create(&threads[i], NULL, run, &workers[i]))
			return 1;
	}
	for (uint64_t i = 0; i < options->devices; i++) {
		pthread_join(threads[i], NULL);
		works += workers[i].works;
	}
	printf("mix: pid %d gave %llu works\n", (int)getpid(), (unsigned long long)works);
	return fflush(stdout) != 0;
}

static int run_all(const struct options *options)
{
	int failed = 0, status;

	if (options->processes == 1)
		return run_process(options, 0);
	for (uint64_t i = 0; i < options->processes; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (!pid)
			exit(run_process(options, i));
	}
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}

static int usage(void)
{
	fputs("usage: mix [--processes N] [--devices N] [--streams N] [--rounds N]\n"
	      "           [--graphs never|some|only] [--nodes N] [--pause-us N] [--seed N]\n"
	      "           [--wait-file FILE] [--mark FILE] [--exec] [--fork] [--destroy]\n"
	      "           [--ranges DIR]\n",
	      stderr);
	return 2;
}

static bool parse(struct options *o, char **argv)
{
	static const char *const graphs[] = { [NEVER] = "never", [SOME] = "some", [ONLY] = "only" };
	const char *wanted = graphs[NEVER];
	const struct program_option known[] = {
		{ "--processes", .number = &o->processes }, { "--devices", .number = &o->devices },
		{ "--streams", .number = &o->streams },	    { "--rounds", .number = &o->rounds },
		{ "--nodes", .number = &o->nodes },	    { "--pause-us", .number = &o->pause_us },
		{ "--seed", .number = &o->seed },	    { "--graphs", .text = &wanted },
		{ "--wait-file", .text = &o->wait_file },   { "--mark", .text = &o->mark },
		{ "--ranges", .text = &o->ranges },	    { "--exec", .flag = &o->exec },
		{ "--fork", .flag = &o->fork },		    { "--destroy", .flag = &o->destroy },
	};

	if (!PROGRAM_OPTIONS(known, argv))
		return false;
	while (o->graphs <= ONLY && strcmp(wanted, graphs[o->graphs]))
		o->graphs++;
	return o->graphs <= ONLY;
}

int main(int argc, char **argv)
{
	struct options o = { .processes = 1, .devices = 1, .streams = 2, .rounds = 200 };
	int status;

	(void)argc;
	if (!parse(&o, argv) || !o.devices || o.devices > MAX_DEVICES || !o.streams || o.streams > MAX_STREAMS)
		return usage();
	status = run_all(&o);
	if (!o.exec || status)
		return status;
	execv("/proc/self/exe", (char *[]){ argv[0], "--seed", "1", NULL });
	return 1;
}

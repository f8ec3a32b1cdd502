// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that calls the real libcudart with known shapes and sizes. Without a driver every call
 * fails quickly, which is a result like any other: the truth has what each returned.
 *
 * Built four ways: against libcudart.so, libcudart_static.a, the latter stripped, and with
 * TARGET_DLOPEN, which loads the library only when the wait is over.
 */
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "target.h"

#define CUDART_FUNCTIONS(X)                                                                     \
	X(cudaLaunchKernel) X(cudaLaunchKernelExC) X(cudaMemcpy) X(cudaMemcpyAsync)             \
	X(cudaMemset) X(cudaMemsetAsync) X(cudaMalloc) X(cudaFree) X(cudaMallocAsync)           \
	X(cudaFreeAsync) X(cudaStreamSynchronize) X(cudaDeviceSynchronize)                      \
	X(cudaEventSynchronize) X(cudaGetErrorName)

struct cudart {
#define MEMBER(name) __typeof__(name) *name;
	CUDART_FUNCTIONS(MEMBER)
};

struct work {
	unsigned long launches, exc, copies, memsets, allocs, syncs, threads, rounds, pause_us;
};

struct worker {
	const struct cudart *api;
	const struct work *work;
	void *buffer;		/* stands for both ends of every copy */
	struct truth truth;
};

static const struct truth_shape shapes[] = {
	{ .grid = { 1, 1, 1 }, .block = { 32, 1, 1 } },
	{ .grid = { 80, 2, 1 }, .block = { 128, 1, 1 } },
	{ .grid = { 7, 5, 3 }, .block = { 16, 8, 2 } },
	{ .grid = { 65536, 1, 1 }, .block = { 1024, 1, 1 } },
	{ .grid = { 2147483647, 65535, 65535 }, .block = { 1, 1, 64 } },
};
static const size_t sizes_bytes[] = { 1, 4096, 65536, 1048577 };

enum { BUFFER_BYTES = 2 << 20 };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#ifdef TARGET_DLOPEN
static void cudart_load(struct cudart *api)
{
	void *library = dlopen("libcudart.so.13", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		exit(1);
	}
#define LOOK_UP(name) api->name = (__typeof__(name) *)dlsym(library, #name);
	CUDART_FUNCTIONS(LOOK_UP)
}
#else
static void cudart_load(struct cudart *api)
{
#define ADDRESS(name) api->name = name;
	CUDART_FUNCTIONS(ADDRESS)
}
#endif

static struct cudart cudart;

static const char *result_name(int code)
{
	return cudart.cudaGetErrorName((cudaError_t)code);
}

/* One call and its truth; the value is the function's row. */
#define CALL(w, name, ...)                                                                      \
	({                                                                                      \
		uint64_t start_ns = truth_now_ns();                                             \
		int result = (int)(w)->api->name(__VA_ARGS__);                                  \
		truth_call(&(w)->truth, #name, start_ns, result);                               \
	})

static void launch(struct worker *w, unsigned long i)
{
	const struct truth_shape *s = &shapes[i % COUNT(shapes)];
	dim3 grid = { s->grid[0], s->grid[1], s->grid[2] };
	dim3 block = { s->block[0], s->block[1], s->block[2] };
	void *arguments[] = { &w->buffer };

	truth_launch(CALL(w, cudaLaunchKernel, (const void *)shapes, grid, block, arguments, 64, NULL),
		     s->grid, s->block);
}

static void launch_exc(struct worker *w, unsigned long i)
{
	const struct truth_shape *s = &shapes[i % COUNT(shapes)];
	cudaLaunchConfig_t config = {
		.gridDim = { s->grid[0], s->grid[1], s->grid[2] },
		.blockDim = { s->block[0], s->block[1], s->block[2] },
	};
	void *arguments[] = { &w->buffer };

	truth_launch(CALL(w, cudaLaunchKernelExC, &config, (const void *)shapes, arguments), s->grid,
		     s->block);
}

static void copy(struct worker *w, unsigned long i)
{
	static const enum cudaMemcpyKind kinds[] = { cudaMemcpyHostToDevice,
						     cudaMemcpyDeviceToHost };
	size_t bytes = sizes_bytes[i % COUNT(sizes_bytes)];
	enum cudaMemcpyKind kind = kinds[i / COUNT(sizes_bytes) % COUNT(kinds)];
	void *to = (char *)w->buffer + BUFFER_BYTES;

	CALL(w, cudaMemcpy, to, w->buffer, bytes, kind)->bytes += bytes;
	CALL(w, cudaMemcpyAsync, to, w->buffer, bytes, kind, NULL)->bytes += bytes;
}

static void set(struct worker *w, unsigned long i)
{
	size_t bytes = sizes_bytes[i % COUNT(sizes_bytes)];

	CALL(w, cudaMemset, w->buffer, 0, bytes)->bytes += bytes;
	CALL(w, cudaMemsetAsync, w->buffer, 0, bytes, NULL)->bytes += bytes;
}

static void alloc(struct worker *w, unsigned long i)
{
	size_t bytes = sizes_bytes[i % COUNT(sizes_bytes)];
	void *memory = NULL;

	CALL(w, cudaMalloc, &memory, bytes)->bytes += bytes;
	CALL(w, cudaFree, memory);
	CALL(w, cudaMallocAsync, &memory, bytes, NULL)->bytes += bytes;
	CALL(w, cudaFreeAsync, memory, NULL);
}

static void synchronise(struct worker *w, unsigned long i)
{
	(void)i;
	CALL(w, cudaStreamSynchronize, NULL);
	CALL(w, cudaDeviceSynchronize);
	CALL(w, cudaEventSynchronize, NULL);
}

static void repeat(struct worker *w, void (*step)(struct worker *w, unsigned long i),
		   unsigned long n)
{
	struct timespec pause = { .tv_nsec = (long)w->work->pause_us * 1000 };

	for (unsigned long i = 0; i < n; i++) {
		step(w, i);
		if (pause.tv_nsec)
			nanosleep(&pause, NULL);
	}
}

static void *work(void *argument)
{
	struct worker *w = argument;

	for (unsigned long i = 0; i < w->work->rounds; i++) {
		repeat(w, launch, w->work->launches);
		repeat(w, launch_exc, w->work->exc);
		repeat(w, copy, w->work->copies);
		repeat(w, set, w->work->memsets);
		repeat(w, alloc, w->work->allocs);
		repeat(w, synchronise, w->work->syncs);
	}
	return NULL;
}

static int run(const struct work *todo, const char *truth_file)
{
	struct worker *w = calloc(todo->threads, sizeof(*w));
	struct truth *truths = calloc(todo->threads, sizeof(*truths));
	pthread_t *threads = calloc(todo->threads, sizeof(*threads));
	void *buffer = calloc(2, BUFFER_BYTES);
	int err;

	for (unsigned long i = 0; i < todo->threads; i++) {
		w[i] = (struct worker){ .api = &cudart, .work = todo, .buffer = buffer };
		pthread_create(&threads[i], NULL, work, &w[i]);
	}
	for (unsigned long i = 0; i < todo->threads; i++) {
		pthread_join(threads[i], NULL);
		truths[i] = w[i].truth;
	}
	err = truth_write(truth_file, truths, todo->threads, result_name);
	free(buffer);
	free(threads);
	free(truths);
	free(w);
	return err;
}

int main(int argc, char **argv)
{
	struct work todo = { .threads = 1, .rounds = 1 };
	unsigned long load_ms = 0;
	const struct target_option options[] = {
		{ "launches", &todo.launches, NULL, "cudaLaunchKernel per thread and round" },
		{ "exc", &todo.exc, NULL, "cudaLaunchKernelExC" },
		{ "copies", &todo.copies, NULL, "cudaMemcpy and cudaMemcpyAsync" },
		{ "memsets", &todo.memsets, NULL, "cudaMemset and cudaMemsetAsync" },
		{ "allocs", &todo.allocs, NULL, "cudaMalloc, cudaFree and their async forms" },
		{ "syncs", &todo.syncs, NULL, "stream, device and event synchronisations" },
		{ "threads", &todo.threads, NULL, "threads that do all this (1)" },
		{ "rounds", &todo.rounds, NULL, "how often (1)" },
		{ "pause-us", &todo.pause_us, NULL, "pause after each step (0)" },
		{ "load-ms", &load_ms, NULL, "pause between loading the library and calling it (0)" },
		{ NULL, NULL, NULL, NULL },
	};
	struct target_control control;

	target_begin(argc, argv, options, &control);
	cudart_load(&cudart);
	usleep((unsigned int)load_ms * 1000);
	return target_end(&control, run(&todo, control.truth));
}

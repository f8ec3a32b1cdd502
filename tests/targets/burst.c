// SPDX-License-Identifier: BSD-3-Clause
/*
 * A burst that no small ring can take: threads that launch as fast as they can (the calls of the
 * real libcudart fail in nanoseconds where there is no driver), and one quiet thread that makes a
 * few calls well before and well after them, and so loses nothing.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "target.h"

struct bursts {
	unsigned long calls, threads, quiet, gap_ms;
	pthread_barrier_t before, after;
};

struct worker {
	struct bursts *all;
	struct truth truth;
};

static const char *result_name(int code)
{
	return cudaGetErrorName((cudaError_t)code);
}

static void launch(struct truth *t)
{
	static const uint32_t grid[3] = { 12, 3, 1 }, block[3] = { 96, 2, 1 };
	dim3 g = { 12, 3, 1 }, b = { 96, 2, 1 };
	uint64_t start_ns = truth_now_ns();
	int result = (int)cudaLaunchKernel((const void *)grid, g, b, NULL, 0, NULL);

	truth_launch(truth_call(t, "cudaLaunchKernel", start_ns, result), grid, block);
}

static void *noisy(void *argument)
{
	struct worker *w = argument;

	w->truth.role = "noisy";
	pthread_barrier_wait(&w->all->before);
	for (unsigned long i = 0; i < w->all->calls; i++)
		launch(&w->truth);
	pthread_barrier_wait(&w->all->after);
	return NULL;
}

static void *quiet(void *argument)
{
	struct worker *w = argument;

	w->truth.role = "quiet";
	for (unsigned long i = 0; i < w->all->quiet; i++)
		launch(&w->truth);
	usleep((unsigned int)w->all->gap_ms * 1000);
	pthread_barrier_wait(&w->all->before);
	pthread_barrier_wait(&w->all->after);
	usleep((unsigned int)w->all->gap_ms * 1000);
	for (unsigned long i = 0; i < w->all->quiet; i++)
		launch(&w->truth);
	return NULL;
}

static int run(struct bursts *all, const char *truth_file)
{
	unsigned long n = all->threads + 1;
	struct worker *w = calloc(n, sizeof(*w));
	struct truth *truths = calloc(n, sizeof(*truths));
	pthread_t *threads = calloc(n, sizeof(*threads));
	int err;

	pthread_barrier_init(&all->before, NULL, (unsigned int)n);
	pthread_barrier_init(&all->after, NULL, (unsigned int)n);
	for (unsigned long i = 0; i < n; i++) {
		w[i].all = all;
		pthread_create(&threads[i], NULL, i ? noisy : quiet, &w[i]);
	}
	for (unsigned long i = 0; i < n; i++) {
		pthread_join(threads[i], NULL);
		truths[i] = w[i].truth;
	}
	err = truth_write(truth_file, truths, n, result_name);
	free(threads);
	free(truths);
	free(w);
	return err;
}

int main(int argc, char **argv)
{
	struct bursts all = { .calls = 250000, .threads = 4, .quiet = 100, .gap_ms = 500 };
	const struct target_option options[] = {
		{ "calls", &all.calls, NULL, "launches per noisy thread (250000)" },
		{ "threads", &all.threads, NULL, "noisy threads (4)" },
		{ "quiet", &all.quiet, NULL, "launches of the quiet thread, before and after (100)" },
		{ "gap-ms", &all.gap_ms, NULL, "between its calls and the burst (500)" },
		{ NULL, NULL, NULL, NULL },
	};
	struct target_control control;

	target_begin(argc, argv, options, &control);
	return target_end(&control, run(&all, control.truth));
}

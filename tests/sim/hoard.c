// SPDX-License-Identifier: BSD-3-Clause
/*
 * hoard: allocates and frees device, pool and page-locked memory, for tests that hold a profiler's
 * table of memory against the truth. Each thread has a few places, and fills or empties one after
 * the other as the seed decides; some allocations ask for too much, and what is left is never freed.
 *
 * hoard [--threads N] [--rounds N] [--seed N] [--ready-file FILE] [--wait-file FILE]
 *       [--end-file FILE]
 *
 * With --wait-file half of the rounds are done before READY is made, and the rest when FILE is
 * there. With --end-file it stays until that is there. Exit status 0: every call did what it should.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program.h"

enum { MAX_THREADS = 16, PLACES = 8, LARGEST = 1 << 22, OUT_OF_MEMORY = 2 };
enum kind { DEVICE, POOL, PINNED, KINDS };

struct options {
	uint64_t threads, rounds, seed;
	const char *ready_file, *wait_file, *end_file;
};

struct worker {
	const struct options *options;
	uint64_t random;
	struct {
		void *memory;
		enum kind kind;
	} place[PLACES];
	int failures;
};

static pthread_barrier_t half;

static uint64_t draw(struct worker *w, uint64_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 11) % below;
}

static cudaError_t fill(struct worker *w, void **memory, enum kind kind)
{
	size_t bytes = 1 + draw(w, LARGEST);

	switch (kind) {
	case DEVICE:
		return cudaMalloc(memory, bytes);
	case POOL:
		return cudaMallocAsync(memory, bytes, NULL);
	default:
		return cudaMallocHost(memory, bytes);
	}
}

static cudaError_t empty(void *memory, enum kind kind)
{
	switch (kind) {
	case DEVICE:
		return cudaFree(memory);
	case POOL:
		return cudaFreeAsync(memory, NULL);
	default:
		return cudaFreeHost(memory);
	}
}

static void turn(struct worker *w)
{
	size_t at = draw(w, PLACES);
	void **memory = &w->place[at].memory, *none = NULL;

	if (!draw(w, 12)) {
		w->failures += cudaMalloc(&none, (size_t)1 << 50) != OUT_OF_MEMORY;
		return;
	}
	if (*memory) {
		w->failures += empty(*memory, w->place[at].kind) != cudaSuccess;
		*memory = NULL;
		return;
	}
	w->place[at].kind = (enum kind)draw(w, KINDS);
	w->failures += fill(w, memory, w->place[at].kind) != cudaSuccess;
}

static void *work(void *context)
{
	struct worker *w = context;

	for (uint64_t i = 0; i < w->options->rounds; i++) {
		if (i == w->options->rounds / 2 && w->options->wait_file) {
			pthread_barrier_wait(&half);
			while (access(w->options->wait_file, F_OK))
				usleep(2000);
		}
		turn(w);
	}
	return NULL;
}

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	struct options options = { .threads = 1, .rounds = 100, .seed = 1 };
	const struct program_option known[] = {
		{ "--threads", .number = &options.threads },
		{ "--rounds", .number = &options.rounds },
		{ "--seed", .number = &options.seed },
		{ "--ready-file", .text = &options.ready_file },
		{ "--wait-file", .text = &options.wait_file },
		{ "--end-file", .text = &options.end_file },
	};
	static struct worker workers[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	int failures = 0;

	(void)argc;
	if (!PROGRAM_OPTIONS(known, argv) || !options.threads || options.threads > MAX_THREADS) {
		fputs("hoard: an unknown option, or a bad value\n", stderr);
		return 2;
	}
	failures = cudaFree(NULL) != cudaSuccess; /* CUDA starts, in the first thread */
	pthread_barrier_init(&half, NULL, (unsigned int)options.threads + 1);
	for (uint64_t i = 0; i < options.threads; i++) {
		workers[i] = (struct worker){ .options = &options,
					      .random = (options.seed + i) * 0x9e3779b97f4a7c15ull | 1 };
		if (pthread_create(&threads[i], NULL, work, &workers[i]))
			return 1;
	}
	if (options.wait_file) {
		pthread_barrier_wait(&half);
		if (options.ready_file)
			make_file(options.ready_file);
	}
	for (uint64_t i = 0; i < options.threads; i++) {
		pthread_join(threads[i], NULL);
		failures += workers[i].failures;
	}
	while (options.end_file && access(options.end_file, F_OK))
		usleep(2000);
	return failures > 0;
}

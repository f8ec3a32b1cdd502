// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that --seed draws: one to three threads launch kernels of 10 us to 2 s into two to four
 * streams, and wait now and then for the device or for one stream after the other. It ends after
 * --ms, whatever still runs or hangs (GPUSIM_HANG). Here CUDA is the simulated one.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "program.h"

enum {
	STREAMS_MAX = 4,
	THREADS_MAX = 3,
	BLOCK = 256,
	NS_PER_BLOCK = BLOCK / 64,	/* gpusim_duration.c: 1 ns for 64 threads */
	AHEAD = 12,			/* launches until a thread waits, at most */
};

static cudaStream_t streams[STREAMS_MAX];
static size_t n_streams;
static uint64_t doubles;	/* so many of so many and one durations are twice as long */

struct dice {			/* of one thread */
	uint64_t state;
	pthread_t thread;
};

static uint64_t roll(struct dice *d, uint64_t sides)
{
	d->state ^= d->state << 13;
	d->state ^= d->state >> 7;
	d->state ^= d->state << 17;
	return d->state % sides;
}

/* From 10 us to 2 s: the longer the fewer. */
static uint64_t duration_ns(struct dice *d)
{
	uint64_t ns = 10000;

	while (ns < 1000000000 && roll(d, doubles + 1))
		ns *= 2;
	return ns + roll(d, ns);
}

static __attribute__((noinline)) void kernel(struct dice *d, cudaStream_t stream)
{
	const dim3 grid = { (unsigned int)(duration_ns(d) / NS_PER_BLOCK), 1, 1 };

	CHECK(cudaLaunchKernel((const void *)kernel, grid, (dim3){ BLOCK, 1, 1 }, NULL, 0, stream));
}

static void wait_for_work(struct dice *d)
{
	size_t i;

	if (roll(d, 2)) {
		CHECK(cudaDeviceSynchronize());
		return;
	}
	for (i = 0; i < n_streams; i++)
		CHECK(cudaStreamSynchronize(streams[i]));
}

static void *play(void *argument)
{
	struct dice *d = argument;
	uint64_t launches;

	for (;;) {
		for (launches = 1 + roll(d, AHEAD); launches; launches--) {
			kernel(d, streams[roll(d, n_streams)]);
			if (!roll(d, 4))
				sleep_ns(roll(d, 3000000));
		}
		wait_for_work(d);
		if (!roll(d, 3))
			sleep_ns(roll(d, 100000000));
	}
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t seed = 1, ms = 3000, threads;
	static struct dice first, others[THREADS_MAX];	/* threads go on when main has returned */
	const struct program_option known[] = {
		{ "--seed", .number = &seed },
		{ "--ms", .number = &ms },
	};
	size_t i;

	(void)argc;
	if (!PROGRAM_OPTIONS(known, argv)) {
		fputs("usage: dice [--seed N] [--ms T]\n", stderr);
		return 2;
	}
	first.state = (seed + 1) * 0x9e3779b97f4a7c15;
	threads = 1 + roll(&first, THREADS_MAX);
	n_streams = 2 + roll(&first, STREAMS_MAX - 1);
	doubles = 1 + roll(&first, 3);
	for (i = 0; i < n_streams; i++)
		CHECK(cudaStreamCreateWithFlags(&streams[i], 1));
	printf("dice: seed %" PRIu64 ", %" PRIu64 " threads, %zu streams, pid %d\n", seed, threads,
	       n_streams, (int)getpid());
	fflush(stdout);
	for (i = 0; i < threads; i++) {
		others[i].state = first.state + (i + 1) * 0xd6e8feb86659fd93;
		if (pthread_create(&others[i].thread, NULL, play, &others[i]))
			abort();
	}
	sleep_ns(ms * 1000000);
	return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two threads of one CPU that hand a byte to and fro: each turn is a wakeup and a switch. It has a
 * function of the CUDA runtime's name, which both call once on request: from then on they
 * are threads that drive a device. Knows nothing of gpuprof.
 *
 *   switcher     reads lines: a number of turns -> prints ns of CPU per turn; "call" -> prints "called"
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct { unsigned int x, y, z; } dim3;

static int initialise(void)
{
	__asm__ volatile("");
	return 0;
}

static __attribute__((noipa)) int cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args,
						   size_t shared, void *stream)
{
	(void)func, (void)grid, (void)block, (void)args, (void)shared, (void)stream;
	return initialise();
}

static int there[2], back[2];

enum { TURN = 't', CALL = 'c' };

static void call(void)
{
	cudaLaunchKernel(NULL, (dim3){ 1, 1, 1 }, (dim3){ 1, 1, 1 }, NULL, 0, NULL);
}

static void pass(int to, int from, char byte)
{
	if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
		exit(1);
}

static void *answer(void *arg)
{
	char byte;

	(void)arg;
	while (read(there[0], &byte, 1) == 1) {
		if (byte == CALL)
			call();
		if (write(back[1], &byte, 1) != 1)
			exit(1);
	}
	return NULL;
}

/* Of the CPU: others may want it too. */
static long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

int main(void)
{
	cpu_set_t one;
	pthread_t thread;
	char line[64];

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof(one), &one) || pipe(there) || pipe(back) ||
	    pthread_create(&thread, NULL, answer, NULL))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		long turns = strtol(line, NULL, 10);
		long long start = now_ns();

		if (!strncmp(line, "call", 4)) {
			call();
			pass(there[1], back[0], CALL);
			puts("called");
		} else {
			for (long i = 0; i < turns; i++)
				pass(there[1], back[0], TURN);
			printf("%.1f\n", (double)(now_ns() - start) / (2.0 * (double)turns));
		}
		fflush(stdout);
	}
	return 0;
}

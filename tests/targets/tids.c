// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads of one and the same tid, one after the other, each with one launch, as a host has them that
 * has used up its pids. Exits 3 where the next number cannot be chosen, or others take it every time.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "target.h"

enum { TRIES = 2000 };		/* others fork meanwhile */

struct thread {
	pid_t wanted, tid;	/* wanted 0: any */
};

static void *launch_once(void *argument)
{
	dim3 grid = { 1, 1, 1 }, block = { 1, 1, 1 };
	struct thread *t = argument;

	t->tid = gettid();
	if (!t->wanted || t->tid == t->wanted)
		cudaLaunchKernel(argument, grid, block, NULL, 0, NULL);
	return NULL;
}

static bool choose_next(pid_t tid)
{
	FILE *last = fopen("/proc/sys/kernel/ns_last_pid", "w");
	bool good = last && fprintf(last, "%d", tid - 1) > 0;

	return last && !fclose(last) && good;
}

/* Its number; 0: it could not be had. */
static pid_t run_thread(pid_t wanted)
{
	for (int i = 0; i < TRIES; i++) {
		struct thread t = { .wanted = wanted };
		pthread_t thread;

		if ((wanted && !choose_next(wanted)) ||
		    pthread_create(&thread, NULL, launch_once, &t))
			return 0;
		pthread_join(thread, NULL);
		if (!wanted || t.tid == wanted)
			return t.tid;
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long threads = 200;
	const struct target_option options[] = {
		{ "threads", &threads, NULL, "threads of one number (200)" },
		{ NULL, NULL, NULL, NULL },
	};
	struct target_control control;
	pid_t tid = 0;

	target_begin(argc, argv, options, &control);
	for (unsigned long i = 0; i < threads; i++) {
		tid = run_thread(tid);
		if (!tid)
			return 3;
	}
	return target_end(&control, 0);
}

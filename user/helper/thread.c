// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "helper/thread.h"

#include <pthread.h>
#include <signal.h>

#define STACK_LEAST (1u << 20)	/* CUPTI's functions run on it */

static sigset_t program;	/* what is blocked where threads were started */

/* The program's default for its own threads may be little. */
static void make_room(pthread_attr_t *attr)
{
	size_t bytes;

	if (!pthread_attr_getstacksize(attr, &bytes) && bytes < STACK_LEAST)
		pthread_attr_setstacksize(attr, STACK_LEAST);
}

int thread_start(void *(*run)(void *), void *ctx)
{
	pthread_attr_t attr;
	sigset_t all;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	make_room(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &program);	/* the thread is born with it */
	err = pthread_create(&thread, &attr, run, ctx);
	pthread_sigmask(SIG_SETMASK, &program, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

void thread_hear(void)
{
	pthread_sigmask(SIG_SETMASK, &program, NULL);
}

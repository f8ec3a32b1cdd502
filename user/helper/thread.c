// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "helper/thread.h"

#include <pthread.h>
#include <signal.h>

int thread_start(void *(*run)(void *), void *ctx)
{
	pthread_attr_t attr;
	sigset_t all, before;
	pthread_t thread;
	int err;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_SETMASK, &all, &before);	/* the thread is born with it */
	err = pthread_create(&thread, &attr, run, ctx);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return err;
}

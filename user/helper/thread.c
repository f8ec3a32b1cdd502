// SPDX-License-Identifier: BSD-3-Clause
#include "helper/thread.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STACK_LEAST (1u << 20)	/* CUPTI's functions run on it */

static sigset_t program;	/* the signal mask of the thread that started ours */

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

void thread_restore_signals(void)
{
	pthread_sigmask(SIG_SETMASK, &program, NULL);
}

/* ---- of any thread, by procfs --------------------------------------------------------------- */

bool thread_status_number(const char *path, const char *field, int base, uint64_t *out)
{
	char text[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	const char *at;

	if (fd >= 0)
		close(fd);
	if (n < 0)
		return false;
	text[n] = '\0';
	at = strstr(text, field);
	if (at)
		*out = strtoull(at + strlen(field), NULL, base);
	return at;
}

uint32_t thread_seccomp_filters(void)
{
	uint64_t n;

	/* The line is there since Linux 5.9. */
	if (!thread_status_number("/proc/thread-self/status", "\nSeccomp_filters:", 10, &n))
		return 0;
	return (uint32_t)n + 1;
}

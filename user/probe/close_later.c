// SPDX-License-Identifier: BSD-3-Clause
/* A thread for each batch; they are few. */
#include "probe/close_later.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct close_later {
	struct close_later *next;
	pthread_t thread;
	size_t n;
	int fds[];
};

static void close_all(const int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		close(fds[i]);
}

static void *close_batch(void *arg)
{
	const struct close_later *batch = arg;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	close_all(batch->fds, batch->n);
	return NULL;
}

void close_later_add(struct close_later **c, const int *fds, size_t n)
{
	struct close_later *batch;

	if (!n)
		return;
	batch = malloc(sizeof(*batch) + n * sizeof(*fds));
	if (batch) {
		batch->next = *c;
		batch->n = n;
		memcpy(batch->fds, fds, n * sizeof(*fds));
	}
	if (batch && !pthread_create(&batch->thread, NULL, close_batch, batch)) {
		*c = batch;
		return;
	}
	free(batch);
	close_all(fds, n);
}

void close_later_wait(struct close_later **c)
{
	while (*c) {
		struct close_later *batch = *c;

		*c = batch->next;
		pthread_join(batch->thread, NULL);
		free(batch);
	}
}

// SPDX-License-Identifier: BSD-3-Clause
/* Chunks go round: written, queued, taken, spare again. The lock is held for pointers only. */
#include "source/bpf/drain_queue.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/io.h"

struct drain_queue {
	int fd;			/* a semaphore: one for each queued chunk */
	struct drain_chunk *open;	/* the writer's */

	/* Under lock: the queue, its spare chunks, and how many chunks exist. */
	pthread_mutex_t lock;
	pthread_cond_t room;
	struct drain_chunk *first, **last, *spare;
	unsigned int n_chunks;
};

struct drain_queue *drain_queue_new(void)
{
	struct drain_queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	if (q->fd < 0) {
		free(q);
		return NULL;
	}
	q->last = &q->first;
	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->room, NULL);
	return q;
}

static void free_chunks(struct drain_chunk *c)
{
	while (c) {
		struct drain_chunk *next = c->next;

		free(c);
		c = next;
	}
}

void drain_queue_free(struct drain_queue *q)
{
	if (!q)
		return;
	free_chunks(q->first);
	free_chunks(q->spare);
	free(q->open);
	close(q->fd);
	pthread_mutex_destroy(&q->lock);
	pthread_cond_destroy(&q->room);
	free(q);
}

int drain_queue_fd(const struct drain_queue *q)
{
	return q->fd;
}

/* ---- the writer ---------------------------------------------------------------------------- */

/* A spare chunk, or a new one while there may be more. */
static struct drain_chunk *get_chunk(struct drain_queue *q)
{
	struct drain_chunk *c;

	pthread_mutex_lock(&q->lock);
	while (!q->spare && q->n_chunks == DRAIN_CHUNKS_MAX)
		pthread_cond_wait(&q->room, &q->lock);
	c = q->spare;
	if (c) {
		q->spare = c->next;
	} else {
		c = malloc(sizeof(*c));
		q->n_chunks += c != NULL;
	}
	pthread_mutex_unlock(&q->lock);
	if (c) {
		c->next = NULL;
		c->used = 0;
	}
	return c;
}

void drain_queue_flush(struct drain_queue *q)
{
	struct drain_chunk *c = q->open;

	if (!c || !c->used)
		return;
	q->open = NULL;
	pthread_mutex_lock(&q->lock);
	*q->last = c;
	q->last = &c->next;
	pthread_mutex_unlock(&q->lock);
	io_notify(q->fd);
}

int drain_queue_put(struct drain_queue *q, enum drain_item_kind kind, const void *data, size_t len)
{
	size_t need = sizeof(struct drain_item) + ((len + 7) & ~(size_t)7);
	struct drain_item *item;

	if (len > DRAIN_CHUNK_BYTES || need > DRAIN_CHUNK_BYTES)
		return -EMSGSIZE;
	if (q->open && q->open->used + need > DRAIN_CHUNK_BYTES)
		drain_queue_flush(q);
	if (!q->open)
		q->open = get_chunk(q);
	if (!q->open)
		return -ENOMEM;
	item = (struct drain_item *)(q->open->data + q->open->used);
	*item = (struct drain_item){ .len = (uint32_t)len, .kind = (uint8_t)kind };
	memcpy(item + 1, data, len);
	q->open->used += (uint32_t)need;
	return 0;
}

/* ---- the reader ---------------------------------------------------------------------------- */

struct drain_chunk *drain_queue_take(struct drain_queue *q)
{
	struct drain_chunk *c;

	pthread_mutex_lock(&q->lock);
	c = q->first;
	if (c) {
		q->first = c->next;
		if (!q->first)
			q->last = &q->first;
	}
	pthread_mutex_unlock(&q->lock);
	if (c)
		io_clear(q->fd);
	return c;
}

void drain_queue_release(struct drain_queue *q, struct drain_chunk *c)
{
	pthread_mutex_lock(&q->lock);
	c->next = q->spare;
	q->spare = c;
	pthread_cond_signal(&q->room);
	pthread_mutex_unlock(&q->lock);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Rings -> queue of chunks. Copies bytes; knows of records only their length and an exit's kind. */
#include "event/drain.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/time.h"
#include "base/vec.h"
#include "event/ring.h"
#include "gpuprof/event.h"

#define CHUNKS_MAX 128		/* 16 MiB */
#define PERIOD_MS 10		/* what no wakeup announced waits at most this long */

struct held {			/* an exit that must follow its thread's calls */
	struct gp_task rec;
};

struct drain {
	struct ring *calls, *tasks;
	int epoll_fd, event_fd, stop_fd;
	pthread_t thread;
	bool running;

	/* Under lock: the queue, its spare chunks, and how many chunks exist. */
	pthread_mutex_t lock;
	pthread_cond_t room;
	struct drain_chunk *first, **last, *spare;
	unsigned int n_chunks;

	/* The drain thread's own. */
	struct drain_chunk *open;
	VEC(struct held) held, fresh;
};

/* ---- the queue ----------------------------------------------------------------------------- */

static struct drain_chunk *chunk_new(struct drain *d)
{
	struct drain_chunk *c;

	pthread_mutex_lock(&d->lock);
	while (!d->spare && d->n_chunks == CHUNKS_MAX)
		pthread_cond_wait(&d->room, &d->lock);
	c = d->spare;
	if (c)
		d->spare = c->next;
	else
		d->n_chunks++;
	pthread_mutex_unlock(&d->lock);
	if (!c)
		c = malloc(sizeof(*c));
	if (c) {
		c->next = NULL;
		c->used = 0;
	}
	return c;
}

static void queue_open_chunk(struct drain *d)
{
	struct drain_chunk *c = d->open;
	uint64_t one = 1;

	if (!c || !c->used)
		return;
	d->open = NULL;
	pthread_mutex_lock(&d->lock);
	*d->last = c;
	d->last = &c->next;
	pthread_mutex_unlock(&d->lock);
	while (write(d->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
}

struct drain_chunk *drain_take(struct drain *d)
{
	struct drain_chunk *c;
	uint64_t n;

	pthread_mutex_lock(&d->lock);
	c = d->first;
	if (c) {
		d->first = c->next;
		if (!d->first)
			d->last = &d->first;
	}
	pthread_mutex_unlock(&d->lock);
	/* The counter is a semaphore: one for each queued chunk. */
	if (c)
		while (read(d->event_fd, &n, sizeof(n)) < 0 && errno == EINTR)
			;
	return c;
}

void drain_release(struct drain *d, struct drain_chunk *c)
{
	pthread_mutex_lock(&d->lock);
	c->next = d->spare;
	d->spare = c;
	pthread_cond_signal(&d->room);
	pthread_mutex_unlock(&d->lock);
}

static int put(struct drain *d, enum drain_item_kind kind, const void *data, size_t len)
{
	size_t need = sizeof(struct drain_item) + ((len + 7) & ~(size_t)7);
	struct drain_item *item;

	if (need > DRAIN_CHUNK_BYTES)
		return -EMSGSIZE;
	if (d->open && d->open->used + need > DRAIN_CHUNK_BYTES)
		queue_open_chunk(d);
	if (!d->open)
		d->open = chunk_new(d);
	if (!d->open)
		return -ENOMEM;
	item = (struct drain_item *)(d->open->data + d->open->used);
	*item = (struct drain_item){ .len = (uint32_t)len, .kind = (uint8_t)kind };
	memcpy(item + 1, data, len);
	d->open->used += (uint32_t)need;
	return 0;
}

/* ---- the rings ----------------------------------------------------------------------------- */

static int on_call(void *ctx, const void *rec, size_t len)
{
	return put(ctx, DRAIN_CALL, rec, len);
}

static int on_task(void *ctx, const void *rec, size_t len)
{
	struct drain *d = ctx;
	const struct gp_task *task = rec;
	struct held *h;

	if (len != sizeof(*task) || task->kind != GP_TASK_EXIT)
		return put(d, DRAIN_TASK, rec, len);
	h = VEC_PUSH(&d->fresh);
	if (!h)
		return -ENOMEM;
	h->rec = *task;
	return 0;
}

/*
 * One round. The position in the calls ring is noted first: every call before it has its thread's
 * NEW in the tasks ring already; and every exit found now has all its calls before the *next*
 * round's position, so exits are delivered one round later.
 */
static void drain_round(struct drain *d)
{
	uint64_t now = time_now_ns(), limit = ring_produced(d->calls);
	int done;

	ring_consume(d->tasks, ring_produced(d->tasks), on_task, d);
	done = ring_consume(d->calls, limit, on_call, d);
	if (done == 1) {
		for (size_t i = 0; i < d->held.n; i++)
			put(d, DRAIN_TASK, &d->held.v[i].rec, sizeof(d->held.v[i].rec));
		d->held.n = 0;
		put(d, DRAIN_MARK, &now, sizeof(now));
		for (size_t i = 0; i < d->fresh.n; i++) {
			struct held *h = VEC_PUSH(&d->held);

			if (h)
				*h = d->fresh.v[i];
		}
		d->fresh.n = 0;
	}
	queue_open_chunk(d);
}

static void *drain_main(void *ctx)
{
	struct drain *d = ctx;
	struct pollfd stop = { .fd = d->stop_fd, .events = POLLIN };
	struct epoll_event ev[4];
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (poll(&stop, 1, 0) == 0) {
		drain_round(d);
		epoll_wait(d->epoll_fd, ev, 4, PERIOD_MS);
	}
	return NULL;
}

/* Edge-triggered: a ring that always has data would else turn the wait into a busy loop. */
static int watch(struct drain *d, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

struct drain *drain_start(int calls_fd, int tasks_fd)
{
	struct drain *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return NULL;
	d->last = &d->first;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->room, NULL);
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
	d->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	d->calls = ring_open(calls_fd);
	d->tasks = ring_open(tasks_fd);
	if (d->epoll_fd < 0 || d->event_fd < 0 || d->stop_fd < 0 || !d->calls || !d->tasks ||
	    watch(d, calls_fd, EPOLLIN | EPOLLET) || watch(d, tasks_fd, EPOLLIN | EPOLLET) ||
	    watch(d, d->stop_fd, EPOLLIN)) {
		err = errno;
		goto fail;
	}
	err = pthread_create(&d->thread, NULL, drain_main, d);
	if (err)
		goto fail;
	d->running = true;
	return d;
fail:
	drain_free(d);
	errno = err;
	return NULL;
}

int drain_fd(const struct drain *d)
{
	return d->event_fd;
}

static void end_thread(struct drain *d, void (*taken)(void *), void *ctx)
{
	uint64_t one = 1;

	if (!d->running)
		return;
	while (write(d->stop_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		;
	/* It may be waiting for room, which only the engine makes. */
	while (pthread_tryjoin_np(d->thread, NULL) == EBUSY) {
		taken(ctx);
		usleep(1000);
	}
	d->running = false;
}

void drain_finish(struct drain *d, void (*taken)(void *), void *ctx)
{
	end_thread(d, taken, ctx);
	/* Exits need a second round. The queue cannot fill up for good: `taken` empties it. */
	for (int round = 0; round < 3; round++) {
		drain_round(d);
		taken(ctx);
	}
}

static void free_chunks(struct drain_chunk *c)
{
	while (c) {
		struct drain_chunk *next = c->next;

		free(c);
		c = next;
	}
}

static void close_fd(int fd)
{
	if (fd > 0)
		close(fd);
}

static void discard(void *ctx)
{
	struct drain *d = ctx;
	struct drain_chunk *c;

	while ((c = drain_take(d)))
		drain_release(d, c);
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	end_thread(d, discard, d);
	ring_close(d->calls);
	ring_close(d->tasks);
	free_chunks(d->first);
	free_chunks(d->spare);
	free(d->open);
	VEC_FREE(&d->held);
	VEC_FREE(&d->fresh);
	close_fd(d->epoll_fd);
	close_fd(d->event_fd);
	close_fd(d->stop_fd);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->room);
	free(d);
}

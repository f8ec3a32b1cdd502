// SPDX-License-Identifier: BSD-3-Clause
/* The drain's thread: when to look into the rings, and how to stop. */
#include "source/bpf/drain.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/io.h"
#include "source/bpf/drain_order.h"
#include "source/bpf/ring.h"
#include "host/caps.h"

#define PERIOD_MS 10		/* what no wakeup announced waits at most this long ... */
#define PERIOD_QUIET_MS 80	/* ... or, after a while without any record, this long */
#define LAST_ROUNDS 3		/* exits need two */
#define LAST_TRIES 1000		/* of a millisecond, for a program preempted inside a record */

struct drain {
	struct drain_queue *queue;
	struct drain_order order;	/* the thread's own */
	int epoll_fd, stop_fd;
	pthread_t thread;
	bool running;
	bool quiet;			/* no record since it was set; the thread's own */
};

static int put(void *ctx, enum drain_item_kind kind, const void *data, size_t len)
{
	struct drain *d = ctx;

	d->quiet &= kind == DRAIN_MARK;
	return drain_queue_put(d->queue, kind, data, len);
}

static bool drain_round(struct drain *d)
{
	bool complete = drain_order_round(&d->order);

	drain_queue_flush(d->queue);
	return complete;
}

/* The probes are detached: what is in the rings now is all there will be. */
static void drain_rest(struct drain *d)
{
	for (int rounds = 0, tries = 0; rounds < LAST_ROUNDS && tries < LAST_TRIES; tries++) {
		if (drain_round(d))
			rounds++;
		else
			usleep(1000);
	}
}

static void *drain_main(void *ctx)
{
	struct drain *d = ctx;
	struct pollfd stop = { .fd = d->stop_fd, .events = POLLIN };
	struct epoll_event ev[4];
	int period_ms = PERIOD_MS;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	caps_keep(0);		/* it reads memory that is mapped */
	while (poll(&stop, 1, 0) == 0) {
		d->quiet = true;
		drain_round(d);
		if (!d->quiet || d->order.held.n || d->order.fresh.n)
			period_ms = PERIOD_MS;
		else if (period_ms < PERIOD_QUIET_MS)
			period_ms *= 2;
		epoll_wait(d->epoll_fd, ev, 4, period_ms);
	}
	drain_rest(d);
	return NULL;
}

/* Edge-triggered: a ring that always has data would else turn the wait into a busy loop. */
static int watch(struct drain *d, int fd, uint32_t events)
{
	struct epoll_event ev = { .events = events };

	return epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &ev);
}

static int open_all(struct drain *d, int calls_fd, int tasks_fd)
{
	d->queue = drain_queue_new();
	if (!d->queue)
		return -errno;
	d->order.put = put;
	d->order.ctx = d;
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll_fd < 0)
		return -errno;
	d->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (d->stop_fd < 0)
		return -errno;
	d->order.calls = ring_open(calls_fd);
	if (!d->order.calls)
		return -errno;
	d->order.tasks = ring_open(tasks_fd);
	if (!d->order.tasks)
		return -errno;
	if (watch(d, calls_fd, EPOLLIN | EPOLLET) || watch(d, tasks_fd, EPOLLIN | EPOLLET) ||
	    watch(d, d->stop_fd, EPOLLIN))
		return -errno;
	return 0;
}

struct drain *drain_start(int calls_fd, int tasks_fd)
{
	struct drain *d = calloc(1, sizeof(*d));
	int err;

	if (!d)
		return NULL;
	d->epoll_fd = d->stop_fd = -1;
	err = open_all(d, calls_fd, tasks_fd);
	if (!err)
		err = -pthread_create(&d->thread, NULL, drain_main, d);
	if (err) {
		drain_free(d);
		errno = -err;
		return NULL;
	}
	d->running = true;
	return d;
}

int drain_fd(const struct drain *d)
{
	return drain_queue_fd(d->queue);
}

struct drain_chunk *drain_take(struct drain *d)
{
	return drain_queue_take(d->queue);
}

void drain_release(struct drain *d, struct drain_chunk *c)
{
	drain_queue_release(d->queue, c);
}

void drain_finish(struct drain *d, void (*taken)(void *), void *ctx)
{
	if (!d->running)
		return;
	io_notify(d->stop_fd);
	/* It may be waiting for room, which only the engine makes. */
	while (pthread_tryjoin_np(d->thread, NULL) == EBUSY) {
		taken(ctx);
		usleep(1000);
	}
	d->running = false;
	taken(ctx);
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
	drain_finish(d, discard, d);
	ring_close(d->order.calls);
	ring_close(d->order.tasks);
	drain_order_free(&d->order);
	drain_queue_free(d->queue);
	io_close(&d->epoll_fd);
	io_close(&d->stop_fd);
	free(d);
}

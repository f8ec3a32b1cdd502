// SPDX-License-Identifier: BSD-3-Clause
/* The thread: its life, its queues, the blocks of the capture. What it follows: worker_watch.c. */
#include "session/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/time.h"
#include "session/worker_internal.h"
#include "catalog/catalog.h"
#include "probe/plan.h"


struct worker *worker_new(struct attach *a, struct inflight *inside)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->attach = a;
	w->inside = inside;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->room, NULL);
	w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->block_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->stop_fd >= 0 && w->event_fd >= 0 && w->block_fd >= 0)
		return w;
	worker_free(w);
	return NULL;
}

/* With the first one, if that can take more; else a watch of its own. */
static int open_watch(struct worker *w, struct watch *watch)
{
	struct target_watch *first = w->watches.n > 1 ? w->watches.v[0].tw : NULL;
	int err = first && watch->pid > 0 ? target_watch_add(first, watch->pid) : -EINVAL;

	if (err != -EINVAL)
		return err;
	watch->tw = target_watch_new(watch->pid);
	return watch->tw ? 0 : errno ? -errno : -ENOMEM;
}

int worker_watch(struct worker *w, pid_t pid, pid_t filter)
{
	struct watch *watch = VEC_PUSH(&w->watches);
	int err;

	if (!watch)
		return -ENOMEM;
	*watch = (struct watch){ .pid = pid, .filter = filter };
	err = open_watch(w, watch);
	if (err)
		w->watches.n--;
	return err;
}

/* ---- the capture's blocks ------------------------------------------------------------------- */

/* The engine has a full block. capture_sink_store remembers its own errors for the next push. */
static void take_block(void *ctx, struct capture_block *b)
{
	struct worker *w = ctx;

	if (!w->running) {
		capture_sink_store(w->keep, b);
		return;
	}
	pthread_mutex_lock(&w->lock);
	while (w->blocks == WORKER_BLOCKS)
		pthread_cond_wait(&w->room, &w->lock);
	w->block[w->blocks++] = b;
	pthread_mutex_unlock(&w->lock);
	io_notify(w->block_fd);
}

static void store_blocks(struct worker *w)
{
	struct capture_block *got[WORKER_BLOCKS];
	size_t n;

	io_clear(w->block_fd);
	pthread_mutex_lock(&w->lock);
	n = w->blocks;
	memcpy(got, w->block, n * sizeof(*got));
	w->blocks = 0;
	pthread_cond_signal(&w->room);
	pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < n; i++)
		capture_sink_store(w->keep, got[i]);
}

void worker_keep(struct worker *w, struct capture_sink *keep)
{
	w->keep = keep;
	capture_sink_defer(keep, take_block, w);
}

/* ---- what the engine is told ---------------------------------------------------------------- */

int worker_tell(struct worker *w, const struct event *ev)
{
	struct event *own = event_clone(ev), **slot;

	pthread_mutex_lock(&w->lock);
	slot = own ? VEC_PUSH(&w->events) : NULL;
	if (slot)
		*slot = own;
	pthread_mutex_unlock(&w->lock);
	io_notify(w->event_fd);
	if (slot)
		return 0;
	free(own);
	return -ENOMEM;
}

/* An event_sink of what the worker's parts tell. */
static int tell(void *ctx, const struct event *ev)
{
	return worker_tell(ctx, ev);
}

/* ---- calls that began before their probes ---------------------------------------------------- */

static void follow_inside(struct worker *w)
{
	struct event_sink sink = { tell, w };

	if (!w->inside)
		return;
	inflight_find(w->inside, w->armed_ns, &sink);
	inflight_work(w->inside, &sink);
}

/* So long nothing is to be done unasked; -1: for ever. */
static int idle_ms(const struct worker *w)
{
	int later = later_timeout_ms(&w->later, time_now_ns());
	int inside = w->inside ? inflight_timeout_ms(w->inside) : -1;

	return later < 0 || (inside >= 0 && inside < later) ? inside : later;
}

/* Stacks that are told wait for the engine, which has to know. When no more can be told, copies are
 * still taken: what was received must add up. */
static void feed_stacks(struct worker *w, bool now)
{
	struct event_sink to = { tell, w };
	int err = w->feed ? stack_feed_round(w->feed, &to, now) : 0;

	if (err && !w->feed_failed)
		log_warn("cannot tell more stacks of calls: %s", strerror(-err));
	w->feed_failed = err;
}

static int wait_ms(const struct worker *w)
{
	int idle = idle_ms(w);

	if (!w->feed)
		return idle;
	return idle >= 0 && idle < STACK_FEED_MS ? idle : STACK_FEED_MS;
}

/* What a host does comes in bursts: a program that starts maps several files. */
#define GATHER_US 2000

/* What it does that nobody here asked for is gathered, so that a busy host is not read event by event. */
static void read_watch(struct worker *w, const struct watch *watch, bool readable)
{
	struct worker_turn t = { .w = w, .watch = watch };

	if (!watch->tw || !(readable || w->feed))
		return;
	if (readable && (watch->pid == -1 || !w->heard) && !w->feed)
		usleep(GATHER_US);
	w->heard = false;
	/* What is mapped must be known before stacks in it are looked at. */
	target_watch_read(watch->tw, worker_on_event, &t);
}

static void *worker_main(void *ctx)
{
	struct worker *w = ctx;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!w->fds[w->watches.n].revents) {
		if (poll(w->fds, w->watches.n + 2, wait_ms(w)) < 0)
			continue;
		if (w->feed)
			stack_feed_begin(w->feed);
		worker_look_at_due(w);
		if (w->fds[w->watches.n + 1].revents)
			store_blocks(w);
		for (size_t i = 0; i < w->watches.n; i++)
			read_watch(w, &w->watches.v[i], w->fds[i].revents);
		follow_inside(w);
		feed_stacks(w, false);
	}
	return NULL;
}

void worker_follow_children(struct worker *w)
{
	w->follow_children = true;
}

void worker_only_followed(struct worker *w)
{
	w->only_followed = true;
}

void worker_choose(struct worker *w, const struct newcomers *newcomers, pid_t filter)
{
	w->newcomers = *newcomers;
	w->watches.v[0].filter = filter;
}

int worker_run(struct worker *w)
{
	size_t n = w->watches.n;
	int err;

	w->fds = calloc(n + 2, sizeof(*w->fds));
	if (!w->fds)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		w->fds[i] = (struct pollfd){ .fd = w->watches.v[i].tw ?
						   target_watch_fd(w->watches.v[i].tw) : -1,
					     .events = POLLIN };
	w->heard = true;
	if (w->attach)
		worker_note_left_out(w);
	w->fds[n] = (struct pollfd){ .fd = w->stop_fd, .events = POLLIN };
	w->fds[n + 1] = (struct pollfd){ .fd = w->block_fd, .events = POLLIN };
	err = pthread_create(&w->thread, NULL, worker_main, w);
	w->running = !err;
	return -err;
}

void worker_feed(struct worker *w, struct stack_feed *feed)
{
	w->feed = feed;
	for (size_t i = 0; i < w->watches.n; i++)
		stack_feed_target(feed, w->watches.v[i].pid);
}

void worker_finish_stacks(struct worker *w)
{
	uint64_t over;

	if (w->feed)
		stack_feed_begin(w->feed);
	feed_stacks(w, true);
	over = w->feed ? stack_feed_counts(w->feed)->over : 0;
	if (over)
		log_warn("%llu stacks are not told: more than %u different ones, or %u frames, are not "
			 "kept", (unsigned long long)over, STACKS_MAX, STACKS_FRAMES_MAX);
}

uint64_t worker_stacks_received(const struct worker *w)
{
	return w->feed ? stack_feed_received(w->feed) : 0;
}

void worker_note_left_out(struct worker *w)
{
	const unsigned int left_out = PLAN_TOO_DEAR | PLAN_REFUSED | PLAN_LEFT_OUT | PLAN_FAILED;

	pthread_mutex_lock(&w->lock);
	for (unsigned int row = 1; row < catalog_n_rows(); row++)
		w->left_out[row] = attach_fate(w->attach, row) & left_out;
	w->noted++;
	pthread_mutex_unlock(&w->lock);
}

bool worker_left_out(struct worker *w, unsigned int *noted, bool left_out[GP_ROWS_MAX])
{
	bool is_new;

	pthread_mutex_lock(&w->lock);
	is_new = w->noted != *noted;
	*noted = w->noted;
	if (is_new)
		memcpy(left_out, w->left_out, sizeof(w->left_out));
	pthread_mutex_unlock(&w->lock);
	return is_new;
}

int worker_fd(const struct worker *w)
{
	return w->event_fd;
}

int worker_pump(struct worker *w, const struct event_sink *sink)
{
	VEC(struct event *) got;
	int err = 0;

	io_clear(w->event_fd);
	pthread_mutex_lock(&w->lock);
	memcpy(&got, &w->events, sizeof(got));
	memset(&w->events, 0, sizeof(w->events));
	pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < got.n; i++) {
		if (!err)
			err = sink->push(sink->ctx, got.v[i]);
		free(got.v[i]);
	}
	VEC_FREE(&got);
	return err;
}

void worker_stop(struct worker *w)
{
	if (!w->running)
		return;
	io_notify(w->stop_fd);
	pthread_join(w->thread, NULL);
	w->running = false;
	store_blocks(w);
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	worker_stop(w);
	for (size_t i = 0; i < w->watches.n; i++)
		target_watch_free(w->watches.v[i].tw);
	VEC_FREE(&w->watches);
	later_free(&w->later);
	for (size_t i = 0; i < w->events.n; i++)
		free(w->events.v[i]);
	VEC_FREE(&w->events);
	stack_feed_free(w->feed);
	dull_free(&w->dull);
	free(w->fds);
	io_close(&w->stop_fd);
	io_close(&w->event_fd);
	io_close(&w->block_fd);
	pthread_cond_destroy(&w->room);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

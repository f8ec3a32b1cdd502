// SPDX-License-Identifier: BSD-3-Clause
/* The thread and its queue. Reading devices: nvml_reader.h. */
#include "source/nvml/nvml.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "event/device_number.h"
#include "source/nvml/nvml_reader.h"
#include "host/caps.h"
#include "host/proc.h"

/* each is twice as long as the one before, up to TURN_NS: so */
#define FIRST_TURN_NS (150 * NS_PER_MS)
#define TURN_NS NS_PER_SEC	/* short sessions, too, know the devices after the start */
#define WAIT_MS 100		/* at most, so that an end is noticed */
#define BURST 64		/* events of devices in such a time; more come later */
#define QUEUE_MAX 8192		/* events: a second of 8 devices with a thousand processes each */

struct nvml {
	int (*load)(struct nvml_api *api, char *why, unsigned int why_bytes);
	pthread_t thread;

	/* Under lock. */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct nvml_status status;
	VEC(struct event *) queue;	/* clones */
	VEC(struct nvml_instance) instances;
	bool stop, over;	/* over: the thread will touch this no more */
	bool left;		/* the thread frees it */
};

/* ---- the thread ------------------------------------------------------------------------------ */

static void enter(struct nvml *n, const char *what)
{
	pthread_mutex_lock(&n->lock);
	n->status.doing = what;
	n->status.since_ns = time_now_ns();
	pthread_mutex_unlock(&n->lock);
}

static int enqueue(void *ctx, const struct event *ev)
{
	struct nvml *n = ctx;
	struct event *own = event_clone(ev), **slot;

	pthread_mutex_lock(&n->lock);
	slot = own && n->queue.n < QUEUE_MAX ? VEC_PUSH(&n->queue) : NULL;
	if (slot)
		*slot = own;
	n->status.sent += slot != NULL;
	n->status.dropped += slot == NULL;
	pthread_mutex_unlock(&n->lock);
	if (!slot)
		free(own);
	return 0;
}

static bool is_stopped(struct nvml *n)
{
	bool stop;

	pthread_mutex_lock(&n->lock);
	stop = n->stop;
	pthread_mutex_unlock(&n->lock);
	return stop;
}

/* With the lock held. */
static void sleep_until(struct nvml *n, uint64_t until_ns, const bool *end)
{
	struct timespec ts = { .tv_sec = (time_t)(until_ns / NS_PER_SEC),
			       .tv_nsec = (long)(until_ns % NS_PER_SEC) };

	while (!*end && pthread_cond_timedwait(&n->changed, &n->lock, &ts) != ETIMEDOUT)
		;
}

static void note_instances(struct nvml *n, const struct nvml_reader *r)
{
	n->instances.n = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct nvml_unit *u = &r->units[i];
		struct nvml_instance *to = device_number_is_instance(u->number) && !u->gone ?
					   VEC_PUSH(&n->instances) : NULL;

		if (!to)
			continue;
		*to = (struct nvml_instance){ u->number, u->gpu_instance, u->compute_instance, "" };
		memcpy(to->uuid, u->uuid, sizeof(to->uuid));
	}
}

static void note_state(struct nvml *n, const struct nvml_reader *r, enum nvml_state state)
{
	pthread_mutex_lock(&n->lock);
	n->status.state = state;
	n->status.devices = 0;
	for (size_t i = 0; i < r->n; i++)
		n->status.devices += !r->units[i].divided && !r->units[i].gone;
	note_instances(n, r);
	n->status.gpm = nvml_reader_has_gpm(r);
	n->status.pids_are_hosts = r->pids_are_hosts;
	if (*r->trouble && !*n->status.why)
		snprintf(n->status.why, sizeof(n->status.why), "%s", r->trouble);
	snprintf(n->status.driver, sizeof(n->status.driver), "%s", r->driver);
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
}

/* A wait of NVML's may end at once, each time: then it is slept. */
static void wait_turn(struct nvml *n, struct nvml_reader *r, uint64_t due_ns)
{
	uint64_t now_ns = time_now_ns();
	uint64_t until_ns = num_min(due_ns, now_ns + WAIT_MS * NS_PER_MS);

	for (int i = 0; i < BURST && until_ns > now_ns + NS_PER_MS; i++, now_ns = time_now_ns())
		if (!nvml_reader_wait(r, (unsigned int)((until_ns - now_ns) / NS_PER_MS),
				      time_now_ns))
			break;
	pthread_mutex_lock(&n->lock);
	sleep_until(n, until_ns, &n->stop);
	pthread_mutex_unlock(&n->lock);
}

/* Until it had to wait for one. */
static void read_waiting(struct nvml_reader *r)
{
	uint64_t end_ns;

	for (int i = 0; i < BURST; i++) {
		end_ns = time_now_ns() + NS_PER_MS;
		if (!nvml_reader_wait(r, 1, time_now_ns) || time_now_ns() >= end_ns)
			return;
	}
}

static void read_devices(struct nvml *n, struct nvml_reader *r, uint64_t now_ns)
{
	enter(n, "it reads devices");
	nvml_reader_sample(r, now_ns);
	note_state(n, r, NVML_RUNNING);
	if (!nvml_reader_must_reopen(r, now_ns) || is_stopped(n))
		return;
	enter(n, "it begins anew, since a device was lost or divided");
	nvml_reader_reopen(r, time_now_ns);
	note_state(n, r, NVML_RUNNING);
}

static void run(struct nvml *n, struct nvml_reader *r)
{
	uint64_t due_ns = time_now_ns(), turn_ns = FIRST_TURN_NS;

	while (!is_stopped(n)) {
		uint64_t now_ns = time_now_ns();

		if (now_ns >= due_ns) {
			read_devices(n, r, now_ns);
			due_ns = num_max(due_ns + turn_ns, time_now_ns());
			turn_ns = num_min(2 * turn_ns, TURN_NS);
		}
		enter(n, "it waits for events of devices");
		wait_turn(n, r, due_ns);
	}
	enter(n, "it reads devices");
	nvml_reader_sample(r, time_now_ns());	/* first: their users are about to be gone */
	enter(n, "it reads the last events of devices");
	read_waiting(r);
	note_state(n, r, NVML_RUNNING);
}

static int open_all(struct nvml *n, struct nvml_api *api, struct nvml_reader *r)
{
	int err;

	enter(n, "it is loaded");
	err = n->load(api, r->trouble, sizeof(r->trouble));
	pthread_mutex_lock(&n->lock);
	n->status.unloaded = err;
	pthread_mutex_unlock(&n->lock);
	if (err)
		return err;
	enter(n, "it initialises");
	return nvml_reader_open(r, time_now_ns);
}

static void destroy(struct nvml *n)
{
	for (size_t i = 0; i < n->queue.n; i++)
		free(n->queue.v[i]);
	VEC_FREE(&n->queue);
	VEC_FREE(&n->instances);
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

static void end(struct nvml *n)
{
	bool left;

	pthread_mutex_lock(&n->lock);
	n->over = true;
	if (n->status.state == NVML_RUNNING)
		n->status.state = NVML_ENDED;
	left = n->left;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
	if (left)
		destroy(n);
}

static void *nvml_main(void *ctx)
{
	struct nvml *n = ctx;
	struct nvml_api api = { 0 };
	struct nvml_reader r = { .api = &api, .sink = { enqueue, n }, .own_pid = (uint32_t)getpid(),
				 .pids_are_hosts = proc_pids_are_hosts() };
	sigset_t all;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	caps_keep(0);		/* the loaded library is not ours */
	err = open_all(n, &api, &r);
	note_state(n, &r, err ? NVML_FAILED : NVML_RUNNING);
	if (!err)
		run(n, &r);
	enter(n, "it ends");
	nvml_reader_close(&r);
	end(n);
	return NULL;
}

/* ---- the engine ------------------------------------------------------------------------------ */

struct nvml *nvml_start(int (*load)(struct nvml_api *api, char *why, unsigned int why_bytes))
{
	struct nvml *n = calloc(1, sizeof(*n));
	pthread_condattr_t attr;
	int err;

	if (!n)
		return NULL;
	n->load = load;
	n->status.doing = "it is loaded";
	n->status.since_ns = time_now_ns();
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->changed, &attr);
	pthread_condattr_destroy(&attr);
	err = pthread_create(&n->thread, NULL, nvml_main, n);
	if (!err)
		return n;
	destroy(n);
	errno = err;
	return NULL;
}

int nvml_pump(struct nvml *n, const struct event_sink *sink)
{
	VEC(struct event *) got;
	int err = 0;

	pthread_mutex_lock(&n->lock);
	memcpy(&got, &n->queue, sizeof(got));
	memset(&n->queue, 0, sizeof(n->queue));
	pthread_mutex_unlock(&n->lock);
	for (size_t i = 0; i < got.n; i++) {
		err = err ? err : sink->push(sink->ctx, got.v[i]);
		free(got.v[i]);
	}
	VEC_FREE(&got);
	return err;
}

void nvml_status(struct nvml *n, struct nvml_status *out)
{
	pthread_mutex_lock(&n->lock);
	*out = n->status;
	pthread_mutex_unlock(&n->lock);
}

size_t nvml_instances(struct nvml *n, struct nvml_instance *out, size_t max)
{
	size_t count;

	pthread_mutex_lock(&n->lock);
	count = num_min(n->instances.n, max);
	if (count)
		memcpy(out, n->instances.v, count * sizeof(*out));
	pthread_mutex_unlock(&n->lock);
	return count;
}

void nvml_stop(struct nvml *n)
{
	pthread_mutex_lock(&n->lock);
	n->stop = true;
	pthread_cond_broadcast(&n->changed);
	pthread_mutex_unlock(&n->lock);
}

bool nvml_wait(struct nvml *n, unsigned int ms)
{
	bool over;

	pthread_mutex_lock(&n->lock);
	sleep_until(n, time_now_ns() + ms * NS_PER_MS, &n->over);
	over = n->over;
	pthread_mutex_unlock(&n->lock);
	return over;
}

/* The library's own ways to end, and the loader's, may wait for the call the thread is in. */
static void leave_at_once(int status, void *unused)
{
	(void)unused;
	fflush(NULL);
	_exit(status);
}

void nvml_free(struct nvml *n)
{
	bool over;

	if (!n)
		return;
	nvml_stop(n);
	pthread_mutex_lock(&n->lock);
	over = n->over;
	n->left = !over;
	if (!over)
		pthread_detach(n->thread);
	pthread_mutex_unlock(&n->lock);
	if (over) {
		pthread_join(n->thread, NULL);
		destroy(n);
		return;
	}
	/* It may have ended by now, and with it what n is. */
	on_exit(leave_at_once, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Functions of the program that a stream calls when it comes to them: on a thread of their own, one
 * after the other in the order in which they were given. The stream does not wait for them, and who
 * waits for the stream neither.
 */
#include <signal.h>
#include <stdlib.h>

#include "gpusim_internal.h"

struct host_call {
	struct host_call *next;
	struct gpusim_time at;
	void (*fn)(void *data);
	void *data;
};

static struct host_call *first, **end = &first;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static bool started;

static void *call_all(void *unused)
{
	struct host_call *call;
	uint64_t until_ns;

	for (;;) {
		gpusim_lock();
		while (!first)
			pthread_cond_wait(&more, &gpusim_world.lock);
		call = first;
		first = call->next;
		end = first ? end : &first;
		until_ns = gpusim_time_wait(&call->at);
		gpusim_unlock();
		gpusim_sleep_until(until_ns);
		call->fn(call->data);
		free(call);
	}
	return unused;
}

/* With the lock held. */
static bool start(void)
{
	sigset_t all, before;
	pthread_t thread;

	if (started)
		return true;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = !pthread_create(&thread, NULL, call_all, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (started)
		pthread_detach(thread);
	return started;
}

void gpusim_host_calls_settle(const struct gpusim_gate *gate, uint64_t end_ns)
{
	struct host_call *call;

	for (call = first; call; call = call->next)
		gpusim_time_settle(&call->at, gate, end_ns);
}

int gpusim_host_call(struct gpusim_stream *handle, void (*fn)(void *data), void *data)
{
	struct host_call *call = calloc(1, sizeof(*call));
	struct gpusim_stream *stream;
	int result = call && fn ? GPUSIM_OK : GPUSIM_INVALID_VALUE;

	gpusim_lock();
	stream = gpusim_stream_find(handle);
	if (!result && !stream)
		result = GPUSIM_INVALID_HANDLE;
	if (!result && !start())
		result = GPUSIM_OUT_OF_MEMORY;
	if (!result) {
		*call = (struct host_call){ .at = stream->busy_until, .fn = fn, .data = data };
		*end = call;
		end = &call->next;
		pthread_cond_signal(&more);
	}
	gpusim_unlock();
	if (result)
		free(call);
	return result;
}

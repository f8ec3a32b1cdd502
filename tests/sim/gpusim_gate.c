// SPDX-License-Identifier: BSD-3-Clause
/*
 * Gates, and the thread that asks them. That thread exists once the first gate was submitted, makes
 * no call of CUDA or NCCL, and takes no signal.
 */
#include "gpusim_gate.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "gpusim_trace_internal.h"

enum { ASK_MS = 5 }; /* gates of other communicators than the oldest one's are asked this often */

struct gpusim_gate {
	struct gpusim_slot slot;
	struct gpusim_time begin;
	bool arrived;
	struct gpusim_stream *stream;
	const struct gpusim_gate_calls *calls;
	void *argument;
};

/* A copy of a time that a thread waits for, so that it settles with the others. */
struct waiter {
	struct waiter *next;
	struct gpusim_time time;
};

static struct gpusim_gate gates[1024];
static struct gpusim_pool pool = GPUSIM_POOL(gates);
static struct waiter *waiters;
static unsigned int shut; /* gates that did not open yet */
static pthread_cond_t settled = PTHREAD_COND_INITIALIZER;
static pthread_cond_t submitted = PTHREAD_COND_INITIALIZER;
static bool thread_started;

bool gpusim_gate_waits_for(const struct gpusim_gate *gate, const struct gpusim_gate *other,
			   uint64_t plus_ns)
{
	uint32_t i;

	for (i = 0; i < gate->begin.gates; i++)
		if (gate->begin.after[i].gate == other)
			return gate->begin.after[i].plus_ns >= plus_ns;
	return false;
}

uint64_t gpusim_time_wait(const struct gpusim_time *time)
{
	struct waiter waiter = { .next = waiters, .time = *time };
	struct waiter **link;

	waiters = &waiter;
	while (!gpusim_time_known(&waiter.time))
		pthread_cond_wait(&settled, &gpusim_world.lock);
	for (link = &waiters; *link != &waiter; link = &(*link)->next)
		;
	*link = waiter.next;
	return waiter.time.at_ns;
}

static void settle_all(const struct gpusim_gate *gate, uint64_t end_ns)
{
	struct waiter *waiter;
	size_t i;

	gpusim_streams_settle(gate, end_ns);
	gpusim_host_calls_settle(gate, end_ns);
	gpusim_contexts_settle(gate, end_ns);
	gpusim_events_settle(gate, end_ns);
	gpusim_traces_settle(gate, end_ns);
	for (i = 0; i < GPUSIM_MAX_DEVICES * ENGINES; i++)
		gpusim_time_settle(
			&gpusim_world.devices[i / ENGINES].engine_busy_until[i % ENGINES], gate,
			end_ns);
	for (i = 0; i < pool.used; i++)
		if (gates[i].slot.alive)
			gpusim_time_settle(&gates[i].begin, gate, end_ns);
	for (waiter = waiters; waiter; waiter = waiter->next)
		gpusim_time_settle(&waiter->time, gate, end_ns);
}

/* True when it opened. */
static bool ask_gate(struct gpusim_gate *gate)
{
	uint64_t end_ns;

	if (!gate->arrived && gpusim_time_known(&gate->begin)) {
		gate->arrived = true;
		gate->calls->arrive(gate->argument, gate->begin.at_ns);
	}
	end_ns = gate->calls->end_ns(gate->argument);
	if (!end_ns)
		return false;
	settle_all(gate, end_ns);
	gate->calls->release(gate->argument);
	gpusim_pool_give(gate);
	shut--;
	return true;
}

/* Until none opens: one that does may be what another waited for. */
static void ask_all(void)
{
	bool any, again = shut;
	size_t i;

	while (again) {
		again = false;
		for (i = 0; i < pool.used; i++) {
			any = gates[i].slot.alive && ask_gate(&gates[i]);
			again |= any;
		}
		if (again)
			pthread_cond_broadcast(&settled);
	}
}

void gpusim_gates_ask(void)
{
	gpusim_lock();
	ask_all();
	gpusim_unlock();
}

/* Any gate that arrived: what it waits for changes first, as a rule. */
static const uint32_t *what_changes(void)
{
	size_t i;

	for (i = 0; i < pool.used; i++)
		if (gates[i].slot.alive && gates[i].arrived)
			return gates[i].calls->changes(gates[i].argument);
	return NULL;
}

static void wait_for_change(const uint32_t *word, uint32_t seen)
{
	struct timespec time = { .tv_nsec = ASK_MS * 1000000 };

	if (word)
		syscall(SYS_futex, word, FUTEX_WAIT, seen, &time, NULL, 0);
	else
		nanosleep(&time, NULL);
}

static void *ask_for_ever(void *unused)
{
	const uint32_t *word;
	uint32_t seen;

	gpusim_lock();
	for (;;) {
		while (!shut)
			pthread_cond_wait(&submitted, &gpusim_world.lock);
		word = what_changes();
		seen = word ? __atomic_load_n(word, __ATOMIC_ACQUIRE) : 0;
		ask_all();
		if (!shut)
			continue;
		gpusim_unlock();
		wait_for_change(word, seen);
		gpusim_lock();
	}
	return unused;
}

static void start_thread(void)
{
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (!pthread_create(&thread, NULL, ask_for_ever, NULL)) {
		pthread_setname_np(thread, "gpusim-gates");
		pthread_detach(thread);
		thread_started = true;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The kernel that a collective is to the device. */
static void trace(struct gpusim_gate *gate, const void *entity)
{
	struct gpusim_time end = gpusim_time_after(gate);

	gpusim_trace_work(gate->stream, &(struct gpusim_trace_work){
		.work = { .kind = GPUSIM_KERNEL, .entity = entity,
			  .shape = { { 16, 1, 1 }, { 512, 1, 1 } } },
		.correlation = gpusim_correlation() }, &gate->begin, &end);
}

static int submit_locked(struct gpusim_stream *stream, struct gpusim_stream *lane,
			 const struct gpusim_gate_calls *calls, void *argument)
{
	struct gpusim_gate *gate = gpusim_pool_take(&pool);

	if (!gate)
		return GPUSIM_OUT_OF_MEMORY;
	gate->stream = stream;
	gate->calls = calls;
	gate->argument = argument;
	gate->begin = gpusim_stream_begin(stream, gpusim_now_ns());
	gpusim_time_join(&gate->begin, &lane->busy_until);
	if (calls->entity)
		trace(gate, calls->entity(argument));
	gpusim_stream_occupy(stream, gpusim_time_after(gate));
	gpusim_stream_occupy(lane, gpusim_time_after(gate));
	shut++;
	if (!thread_started)
		start_thread();
	ask_all();
	pthread_cond_signal(&submitted);
	return GPUSIM_OK;
}

int gpusim_gate_submit(struct gpusim_stream *handle, struct gpusim_stream *lane,
		       const struct gpusim_gate_calls *calls, void *argument)
{
	uint64_t start_ns = gpusim_now_ns();
	struct gpusim_stream *stream, *own;
	int result = GPUSIM_INVALID_HANDLE;

	gpusim_correlation_renew();
	gpusim_lock();
	stream = gpusim_stream_find(handle);
	own = gpusim_stream_find(lane);
	if (stream && stream->capture)
		result = GPUSIM_CAPTURE_UNSUPPORTED;
	else if (stream && own)
		result = submit_locked(stream, own, calls, argument);
	gpusim_unlock();
	if (result == GPUSIM_OK)
		gpusim_trace_own_launch(start_ns);
	return result;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * How a session ends: in which order probes, rings, threads' last states and counters are read, so
 * that nothing recorded is lost, and what is freed. Knows nothing of how it began.
 */
#include <stdbool.h>
#include <string.h>

#include "base/io.h"
#include "base/log.h"
#include "base/time.h"
#include "session/session_blind.h"
#include "session/session_internal.h"
#include "probe/loader_read.h"

static void pump(void *ctx)
{
	bpf_source_pump(&((struct session *)ctx)->live);
}

struct states {
	VEC(struct loader_state) all;
	VEC(struct gp_off) off;		/* who is off the CPU */
	bool full;
};

static void on_state(void *ctx, const void *rec, size_t len)
{
	struct states *states = ctx;
	struct loader_state *slot = VEC_PUSH(&states->all);

	if (slot)
		memcpy(slot, rec, len);
	states->full |= !slot;
}

static void on_off(void *ctx, const void *rec, size_t len)
{
	struct states *states = ctx;
	struct gp_off *slot = VEC_PUSH(&states->off);

	if (slot)
		memcpy(slot, rec, len);
	states->full |= !slot;
}

/* At once, since a thread that ends takes its state with it. */
static void read_states(struct session *s, struct states *states)
{
	if (loader_each_off(s->loader, on_off, states) ||
	    loader_each_state(s->loader, on_state, states) || states->full)
		log_warn("cannot read the threads' last states; calls still open are not shown");
}

static void push_states(struct session *s, struct states *states, uint64_t now_ns)
{
	for (size_t i = 0; i < states->all.n; i++)
		bpf_source_push_state(&s->live, &states->all.v[i], sizeof(states->all.v[i]), now_ns);
	/* Behind the last numbers, so that what is missing before them is known. */
	for (size_t i = 0; i < states->off.n; i++)
		bpf_source_push_off(&s->live, &states->off.v[i], sizeof(states->off.v[i]), now_ns);
	VEC_FREE(&states->all);
	VEC_FREE(&states->off);
}

static void stop_probes(struct session *s, uint64_t now_ns)
{
	struct states states = { 0 };

	worker_stop(s->worker);
	worker_pump(s->worker, &s->sink);
	if (s->inside)
		inflight_stop(s->inside, &s->sink);	/* s->err has the sink's error */
	loader_detach(s->loader);
	read_states(s, &states);
	drain_finish(s->live.drain, pump, s);
	worker_finish_stacks(s->worker);
	worker_pump(s->worker, &s->sink);
	probes_met(s);
	session_empty(s);
	push_states(s, &states, now_ns);
	counts_push(s);
}

/* Nothing recorded is lost by stopping: probes off, rings emptied, then what was still open. The model
 * is finished when it has all, as a report does it. */
void session_stop(struct session *s)
{
	uint64_t now_ns = time_now_ns();
	int err;

	if (!s->live.drain && !s->blind)
		return;
	session_push(s, &(struct event){ .kind = EVENT_STOP, .end_ns = now_ns });
	session_nvml_stop(s);
	helpers_stop(s);
	if (s->blind)
		session_empty(s);
	else
		stop_probes(s, now_ns);
	session_nvml_end(s);
	session_last(s);
	err = model_finish(s->tap.model);
	if (err && !s->err)
		s->err = err;
	helpers_say(s);
}

static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++)
		io_close(&fds[i]);
}

static void free_probes(struct session *s)
{
	worker_free(s->worker);
	inflight_free(s->inside);
	attach_free(s->attach);
	drain_free(s->live.drain);
}

void session_drop_probes(struct session *s)
{
	free_probes(s);
	loader_free(s->loader);
	s->worker = NULL;
	s->inside = NULL;
	s->attach = NULL;
	s->live.drain = NULL;
	s->loader = NULL;
}

void session_release(struct session *s)
{
	free_probes(s);
	map_free(&s->forked.looked_at);
	map_free(&s->closed.looked_at);
	helpers_free(s->helpers);
	tap_free(&s->tap);
	close_all(s->pidfds.v, s->pidfds.n);
	close_all(s->timers.v, s->timers.n);
	VEC_FREE(&s->pidfds);
	VEC_FREE(&s->chosen);
	VEC_FREE(&s->users);
	VEC_FREE(&s->timers);
	io_close(&s->epoll_fd);
}

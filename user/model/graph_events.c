// SPDX-License-Identifier: BSD-3-Clause
/*
 * The graphs of the model's processes: which calls concern them, and the captured call of a
 * kernel (facts/kernel_configs.h).
 */
#include "model/consumers.h"

#include <errno.h>

#include "base/num.h"
#include "facts/kernel_configs.h"
#include "facts/ranges.h"
#include "join/graphs.h"
#include "model/shared.h"

struct graph_events {
	struct kernel_configs configs;	/* first: see the header */
	struct model *m;
	struct graphs_room room;
};

static uint32_t range_innermost(const void *ranges, uint32_t tid, uint64_t ns)
{
	return ranges ? ranges_innermost(ranges, tid, ns) : 0;
}

/* Most calls are irrelevant unless a stream captures. */
static bool is_relevant(const struct graphs *g, enum func_role role)
{
	if (role <= ROLE_ROUTINE || role == ROLE_RECORD || role == ROLE_WAIT || role == ROLE_SPOIL)
		return g && graphs_is_capturing(g);
	return g || role == ROLE_BEGIN;
}

static struct graphs *graphs_of(struct graph_events *g, struct process *p)
{
	if (!p->graphs)
		p->graphs = graphs_new(&g->room);
	return p->graphs;
}

static __attribute__((noinline)) int note_call(struct graph_events *g, struct process *p,
					       const struct event *ev, enum func_role role)
{
	return graphs_of(g, p) ? graphs_push_call(p->graphs, ev, role) : -ENOMEM;
}

int graphs_note_call(struct model *m, struct thread *t, const struct event *ev)
{
	const enum func_role role = model_role(m, ev->func);
	struct process *p = t->process;

	if (__builtin_expect(t->lost_seen != t->book.counts.lost, 0)) {
		t->lost_seen = t->book.counts.lost;
		if (p->graphs)
			graphs_lost(p->graphs, t->tid);
	}
	return role != ROLE_NONE && role < ROLE_GRAPHS_END && is_relevant(p->graphs, role) ?
	       note_call(m->graphs, p, ev, role) : 0;
}

static int push_node(struct graph_events *g, const struct event *ev)
{
	struct process *p;

	if (!ev->node.id || ev->node.id == ev->node.original)
		return -EINVAL;
	model_see_time(g->m, ev->start_ns);
	p = processes_get(g->m, ev);
	return p && graphs_of(g, p) ? graph_callbacks_push_node(graphs_callbacks(p->graphs), ev) :
				      -ENOMEM;
}

static int on_work(void *state, const struct event *work, const struct launch *launch)
{
	struct graph_events *g = state;
	const struct process *p;
	const struct captured_call *call;
	enum graph_evidence evidence;
	int err;

	if (!g->m->by_launch)
		return 0;
	p = processes_find(g->m, work->process);
	evidence = graphs_push_work(p ? p->graphs : NULL, work, launch, &call, &err);
	return err || work->work.kind != WORK_KIND_KERNEL ? err :
	       kernel_configs_add(&g->configs, work, evidence, call);
}

struct resolving {
	const struct model *m;
	uint64_t horizon_ns;
	struct captured_call call;	/* the fields that are needed */
};

static enum graph_evidence find_call(void *ctx, const struct kernel_config *row,
				     const struct captured_call **call)
{
	struct resolving *r = ctx;
	const struct process *p = processes_find(r->m, row->key.process);

	if (!row->key.open_ns) {
		if (!row->key.node)
			return EVIDENCE_NONE;
		return p && p->graphs ?
		       graph_callbacks_find(graphs_callbacks(p->graphs), row->key.node, call) :
		       EVIDENCE_UNRESOLVED;
	}
	/* A call with known open ranges. */
	if (num_add(row->key.open_ns, GRAPHS_SETTLE_NS) > r->horizon_ns)
		return EVIDENCE_PENDING;
	r->call = (struct captured_call){
		.tid = row->key.tid, .func = row->key.func,
		.range = p ? range_innermost(p->ranges, row->key.tid, row->key.open_ns) : 0 };
	*call = &r->call;
	return EVIDENCE_ORDER;
}

static int settle_before(struct graph_events *g, uint64_t horizon_ns)
{
	struct resolving resolving = { .m = g->m, .horizon_ns = horizon_ns };

	for (size_t i = 0; i < g->m->processes.n; i++) {
		const struct process *p = g->m->processes.v[i];

		if (p->graphs)
			graphs_settle(p->graphs, horizon_ns, range_innermost, p->ranges);
	}
	return kernel_configs_resolve(&g->configs, find_call, &resolving);
}

/* ---- the consumer ---------------------------------------------------------------------------- */

static int init(void *state, struct model *m)
{
	*(struct graph_events *)state = (struct graph_events){
		.m = m, .room = { GRAPHS_CALLS_MAX, GRAPHS_NODES_MAX, GRAPHS_MADE_MAX } };
	m->graphs = state;
	return 0;
}

static int on_event(void *state, const struct event *ev)
{
	const struct graph_events *g = state;
	const struct process *p;

	switch (ev->kind) {
	case EVENT_NODE: return push_node(state, ev);
	case EVENT_PROCESS:
		p = processes_find(g->m, ev->process);
		if (p && p->graphs && ev->end_ns > p->info.exec_ns)
			graph_callbacks_exec(graphs_callbacks(p->graphs), ev->end_ns);
		return 0;
	default: return settle_before(state, ev->end_ns);
	}
}

static int finish(void *state)
{
	return settle_before(state, UINT64_MAX);
}

static int copy(void *to, const void *from)
{
	return rows_copy(&((struct graph_events *)to)->configs.rows,
			 &((const struct graph_events *)from)->configs.rows);
}

static void subtract(void *from, const void *earlier)
{
	rows_subtract(&((struct graph_events *)from)->configs.rows,
		      &((const struct graph_events *)earlier)->configs.rows);
}

static void free_state(void *state)
{
	struct graph_events *g = state;

	rows_free(&g->configs.rows);
	rows_free(&g->configs.pending);
}

const struct consumer graphs_consumer = {
	.kinds = 1ull << EVENT_NODE | 1ull << EVENT_PROCESS | 1ull << EVENT_WATERMARK,
	.size = sizeof(struct graph_events),
	.init = init,
	.on_event = on_event,
	.on_work = on_work,
	.finish = finish,
	.copy = copy,
	.subtract = subtract,
	.free = free_state,
};

void model_use_launches(struct model *m)
{
	m->by_launch = true;
}

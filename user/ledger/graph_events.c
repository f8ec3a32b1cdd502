// SPDX-License-Identifier: BSD-3-Clause
/* The graphs of the model's processes: which call says something of them, and of which work is
 * asked. */
#include "ledger/graph_events.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"
#include "ledger/model_state.h"
#include "facts/ranges.h"

static uint32_t range_innermost(const void *ranges, uint32_t tid, uint64_t ns)
{
	return ranges ? ranges_innermost(ranges, tid, ns) : 0;
}

/* Most calls say nothing unless a stream captures. */
static bool says_something(const struct graphs *g, enum func_role role)
{
	if (role <= ROLE_ROUTINE || role == ROLE_RECORD || role == ROLE_WAIT || role == ROLE_SPOIL)
		return g && graphs_is_capturing(g);
	return g || role == ROLE_BEGIN;
}

static struct graphs *graphs_of(struct model *m, struct process *p)
{
	if (!p->graphs)
		p->graphs = graphs_new(&m->graphs);
	return p->graphs;
}

static void note_lost(struct thread *t)
{
	struct process *p = t->process;

	t->lost_seen = t->book.counts.lost;
	if (p->graphs)
		graphs_lost(p->graphs, t->tid);
}

static int push_call(struct model *m, struct process *p, const struct event *ev, enum func_role role)
{
	int captured = graphs_of(m, p) ? graphs_push_call(p->graphs, ev, role) : -ENOMEM;

	return captured > 0 ? join_captured(m->join, ev) : captured;
}

int graph_note_call(struct model *m, struct thread *t, const struct event *ev)
{
	struct process *p = t->process;
	enum func_role role;

	if (t->lost_seen != t->book.counts.lost)
		note_lost(t);
	role = model_role(m, ev->func);
	return role != ROLE_NONE && role < ROLE_GRAPHS_END && says_something(p->graphs, role) ? push_call(m, p, ev, role) : 0;
}

int graph_push_node(struct model *m, const struct event *ev)
{
	struct process *p;

	if (!ev->node.id || ev->node.id == ev->node.original) {
		m->counts.invalid[ev->kind]++;
		return 0;
	}
	model_see_time(m, ev->start_ns);
	p = processes_get(m, ev->pid);
	return p && graphs_of(m, p) ? graphs_push_node(p->graphs, ev) : -ENOMEM;
}

int graph_note_work(struct model *m, const struct event *work, const struct launch *launch)
{
	const struct process *p;
	const struct captured_call *call;
	enum graph_evidence evidence;
	int err;

	if (!m->by_launch)
		return 0;
	p = processes_find(m, work->pid);
	evidence = graphs_push_work(p ? p->graphs : NULL, work, launch, &call, &err);
	return err || work->work.kind != WORK_KIND_KERNEL ? err :
	       kernel_configs_add(kernel_configs_is_pending(evidence, call) ?
				  &m->pending_configs : &m->kernel_configs, work, evidence, call);
}

struct resolving {
	const struct model *m;
	uint64_t horizon_ns;
	struct captured_call call;	/* as far as it is asked for */
};

/* Of a call that is known what was open in it. */
static enum graph_evidence find_range(struct resolving *r, const struct kernel_config *row,
				      const struct captured_call **call)
{
	const struct process *p = processes_find(r->m, row->key.pid);

	if (num_add(row->key.open_ns, GRAPHS_SETTLE_NS) > r->horizon_ns)
		return EVIDENCE_PENDING;
	r->call = (struct captured_call){
		.tid = row->key.tid, .func = row->key.func,
		.range = p ? range_innermost(p->ranges, row->key.tid, row->key.open_ns) : 0 };
	*call = &r->call;
	return EVIDENCE_ORDER;
}

static enum graph_evidence find_call(void *ctx, const struct kernel_config *row,
				     const struct captured_call **call)
{
	struct resolving *r = ctx;
	const struct process *p = processes_find(r->m, row->key.pid);

	if (row->key.open_ns)
		return find_range(r, row, call);
	return p && p->graphs && row->key.node ? graphs_find_node(p->graphs, row->key.node, call) :
	       row->key.node ? EVIDENCE_UNRESOLVED : EVIDENCE_NONE;
}

int graph_settle(struct model *m, uint64_t horizon_ns)
{
	struct resolving resolving = { .m = m, .horizon_ns = horizon_ns };

	for (size_t i = 0; i < m->processes.n; i++) {
		const struct process *p = m->processes.v[i];

		if (p->graphs)
			graphs_settle(p->graphs, horizon_ns, range_innermost, p->ranges);
	}
	return kernel_configs_count(&m->pending_configs) ? kernel_configs_resolve(&m->pending_configs, &m->kernel_configs, find_call, &resolving) : 0;
}

void model_use_launches(struct model *m)
{
	m->by_launch = true;
}


// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a session tells a capture that begins in its middle: of launches and of the nodes of graphs; and what
 * such a capture says of nodes: both directions of EVENT_MADE. How a node is known is join/graphs.h's.
 */
#include <errno.h>
#include <string.h>

#include "ledger/model_state.h"
#include "facts/ranges.h"

static const uint8_t evidence_of[] = {
	[MADE_BY_ORDER] = EVIDENCE_ORDER, [MADE_BY_CALLBACK] = EVIDENCE_CALLBACK,
};

static bool is_valid(const struct model *m, const struct event *ev)
{
	return ev->entity && ev->func < m->funcs->n && ev->end_ns >= ev->start_ns &&
	       MADE_BY(ev) && MADE_BY(ev) < sizeof(evidence_of);
}

int made_push(struct model *m, const struct event *ev)
{
	struct process *p;
	struct graphs_known k;

	if (!is_valid(m, ev)) {
		m->counts.invalid[ev->kind]++;
		return 0;
	}
	k = (struct graphs_known){
		.node = ev->entity, .exec = MADE_EXEC(ev), .evidence = evidence_of[MADE_BY(ev)],
		.call = { .start_ns = ev->start_ns, .end_ns = ev->end_ns, .tid = ev->tid, .func = ev->func,
			  .kind = WORK_KIND_KERNEL, .has_shape = ev->has & HAS_SHAPE, .settled = true } };
	memcpy(k.call.grid, ev->shape.grid, sizeof(k.call.grid));
	memcpy(k.call.block, ev->shape.block, sizeof(k.call.block));
	p = who_process(m, ev->pid);
	if (!p || !graphs_of(m, p) || range_row(m, p, ev, &k.call.range))
		return -ENOMEM;
	return graphs_push_known(p->graphs, &k);
}

struct putting {
	const struct process *p;
	const struct event_sink *to;
};

static void put_range(const struct process *p, const struct captured_call *call, struct event *ev)
{
	uint32_t row = call->settled ? call->range : range_innermost(p->ranges, call->tid, call->start_ns +
								     (call->end_ns - call->start_ns) / 2);
	struct range_sum sum;

	if (!row || row > ranges_count(p->ranges))
		return;
	ranges_read(p->ranges, row - 1, 0, &sum);
	ev->text = sum.name;
	ev->text2 = sum.domain;
	MADE_RANGE(ev) = sum.before ? 0 : sum.kind == RANGE_KIND_START ? RANGE_START : RANGE_PUSH;
}

static int put(void *ctx, const struct graphs_known *k)
{
	const struct putting *put = ctx;
	struct event ev = { .kind = EVENT_MADE, .pid = put->p->info.pid, .tid = k->call.tid,
			    .func = k->call.func, .start_ns = k->call.start_ns, .end_ns = k->call.end_ns,
			    .entity = k->node };

	MADE_BY(&ev) = k->evidence == EVIDENCE_ORDER ? MADE_BY_ORDER : MADE_BY_CALLBACK;
	MADE_EXEC(&ev) = k->exec;
	put_range(put->p, &k->call, &ev);
	if (k->exec && k->call.has_shape) {
		ev.has = HAS_SHAPE;
		memcpy(ev.shape.grid, k->call.grid, sizeof(ev.shape.grid));
		memcpy(ev.shape.block, k->call.block, sizeof(ev.shape.block));
	}
	return put->to->push(put->to->ctx, &ev);
}

int model_put_open(const struct model *m, enum join_open which, uint64_t before_ns,
		   const struct event_sink *to)
{
	return join_put_open(m->join, which, before_ns, to);
}

int model_put_made(const struct model *m, uint64_t since_ns, const struct event_sink *to)
{
	int err = 0;

	for (size_t i = 0; i < m->processes.n && !err; i++) {
		const struct process *p = m->processes.v[i];
		struct putting ctx = { p, to };

		if (p->graphs && !p->info.exit_ns && !p->gone_ns)
			err = graphs_each_known(p->graphs, since_ns, put, &ctx);
	}
	return err;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operators of frameworks and modules of PyTorch, and the launches and works that were made in
 * them.
 *
 * A node of PyTorch's backward pass whose return was not seen is over when the thread enters the
 * next one: of the last one that may be in the next backward pass. It is over when the backward
 * pass is that it began in.
 */
#include "model/consumers.h"

#include <errno.h>

#include "base/num.h"
#include "facts/ops.h"
#include "gpuprof/event.h"
#include "model/shared.h"

struct op_events {
	struct ops rows;		/* first: see the header */
	struct model *m;
};

static int init(void *state, struct model *m)
{
	((struct op_events *)state)->m = m;
	return 0;
}

static uint64_t end_of(struct process *p, const struct event *ev)
{
	if (ev->op.id == GP_OP_BACKWARD) {
		p->backward_ns = ev->start_ns;
		p->backward_end_ns = ev->end_ns;
	}
	if (ev->has & HAS_END || ev->start_ns < p->backward_ns)
		return ev->end_ns;
	return ev->start_ns < p->backward_end_ns ? num_min(ev->end_ns, p->backward_end_ns) :
						   ev->end_ns;
}

static int push_op(struct op_events *o, const struct event *ev)
{
	const struct model *m = o->m;
	struct process *p = processes_get(o->m, ev);
	uint64_t end_ns;

	if (!p)
		return -ENOMEM;
	if (ev->end_ns < ev->start_ns || !ev->op.id)
		return -EINVAL;
	end_ns = end_of(p, ev);
	/* As calls: one that began before the session is in no table. */
	if (ev->start_ns < m->session.start_ns ||
	    (m->session.stop_ns && ev->start_ns >= m->session.stop_ns)) {
		o->m->counts.late[ev->kind]++;
		return 0;
	}
	return ops_add(&o->rows, ev, m->session.stop_ns ? num_min(end_ns, m->session.stop_ns) :
							  end_ns);
}

static int on_event(void *state, const struct event *ev)
{
	struct op_events *o = state;
	int err;

	if (ev->kind == EVENT_OP)
		return push_op(o, ev);
	if (!(ev->call.op || ev->call.module) || ev->func >= o->m->funcs->n ||
	    o->m->funcs->v[ev->func].class != CLASS_LAUNCH)
		return 0;
	err = ops_add_launch(&o->rows, ev->process, ev->call.op);
	return err ? err : ops_add_launch(&o->rows, ev->process, ev->call.module);
}

static int add_works(struct op_events *o, uint32_t process, const struct launch_call *call,
		     uint64_t n, uint64_t ns)
{
	int err = ops_add_works(&o->rows, process, call->op, n, ns);

	return err ? err : ops_add_works(&o->rows, process, call->module, n, ns);
}

static int on_work(void *state, const struct event *work, const struct launch *launch)
{
	return launch ? add_works(state, work->process, &launch->call, 1,
				  work->end_ns - work->start_ns) : 0;
}

static int on_called(void *state, uint32_t process, uint32_t correlation,
		     const struct launch *launch)
{
	(void)correlation;
	return add_works(state, process, &launch->call, launch->works, launch->works_ns);
}

static int fold(void *state, struct process *p, struct process *into)
{
	return ops_fold(&((struct op_events *)state)->rows, p->info.process, into->info.process);
}

static int copy(void *to, const void *from)
{
	return ops_copy(&((struct op_events *)to)->rows, &((const struct op_events *)from)->rows);
}

static void subtract(void *from, const void *earlier)
{
	ops_subtract(&((struct op_events *)from)->rows,
		     &((const struct op_events *)earlier)->rows);
}

static void free_state(void *state)
{
	ops_free(&((struct op_events *)state)->rows);
}

const struct consumer ops_consumer = {
	.kinds = 1ull << EVENT_OP | 1ull << EVENT_CALL,
	.size = sizeof(struct op_events),
	.init = init,
	.on_event = on_event,
	.on_work = on_work,
	.on_called = on_called,
	.fold = fold,
	.copy = copy,
	.subtract = subtract,
	.free = free_state,
};

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Operators of frameworks and modules of PyTorch, and the launches and works that were made in
 * them: of a product of matrices they are those of its operator, too.
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

#define OWNERS 3

/* Whose a launch is: of an operator, of the operator that this is a product in, of a module. 0:
 * there is none. */
static void owners_of(const struct op_events *o, uint64_t op, uint64_t module,
		      uint64_t owners[OWNERS])
{
	const struct stacks_frame *f = stacks_frame(&o->m->stacks, op);

	owners[0] = op;
	owners[1] = f && f->flags & FRAME_GEMM ? f->offset : 0;
	owners[2] = module;
}

static int on_event(void *state, const struct event *ev)
{
	struct op_events *o = state;
	uint64_t owners[OWNERS];
	int err = 0;

	if (ev->kind == EVENT_OP)
		return push_op(o, ev);
	if (!(ev->call.op || ev->call.module) || ev->func >= o->m->funcs->n ||
	    o->m->funcs->v[ev->func].class != CLASS_LAUNCH)
		return 0;
	owners_of(o, ev->call.op, ev->call.module, owners);
	for (unsigned int i = 0; i < OWNERS && !err; i++)
		err = ops_add_launch(&o->rows, ev->process, owners[i]);
	return err;
}

static int add_works(struct op_events *o, uint32_t process, const struct launch_call *call,
		     uint64_t n, uint64_t ns)
{
	uint64_t owners[OWNERS];
	int err = 0;

	owners_of(o, call->op, call->module, owners);
	for (unsigned int i = 0; i < OWNERS && !err; i++)
		err = ops_add_works(&o->rows, process, owners[i], n, ns);
	return err;
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

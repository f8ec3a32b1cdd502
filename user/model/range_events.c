// SPDX-License-Identifier: BSD-3-Clause
/*
 * The NVTX ranges of the model's processes: one object for each, made with its first range. What
 * PyTorch's workers launch is in the ranges of the thread that asked for the backward pass.
 */
#include "model/consumers.h"

#include <errno.h>
#include <string.h>

#include "facts/ranges.h"
#include "model/shared.h"

static bool is_worker(const struct model *m, uint32_t process, uint32_t tid)
{
	static const char begin[] = "pt_autograd_";
	const struct thread *t = threads_find(m, process, tid);

	return t && !strncmp(t->comm, begin, strlen(begin));
}

static const struct scope *scope_at(void *ctx, uint32_t process, uint32_t tid, uint64_t ns)
{
	const struct process *p = processes_find(ctx, process);
	const struct scope *s = p ? scopes_at(&p->scopes, tid, ns) : NULL;
	const uint32_t asker = p && !s && is_worker(ctx, process, tid) ? askers_at(&p->askers, ns) :
									 0;

	return asker ? scopes_at(&p->scopes, asker, ns) : s;
}

/* A worker that asks for a backward pass itself does it for who asked it. */
static int push_asks(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev);

	if (!p)
		return -ENOMEM;
	if (is_worker(m, ev->process, ev->tid))
		return 0;
	return ev->has & HAS_END ? askers_end(&p->askers, ev->end_ns) :
				   askers_begin(&p->askers, ev->tid, ev->start_ns);
}

static int push_range(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev);
	int err;

	if (p && !p->ranges) {
		p->ranges = ranges_new(m->session.start_ns, &p->scopes);
		join_use_scopes(m->join, scope_at);
		if (p->ranges && m->session.stop_ns)
			ranges_stop(p->ranges, m->session.stop_ns);
	}
	err = p && p->ranges ? ranges_push(p->ranges, ev) : -ENOMEM;
	if (err != -EINVAL)
		model_see_time(m, ev->start_ns);
	return err;
}

static int on_event(void *state, const struct event *ev)
{
	struct model *m = state;
	struct process *p;

	if (ev->kind == EVENT_RANGE)
		return push_range(m, ev);
	if (ev->kind == EVENT_ASKS)
		return push_asks(m, ev);
	if (ev->kind == EVENT_EXIT) {
		p = processes_find(m, ev->process);
		/* All that the thread had open ends; with the process, all that any had. */
		if (p)
			scopes_exit(&p->scopes, ev->tid == ev->pid ? 0 : ev->tid, ev->end_ns);
		return 0;
	}
	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_stop(m->processes.v[i]->ranges, ev->end_ns);
	return 0;
}

static int on_work(void *state, const struct event *work, const struct launch *launch)
{
	const struct process *p;

	if (!launch || !launch->scope)
		return 0;
	p = processes_find(state, work->process);
	if (p && p->ranges)
		ranges_work(p->ranges, work, launch);
	return 0;
}

/* The first work of a graph may come JOIN_WINDOW_NS after its launch. */
static int on_horizon(void *state, uint32_t process, uint64_t horizon_ns)
{
	struct process *p = processes_find(state, process);

	if (p && horizon_ns > JOIN_WINDOW_NS) {
		scopes_settle(&p->scopes, horizon_ns - JOIN_WINDOW_NS);
		askers_settle(&p->askers, horizon_ns - JOIN_WINDOW_NS);
	}
	return 0;
}

static int finish(void *state)
{
	const struct model *m = state;

	for (size_t i = 0; i < m->processes.n; i++)
		scopes_settle(&m->processes.v[i]->scopes, UINT64_MAX);
	return 0;
}

static int settle(void *state, struct process *p, bool *done)
{
	(void)state, (void)done;
	if (!p->is_settled)
		scopes_settle(&p->scopes, UINT64_MAX);
	return 0;
}

static int fold(void *state, struct process *p, struct process *into)
{
	(void)state;
	if (p->ranges && !into->ranges)
		into->ranges = ranges_new(0, &into->scopes);
	if (!p->ranges)
		return 0;
	return into->ranges ? ranges_merge(into->ranges, p->ranges, p->info.exit_ns) : -ENOMEM;
}

const struct consumer ranges_consumer = {
	.kinds = 1ull << EVENT_RANGE | 1ull << EVENT_ASKS | 1ull << EVENT_EXIT | 1ull << EVENT_STOP,
	.on_event = on_event,
	.on_work = on_work,
	.on_horizon = on_horizon,
	.finish = finish,
	.settle = settle,
	.fold = fold,
};

// SPDX-License-Identifier: BSD-3-Clause
/* One object for each process, made with its first range. */
#include "model/range_events.h"

#include <errno.h>

#include "facts/ranges.h"
#include "model/shared.h"

static int push_range(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev);
	int err;

	if (p && !p->ranges) {
		p->ranges = ranges_new(m->session.interval_ns);
		if (p->ranges && m->session.stop_ns)
			ranges_stop(p->ranges, m->session.stop_ns);
	}
	err = p && p->ranges ? ranges_push(p->ranges, ev) : -ENOMEM;
	if (err != -EINVAL)
		model_see_time(m, ev->start_ns);
	return err;
}

/* All that the thread had open ends; with the process, all that any had. */
static int push_exit(const struct model *m, const struct event *ev)
{
	const struct process *p = processes_find(m, ev->process);

	if (p && p->ranges)
		ranges_exit(p->ranges, ev->tid == ev->pid ? 0 : ev->tid, ev->end_ns);
	return 0;
}

static int on_event(void *state, const struct event *ev)
{
	struct model *m = state;

	if (ev->kind == EVENT_RANGE)
		return push_range(m, ev);
	if (ev->kind == EVENT_EXIT)
		return push_exit(m, ev);
	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_stop(m->processes.v[i]->ranges, ev->end_ns);
	return 0;
}

static int on_work(void *state, const struct event *work, const struct launch *launch)
{
	const struct process *p = launch ? processes_find(state, work->process) : NULL;

	if (p && p->ranges)
		ranges_work(p->ranges, work, launch);
	return 0;
}

/* A graph's works may come JOIN_WINDOW_NS after its launch. */
static int on_horizon(void *state, uint32_t process, uint64_t horizon_ns)
{
	const struct process *p = processes_find(state, process);

	if (p && p->ranges && horizon_ns > JOIN_WINDOW_NS)
		ranges_settle(p->ranges, horizon_ns - JOIN_WINDOW_NS);
	return 0;
}

static int finish(void *state)
{
	const struct model *m = state;

	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_settle(m->processes.v[i]->ranges, UINT64_MAX);
	return 0;
}

static int settle(void *state, struct process *p, bool *done)
{
	(void)state, (void)done;
	if (p->ranges && !p->is_settled)
		ranges_settle(p->ranges, UINT64_MAX);
	return 0;
}

static int fold(void *state, struct process *p, struct process *into)
{
	(void)state;
	if (p->ranges && !into->ranges)
		into->ranges = ranges_new(0);
	if (!p->ranges)
		return 0;
	return into->ranges ? ranges_merge(into->ranges, p->ranges, p->info.exit_ns) : -ENOMEM;
}

static void cut(void *state)
{
	const struct model *m = state;

	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_cut(m->processes.v[i]->ranges, m->cut_ns);
}

const struct consumer ranges_consumer = {
	.kinds = 1ull << EVENT_RANGE | 1ull << EVENT_EXIT | 1ull << EVENT_STOP,
	.on_event = on_event,
	.on_work = on_work,
	.on_horizon = on_horizon,
	.finish = finish,
	.settle = settle,
	.fold = fold,
	.cut = cut,
};

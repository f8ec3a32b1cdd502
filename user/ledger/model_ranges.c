// SPDX-License-Identifier: BSD-3-Clause
/* The ranges of the model's processes: who gets which event. What they mean is facts/ranges.h's. */
#include <errno.h>

#include "base/num.h"
#include "ledger/model_state.h"
#include "facts/ranges.h"

static struct ranges *make_ranges(const struct model *m, struct process *p)
{
	if (!p->ranges) {
		p->ranges = ranges_new(m->session.interval_ns);
		if (p->ranges && m->session.stop_ns)
			ranges_stop(p->ranges, m->session.stop_ns);
	}
	return p->ranges;
}

int range_push(struct model *m, const struct event *ev)
{
	struct process *p = who_process(m, ev->pid);

	return p && make_ranges(m, p) ? ranges_push(p->ranges, ev) : -ENOMEM;
}

uint32_t range_innermost(const void *ranges, uint32_t tid, uint64_t ns)
{
	return ranges ? ranges_innermost(ranges, tid, ns) : 0;
}

static struct ranges *ranges_of(const struct model *m, uint32_t pid)
{
	const struct map_slot *slot = map_find(&m->by_pid, pid);

	return slot ? ((const struct process *)(uintptr_t)slot->value)->ranges : NULL;
}

void range_work(const struct model *m, const struct event *work, const struct launch *launch)
{
	struct ranges *r = launch ? ranges_of(m, work->pid) : NULL;

	if (r)
		ranges_work(r, work, launch);
}

/* A graph's works may come so long after its launch. */
void range_settle(const struct model *m, uint32_t pid, uint64_t horizon_ns)
{
	struct ranges *r = ranges_of(m, pid);

	if (r && horizon_ns > JOIN_WINDOW_NS)
		ranges_settle(r, horizon_ns - JOIN_WINDOW_NS);
}

void range_exit(struct thread *t, uint64_t end_ns)
{
	if (t->process->ranges)
		ranges_exit(t->process->ranges, t->tid == t->process->info.pid ? 0 : t->tid, end_ns);
}

void range_stop(struct model *m, uint64_t end_ns)
{
	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_stop(m->processes.v[i]->ranges, end_ns);
}

void range_finish(struct model *m)
{
	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_settle(m->processes.v[i]->ranges, UINT64_MAX);
}

void range_cut(struct model *m, uint64_t now_ns)
{
	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_cut(m->processes.v[i]->ranges, now_ns);
}

const struct ranges *model_ranges(const struct model *m, size_t i)
{
	return m->processes.v[i]->ranges;
}

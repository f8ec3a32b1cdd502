// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "ledger/device_events.h"

#include <errno.h>

#include "base/num.h"
#include "ledger/host_devices.h"
#include "facts/ranges.h"
#include "ledger/graph_events.h"
#include "ledger/memory_events.h"
#include "ledger/model_state.h"
#include "ledger/visibility.h"

#define TIMELINE_CHUNKS 65536	/* of all threads */

/* ---- calls ---------------------------------------------------------------------------------- */

/* As much of the time that the event was late as is in the span. */
static void set_late(struct timeline_span *span, const struct event *ev)
{
	uint64_t start = span->start_ns, end = span->end_ns;

	if (!event_late(ev, &start, &end))
		return;
	span->late_ns = end - start;
	span->after_late_ns = span->end_ns - end;
	span->late_why = ev->call.late_why;
}

void device_note_call(struct model *m, struct thread *t, uint64_t cursor_ns,
		      const struct event *ev, unsigned int class)
{
	const struct book *b = &t->book;
	uint64_t start = num_min(num_max(ev->start_ns, cursor_ns), b->cursor);
	struct timeline_span span;

	if (ev->kind == EVENT_GONE)
		start = b->cursor;
	if (b->last_gap != CLASS_OTHER)
		timeline_add(&t->timeline, &m->timelines, &(struct timeline_span){
			.start_ns = num_max(cursor_ns, b->base), .end_ns = start,
			.bucket = b->last_gap, .func = TIMELINE_NO_FUNC });
	/* Once: one with two records has come before, as ENTER. */
	if (ev->kind == EVENT_CALL || ev->kind == EVENT_OPEN)
		unseen_note_call(m, t, &(struct interval){ start, b->cursor }, class);
	if (class == CLASS_OTHER)
		return;
	span = (struct timeline_span){
		.start_ns = start, .end_ns = b->cursor, .bucket = (uint8_t)class, .func = ev->func,
		.large = ev->has & HAS_BYTES && ev->call.bytes >= TIMELINE_LARGE_BYTES };
	set_late(&span, ev);
	timeline_add(&t->timeline, &m->timelines, &span);
}

/* ---- gaps ----------------------------------------------------------------------------------- */

struct dividing {
	const struct model *m;
	uint32_t pid;
	uint64_t *ns;
	struct stalls *stalls;
};

/* A part of a gap in which all that the devices did is seen. */
static int divide_seen(void *ctx, const struct device_gap *gap)
{
	const struct dividing *d = ctx;
	const struct thread *t = gap->ended_by && gap->ended_by->has_launch ?
				 threads_find(d->m, d->pid, gap->ended_by->launch_tid) : NULL;
	uint64_t part[IDLE_CAUSES] = { 0 };
	struct idle_thread who;

	if (!t || !t->has_book || !t->drives) {
		idle_divide(gap, NULL, d->ns);
		return 0;
	}
	who = (struct idle_thread){ &t->timeline, t->book.cursor, (uint8_t)book_now(&t->book),
				    &t->process->unarmed };
	idle_divide(gap, &who, part);
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		d->ns[i] += part[i];
	return d->stalls ? stalls_add(d->stalls, gap, &who, part) : 0;
}

static int divide(void *ctx, uint32_t pid, const struct device_gap *gap, uint64_t *ns,
		  struct stalls *stalls)
{
	struct dividing d = { ctx, pid, ns, stalls };
	const struct process *p = processes_find(d.m, pid);

	return p ? unseen_divide(&p->unseen, gap, ns, divide_seen, &d) : divide_seen(&d, gap);
}

static uint64_t exit_ns(void *model, uint32_t pid)
{
	return process_exit_ns(model, pid);
}

static const struct unseen *unseen_of(void *model, uint32_t pid)
{
	const struct process *p = processes_find(model, pid);

	return p ? &p->unseen : NULL;
}

/* Without the time to wait: what threads did is known where calls have been told. */
static int divide_early(void *ctx, uint32_t pid, const struct device_gap *gap, uint64_t *ns,
			struct stalls *stalls)
{
	const struct model *m = ctx;

	if (gap->end_ns <= m->told_ns)
		return divide(ctx, pid, gap, ns, stalls);
	ns[IDLE_UNKNOWN] += gap->end_ns - gap->start_ns;
	return 0;
}

struct devices_divide device_divide_by(const struct model *m)
{
	return (struct devices_divide){ divide, exit_ns, unseen_of, false, (void *)(uintptr_t)m };
}

/* ---- works ---------------------------------------------------------------------------------- */

/* A book of a device opens with the session or with its process: what was before is not in it. */
static uint64_t open_ns(const struct model *m, uint32_t pid, uint32_t device)
{
	return devices_have(m->devices, pid, device) ? 0 :
	       num_max(m->session.start_ns, process_start_ns(m, pid));
}

static struct ranges *ranges_of(const struct model *m, uint32_t pid)
{
	const struct process *p = processes_find(m, pid);

	return p ? p->ranges : NULL;
}

static int on_work(void *ctx, const struct event *work, const struct launch *launch)
{
	struct model *m = ctx;
	struct ranges *r = launch ? ranges_of(m, work->pid) : NULL;

	if (r)
		ranges_work(r, work, launch);
	if (graph_note_work(m, work, launch))
		return -ENOMEM;
	return devices_push_work(m->devices, work, launch,
				 open_ns(m, work->pid, work->work.device));
}

/* Gaps that have ended are divided: of them nobody asks again. */
static void forget_unseen(struct model *m, uint32_t pid, uint64_t horizon_ns)
{
	uint64_t before_ns = horizon_ns - num_min(horizon_ns, JOIN_WINDOW_NS);
	struct process *p = processes_find(m, pid);

	if (p)
		unseen_drop_before(&p->unseen, devices_idle_since(m->devices, pid, before_ns));
}

static int on_horizon(void *ctx, uint32_t pid, uint64_t horizon_ns)
{
	struct model *m = ctx;
	struct devices_divide by = device_divide_by(m);
	struct ranges *r = ranges_of(m, pid);
	int err;

	/* a graph's works may come so long after its launch */
	if (r && horizon_ns > JOIN_WINDOW_NS)
		ranges_settle(r, horizon_ns - JOIN_WINDOW_NS);
	if (m->session.stop_ns)
		horizon_ns = num_min(horizon_ns, m->session.stop_ns);
	err = devices_settle(m->devices, pid, horizon_ns, &by);
	if (!err)
		forget_unseen(m, pid, horizon_ns);
	return err;
}

static int on_unseen(void *ctx, uint32_t pid, unsigned int why, uint64_t start_ns, uint64_t end_ns)
{
	struct process *p = processes_get(ctx, pid);

	return p ? unseen_add(&p->unseen, why, start_ns, end_ns) : -ENOMEM;
}

int device_finish(struct model *m, uint32_t pid, bool *done)
{
	struct devices_divide by = device_divide_by(m);

	return devices_finish(m->devices, pid, &by, done);
}

int device_fold(struct model *m, uint32_t pid, uint32_t into)
{
	struct devices_divide by = device_divide_by(m);

	return devices_fold(m->devices, pid, into, &by);
}

uint32_t device_heir(struct model *m, uint32_t pid, uint32_t device, uint32_t into)
{
	const struct device_state *heir = device == MEMORY_NO_DEVICE ? NULL :
					  devices_heir(m->devices, pid, device, into);

	return heir ? heir->device : MEMORY_NO_DEVICE;
}

int device_push(struct model *m, const struct event *ev)
{
	if (ev->kind == EVENT_DEVICE)
		return memory_expect_records(m, ev->pid) ? -ENOMEM :
		       devices_push_facts(m->devices, ev, open_ns(m, ev->pid, ev->device.facts.device));
	if (ev->end_ns < ev->start_ns)
		return -EINVAL;
	if (ev->kind == EVENT_UNSEEN)
		return unseen_push(m, ev);
	if (ev->kind == EVENT_WORK && (!ev->work.kind || ev->work.kind >= WORK_KIND_END))
		return -EINVAL;
	if (ev->kind == EVENT_WORK)
		m->counts.clock_error_ns = num_max(m->counts.clock_error_ns, ev->work.error_ns);
	return join_push(m->join, ev);
}

int device_end(struct model *m)
{
	struct devices_divide by = device_divide_by(m);

	return m->session.stop_ns ? devices_settle_all(m->devices, m->session.stop_ns, &by) : 0;
}

int device_watermark(struct model *m, const struct event *ev)
{
	struct devices_divide by = device_divide_by(m);
	uint64_t ns = ev->end_ns;
	int err;

	by.waits = !m->intervals;
	m->told_ns = num_max(m->told_ns, ns);
	err = graph_settle(m, ns);
	if (!err)
		err = join_push(m->join, ev);
	return err || ns <= JOIN_WINDOW_NS ? err :
	       devices_settle_hosts(m->devices, ns - JOIN_WINDOW_NS, &by);
}

int device_init(struct model *m)
{
	m->timelines.left = TIMELINE_CHUNKS;
	m->memory.left = MEMORY_ROOM;
	m->graphs = (struct graphs_room){ GRAPHS_CALLS_MAX, GRAPHS_NODES_MAX, GRAPHS_MADE_MAX };
	m->devices = devices_new();
	if (m->devices)
		devices_when_crowded(m->devices, &(struct devices_divide){ divide_early, exit_ns, unseen_of, false, m });
	m->join = !m->devices ? NULL : join_new(&(struct join_sink){ on_work, on_horizon, on_unseen, m });
	return m->join ? 0 : -ENOMEM;
}

static bool is_wanted(const void *ctx, uint32_t pid)
{
	const struct model *m = ctx;

	return join_knows(m->join, pid) || processes_find(m, pid);
}

void device_cut(struct model *m)
{
	struct devices_divide by = device_divide_by(m);

	devices_cut(m->devices, &by, is_wanted, m);
	samples_cut(&m->samples);
	kernel_configs_free(&m->kernel_configs);
}

void device_free(struct model *m)
{
	join_free(m->join);
	devices_free(m->devices);
	samples_free(&m->samples);
}


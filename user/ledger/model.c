// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which event is for whom: a table of kinds. Keeps the session, its facts and readings; processes
 * and threads as they are named are processes.c's, what their events mean is for the consumers.
 */
#include "ledger/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "facts/ranges.h"
#include "ledger/device_events.h"
#include "ledger/graph_events.h"
#include "ledger/memory_events.h"
#include "ledger/model_state.h"
#include "ledger/retention.h"
#include "ledger/thread_events.h"

#define FACTS_MAX 1024
#define READINGS_MAX 1024
#define IDENTITY_MAX 64
#define TEXT_MAX 4096		/* longer texts are cut */

struct model *model_new(const struct funcs *funcs)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->funcs = funcs;
	if (!device_init(m))
		return m;
	device_free(m);
	free(m);
	return NULL;
}

int model_use_consumers(struct model *m, const struct consumers *list)
{
	return consumers_add(&m->consumers, list);
}

void model_free(struct model *m)
{
	if (!m)
		return;
	processes_free(m);
	for (size_t i = 0; i < m->readings.n; i++) {
		free(m->readings.v[i].source);
		free(m->readings.v[i].kind);
	}
	device_free(m);
	pairs_free(&m->facts);
	VEC_FREE(&m->readings);
	stacks_free(&m->stacks);
	offcpu_free(&m->offcpu);
	kernel_configs_free(&m->kernel_configs);
	kernel_configs_free(&m->pending_configs);
	consumers_free(&m->consumers);
	free(m);
}

/* ---- processes and threads ---------------------------------------------------------------- */

static void copy_comm(char comm[16], const char *text)
{
	if (!text || !*text)
		return;
	strncpy(comm, text, 15);
	comm[15] = '\0';
}

static int push_thread(struct model *m, const struct event *ev)
{
	uint64_t process_ns = ev->task.process_ns;
	int err = process_ns ? processes_meet(m, ev->pid, 0, process_ns) : 0;
	struct thread *t = err ? NULL : threads_get(m, ev->pid, ev->tid);
	enum birth birth;

	if (err == -ESTALE)
		return model_invalid(m, ev);
	if (!t)
		return -ENOMEM;
	birth = births_compare(t->birth_ns, ev->start_ns);
	if (birth == BIRTH_OLDER)
		return model_invalid(m, ev);
	if (birth == BIRTH_NEWER || (t->ended && t->has_book && ev->start_ns >= t->book.exit))
		t = threads_renew(m, t, ev->start_ns);
	if (!t)
		return -ENOMEM;
	if (ev->start_ns > t->birth_ns)
		t->birth_ns = ev->start_ns;
	if (t->has_book)
		book_birth(&t->book, t->birth_ns);
	copy_comm(t->comm, ev->task.comm);
	if (ev->tid == ev->pid && !t->process->info.comm[0])
		copy_comm(t->process->info.comm, ev->task.comm);
	return 0;
}

static int replace_text(char **at, const char *text)
{
	char *copy = strndup(text, TEXT_MAX);

	if (!copy)
		return -ENOMEM;
	free(*at);
	*at = copy;
	return 0;
}

static int push_process(struct model *m, const struct event *ev)
{
	int err = processes_meet(m, ev->pid, ev->start_ns, ev->task.process_ns);
	struct process *p = err ? NULL : processes_get(m, ev->pid);

	if (err == -ESTALE)
		return model_invalid(m, ev);
	if (!p)
		return -ENOMEM;
	if (ev->task.comm)		/* else no more than its birth is said */
		pairs_free(&p->identity);
	copy_comm(p->info.comm, ev->task.comm);
	if (ev->end_ns > p->info.exec_ns && p->graphs)
		graphs_exec(p->graphs, ev->end_ns);
	if (ev->end_ns && memory_exec(p, ev->end_ns))
		return -ENOMEM;
	if (ev->task.cmdline && replace_text(&p->cmdline, ev->task.cmdline))
		return -ENOMEM;
	p->info.cmdline = p->cmdline;
	return m->join ? join_push(m->join, ev) : 0;
}

static int push_identity(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev->pid);
	int err = !p ? -ENOMEM : !ev->fact.key || !ev->fact.value ? -EINVAL :
		  pairs_set(&p->identity, ev->fact.key, ev->fact.value, IDENTITY_MAX);

	if (err)
		return err == -ENOMEM ? err : model_invalid(m, ev);
	return retention_note_fact(m, p, ev);
}

static int push_fork(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev->pid);
	struct model_child *c;

	if (p && !p->info.child)
		p->info.child = calloc(MODEL_CHILDREN, sizeof(*c));
	if (!p || !p->info.child)
		return -ENOMEM;
	p->info.children++;
	if (p->info.n_child >= MODEL_CHILDREN)
		return 0;
	c = &p->info.child[p->info.n_child++];
	c->pid = ev->tid;
	c->start_ns = ev->start_ns;
	copy_comm(c->comm, ev->task.comm);
	return 0;
}

static int push_unarmed(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev->pid);
	int err = p ? intervals_add(&p->unarmed, ev->start_ns, ev->end_ns) : -ENOMEM;

	if (err == -ENOMEM)
		return err;
	if (err)
		return model_invalid(m, ev);
	for (size_t i = 0; i < m->threads.n; i++) {
		struct thread *t = m->threads.v[i];

		if (t->process == p && t->has_book)
			model_note_found(m, ev->kind, book_unarmed(&t->book, ev->start_ns, ev->end_ns));
	}
	return 0;
}

/* ---- the session -------------------------------------------------------------------------- */

static int push_start(struct model *m, const struct event *ev)
{
	if (m->session.start_ns)
		return model_invalid(m, ev);
	model_begin_session(m, ev->start_ns);
	model_see_time(m, ev->start_ns);
	return join_push(m->join, ev);
}

static int push_stop(struct model *m, const struct event *ev)
{
	if (m->session.stop_ns || !ev->end_ns)
		return model_invalid(m, ev);
	m->session.stop_ns = ev->end_ns;
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->has_book)
			book_stop(&m->threads.v[i]->book, ev->end_ns);
	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_stop(m->processes.v[i]->ranges, ev->end_ns);
	return join_push(m->join, ev);
}

static int push_watermark(struct model *m, const struct event *ev)
{
	model_see_time(m, ev->end_ns);
	return memory_watermark(m, ev->end_ns) ? -ENOMEM : device_watermark(m, ev);
}

static int push_fact(struct model *m, const struct event *ev)
{
	int err = ev->fact.key && ev->fact.value ? pairs_set(&m->facts, ev->fact.key, ev->fact.value, FACTS_MAX) : -EINVAL;

	m->without_probes |= !err && !strcmp(ev->fact.key, "without_probes");
	return err && err != -ENOMEM ? model_invalid(m, ev) : err;
}

static struct reading *find_reading(const struct model *m, const struct event *ev)
{
	for (size_t i = 0; i < m->readings.n; i++)
		if (!strncmp(m->readings.v[i].source, ev->count.source, TEXT_MAX) &&
		    !strncmp(m->readings.v[i].kind, ev->count.kind, TEXT_MAX))
			return &m->readings.v[i];
	return NULL;
}

static int push_count(struct model *m, const struct event *ev)
{
	struct reading *r = ev->count.source && ev->count.kind ? find_reading(m, ev) : NULL;

	if (!ev->count.source || !ev->count.kind || (!r && m->readings.n >= READINGS_MAX))
		return model_invalid(m, ev);
	if (!r) {
		r = VEC_PUSH(&m->readings);
		if (!r)
			return -ENOMEM;
		if (replace_text(&r->source, ev->count.source) || replace_text(&r->kind, ev->count.kind)) {
			free(r->source);
			m->readings.n--;
			return -ENOMEM;
		}
	}
	r->info = (struct model_reading){ r->source, r->kind, ev->count.hits, ev->count.received,
					  ev->count.lost };
	return 0;
}

static int push_stacks(struct model *m, const struct event *ev)
{
	int err = stacks_take(&m->stacks, ev);

	return err == -EINVAL ? model_invalid(m, ev) : err == -ENOMEM ? err : 0;
}

/* What is invalid is counted, and says no time. */
static int taken(struct model *m, const struct event *ev, uint64_t ns, int err)
{
	if (err == -EINVAL)
		return model_invalid(m, ev);
	model_see_time(m, ns);
	return err;
}

static int push_device(struct model *m, const struct event *ev)
{
	return taken(m, ev, ev->end_ns, device_push(m, ev));
}

static struct ranges *make_ranges(const struct model *m, struct process *p)
{
	if (!p->ranges) {
		p->ranges = ranges_new(m->session.interval_ns);
		if (p->ranges && m->session.stop_ns)
			ranges_stop(p->ranges, m->session.stop_ns);
	}
	return p->ranges;
}

static int push_range(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev->pid);

	return taken(m, ev, ev->start_ns, p && make_ranges(m, p) ? ranges_push(p->ranges, ev) : -ENOMEM);
}

static int push_sample(struct model *m, const struct event *ev)
{
	uint64_t until_ns = m->session.stop_ns ? m->session.stop_ns : UINT64_MAX;
	struct sampled_device *d;
	int err = samples_push(&m->samples, ev, until_ns, &d);

	if (err == -EINVAL)
		return model_invalid(m, ev);
	if (err || ev->kind != EVENT_SAMPLE)
		return err;
	/* An interval is told as far as works are; who else was there is known up to a second
	 * later. */
	return devices_sample(m->devices, d, ev->start_ns, !m->intervals);
}

static int (*const push_kind[EVENT_KIND_END])(struct model *m, const struct event *ev) = {
	[EVENT_CALL] = thread_push, [EVENT_ENTER] = thread_push, [EVENT_OPEN] = thread_push,
	[EVENT_THREAD] = push_thread, [EVENT_EXIT] = thread_push, [EVENT_FORK] = push_fork,
	[EVENT_PROCESS] = push_process, [EVENT_TAIL] = thread_push, [EVENT_FACT] = push_fact,
	[EVENT_COUNT] = push_count, [EVENT_START] = push_start, [EVENT_STOP] = push_stop,
	[EVENT_WATERMARK] = push_watermark, [EVENT_UNARMED] = push_unarmed,
	[EVENT_FRAME] = push_stacks, [EVENT_STACK] = push_stacks,
	[EVENT_IDENTITY] = push_identity,
	[EVENT_DEVICE] = push_device, [EVENT_WORK] = push_device, [EVENT_API] = push_device,
	[EVENT_RANGE] = push_range, [EVENT_OFF] = thread_push, [EVENT_UNSEEN] = push_device,
	[EVENT_MEMORY] = memory_push, [EVENT_TOLD] = thread_push,
	[EVENT_NODE] = graph_push_node,
	[EVENT_SAMPLE] = push_sample, [EVENT_USER] = push_sample, [EVENT_FAULT] = push_sample,
	[EVENT_INSIDE] = thread_push, [EVENT_LEFT] = thread_push, [EVENT_GONE] = thread_push,
};

int model_push(struct model *m, const struct event *ev)
{
	int err = 0;

	if (ev->kind >= EVENT_KIND_END || !(push_kind[ev->kind] || m->consumers.takers[ev->kind])) {
		m->counts.received[0]++;
		return 0;
	}
	m->counts.received[ev->kind]++;
	if (ev->pid == MODEL_PAST_PID)
		return model_invalid(m, ev);
	if (push_kind[ev->kind])
		err = push_kind[ev->kind](m, ev);
	if (!err && m->consumers.takers[ev->kind])
		err = consumers_push(&m->consumers, ev);
	return err == -EINVAL ? model_invalid(m, ev) : err;
}

int model_finish(struct model *m)
{
	int err;

	if (pairs_get(&m->facts, "goes_on"))	/* a file of several */
		join_goes_on(m->join);
	err = join_end(m->join);
	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_settle(m->processes.v[i]->ranges, UINT64_MAX);
	if (!err)
		err = memory_watermark(m, UINT64_MAX);
	if (!err)
		err = graph_settle(m, UINT64_MAX);
	return err ? err : device_end(m);
}

/* ---- reading, and the cut between two intervals ------------------------------------------------- */

void model_use_intervals(struct model *m)
{
	m->intervals = true;
}

void model_cut(struct model *m, uint64_t now_ns)
{
	struct book_sum sum;

	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->has_book)
			book_cut(&m->threads.v[i]->book, now_ns, &sum);
	memory_cut(m);
	processes_drop_ended(m, now_ns);
	device_cut(m);
	for (size_t i = 0; i < m->processes.n; i++) {
		call_stats_reset(&m->processes.v[i]->info.calls);
		intervals_drop_before(&m->processes.v[i]->unarmed, now_ns);
	}
	for (size_t i = 0; i < m->processes.n; i++)
		if (m->processes.v[i]->ranges)
			ranges_cut(m->processes.v[i]->ranges, now_ns);
	offcpu_reset(&m->offcpu);
	consumers_cut(&m->consumers);
	if (now_ns > m->session.interval_ns)
		m->session.interval_ns = now_ns;
	if (now_ns > m->now_ns)
		m->now_ns = now_ns;
}

const struct funcs *model_funcs(const struct model *m)
{
	return m->funcs;
}

void model_counts(const struct model *m, struct model_counts *out)
{
	struct join_counts works;
	struct device_counts books;

	*out = m->counts;
	join_counts(m->join, &works);
	out->matched = works.matched;
	out->orphan = works.orphan;
	out->launches = works.launches;
	out->met = works.met;
	out->captured = works.captured;
	out->awaited = works.awaited;
	out->unmet_lost = works.lost;
	out->unmet_ended = works.ended;
	out->outside = works.outside;
	devices_counts(m->devices, &books);
	out->late[EVENT_WORK] += books.late;
	out->late_ns += books.late_ns;
	out->skew[EVENT_WORK] += works.skew;
	out->invalid[EVENT_WORK] += works.invalid + books.invalid;
	for (size_t i = 0; i < m->threads.n; i++) {
		const struct book_counts *c = &m->threads.v[i]->book.counts;

		out->lost += c->lost;
		out->late_ns += c->late_ns;
		out->abandoned += c->abandoned;
	}
	for (size_t i = 0; i < m->processes.n; i++)
		model_add_counts(m->processes.v[i], out);
}


// SPDX-License-Identifier: BSD-3-Clause
/* Copies of the model's tables, in its order. */
#include "model/snapshot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "model/device_events.h"
#include "model/graph_events.h"
#include "model/memory_events.h"
#include "model/shared.h"
#include "model/thread_events.h"

static const char *copy_text(struct snapshot *s, const char *text, int *err)
{
	const char *copy = text ? strpool_add(s->texts, text) : NULL;

	if (text && !copy)
		*err = -ENOMEM;
	return copy;
}

/* ---- processes and threads ------------------------------------------------------------------ */

static int take_memory(struct snapshot_process *to, const struct memory_book *b)
{
	for (size_t i = 0; b && i < memory_book_rows(b); i++) {
		struct memory_sums *row = VEC_PUSH(&to->memory);

		if (!row)
			return -ENOMEM;
		*row = *memory_book_row(b, i);
	}
	return 0;
}

static int take_ranges(struct snapshot *s, struct snapshot_process *to, const struct ranges *r)
{
	int err = 0;

	for (size_t i = 0; r && i < ranges_count(r) && !err; i++) {
		struct range_sum *row = VEC_PUSH(&to->ranges);

		if (!row)
			return -ENOMEM;
		ranges_read(r, i, s->now_ns, row);
		row->domain = copy_text(s, row->domain, &err);
		row->name = copy_text(s, row->name, &err);
	}
	return err;
}

static int take_process(struct snapshot *s, const struct model *m, const struct process *from)
{
	const struct model_process *p = &from->info;
	struct snapshot_process *to = VEC_PUSH(&s->processes);
	int err = to ? 0 : -ENOMEM;

	if (err)
		return err;
	*to = (struct snapshot_process){
		.process = p->process, .pid = p->pid, .cmdline = copy_text(s, p->cmdline, &err),
		.start_ns = p->start_ns, .exec_ns = p->exec_ns, .exit_ns = p->exit_ns,
		.past = p->past, .children = p->children,
		.has_ended = process_has_ended(from),
		.has_memory = from->memory,
		.memory_incomplete = memory_is_incomplete(m, from),
		.unarmed_ns = from->past_unarmed_ns +
			      intervals_overlap(&from->unarmed, s->session.interval_ns, s->now_ns),
	};
	memcpy(to->comm, p->comm, sizeof(to->comm));
	for (size_t k = 0; k < p->n_child && !err; k++) {
		struct model_child *child = VEC_PUSH(&to->child);

		err = child ? 0 : -ENOMEM;
		if (child)
			*child = p->child[k];
	}
	if (!err)
		err = pairs_copy(&to->identity, &from->identity);
	if (!err)
		err = call_stats_copy(&to->calls, &p->calls);
	if (!err)
		err = take_memory(to, from->memory);
	return err ? err : take_ranges(s, to, from->ranges);
}

/* It stands for others, whose sums have no open call. */
static void take_past(struct snapshot_thread *to, const struct model *m, const struct thread *t)
{
	const char *comm = t->process == m->past ? t->process->info.comm : "[other]";

	to->past = t->past->threads;
	to->has_book = t->past->threads != 0;
	to->book = t->past->sum;
	snprintf(to->comm, sizeof(to->comm), "%s", comm);
}

static int take_thread(struct snapshot *s, const struct model *m, const struct thread *t)
{
	struct snapshot_thread *to = VEC_PUSH(&s->threads);
	const struct book *b = &t->book;

	if (!to)
		return -ENOMEM;
	*to = (struct snapshot_thread){
		.process = t->process->index, .pid = t->process->info.pid, .tid = t->tid,
		.process_comm = s->processes.v[t->process->index].comm,
		.process_start_ns = t->process->info.start_ns, .birth_ns = t->birth_ns,
		.has_book = t->has_book && t->drives && !t->over,
	};
	memcpy(to->comm, t->comm, sizeof(to->comm));
	if (t->past)
		take_past(to, m, t);
	if (!to->has_book || t->past)
		return 0;
	to->open = b->has_open && !b->is_off && !b->hole;
	to->before = to->open && b->before;
	to->func = b->open_func;
	book_read(b, s->now_ns, &to->book);
	return 0;
}

/* ---- devices --------------------------------------------------------------------------------- */

/* While intervals go on devices are read up to where all is known. */
static bool is_settled(const struct model *m)
{
	return m->intervals && !m->session.stop_ns;
}

static int take_host(struct snapshot *s, const struct model *m, const struct host_device *h)
{
	const struct devices_divide by = device_divide_by(m);
	struct share_book *book = is_settled(m) ? share_book_copy(h->book) :
						  host_device_read(h, s->now_ns, &by);
	struct snapshot_host *to = book ? VEC_PUSH(&s->hosts) : NULL;
	int err = to ? 0 : -ENOMEM;

	if (!err) {
		memcpy(to->uuid, h->uuid, sizeof(to->uuid));
		share_book_sum(book, &to->sum);
	}
	if (!err && h->members.n)
		snprintf(to->name, sizeof(to->name), "%s", h->members.v[0]->name);
	for (size_t i = 0; !err && i < h->members.n; i++) {
		struct snapshot_member *member = VEC_PUSH(&to->members);

		err = member ? 0 : -ENOMEM;
		if (member)
			*member = (struct snapshot_member){
				h->members.v[i]->process, h->members.v[i]->pid,
				h->members.v[i]->device, h->members.v[i]->book,
				share_book_member(book, i),
			};
	}
	share_book_free(book);
	return err;
}

static const struct snapshot_host *find_host(const struct snapshot *s, struct devices *d,
					     const struct host_device *host)
{
	for (size_t i = 0; i < devices_hosts(d)->all.n; i++)
		if (devices_hosts(d)->all.v[i] == host)
			return &s->hosts.v[i];
	return NULL;
}

static void forget_other(uint64_t ns[IDLE_CAUSES])
{
	ns[IDLE_UNKNOWN] += ns[IDLE_OTHER];
	ns[IDLE_OTHER] = 0;
}

static int take_book(struct snapshot *s, struct snapshot_device *to, const struct model *m,
		     const struct device_state *from)
{
	const struct devices_divide by = device_divide_by(m);
	int err = devices_read(from, is_settled(m) ? DEVICES_SETTLED : s->now_ns, &by, &to->sum,
			       to->idle_ns, &to->stalls);

	/* Time in no call that CUPTI records may be anything: a call of NCCL, another thread's
	 * turn. */
	if (m->without_probes) {
		forget_other(to->idle_ns);
		for (size_t i = 0; i < stalls_count(&to->stalls); i++)
			forget_other(((struct stall *)to->stalls.rows.v[i])->cause_ns);
	}
	if (!m->session.stop_ns) {
		to->idle_ns[IDLE_OPEN] = to->idle_ns[IDLE_NO_WORK];
		to->idle_ns[IDLE_NO_WORK] = 0;
	}
	return err;
}

/* The host's, where the devices themselves reported it; else the process's own. */
static uint32_t number_of(const struct model *m, const struct device_state *d)
{
	const struct sampled_device *sampled =
		d->has_facts ? samples_find(&m->samples, d->facts.uuid) : NULL;

	return sampled ? sampled->number : d->ordinal;
}

static int take_device(struct snapshot *s, const struct model *m, const struct device_state *from)
{
	struct snapshot_device *to = VEC_PUSH(&s->devices);
	int err = to ? 0 : -ENOMEM;

	if (err)
		return err;
	to->process = from->process;
	to->pid = from->pid;
	to->device = from->device;
	to->number = number_of(m, from);
	to->has_book = from->member.book;
	to->waiting = to->has_book ? device_book_waiting(from->member.book) : 0;
	to->has_facts = from->has_facts;
	to->facts = from->facts;
	to->host = find_host(s, m->devices, from->member.host);
	to->sets = from->sets;
	memcpy(to->copies, from->copies, sizeof(to->copies));
	err = take_book(s, to, m, from);
	if (!err)
		err = rows_copy(&to->kernels.rows, &from->kernels.rows);
	return err ? err : lanes_copy(&to->lanes, &from->lanes);
}

static int take_devices(struct snapshot *s, const struct model *m)
{
	struct devices *d = m->devices;
	int err = 0;

	for (size_t i = 0; i < devices_hosts(d)->all.n && !err; i++)
		err = take_host(s, m, devices_hosts(d)->all.v[i]);
	for (size_t i = 0; i < devices_count(d) && !err; i++)
		err = take_device(s, m, devices_get(d, i));
	return err;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int take_readings(struct snapshot *s, const struct model *m)
{
	int err = 0;

	for (size_t i = 0; i < m->readings.n && !err; i++) {
		struct model_reading *to = VEC_PUSH(&s->readings);

		if (!to)
			return -ENOMEM;
		*to = m->readings.v[i].info;
		to->source = copy_text(s, to->source, &err);
		to->kind = copy_text(s, to->kind, &err);
	}
	return err;
}

static int take_all(struct snapshot *s, const struct model *m)
{
	int err = take_readings(s, m);

	if (!err)
		err = pairs_copy(&s->facts, &m->facts);
	if (!err)
		err = notes_copy(&s->notes, &m->notes);
	for (size_t i = 0; i < m->processes.n && !err; i++)
		err = take_process(s, m, m->processes.v[i]);
	for (size_t i = 0; i < m->threads.n && !err; i++)
		err = take_thread(s, m, m->threads.v[i]);
	if (!err)
		err = take_devices(s, m);
	if (!err)
		err = samples_copy(&s->samples, &m->samples);
	if (!err)
		err = offcpu_copy(&s->offcpu, threads_offcpu(&m->consumers));
	if (!err)
		err = stacks_copy(&s->stacks, &m->stacks);
	if (!err)
		err = consumers_copy(&s->states, &m->consumers);
	return err ? err : rows_copy(&s->kernel_configs.rows, &graphs_configs(&m->consumers)->rows);
}

struct snapshot *snapshot_take(const struct model *m, uint64_t now_ns)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return NULL;
	s->texts = strpool_new();
	s->funcs = m->funcs;
	s->session = m->session;
	if (!now_ns)
		now_ns = m->session.stop_ns ? m->session.stop_ns : m->now_ns;
	s->now_ns = num_max(now_ns, s->session.interval_ns);
	model_counts(m, &s->counts);
	err = s->texts ? take_all(s, m) : -ENOMEM;
	if (!err)
		return s;
	snapshot_free(s);
	errno = -err;
	return NULL;
}

static void free_process(struct snapshot_process *p)
{
	VEC_FREE(&p->child);
	VEC_FREE(&p->memory);
	VEC_FREE(&p->ranges);
	rows_free(&p->calls.rows);
	pairs_free(&p->identity);
}

static void free_device(struct snapshot_device *d)
{
	stalls_free(&d->stalls);
	rows_free(&d->kernels.rows);
	lanes_free(&d->lanes);
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->processes.n; i++)
		free_process(&s->processes.v[i]);
	for (size_t i = 0; i < s->devices.n; i++)
		free_device(&s->devices.v[i]);
	for (size_t i = 0; i < s->hosts.n; i++)
		VEC_FREE(&s->hosts.v[i].members);
	VEC_FREE(&s->processes);
	VEC_FREE(&s->threads);
	VEC_FREE(&s->devices);
	VEC_FREE(&s->hosts);
	VEC_FREE(&s->readings);
	pairs_free(&s->facts);
	consumers_free(&s->states);
	notes_free(&s->notes);
	samples_free(&s->samples);
	offcpu_free(&s->offcpu);
	stacks_free(&s->stacks);
	rows_free(&s->kernel_configs.rows);
	strpool_free(s->texts);
	free(s);
}

/* ---- finding --------------------------------------------------------------------------------- */

const char *snapshot_fact(const struct snapshot *s, const char *key)
{
	return pairs_get(&s->facts, key);
}

uint64_t snapshot_fact_number(const struct snapshot *s, const char *key)
{
	const char *text = snapshot_fact(s, key);

	return text && *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

const struct snapshot_process *snapshot_process(const struct snapshot *s, uint32_t process)
{
	for (size_t i = s->processes.n; i-- > 0;)
		if (s->processes.v[i].process == process)
			return &s->processes.v[i];
	return NULL;
}

const char *snapshot_identity(const struct snapshot_process *p, const char *key)
{
	return p ? pairs_get(&p->identity, key) : NULL;
}

const char *snapshot_thread_comm(const struct snapshot *s, uint32_t process, uint32_t tid)
{
	for (size_t i = s->threads.n; i-- > 0;) {
		const struct snapshot_thread *t = &s->threads.v[i];

		if (s->processes.v[t->process].process != process || t->tid != tid)
			continue;
		if (t->comm[0])
			return t->comm;
		return t->pid == tid && t->process_comm[0] ? t->process_comm : NULL;
	}
	return NULL;
}

const struct snapshot_device *snapshot_device(const struct snapshot *s, uint32_t process,
					      uint32_t device)
{
	for (size_t i = 0; i < s->devices.n; i++)
		if (s->devices.v[i].process == process && s->devices.v[i].device == device)
			return &s->devices.v[i];
	return NULL;
}

uint32_t snapshot_device_number(const struct snapshot *s, uint32_t process, uint32_t device)
{
	const struct snapshot_device *d = snapshot_device(s, process, device);

	return d ? d->number : device;
}

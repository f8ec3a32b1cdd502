// SPDX-License-Identifier: BSD-3-Clause
/* Reading the model, and the cut between two intervals. Changes nothing but in model_cut. */
#include "ledger/model.h"

#include <stdlib.h>
#include <string.h>

#include "ledger/model_state.h"
#include "facts/ranges.h"

uint64_t model_now(const struct model *m)
{
	return m->session.stop_ns ? m->session.stop_ns : m->now_ns;
}

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
	who_drop_ended(m, now_ns);
	device_cut(m);
	for (size_t i = 0; i < m->processes.n; i++) {
		call_stats_reset(&m->processes.v[i]->info.calls);
		intervals_drop_before(&m->processes.v[i]->unarmed, now_ns);
	}
	range_cut(m, now_ns);
	offcpu_reset(&m->offcpu);
	if (now_ns > m->session.interval_ns)
		m->session.interval_ns = now_ns;
	if (now_ns > m->now_ns)
		m->now_ns = now_ns;
}

const struct funcs *model_funcs(const struct model *m)
{
	return m->funcs;
}

struct model_session model_session(const struct model *m)
{
	return m->session;
}

size_t model_processes(const struct model *m)
{
	return m->processes.n;
}

const struct model_process *model_process(const struct model *m, size_t i)
{
	return &m->processes.v[i]->info;
}

const struct model_process *model_process_of(const struct model *m, uint32_t pid)
{
	for (size_t i = m->processes.n; i-- > 0;)
		if (m->processes.v[i]->info.pid == pid)
			return &m->processes.v[i]->info;
	return NULL;
}

const char *model_identity(const struct model *m, size_t i, const char *key)
{
	return pairs_get(&m->processes.v[i]->identity, key);
}

bool model_has_ended(const struct model *m, size_t i)
{
	return m->processes.v[i]->info.exit_ns || model_identity(m, i, "ended");
}

bool model_may_go_on(const struct model *m, size_t i)
{
	const struct process *p = m->processes.v[i];

	return !p->info.past && !p->gone_ns && (p->living || !model_has_ended(m, i));
}

uint64_t model_unarmed_ns(const struct model *m, size_t i, uint64_t start_ns, uint64_t end_ns)
{
	const struct process *p = m->processes.v[i];

	return p->past_unarmed_ns + intervals_overlap(&p->unarmed, start_ns, end_ns);
}

size_t model_threads(const struct model *m)
{
	return m->threads.n;
}

void model_thread(const struct model *m, size_t i, uint64_t now_ns, struct model_thread *out)
{
	const struct thread *t = m->threads.v[i];

	*out = (struct model_thread){
		.process = t->process->index,
		.pid = t->process->info.pid,
		.tid = t->tid,
		.process_comm = t->process->info.comm,
		.process_start_ns = t->process->info.start_ns,
		.birth_ns = t->birth_ns,
		.has_book = t->has_book && t->drives && !t->over,
	};
	memcpy(out->comm, t->comm, sizeof(out->comm));
	if (t->past) {
		out->past = t->past->threads;
		out->has_book = t->past->threads != 0;
		out->book = t->past->sum;
		if (t->process == m->past)
			memcpy(out->comm, t->process->info.comm, sizeof(out->comm));
		else
			memcpy(out->comm, "[other]", sizeof("[other]"));
	}
	if (!out->has_book || t->past)
		return;
	out->open = t->book.has_open && !t->book.is_off && !t->book.hole;
	out->before = out->open && t->book.before;
	out->func = t->book.open_func;
	out->open_ns = t->book.open_start;
	out->counts = t->book.counts;
	book_read(&t->book, now_ns, &out->book);
}

void model_add_counts(const struct process *p, struct model_counts *to)
{
	struct memory_counts memory = { 0 };

	if (p->memory)
		memory_book_counts(p->memory, &memory);
	to->more += p->info.calls.more;
	to->late[EVENT_MEMORY] += memory.late;
	to->unseen_frees += memory.unseen_frees;
	to->unplaced += p->ranges ? ranges_unplaced(p->ranges) : 0;
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

size_t model_readings(const struct model *m)
{
	return m->readings.n;
}

const struct model_reading *model_reading(const struct model *m, size_t i)
{
	return &m->readings.v[i].info;
}

const char *model_fact(const struct model *m, const char *key)
{
	return pairs_get(&m->facts, key);
}

uint64_t model_fact_number(const struct model *m, const char *key)
{
	const char *text = model_fact(m, key);

	return text && *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

const char *model_thread_comm(const struct model *m, uint32_t pid, uint32_t tid)
{
	const struct thread *t = who_known_thread(m, pid, tid);

	if (t && t->comm[0])
		return t->comm;
	return t && pid == tid && t->process->info.comm[0] ? t->process->info.comm : NULL;
}

const struct offcpu *model_offcpu(const struct model *m)
{
	return &m->offcpu;
}

const struct stacks *model_stacks(const struct model *m)
{
	return &m->stacks;
}

const struct devices *model_devices(const struct model *m)
{
	return m->devices;
}

struct stacks *model_stacks_of(struct model *m)
{
	return &m->stacks;
}

// SPDX-License-Identifier: BSD-3-Clause
/* Two lists, and maps to their elements by handle and tid. Knows nothing of the meaning of
 * events. */
#include "ledger/processes.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "join/graphs.h"
#include "ledger/ledger.h"
#include "facts/ranges.h"

static uint64_t thread_key(uint32_t process, uint32_t tid)
{
	return (uint64_t)process << 32 | tid;
}

static void free_process(struct process *p)
{
	call_stats_free(&p->info.calls);
	intervals_free(&p->unarmed);
	ranges_free(p->ranges);
	graphs_free(p->graphs);
	unseen_free(&p->unseen);
	memory_book_free(p->memory);
	free(p->info.child);
	pairs_free(&p->identity);
	free(p->cmdline);
	free(p);
}

static void end_thread(struct thread *t, uint64_t end_ns)
{
	if (t->has_book)
		book_replace(&t->book, end_ns);
	thread_ends(t);
}

/* Its pid is another process's from then on. */
static void end_process(struct model *m, struct process *p, uint64_t end_ns)
{
	if (!p->info.exit_ns)
		p->info.exit_ns = end_ns;
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->process == p)
			end_thread(m->threads.v[i], end_ns);
}

static uint64_t birth_of(const struct event *ev)
{
	if (ev->kind != EVENT_PROCESS && ev->kind != EVENT_THREAD)
		return 0;
	return ev->task.process_ns || ev->kind == EVENT_THREAD ? ev->task.process_ns : ev->start_ns;
}

static struct process *make_process(struct model *m, const struct event *ev)
{
	struct process *p = calloc(1, sizeof(*p)), **place = NULL, *before;
	struct map_slot *slot = p ? map_put(&m->by_process, ev->process, NULL) : NULL;
	struct map_slot *of_pid = slot ? map_put(&m->by_pid, ev->pid, NULL) : NULL;

	if (of_pid)
		place = VEC_PUSH(&m->processes);
	if (!place) {
		/* A slot without a value is as good as none: processes_get looks again. */
		free(p);
		return NULL;
	}
	before = (struct process *)(uintptr_t)of_pid->value;
	if (before)
		end_process(m, before, birth_of(ev) ? birth_of(ev) : m->now_ns);
	p->info.process = ev->process;
	p->info.pid = ev->pid;
	p->index = m->processes.n - 1;
	slot->value = of_pid->value = (uintptr_t)p;
	*place = p;
	return p;
}

struct process *processes_find(const struct model *m, uint32_t process)
{
	const struct map_slot *slot = map_find(&m->by_process, process);

	return slot ? (struct process *)(uintptr_t)slot->value : NULL;
}

struct process *processes_get(struct model *m, const struct event *ev)
{
	struct process *p = processes_find(m, ev->process);
	uint64_t birth_ns = birth_of(ev);

	if (!p)
		p = make_process(m, ev);
	if (!p || !birth_ns)
		return p;
	if (ev->task.process_ns)
		p->has_exact_start = true;
	if (ev->task.process_ns || !p->has_exact_start)
		p->info.start_ns = birth_ns;
	return p;
}

struct thread *threads_find(const struct model *m, uint32_t process, uint32_t tid)
{
	struct map_slot *slot = map_find(&m->by_tid, thread_key(process, tid));

	return slot ? (struct thread *)(uintptr_t)slot->value : NULL;
}

static struct thread *make_thread(struct model *m, struct process *p, uint32_t tid)
{
	struct thread *t = calloc(1, sizeof(*t)), **place = NULL;
	struct map_slot *slot;

	slot = t ? map_put(&m->by_tid, thread_key(p->info.process, tid), NULL) : NULL;
	if (slot)
		place = VEC_PUSH(&m->threads);
	if (!place) {
		free(t);
		return NULL;
	}
	t->process = p;
	t->tid = tid;
	p->threads++;
	p->living++;
	slot->value = (uintptr_t)t;
	*place = t;
	m->last = NULL;
	return t;
}

struct thread *threads_get(struct model *m, const struct event *ev)
{
	uint64_t key = thread_key(ev->process, ev->tid);
	struct process *p;
	struct thread *t;

	if (__builtin_expect(m->last && m->last_key == key, 1))
		return m->last;
	t = threads_find(m, ev->process, ev->tid);
	if (!t) {
		p = processes_get(m, ev);
		t = p ? make_thread(m, p, ev->tid) : NULL;
	}
	m->last = t;
	m->last_key = key;
	return t;
}

struct thread *threads_renew(struct model *m, const struct thread *old, uint64_t birth_ns)
{
	struct thread *previous = threads_find(m, old->process->info.process, old->tid);
	struct thread *t = make_thread(m, old->process, old->tid);

	if (!t)
		return NULL;
	if (previous)
		end_thread(previous, birth_ns);
	t->birth_ns = birth_ns;
	return t;
}

void threads_drop(struct model *m, struct thread *t)
{
	const struct book_counts *c = &t->book.counts;
	uint32_t process = t->process->info.process;

	m->counts.lost += c->lost;
	t->process->lost_calls |= c->lost > 0;
	m->counts.late_ns += c->late_ns;
	m->counts.abandoned += c->abandoned;
	if (threads_find(m, process, t->tid) == t)
		map_del(&m->by_tid, thread_key(process, t->tid));
	t->process->threads--;
	t->process->living -= !t->ended;
	if (t->past)
		t->process->past = NULL;
	timeline_free(&t->timeline, &m->timelines);
	free(t->cache);
	free(t->past);
	free(t);
}

void processes_drop(struct model *m, struct process *p)
{
	struct map_slot *slot = map_find(&m->by_pid, p->info.pid);

	model_add_counts(p, &m->counts);
	if (p == m->past)
		m->past = NULL;
	else
		map_del(&m->by_process, p->info.process);
	if (slot && slot->value == (uintptr_t)p)
		map_del(&m->by_pid, p->info.pid);
	free_process(p);
}

/* A helper reports later the device activity it caused, and its calls without a probe. */
static bool is_asked(const struct model *m, const struct thread *t, uint64_t now_ns)
{
	const struct process *p = t->process;

	return t->has_book && !t->past && (p->records_memory || join_knows(m->join,
									   p->info.process)) &&
	       num_add(t->book.exit, JOIN_WINDOW_NS) > now_ns;
}

void processes_drop_ended(struct model *m, uint64_t now_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->threads.n; i++) {
		struct thread *t = m->threads.v[i];

		if (t->process->gone_ns && !t->ended)	/* its end was lost */
			end_thread(t, now_ns);
		t->over = t->ended;
		if (t->ended && !is_asked(m, t, now_ns))
			threads_drop(m, t);
		else
			m->threads.v[kept++] = t;
	}
	m->threads.n = kept;
	m->aged = 0;
	kept = 0;
	for (size_t i = 0; i < m->processes.n; i++) {
		struct process *p = m->processes.v[i];

		if ((p->info.exit_ns || p->gone_ns) && !p->threads && !join_knows(m->join,
										  p->info.process))
			processes_drop(m, p);
		else
			m->processes.v[p->index = kept++] = p;
	}
	m->processes.n = kept;
	m->last = NULL;
}

void processes_free(struct model *m)
{
	for (size_t i = 0; i < m->threads.n; i++) {
		timeline_free(&m->threads.v[i]->timeline, &m->timelines);
		free(m->threads.v[i]->cache);
		free(m->threads.v[i]->past);
		free(m->threads.v[i]);
	}
	for (size_t i = 0; i < m->processes.n; i++)
		free_process(m->processes.v[i]);
	VEC_FREE(&m->threads);
	VEC_FREE(&m->processes);
	map_free(&m->by_process);
	map_free(&m->by_pid);
	map_free(&m->by_tid);
}

/* ---- reading
 * ---------------------------------------------------------------------------------- */

size_t model_processes(const struct model *m)
{
	return m->processes.n;
}

const struct model_process *model_process(const struct model *m, size_t i)
{
	return &m->processes.v[i]->info;
}

bool model_may_go_on(const struct model *m, size_t i)
{
	const struct process *p = m->processes.v[i];

	return !p->info.past && !p->gone_ns && (p->living || !process_has_ended(p));
}


// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two lists, and maps to their elements by handle and tid. Threads and processes that exited lose
 * their own rows: threads become one of their process, processes one of the session
 * (model/model_processes.h has the rule). Sums added up here are final: nothing of them may come
 * later.
 */
#include "model/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "facts/ranges.h"
#include "join/graphs.h"
#include "model/shared.h"

static uint64_t thread_key(uint32_t process, uint32_t tid)
{
	return (uint64_t)process << 32 | tid;
}

static void free_process(struct process *p)
{
	rows_free(&p->info.calls.rows);
	intervals_free(&p->unarmed);
	map_free(&p->streams);
	call_origins_free(&p->origins);
	map_free(&p->early_records);
	scopes_free(&p->scopes);
	askers_free(&p->askers);
	ranges_free(p->ranges);
	graphs_free(p->graphs);
	unseen_free(&p->unseen);
	VEC_FREE(&p->silences.v);
	memory_book_free(p->memory);
	VEC_FREE(&p->info.child);
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

static bool names_birth(const struct event *ev)
{
	return ev->kind == EVENT_PROCESS || ev->kind == EVENT_THREAD;
}

static uint64_t birth_of(const struct event *ev)
{
	if (!names_birth(ev))
		return 0;
	return ev->task.process_ns || ev->kind == EVENT_THREAD ? ev->task.process_ns : ev->start_ns;
}

static struct process *make_process(struct model *m, const struct event *ev)
{
	struct map_slot *slot = map_put(&m->by_process, ev->process, NULL);
	struct map_slot *of_pid = slot ? map_put(&m->by_pid, ev->pid, NULL) : NULL;
	struct process *p = of_pid ? VEC_NEW(&m->processes) : NULL, *before;
	uint64_t birth_ns = birth_of(ev) ? birth_of(ev) : m->now_ns;

	/* A slot without a value is as good as none: processes_get looks again. */
	if (!p)
		return NULL;
	before = (struct process *)(uintptr_t)of_pid->value;
	if (before && !before->info.exit_ns)
		before->info.exit_ns = birth_ns;
	for (size_t i = 0; before && i < m->threads.n; i++)
		if (m->threads.v[i]->process == before)
			end_thread(m->threads.v[i], birth_ns);
	p->info.process = ev->process;
	p->info.pid = ev->pid;
	p->index = m->processes.n - 1;
	slot->value = of_pid->value = (uintptr_t)p;
	return p;
}

static bool is_last(const struct model *m, uint32_t process)
{
	return m->last_process && m->last_process->info.process == process;
}

struct process *processes_find(const struct model *m, uint32_t process)
{
	if (is_last(m, process))
		return m->last_process;
	return map_pointer(&m->by_process, process);
}

static __attribute__((noinline)) struct process *find_or_make(struct model *m,
							      const struct event *ev)
{
	struct process *p = processes_find(m, ev->process);
	uint64_t birth_ns = birth_of(ev);

	if (!p)
		p = make_process(m, ev);
	m->last_process = p;
	if (!p || !birth_ns)
		return p;
	if (ev->task.process_ns)
		p->has_exact_start = true;
	if (ev->task.process_ns || !p->has_exact_start)
		p->info.start_ns = birth_ns;
	return p;
}

struct process *processes_get(struct model *m, const struct event *ev)
{
	return is_last(m, ev->process) && !names_birth(ev) ? m->last_process : find_or_make(m, ev);
}

struct thread *threads_find(const struct model *m, uint32_t process, uint32_t tid)
{
	return map_pointer(&m->by_tid, thread_key(process, tid));
}

static struct thread *make_thread(struct model *m, struct process *p, uint32_t tid)
{
	struct map_slot *slot = map_put(&m->by_tid, thread_key(p->info.process, tid), NULL);
	struct thread *t = slot ? VEC_NEW(&m->threads) : NULL;

	if (!t)
		return NULL;
	t->process = p;
	t->tid = tid;
	t->number = m->numbers++;
	p->threads++;
	p->living++;
	slot->value = (uintptr_t)t;
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

static void free_thread(struct model *m, struct thread *t)
{
	timeline_free(&t->timeline, &m->timelines);
	timeline_free(&t->sampled.spans, &m->sampled);
	m->bins_left += t->book.bins != NULL;
	bins_free(t->book.bins);
	free(t->cache);
	free(t->past);
	free(t);
}

/* Removes it from all but the lists. */
static void threads_drop(struct model *m, struct thread *t)
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
	free_thread(m, t);
}

static void processes_drop(struct model *m, struct process *p)
{
	struct map_slot *slot = map_find(&m->by_pid, p->info.pid);

	model_add_counts(p, &m->counts);
	m->last_process = NULL;
	if (p == m->past)
		m->past = NULL;
	else
		map_del(&m->by_process, p->info.process);
	if (slot && slot->value == (uintptr_t)p)
		map_del(&m->by_pid, p->info.pid);
	free_process(p);
}

void processes_free(struct model *m)
{
	for (size_t i = 0; i < m->threads.n; i++)
		free_thread(m, m->threads.v[i]);
	for (size_t i = 0; i < m->processes.n; i++)
		free_process(m->processes.v[i]);
	VEC_FREE(&m->threads);
	VEC_FREE(&m->processes);
	map_free(&m->by_process);
	map_free(&m->by_pid);
	map_free(&m->by_tid);
}

/* ---- reading --------------------------------------------------------------------------------- */

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

bool model_next_driver(const struct model *m, size_t *at, struct model_driver *out)
{
	while (*at < m->threads.n) {
		const struct thread *t = m->threads.v[(*at)++];

		if (t->ended || t->past || !t->has_book || !t->drives ||
		    process_has_ended(t->process))
			continue;
		*out = (struct model_driver){ t->process->info.pid, t->tid, t->number };
		return true;
	}
	return false;
}

/* ---- retention ------------------------------------------------------------------------------ */

#define BATCH 64	/* processes, since all that are known are looked at */
#define CROWDED (8 * MODEL_ENDED)	/* with more than these, JOIN_SETTLE_NS is enough */
/* of one with a device and a thread, without the parts that choose() counts */
#define PROCESS_BYTES 8192
#define KERNELS_LOW (KERNELS_BUDGET_BYTES / 4)

/* ---- threads that ended ---------------------------------------------------------------------- */

static struct thread *make_past(struct model *m, struct process *p)
{
	struct thread_past *past = calloc(1, sizeof(*past));
	struct thread *t = past ? VEC_NEW(&m->threads) : NULL;

	if (!t) {
		free(past);
		return NULL;
	}
	*t = (struct thread){ .process = p, .number = m->numbers++, .past = past,
			      .ended = true };
	p->threads++;
	return p->past = t;
}

/* It becomes part of who stands for others of that process, and is no more. */
static int fold_thread(struct model *m, struct thread *t, struct process *into)
{
	struct thread_past *past = into->past->past;
	const struct book *b = &t->book;
	const struct thread_call open = thread_open_call(t);
	struct book_sum sum;
	int err = 0;

	if (t->past) {
		past->threads += t->past->threads;
		book_sum_add(&past->sum, &t->past->sum);
	} else if (t->has_book && t->drives) {
		/* The exit of a thread that was gone with its process may be unreported. */
		book_read(b, t->ended ? m->now_ns : t->process->gone_ns, &sum);
		book_sum_add(&past->sum, &sum);
		past->threads++;
		if (open.is_open)
			err = call_stats_leave(&into->info.calls, open.func, open.before);
	}
	if (!err)
		threads_drop(m, t);
	return err;
}

static int fold_at(struct model *m, size_t at)
{
	struct process *p = m->threads.v[at]->process;

	if (!p->past && !make_past(m, p))
		return -ENOMEM;
	if (fold_thread(m, m->threads.v[at], p))
		return -ENOMEM;
	m->threads.n--;
	memmove(&m->threads.v[at], &m->threads.v[at + 1],
		(m->threads.n - at) * sizeof(*m->threads.v));
	m->last = NULL;
	return 0;
}

static int age_threads(struct model *m)
{
	/* Twice as fast as they end. */
	for (int i = 0; i < 2 && m->threads.n; i++) {
		struct thread *t;

		if (m->aged >= m->threads.n)
			m->aged = 0;
		t = m->threads.v[m->aged];
		if (!t->ended || t->past ||
		    (t->has_book && num_sub(m->now_ns, t->book.exit) <= JOIN_WINDOW_NS)) {
			m->aged++;
			continue;
		}
		timeline_free(&t->timeline, &m->timelines);
		timeline_free(&t->sampled.spans, &m->sampled);
		t->timeline.forgotten_ns = UINT64_MAX;
		if (m->threads.n <= MODEL_THREADS)
			m->aged++;
		else if (fold_at(m, m->aged))
			return -ENOMEM;
	}
	return 0;
}

static uint64_t end_of(const struct process *p)
{
	return p->info.exit_ns ? p->info.exit_ns : p->gone_ns;
}

/* ---- one process that ended ------------------------------------------------------------------ */

static struct process *find_past(struct model *m)
{
	struct process *p = m->past;

	if (p)
		return p;
	p = VEC_NEW(&m->processes);
	if (!p)
		return NULL;
	p->info.process = p->info.pid = MODEL_PAST_PID;
	p->index = m->processes.n - 1;
	m->past = p;
	return make_past(m, p) ? p : NULL;
}

/* Nothing of it will come: it waits for nothing, and takes no more memory than it needs. *done:
 * but for others with which it shared a device. */
static int settle(struct model *m, struct process *p, bool *done)
{
	int err = consumers_settle(&m->consumers, p, done);

	if (err || p->is_settled)
		return err;
	rows_trim(&p->info.calls.rows);
	p->is_settled = true;
	return err;
}

static void fold_info(struct process *p, struct process *into)
{
	struct model_process *to = &into->info;
	const struct model_process *from = &p->info;

	if (!to->past || from->start_ns < to->start_ns)
		to->start_ns = from->start_ns;
	to->exit_ns = num_max(to->exit_ns, from->exit_ns);
	to->children += from->children;
	to->past++;
	into->past_unarmed_ns += p->past_unarmed_ns +
				 intervals_overlap(&p->unarmed, 0, UINT64_MAX);
	if (to->past < 10000000)
		snprintf(to->comm, sizeof(to->comm), "[%u ended]", (unsigned int)to->past);
	else
		snprintf(to->comm, sizeof(to->comm), "[many ended]");
}

/* All but its threads, which are folded with others'. */
static int fold_process(struct model *m, struct process *p, struct process *into)
{
	int err;

	p->folds = true;
	p->info.exit_ns = end_of(p);
	err = settle(m, p, &p->folds);
	if (err || !p->folds)
		return err;
	err = consumers_fold(&m->consumers, p, into);
	if (!err)
		err = call_stats_merge(&into->info.calls, &p->info.calls);
	fold_info(p, into);
	return err;
}

/* ---- which processes ------------------------------------------------------------------------- */

struct ended {
	struct process *process;
	uint64_t exit_ns, lived_ns;
	bool failed;			/* a call of it did */
};

struct all_ended {
	VEC(struct ended) all;
};

static int by_exit(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;
	int order = num_compare(y->exit_ns, x->exit_ns);

	return order ? order : num_compare(y->process->index, x->process->index);
}

static int by_failure(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;
	int order = num_compare(y->failed, x->failed);

	return order ? order : by_exit(a, b);
}

static int by_life(const void *a, const void *b)
{
	const struct ended *x = a, *y = b;
	int order = num_compare(y->lived_ns, x->lived_ns);

	return order ? order : by_exit(a, b);
}

static bool has_failed(const struct call_stats *ts)
{
	for (size_t i = 0; i < call_stats_count(ts); i++)
		if (call_stats_at(ts, i)->errors)
			return true;
	return false;
}

static bool may_fold(const struct model *m, const struct process *p)
{
	uint64_t wait_ns = m->processes.n > CROWDED ? JOIN_SETTLE_NS : JOIN_WINDOW_NS;

	return end_of(p) && !p->info.past && (!p->living || p->gone_ns) &&
	       num_sub(m->now_ns, num_max(end_of(p), p->gone_ns)) > wait_ns &&
	       !join_knows(m->join, p->info.process);
}

static int collect(struct all_ended *out, const struct model *m)
{
	for (size_t i = 0; i < m->processes.n; i++)
		m->processes.v[i]->folds = false;
	for (size_t i = 0; i < m->processes.n; i++) {
		struct process *p = m->processes.v[i];
		uint64_t start_ns = num_max(p->info.start_ns, m->session.start_ns);
		struct ended *e;

		if (!may_fold(m, p))
			continue;
		e = VEC_PUSH(&out->all);
		if (!e)
			return -ENOMEM;
		*e = (struct ended){ p, end_of(p), num_sub(end_of(p), start_ns),
				     has_failed(&p->info.calls) };
	}
	return 0;
}

/* The ones to keep: of all that are left the first so many (in quarters), within their share of
 * the memory. */
static const struct {
	int (*order)(const void *a, const void *b);
	unsigned int quarters;
	bool only_failed;
} reasons[] = {
	{ by_exit, 2, false }, { by_failure, 1, true }, { by_life, 1, false },
};

/* Those that are folded are at the end; returns how many stay. */
static size_t choose(struct all_ended *e, size_t most)
{
	size_t stay = 0, up_to = 0, left_bytes = 0;

	for (size_t r = 0; r < sizeof(reasons) / sizeof(reasons[0]); r++) {
		up_to += most * reasons[r].quarters / 4;
		left_bytes += MODEL_ENDED_BYTES / 4 * reasons[r].quarters;
		qsort(e->all.v + stay, e->all.n - stay, sizeof(*e->all.v), reasons[r].order);
		for (; stay < e->all.n && stay < up_to; stay++) {
			const struct ended *next = &e->all.v[stay];
			const struct process *p = next->process;
			size_t bytes = PROCESS_BYTES + rows_bytes(&p->info.calls.rows) +
				       (p->ranges ? ranges_bytes(p->ranges) : 0) +
				       (p->memory ? memory_book_bytes(p->memory) : 0);

			if (bytes > left_bytes || (reasons[r].only_failed && !next->failed))
				break;
			left_bytes -= bytes;
		}
	}
	return stay;
}

/* ---- many at once ---------------------------------------------------------------------------- */

static int drop_folded(struct model *m)
{
	size_t kept = 0, n = m->threads.n;
	int err = 0;

	for (size_t i = 0; i < n; i++) {
		struct thread *t = m->threads.v[i];

		if (err || !t->process->folds || (err = fold_thread(m, t, m->past)))
			m->threads.v[kept++] = t;
	}
	m->threads.n = kept;
	kept = 0;
	for (size_t i = 0; i < m->processes.n; i++) {
		struct process *p = m->processes.v[i];

		if (p->folds && !err)
			processes_drop(m, p);
		else
			m->processes.v[p->index = kept++] = p;
	}
	m->processes.n = kept;
	m->last = NULL;
	return err;
}

static int age_processes(struct model *m)
{
	size_t most = devices_names_left(m->devices) < KERNELS_LOW ? MODEL_ENDED / 4 : MODEL_ENDED;
	struct all_ended e = { .all = { 0 } };
	int err = collect(&e, m);
	size_t stay = err || !e.all.n ? e.all.n : choose(&e, most);
	bool done;

	for (size_t i = 0; i < stay && !err; i++)
		if (e.all.v[i].process->info.exit_ns && !e.all.v[i].process->is_settled)
			err = settle(m, e.all.v[i].process, &done);
	if (stay < e.all.n && !find_past(m))
		err = -ENOMEM;
	for (size_t i = stay; i < e.all.n && !err; i++)
		err = fold_process(m, e.all.v[i].process, m->past);
	if (stay < e.all.n && !err)
		err = drop_folded(m);
	VEC_FREE(&e.all);
	return err;
}

static int on_exit_event(void *state, const struct event *ev)
{
	struct model *m = state;
	int err = age_threads(m);

	m->ended += ev->tid == ev->pid;
	if (err || m->ended < BATCH)
		return err;
	m->ended = 0;
	return age_processes(m);
}

const struct consumer retention_consumer = {
	.kinds = 1ull << EVENT_EXIT,
	.on_event = on_exit_event,
};

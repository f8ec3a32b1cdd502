// SPDX-License-Identifier: BSD-3-Clause
/*
 * When it is not known what a process's devices did, and how many calls launched meanwhile whose works
 * nobody told: those that came before that is said are in timelines, others come later.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/num.h"
#include "ledger/model_state.h"

#define LAUNCHING (1u << CLASS_LAUNCH | 1u << CLASS_COPY | 1u << CLASS_SET)
#define RETURN_NS 100000000ull	/* a call returns so long after its launch was recorded, at most */
#define SHORTEST_NS 1000000ull	/* of a call in progress the work may have ended so long before */
#define COUNT_NS 1000000ull	/* what is shorter is not looked at: any number of them may come */

static void count_part(struct model *m, const struct process *p, uint64_t from, uint64_t to)
{
	if (from >= to || to - from < COUNT_NS)
		return;
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->process == p)
			m->counts.untold += timeline_count(&m->threads.v[i]->timeline, from, to, LAUNCHING);
}

/* What is unseen already is counted. */
static void count_launches(struct model *m, const struct process *p, uint64_t from, uint64_t to)
{
	struct span known;

	from = num_max(from, m->session.start_ns);
	while (from < to && spans_next(&p->unseen.unknown, from, to, &known)) {
		count_part(m, p, from, known.start);
		from = known.end;
	}
	count_part(m, p, from, to);
}

int unseen_push(struct model *m, const struct event *ev)
{
	const unsigned int of = ev->func & (UNSEEN_OF_WORKS | UNSEEN_OF_MEMORY);
	struct process *p = who_process(m, ev->pid);

	if (!p)
		return -ENOMEM;
	if (of != UNSEEN_OF_WORKS)
		memory_note_unseen(m, p, ev);
	if (of == UNSEEN_OF_MEMORY)
		return 0;
	if (ev->dir == UNSEEN_UNKNOWN)
		count_launches(m, p, ev->start_ns, ev->end_ns);
	return unseen_add(&p->unseen, ev->dir, ev->start_ns, ev->end_ns);
}

static bool has_tail(const struct process *p)
{
	const struct spans *u = &p->unseen.unknown;

	return u->n && u->v[u->n - 1].end == UINT64_MAX;
}

/* ---- the last word ---------------------------------------------------------------------------- */

static int compare_met(const void *a, const void *b)
{
	const struct met_launch *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->middle_ns < y->middle_ns ? -1 : x->middle_ns > y->middle_ns;
}

static int on_met(void *ctx, const struct launch *launch, uint64_t end_ns)
{
	struct last_word *w = ctx;
	struct met_launch *met = launch ? VEC_PUSH(&w->met) : NULL;

	w->unplaced += !launch && end_ns > w->ns - num_min(w->ns, SHORTEST_NS);
	if (met)
		*met = (struct met_launch){ launch->tid,
					    launch->start_ns + (launch->end_ns - launch->start_ns) / 2 };
	return launch && !met ? -ENOMEM : 0;
}

/* What is launched from then on may be recorded or not: the works tell. */
int unseen_note_recorded(struct model *m, struct process *p, uint64_t ns)
{
	struct last_word *w = &p->last_word;
	int err;

	VEC_FREE(&w->met);
	w->unplaced = 0;
	w->ns = ns;
	err = m->join ? join_each_met(m->join, p->info.pid, ns - num_min(ns, RETURN_NS), on_met, w) : 0;
	if (w->met.n)
		qsort(w->met.v, w->met.n, sizeof(w->met.v[0]), compare_met);
	return err;
}

/* Was a work of the thread's call told? The middle of the launch lies in the call that made it. */
static bool has_met(const struct last_word *w, uint32_t tid, const struct span *call)
{
	size_t low = 0, high = w->met.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct met_launch *met = &w->met.v[middle];

		if (met->tid < tid || (met->tid == tid && met->middle_ns < call->start))
			low = middle + 1;
		else
			high = middle;
	}
	return low < w->met.n && w->met.v[low].tid == tid && w->met.v[low].middle_ns < call->end;
}

/* Since when what it launches is told in part only. */
static uint64_t told_until(const struct process *p)
{
	return p->last_word.ns ? p->last_word.ns : p->told_end_ns;
}

struct tail {
	const struct thread *thread;
	uint64_t launches;
};

/* One that was in progress then may have come too late; one that began while nobody recorded is counted. */
static void on_call(void *ctx, const struct timeline_span *call)
{
	struct tail *tail = ctx;
	const struct process *p = tail->thread->process;
	const struct span span = { call->start_ns, call->end_ns };

	if (!p->last_word.ns && span.start < p->told_end_ns)
		return;
	tail->launches += !spans_overlap(&p->unseen.unknown, span.start, span.start + 1) &&
			  !has_met(&p->last_word, tail->thread->tid, &span);
}

static uint64_t tail_of(const struct thread *t)
{
	struct tail tail = { t, 0 };

	timeline_each_call(&t->timeline, told_until(t->process), LAUNCHING, on_call, &tail);
	return tail.launches;
}

/* A work whose launch is not known is of one of these. */
static int add_tail(struct model *m, struct process *p)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .dir = UNSEEN_UNKNOWN, .pid = p->info.pid,
				  .start_ns = told_until(p), .end_ns = UINT64_MAX };
	uint64_t launches = 0;

	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->process == p)
			launches += tail_of(m->threads.v[i]);
	if (launches <= p->last_word.unplaced)
		return 0;
	m->counts.untold += launches - p->last_word.unplaced;
	memory_note_unseen(m, p, &ev);
	return unseen_add(&p->unseen, UNSEEN_UNKNOWN, ev.start_ns, ev.end_ns);
}

int unseen_note_exit(struct model *m, struct process *p, const struct thread *t)
{
	return p->told_end_ns && !has_tail(p) && tail_of(t) ? add_tail(m, p) : 0;
}

int unseen_note_end(struct model *m, struct process *p)
{
	return p->told_end_ns && !has_tail(p) ? add_tail(m, p) : 0;
}

void unseen_note_call(struct model *m, const struct thread *t, const struct span *call, unsigned int class)
{
	const struct process *p = t->process;
	const struct spans *u = &p->unseen.unknown;
	uint64_t end_ns = u->n ? u->v[u->n - 1].end : 0;
	bool is_late = end_ns == UINT64_MAX && p->last_word.ns && call->end > p->last_word.ns;

	if (call->start >= end_ns || !(LAUNCHING >> class & 1))
		return;
	m->counts.untold += (is_late || spans_overlap(u, call->start, call->start + 1)) &&
			    !has_met(&p->last_word, t->tid, call);
}

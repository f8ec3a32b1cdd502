// SPDX-License-Identifier: BSD-3-Clause
/*
 * When a process's device activity is unknown, and how many calls launched meanwhile without
 * recorded works: earlier ones are in timelines, others come later. When processes ended, after
 * which all of it is unknown.
 */
#include "model/consumers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "model/shared.h"

#define LAUNCHING (1u << CLASS_LAUNCH | 1u << CLASS_COPY | 1u << CLASS_SET)
#define COUNT_NS 1000000ull	/* shorter ones are skipped: any number of them may come */

static void count_part(struct model *m, const struct process *p, uint64_t from, uint64_t to)
{
	if (from >= to || to - from < COUNT_NS)
		return;
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->process == p)
			m->counts.unrecorded += timeline_count(&m->threads.v[i]->timeline, from, to,
							       LAUNCHING, NULL);
}

/* Time unseen already is counted. */
static void count_launches(struct model *m, const struct process *p, uint64_t from, uint64_t to)
{
	struct interval known;

	from = num_max(from, m->session.start_ns);
	while (from < to && intervals_next(&p->unseen.unknown, from, to, &known)) {
		count_part(m, p, from, known.start);
		from = known.end;
	}
	count_part(m, p, from, to);
}

/* Records of its memory were lost, or the capture began when it had some. */
static void note_memory(const struct model *m, struct process *p, const struct event *ev)
{
	p->missed_before |= (ev->unseen.of & UNSEEN_OF_BEFORE) != 0;
	if (ev->unseen.why >= UNSEEN_END || ev->end_ns <= m->session.start_ns)
		return;
	if (ev->unseen.why == UNSEEN_LOST) {
		p->missed_ns = p->misses[ev->unseen.why] ? num_min(p->missed_ns,
								   ev->start_ns) : ev->start_ns;
		p->missed_end_ns = num_max(p->missed_end_ns, ev->end_ns);
	}
	p->misses[ev->unseen.why] = true;
}

static int on_event(void *state, const struct event *ev)
{
	struct model *m = state;
	const unsigned int of = ev->unseen.of & (UNSEEN_OF_WORKS | UNSEEN_OF_MEMORY);
	struct process *p;
	int err = 0;

	if (ev->end_ns < ev->start_ns)
		return -EINVAL;
	p = processes_get(m, ev);
	if (!p)
		return -ENOMEM;
	if (of != UNSEEN_OF_WORKS)
		note_memory(m, p, ev);
	if (of != UNSEEN_OF_MEMORY && ev->unseen.why == UNSEEN_UNKNOWN)
		count_launches(m, p, ev->start_ns, ev->end_ns);
	if (of != UNSEEN_OF_MEMORY)
		err = unseen_add(&p->unseen, ev->unseen.why, ev->start_ns, ev->end_ns);
	if (err != -EINVAL)
		model_see_time(m, ev->end_ns);
	return err;
}

const struct consumer visibility_consumer = {
	.kinds = 1ull << EVENT_UNSEEN,
	.on_event = on_event,
};

static bool has_tail(const struct process *p)
{
	const struct intervals *u = &p->unseen.unknown;

	return u->n && u->v[u->n - 1].end == UINT64_MAX;
}

/* ---- after the helper's end ------------------------------------------------------------------ */

/* Launches that began after the last record. One that was in progress then may have been too late
 * for it; one that began while no helper recorded is counted already. */
static uint64_t tail_of(const struct thread *t)
{
	return timeline_count(&t->timeline, t->process->recorded_ns, UINT64_MAX, LAUNCHING,
			      &t->process->unseen.unknown);
}

static bool has_launched_before(const struct process *p)
{
	return p->launched_before_ns > p->recorded_ns;
}

static int add_tail(struct model *m, struct process *p)
{
	const struct event ev = { .kind = EVENT_UNSEEN, .unseen.why = UNSEEN_UNKNOWN,
				  .process = p->info.process, .pid = p->info.pid,
				  .start_ns = p->recorded_ns, .end_ns = UINT64_MAX };
	uint64_t launches = 0;

	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->process == p)
			launches += tail_of(m->threads.v[i]);
	if (!launches && !has_launched_before(p))
		return 0;
	m->counts.unrecorded += launches;
	note_memory(m, p, &ev);
	return unseen_add(&p->unseen, UNSEEN_UNKNOWN, ev.start_ns, ev.end_ns);
}

void unseen_note_before(struct process *p, const struct event *ev, unsigned int class)
{
	if (LAUNCHING >> class & 1)
		p->launched_before_ns = num_max(p->launched_before_ns, ev->start_ns);
}

void unseen_note_call(struct model *m, const struct thread *t, const struct interval *call,
		      unsigned int class)
{
	const struct process *p = t->process;
	const struct intervals *u = &p->unseen.unknown;
	uint64_t end_ns = u->n ? u->v[u->n - 1].end : 0;

	if (call->start >= end_ns || !(LAUNCHING >> class & 1))
		return;
	m->counts.unrecorded += intervals_overlap(u, call->start, call->start + 1);
}

/* ---- when they ended ------------------------------------------------------------------------- */

/* Its first thread was never reported: it makes no calls. */
static int note_end(struct model *m, struct process *p, uint64_t end_ns)
{
	m->ended += !p->info.exit_ns;
	p->info.exit_ns = end_ns;
	return join_push(m->join, &(struct event){ .kind = EVENT_EXIT, .process = p->info.process,
						   .pid = p->info.pid, .tid = p->info.pid,
						   .end_ns = end_ns });
}

static int note_helper_end(struct model *m, struct process *p)
{
	return p->helper_end_ns && !p->living && !p->first_ended ?
	       note_end(m, p, num_max(p->helper_end_ns, p->last_exit_ns)) : 0;
}

static int note_exit(struct model *m, const struct event *ev)
{
	const struct thread *t = threads_find(m, ev->process, ev->tid);
	struct process *p = t->process;

	p->first_ended |= ev->tid == ev->pid;
	p->last_exit_ns = num_max(p->last_exit_ns, ev->end_ns);
	if (p->first_ended)	/* it may have waited for others to end */
		p->info.exit_ns = p->last_exit_ns;
	/* If the helper ended before: was it later than the last record? */
	if (p->helper_end_ns && !has_tail(p) && (tail_of(t) || has_launched_before(p)) &&
	    add_tail(m, p))
		return -ENOMEM;
	return note_helper_end(m, p);
}

static int note_gone(struct model *m, struct process *p)
{
	bool is_known = p->helper_end_ns || (!p->living && p->last_exit_ns);

	if (p->gone_ns || !m->now_ns)
		return 0;
	p->gone_ns = m->now_ns;
	m->ended++;
	return p->info.exit_ns ? 0 :
	       note_end(m, p, is_known ? num_max(p->helper_end_ns, p->last_exit_ns) : m->now_ns);
}

static int note_identity(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev);
	bool is_end = !strcmp(ev->fact.key, EVENT_ENDED_NS),
	     is_time = is_end || !strcmp(ev->fact.key, EVENT_RECORDED_NS);
	uint64_t ns = is_time ? strtoull(ev->fact.value, NULL, 10) : 0;

	if (!strcmp(ev->fact.key, "ended"))
		return note_gone(m, p);
	if (!ns || ns < p->info.start_ns)	/* the number is another process's now */
		return 0;
	if (!is_end) {
		p->recorded_ns = ns;
		return 0;
	}
	p->helper_end_ns = ns;
	p->recorded_ns = p->recorded_ns ? num_min(p->recorded_ns, ns) : ns;
	/* The ring reported its end: works of later launches are unknown. */
	return !has_tail(p) && add_tail(m, p) ? -ENOMEM : note_helper_end(m, p);
}

static int on_end(void *state, const struct event *ev)
{
	return ev->kind == EVENT_EXIT ? note_exit(state, ev) : note_identity(state, ev);
}

const struct consumer ends_consumer = {
	.kinds = 1ull << EVENT_EXIT | 1ull << EVENT_IDENTITY,
	.on_event = on_end,
};

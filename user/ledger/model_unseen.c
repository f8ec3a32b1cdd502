// SPDX-License-Identifier: BSD-3-Clause
/*
 * When it is not known what a process's devices did, and how many calls launched meanwhile whose works
 * nobody told: those that came before that is said are in timelines, others come later.
 */
#include <errno.h>

#include "base/num.h"
#include "ledger/model_state.h"

#define LAUNCHING (1u << CLASS_LAUNCH | 1u << CLASS_COPY | 1u << CLASS_SET)
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
	struct process *p = who_process(m, ev->pid);

	if (!p)
		return -ENOMEM;
	if (ev->dir == UNSEEN_UNKNOWN)
		count_launches(m, p, ev->start_ns, ev->end_ns);
	memory_note_unseen(m, p, ev);
	return unseen_add(&p->unseen, ev->dir, ev->start_ns, ev->end_ns);
}

static bool has_tail(const struct process *p)
{
	const struct spans *u = &p->unseen.unknown;

	return u->n && u->v[u->n - 1].end == UINT64_MAX;
}

static int add_tail(struct model *m, struct process *p)
{
	return unseen_push(m, &(struct event){ .kind = EVENT_UNSEEN, .dir = UNSEEN_UNKNOWN,
		.pid = p->info.pid, .start_ns = p->told_end_ns, .end_ns = UINT64_MAX });
}

int unseen_note_exit(struct model *m, struct process *p, const struct thread *t)
{
	return p->told_end_ns && !has_tail(p) &&
	       timeline_count(&t->timeline, p->told_end_ns, UINT64_MAX, LAUNCHING) ? add_tail(m, p) : 0;
}

int unseen_note_end(struct model *m, struct process *p)
{
	int err = 0;

	for (size_t i = 0; i < m->threads.n && !err; i++)
		if (m->threads.v[i]->process == p)
			err = unseen_note_exit(m, p, m->threads.v[i]);
	return err;
}

void unseen_note_call(struct model *m, const struct process *p, uint64_t start_ns, unsigned int class)
{
	const struct spans *u = &p->unseen.unknown;

	if (u->n && start_ns < u->v[u->n - 1].end && LAUNCHING >> class & 1)
		m->counts.untold += spans_overlap(u, start_ns, start_ns + 1);
}

// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "ledger/visibility.h"

#include <errno.h>

#include "base/num.h"
#include "ledger/memory_events.h"
#include "ledger/ledger.h"

#define LAUNCHING (1u << CLASS_LAUNCH | 1u << CLASS_COPY | 1u << CLASS_SET)
#define COUNT_NS 1000000ull	/* shorter ones are skipped: any number of them may come */

static void count_part(struct model *m, const struct process *p, uint64_t from, uint64_t to)
{
	if (from >= to || to - from < COUNT_NS)
		return;
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->process == p)
			m->counts.unrecorded += timeline_count(&m->threads.v[i]->timeline, from, to,
							       LAUNCHING);
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

static int on_event(void *state, const struct event *ev)
{
	struct model *m = state;
	const unsigned int of = ev->unseen.of & (UNSEEN_OF_WORKS | UNSEEN_OF_MEMORY);
	struct process *p = ev->end_ns < ev->start_ns ? NULL : processes_get(m, ev);
	int err = 0;

	if (ev->end_ns < ev->start_ns)
		return -EINVAL;
	if (!p)
		return -ENOMEM;
	if (of != UNSEEN_OF_WORKS)
		memory_note_unseen(m, p, ev);
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

/* ---- after the helper's end
 * ------------------------------------------------------------------- */

struct tail {
	const struct thread *thread;
	uint64_t launches;
};

/* One that was in progress then may have come too late; one that began without a recording
 * helper is counted. */
static void on_call(void *ctx, const struct timeline_span *call)
{
	struct tail *tail = ctx;
	const struct process *p = tail->thread->process;

	tail->launches += call->start_ns >= p->recorded_ns &&
			  !intervals_overlap(&p->unseen.unknown, call->start_ns,
					     call->start_ns + 1);
}

static uint64_t tail_of(const struct thread *t)
{
	struct tail tail = { t, 0 };

	timeline_each_call(&t->timeline, t->process->recorded_ns, LAUNCHING, on_call, &tail);
	return tail.launches;
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
	if (!launches)
		return 0;
	m->counts.unrecorded += launches;
	memory_note_unseen(m, p, &ev);
	return unseen_add(&p->unseen, UNSEEN_UNKNOWN, ev.start_ns, ev.end_ns);
}

int unseen_note_exit(struct model *m, struct process *p, const struct thread *t)
{
	return p->helper_end_ns && !has_tail(p) && tail_of(t) ? add_tail(m, p) : 0;
}

int unseen_note_end(struct model *m, struct process *p)
{
	return p->helper_end_ns && !has_tail(p) ? add_tail(m, p) : 0;
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

// SPDX-License-Identifier: BSD-3-Clause
/* Silences are few: records of a process that works are closer to each other. */
#include "model/silences.h"

#include <errno.h>

#include "base/num.h"
#include "catalog/cbid.h"
#include "join/join.h"
#include "model/shared.h"

#define LAUNCHING (1u << CLASS_LAUNCH | 1u << CLASS_COPY | 1u << CLASS_SET)
#define LAUNCHING_INSIDE (1u << CLASS_COLLECTIVE | 1u << CLASS_LIBRARY)
#define SILENCES_MAX 256	/* of a process; older ones are judged */
#define MARGIN_NS 1000000ull	/* clocks of records and calls differ by less */
#define STEP_NS 200000000ull	/* from one look to the next */
#define LAST_NS 300000000ull	/* records of later calls may not come before the end */

struct silences_state {
	struct model *m;
	uint8_t known[FUNCS_MAX];	/* 1: CUPTI records it, 2: not; 0: not looked up */
};

static int init(void *state, struct model *m)
{
	((struct silences_state *)state)->m = m;
	return 0;
}

static bool look_up(const char *name)
{
	for (unsigned int domain = CBID_DRIVER; domain <= CBID_RUNTIME; domain++) {
		size_t n;
		const struct cbid *v = cbid_all(domain, &n);

		for (size_t i = 0; i < n; i++)
			if (!strcmp(v[i].name, name))
				return true;
	}
	return false;
}

/* The helper enables the records of all functions that launch and have a number. */
static bool is_recorded(struct silences_state *s, uint16_t func)
{
	const struct funcs *funcs = s->m->funcs;

	if (func >= funcs->n)
		return false;
	if (!s->known[func])
		s->known[func] = look_up(funcs->v[func].name) ? 1 : 2;
	return s->known[func] == 1;
}

/* ---- judging --------------------------------------------------------------------------------- */

struct judging {
	struct silences_state *s;
	const struct process *p;
	struct silence *of;
	uint64_t to_ns, end_ns;	/* calls that end until to_ns, and surely before end_ns */
};

/* It launched while nothing was recorded, or its record was lost: that is known. */
static bool is_unseen(const struct process *p, const struct timeline_span *call)
{
	return intervals_overlap(&p->unseen.lost, call->start_ns, call->end_ns) ||
	       intervals_overlap(&p->unseen.unknown, call->start_ns, call->end_ns);
}

static void on_call(void *ctx, const struct timeline_span *call)
{
	const struct judging *j = ctx;

	if (call->end_ns > j->to_ns || num_add(call->end_ns, MARGIN_NS) > j->end_ns ||
	    call->start_ns < j->of->start_ns + MARGIN_NS || call->captured ||
	    !is_recorded(j->s, call->func) || is_unseen(j->p, call))
		return;
	j->of->launches++;
	if (!j->of->missing_ns || call->start_ns < j->of->missing_ns)
		j->of->missing_ns = call->start_ns;
}

/* Up to to_ns. end_ns: records of calls that ended before have come. */
static int judge(struct silences_state *s, struct process *p, struct silence *of, uint64_t to_ns,
		 uint64_t end_ns)
{
	struct judging j = { s, p, of, num_min(to_ns, of->end_ns), num_min(end_ns, of->end_ns) };
	const uint64_t before = of->launches, from_ns = of->judged_ns;
	const struct model *m = s->m;

	if (j.to_ns <= from_ns)
		return 0;
	for (size_t i = 0; i < m->threads.n; i++)
		if (m->threads.v[i]->process == p)
			timeline_each_call(&m->threads.v[i]->timeline, from_ns, LAUNCHING, on_call,
					   &j);
	of->judged_ns = j.to_ns;
	p->info.missing += of->launches - before;
	s->m->counts.missing += of->launches - before;
	return of->missing_ns ? unseen_add_missing(&p->unseen, of->missing_ns, j.to_ns) : 0;
}

static struct silence *ongoing(struct silences *s)
{
	for (size_t i = s->v.n; i-- > 0;)
		if (s->v.v[i].end_ns == UINT64_MAX)
			return &s->v.v[i];
	return NULL;
}

static struct silence *add(struct silences *s, uint64_t start_ns, uint64_t end_ns)
{
	struct silence *at;

	if (s->v.n >= SILENCES_MAX)
		VEC_DROP_FIRST(&s->v, SILENCES_MAX / 2);
	at = VEC_PUSH(&s->v);
	if (at)
		*at = (struct silence){ .start_ns = start_ns, .end_ns = end_ns,
					.judged_ns = start_ns };
	return at;
}

/* Of all its silences; those that ended long ago are forgotten. */
static int judge_all(struct silences_state *s, struct process *p, uint64_t to_ns, uint64_t end_ns)
{
	struct silences *of = &p->silences;
	const uint64_t start_ns = num_max(of->last_ns, s->m->session.start_ns);
	size_t kept = 0;
	int err = 0;

	if (!of->is_recorded)
		return 0;
	if (num_sub(to_ns, start_ns) > SILENCE_NS && !ongoing(of) &&
	    !add(of, start_ns, UINT64_MAX))
		return -ENOMEM;
	for (size_t i = 0; i < of->v.n; i++) {
		if (!err)
			err = judge(s, p, &of->v.v[i], to_ns, end_ns);
		if (err || of->v.v[i].end_ns >= num_sub(to_ns, JOIN_WINDOW_NS))
			of->v.v[kept++] = of->v.v[i];
	}
	of->v.n = kept;
	return err;
}

static int on_horizon(void *state, uint32_t process, uint64_t horizon_ns)
{
	struct silences_state *s = state;
	struct process *p = processes_find(s->m, process);
	uint64_t to_ns = horizon_ns + STEP_NS;

	if (!p || horizon_ns < p->silences.checked_ns)
		return 0;
	if (s->m->watermark_ns)
		to_ns = num_max(horizon_ns, num_min(to_ns, s->m->watermark_ns));
	p->silences.checked_ns = to_ns;
	return judge_all(s, p, to_ns, to_ns);
}

struct unrecorded {
	struct silences_state *s;
	const struct thread *thread;
	uint64_t record_ns;
	uint64_t first_ns;	/* begin of the first such call; UINT64_MAX: there is none */
};

static void on_last_call(void *ctx, const struct timeline_span *call)
{
	struct unrecorded *u = ctx;

	if (call->start_ns >= num_add(u->record_ns, MARGIN_NS) && !call->captured &&
	    (LAUNCHING_INSIDE >> call->bucket & 1 || is_recorded(u->s, call->func)) &&
	    !is_unseen(u->thread->process, call))
		u->first_ns = num_min(u->first_ns, call->start_ns);
}

/* CUPTI keeps a buffer as long as a work of it runs, and each thread has its own: when the session
 * ends before the process, last calls may have no records yet, and what they launched may run. */
static int judge_unrecorded(struct silences_state *s, struct process *p)
{
	struct unrecorded u = { .s = s, .first_ns = UINT64_MAX };
	const struct model *m = s->m;

	for (size_t i = 0; i < m->threads.n; i++) {
		const struct map_slot *early;

		u.thread = m->threads.v[i];
		if (u.thread->process != p)
			continue;
		early = map_find(&p->early_records, u.thread->tid);
		u.record_ns = num_max(u.thread->record_ns, early ? early->value : 0);
		timeline_each_call(&u.thread->timeline, u.record_ns, LAUNCHING | LAUNCHING_INSIDE,
				   on_last_call, &u);
	}
	return u.first_ns == UINT64_MAX ? 0 :
	       unseen_add_missing(&p->unseen, u.first_ns, UINT64_MAX);
}

/* Of a process whose helper ended in order all records have come. */
static int judge_last(struct silences_state *s, struct process *p)
{
	const uint64_t stop_ns = s->m->session.stop_ns ? s->m->session.stop_ns : s->m->now_ns;
	const uint64_t to_ns = p->recorded_ns ? num_min(p->recorded_ns, stop_ns) :
			       p->info.exit_ns ? num_min(p->info.exit_ns, stop_ns) : stop_ns;

	return judge_all(s, p, to_ns, to_ns == p->recorded_ns ? to_ns : num_sub(to_ns, LAST_NS));
}

static int finish(void *state)
{
	struct silences_state *s = state;
	int err = 0;

	for (size_t i = 0; i < s->m->processes.n && !err; i++) {
		struct process *p = s->m->processes.v[i];

		err = judge_last(s, p);
		if (!err && p->silences.is_recorded && !p->recorded_ns && !process_has_ended(p))
			err = judge_unrecorded(s, p);
	}
	return err;
}

static int settle(void *state, struct process *p, bool *done)
{
	int err = judge_last(state, p);

	(void)done;
	VEC_FREE(&p->silences.v);
	p->silences.is_recorded = false;
	return err;
}

static int fold(void *state, struct process *p, struct process *into)
{
	(void)state;
	into->info.missing += p->info.missing;
	return 0;
}

/* ---- records --------------------------------------------------------------------------------- */

/* It is judged anew. */
static int take_back(struct silences_state *s, struct process *p, struct silence *of)
{
	int err = 0;

	if (of->missing_ns)
		err = unseen_remove_missing(&p->unseen, of->missing_ns, of->judged_ns);
	p->info.missing -= of->launches;
	s->m->counts.missing -= of->launches;
	of->launches = 0;
	of->missing_ns = 0;
	of->judged_ns = of->start_ns;
	p->silences.checked_ns = 0;
	return err == -ENOMEM ? err : 0;
}

/* A record in the middle of one, which came after later ones: of other threads, or withheld. */
static int cut(struct silences_state *s, struct process *p, struct silence *of, uint64_t start_ns,
	       uint64_t end_ns)
{
	const uint64_t of_end_ns = of->end_ns;

	if (take_back(s, p, of))
		return -ENOMEM;
	of->end_ns = start_ns;
	if (of_end_ns < end_ns || of_end_ns - end_ns < SILENCE_NS)
		return 0;
	return add(&p->silences, end_ns, of_end_ns) ? 0 : -ENOMEM;
}

static int note_record(struct silences_state *state, struct process *p, uint64_t start_ns,
		       uint64_t end_ns)
{
	struct silences *s = &p->silences;
	struct silence *last = start_ns > s->last_ns ? ongoing(s) : NULL;
	int err = 0;

	if (last && last->judged_ns < start_ns)
		last->end_ns = start_ns;
	else if (last || start_ns < s->last_ns)
		for (size_t i = s->v.n; i-- > 0;)
			if (s->v.v[i].start_ns < start_ns && start_ns < s->v.v[i].end_ns) {
				err = cut(state, p, &s->v.v[i], start_ns, end_ns);
				break;
			}
	if (!last && start_ns > num_add(s->last_ns, SILENCE_NS) && s->is_recorded &&
	    !add(s, s->last_ns, start_ns))
		err = -ENOMEM;
	s->last_ns = num_max(s->last_ns, end_ns);
	return err;
}

/* Its helper knows why these are not recorded: model/visibility.h counts them. */
static int note_unseen(struct silences_state *s, struct process *p, const struct event *ev)
{
	int err = 0;

	for (size_t i = 0; i < p->silences.v.n && !err; i++) {
		struct silence *of = &p->silences.v.v[i];

		if (of->missing_ns && of->missing_ns < ev->end_ns && ev->start_ns < of->judged_ns)
			err = take_back(s, p, of);
	}
	return err;
}

static int on_event(void *state, const struct event *ev)
{
	struct silences_state *s = state;
	struct process *p;

	if (ev->end_ns < ev->start_ns)
		return 0;	/* invalid: for the consumers of its kind to count */
	p = processes_get(s->m, ev);
	if (!p)
		return -ENOMEM;
	switch (ev->kind) {
	case EVENT_API:
		p->silences.is_recorded = true;
		return note_record(s, p, ev->start_ns, ev->end_ns);
	case EVENT_WORK:
		return p->silences.is_recorded ? note_record(s, p, ev->start_ns, ev->start_ns) : 0;
	case EVENT_DEVICE:
		p->silences.is_recorded = true;
		return 0;
	default:
		return ev->unseen.of == UNSEEN_OF_MEMORY ? 0 : note_unseen(s, p, ev);
	}
}

const struct consumer silences_consumer = {
	.kinds = 1ull << EVENT_API | 1ull << EVENT_WORK | 1ull << EVENT_DEVICE |
		 1ull << EVENT_UNSEEN,
	.size = sizeof(struct silences_state),
	.init = init,
	.on_event = on_event,
	.on_horizon = on_horizon,
	.finish = finish,
	.settle = settle,
	.fold = fold,
};

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table of consumers, and those of the session and of the join, which gives works and their
 * launches to the others.
 */
#include "model/model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/registry.h"
#include "model/consumers.h"
#include "model/processes.h"
#include "model/shared.h"
#include "model/silences.h"

#define FACTS_MAX 1024
#define READINGS_MAX 1024
#define IDENTITY_MAX 64
#define TEXT_MAX 4096		/* longer texts are cut */

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
	struct thread *t = processes_get(m, ev) ? threads_get(m, ev) : NULL;
	const bool is_exact = ev->task.process_ns;	/* both births are BPF's, or neither */
	enum birth birth;

	if (!t)
		return -ENOMEM;
	birth = births_compare(t->birth_ns, ev->start_ns, t->is_birth_exact && is_exact);
	if (birth == BIRTH_OLDER)
		return -EINVAL;
	if (birth == BIRTH_NEWER || (t->ended && t->has_book && ev->start_ns >= t->book.exit))
		t = threads_renew(m, t, ev->start_ns);
	if (!t)
		return -ENOMEM;
	if (ev->start_ns > t->birth_ns)
		t->birth_ns = ev->start_ns;
	t->is_birth_exact |= is_exact;
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
	struct process *p = processes_get(m, ev);

	if (!p)
		return -ENOMEM;
	if (ev->task.comm)		/* else only its birth is known */
		pairs_free(&p->identity);
	copy_comm(p->info.comm, ev->task.comm);
	if (ev->task.cmdline && replace_text(&p->cmdline, ev->task.cmdline))
		return -ENOMEM;
	p->info.cmdline = p->cmdline;
	return 0;
}

static int push_fork(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev);
	struct model_child *c;

	if (!p)
		return -ENOMEM;
	p->info.children++;
	if (p->info.child.n >= MODEL_CHILDREN)
		return 0;
	c = VEC_PUSH(&p->info.child);
	if (!c)
		return -ENOMEM;
	c->pid = ev->tid;
	c->start_ns = ev->start_ns;
	copy_comm(c->comm, ev->task.comm);
	return 0;
}

/* Where there are too many (--budget) the oldest become a sum: books are past them. */
static int add_unarmed(struct process *p, const struct event *ev)
{
	struct intervals *u = &p->unarmed;
	int err = intervals_add(u, ev->start_ns, ev->end_ns);

	if (err != -ENOSPC)
		return err;
	p->past_unarmed_ns += intervals_overlap(u, 0, u->v[u->n / 2].start);
	intervals_drop_before(u, u->v[u->n / 2].start);
	return intervals_add(u, ev->start_ns, ev->end_ns);
}

static int push_unarmed(struct model *m, const struct event *ev)
{
	struct process *p = processes_get(m, ev);
	int err = p ? add_unarmed(p, ev) : -ENOMEM;

	if (err == -ENOMEM)
		return err;
	if (err)
		return -EINVAL;
	for (size_t i = 0; i < m->threads.n; i++) {
		struct thread *t = m->threads.v[i];

		if (t->process == p && t->has_book)
			model_note_found(m, ev->kind, book_unarmed(&t->book, ev->start_ns,
								   ev->end_ns));
	}
	return 0;
}

static int set_fact(struct pairs *pairs, const struct event *ev, size_t max)
{
	int err = ev->fact.key && ev->fact.value ?
		  pairs_set(pairs, ev->fact.key, ev->fact.value, max) : -EINVAL;

	return err && err != -ENOMEM ? -EINVAL : err;
}

static int push_named(void *state, const struct event *ev)
{
	struct process *p;

	switch (ev->kind) {
	case EVENT_THREAD: return push_thread(state, ev);
	case EVENT_PROCESS: return push_process(state, ev);
	case EVENT_FORK: return push_fork(state, ev);
	case EVENT_IDENTITY:
		p = processes_get(state, ev);
		return p ? set_fact(&p->identity, ev, IDENTITY_MAX) : -ENOMEM;
	default: return push_unarmed(state, ev);
	}
}

static const struct consumer processes_consumer = {
	.kinds = 1ull << EVENT_THREAD | 1ull << EVENT_PROCESS | 1ull << EVENT_FORK |
		 1ull << EVENT_IDENTITY | 1ull << EVENT_UNARMED,
	.on_event = push_named,
};

/* ---- the session -------------------------------------------------------------------------- */

static int push_count(struct model *m, const struct event *ev)
{
	struct reading *r = NULL;

	if (!ev->count.source || !ev->count.kind)
		return -EINVAL;
	for (size_t i = 0; i < m->readings.n && !r; i++)
		if (!strncmp(m->readings.v[i].source, ev->count.source, TEXT_MAX) &&
		    !strncmp(m->readings.v[i].kind, ev->count.kind, TEXT_MAX))
			r = &m->readings.v[i];
	if (!r && m->readings.n >= READINGS_MAX)
		return -EINVAL;
	if (!r) {
		r = VEC_PUSH(&m->readings);
		if (!r)
			return -ENOMEM;
		if (replace_text(&r->source, ev->count.source) || replace_text(&r->kind,
									       ev->count.kind)) {
			free(r->source);
			m->readings.n--;
			return -ENOMEM;
		}
	}
	r->info = (struct model_reading){ r->source, r->kind, ev->count.hits, ev->count.received,
					  ev->count.lost };
	return 0;
}

static int push_session(void *state, const struct event *ev)
{
	struct model *m = state;
	int err;

	switch (ev->kind) {
	case EVENT_START:
		if (m->session.start_ns)
			return -EINVAL;
		m->session.start_ns = ev->start_ns;
		model_see_time(m, ev->start_ns);
		return 0;
	case EVENT_STOP:
		if (m->session.stop_ns || !ev->end_ns)
			return -EINVAL;
		m->session.stop_ns = ev->end_ns;
		return 0;
	case EVENT_WATERMARK:
		model_see_time(m, ev->end_ns);
		m->watermark_ns = num_max(m->watermark_ns, ev->end_ns);
		return 0;
	case EVENT_FACT:
		err = set_fact(&m->facts, ev, FACTS_MAX);
		m->without_probes |= !err && !strcmp(ev->fact.key, "without_probes");
		if (!err && !strcmp(ev->fact.key, "part"))
			join_knows_earlier(m->join);
		return err;
	case EVENT_COUNT: return push_count(m, ev);
	case EVENT_NOTE: return notes_push(&m->notes, ev);
	default:
		err = stacks_take(&m->stacks, ev);
		return err == -EINVAL || err == -ENOMEM ? err : 0;
	}
}

static const struct consumer session_consumer = {
	.kinds = 1ull << EVENT_START | 1ull << EVENT_STOP | 1ull << EVENT_WATERMARK |
		 1ull << EVENT_FACT | 1ull << EVENT_COUNT | 1ull << EVENT_NOTE |
		 1ull << EVENT_FRAME | 1ull << EVENT_STACK,
	.on_event = push_session,
};

/* ---- the join -------------------------------------------------------------------------------- */

static int on_work(void *ctx, const struct event *work, const struct launch *launch)
{
	return consumers_work(&((struct model *)ctx)->consumers, work, launch);
}

static int on_horizon(void *ctx, uint32_t process, uint64_t horizon_ns)
{
	return consumers_horizon(&((struct model *)ctx)->consumers, process, horizon_ns);
}

static int on_unseen(void *ctx, uint32_t process, unsigned int why, uint64_t start_ns,
		     uint64_t end_ns)
{
	struct process *p = processes_find(ctx, process);

	return p ? unseen_add(&p->unseen, why, start_ns, end_ns) : 0;
}

/* Without memory for it the works stay without their call. */
static void on_called(void *ctx, uint32_t process, uint32_t correlation,
		      const struct launch *launch)
{
	(void)consumers_called(&((struct model *)ctx)->consumers, process, correlation, launch);
}

static int init_join(void *state, struct model *m)
{
	(void)state;
	m->join = join_new(&(struct join_sink){ on_work, on_horizon, on_unseen, on_called, m });
	return m->join ? 0 : -ENOMEM;
}

static int push_join(void *state, const struct event *ev)
{
	struct model *m = state;
	int err;

	if (ev->kind != EVENT_WORK && ev->kind != EVENT_API)
		return join_push(m->join, ev);
	if (ev->end_ns < ev->start_ns ||
	    (ev->kind == EVENT_WORK && (!ev->work.kind || ev->work.kind >= WORK_KIND_END)))
		return -EINVAL;
	if (ev->kind == EVENT_WORK)
		m->counts.clock_error_ns = num_max(m->counts.clock_error_ns, ev->work.error_ns);
	err = !processes_get(m, ev) ? -ENOMEM :
	      ev->kind == EVENT_API ? device_push_api(m, ev) : join_push(m->join, ev);
	if (err != -EINVAL)
		model_see_time(m, ev->end_ns);
	return err;
}

static void free_join(void *state)
{
	join_free(((struct model *)state)->join);
}

/* Its results go to all consumers' on_work and on_horizon. */
static const struct consumer join_consumer = {
	.kinds = 1ull << EVENT_START | 1ull << EVENT_STOP | 1ull << EVENT_WATERMARK |
		 1ull << EVENT_PROCESS | 1ull << EVENT_EXIT | 1ull << EVENT_WORK |
		 1ull << EVENT_API | 1ull << EVENT_UNSEEN,
	.init = init_join,
	.on_event = push_join,
	.free = free_join,
};

/* ---- the whole ------------------------------------------------------------------------------- */

/* In the order in which they take an event: a consumer that finds it invalid, or takes it alone,
 * ends its way. */
static const struct consumers parts = {
	.v = { &session_consumer, &processes_consumer, &threads_consumer, &graphs_consumer,
	       &memory_consumer, &visibility_consumer, &silences_consumer,
	       &ranges_consumer, &ends_consumer, &join_consumer, &devices_consumer,
	       &retention_consumer, &offcpu_consumer, &ops_consumer },
	.n = 14,
};

struct model *model_new(const struct funcs *funcs)
{
	struct model *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->funcs = funcs;
	if (!consumers_add(&m->consumers, &parts, m))
		return m;
	model_free(m);
	errno = ENOMEM;
	return NULL;
}

int model_use_consumers(struct model *m, const struct consumers *list)
{
	return consumers_add(&m->consumers, list, m);
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
	pairs_free(&m->facts);
	notes_free(&m->notes);
	VEC_FREE(&m->readings);
	stacks_free(&m->stacks);
	consumers_free(&m->consumers);
	free(m);
}

/* Kinds of which one makes its thread. A process's first thread always has room. */
#define OF_THREADS                                                                             \
	(1ull << EVENT_CALL | 1ull << EVENT_ENTER | 1ull << EVENT_OPEN | 1ull << EVENT_LEFT |  \
	 1ull << EVENT_INSIDE | 1ull << EVENT_GONE | 1ull << EVENT_TAIL | 1ull << EVENT_EXIT | \
	 1ull << EVENT_OFF | 1ull << EVENT_CUPTI_CALL)

/* Would it need a process or thread more than there may be? */
static bool is_beyond_limit(const struct model *m, const struct event *ev)
{
	if (!ev->process)
		return false;
	if (m->processes.n >= MODEL_PROCESSES_MAX && !processes_find(m, ev->process))
		return true;
	if (m->threads.n >= MODEL_THREADS_MAX && ev->tid != ev->pid)
		/* An older thread's number may be a newer one's. */
		return ev->kind == EVENT_THREAD ||
		       (OF_THREADS >> ev->kind & 1 && !threads_find(m, ev->process, ev->tid));
	return false;
}

int model_push(struct model *m, const struct event *ev)
{
	/* It is of a process that has a handle, or of none. */
	bool is_known = ev->process ? ev->process != MODEL_PAST_PID && ev->pid != MODEL_PAST_PID :
				      !ev->pid;
	int err;

	if (ev->kind >= EVENT_KIND_END || !m->consumers.takers[ev->kind]) {
		m->counts.received[0]++;
		return 0;
	}
	if (__builtin_expect(is_beyond_limit(m, ev), 0)) {
		m->counts.unfollowed[ev->kind]++;
		return 0;
	}
	m->counts.received[ev->kind]++;
	err = is_known ? consumers_push(&m->consumers, ev) : -EINVAL;
	m->counts.invalid[ev->kind] += err == -EINVAL;
	return err == -EINVAL || err == CONSUMER_ENDS ? 0 : err;
}

int model_finish(struct model *m)
{
	int err;

	if (pairs_get(&m->facts, "goes_on"))	/* a file of several */
		join_goes_on(m->join);
	err = join_end(m->join);
	return err ? err : consumers_finish(&m->consumers);
}

/* ---- reading --------------------------------------------------------------------------------- */

void model_use_intervals(struct model *m)
{
	m->intervals = true;
}

void model_use_bins(struct model *m)
{
	m->has_bins = true;
	m->bins_left = BINS_BOOKS;
	devices_use_bins(m->devices, &m->session.start_ns);
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

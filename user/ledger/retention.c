// SPDX-License-Identifier: BSD-3-Clause
/*
 * Threads and processes that exited and lose their own rows: threads become one of their
 * process, processes one of the session (ledger/model_processes.h has the rule). Sums added up
 * here are final: nothing of them may come later.
 */
#include "ledger/retention.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ledger/ledger.h"
#include "ledger/visibility.h"
#include "facts/ranges.h"

#define BATCH 64	/* processes, since all that are known are looked at */
#define CROWDED (8 * MODEL_ENDED)	/* with more than these, JOIN_SETTLE_NS is enough */
/* of one with a device and a thread, without the parts counted below */
#define PROCESS_BYTES 8192
#define KERNELS_LOW (KERNELS_BUDGET_BYTES / 4)

/* ---- threads --------------------------------------------------------------------------------- */

static struct thread *make_past(struct model *m, struct process *p)
{
	struct thread_past *past = calloc(1, sizeof(*past));
	struct thread *t = past ? calloc(1, sizeof(*t)) : NULL, **place;

	place = t ? VEC_PUSH(&m->threads) : NULL;
	if (!place) {
		free(past);
		free(t);
		return NULL;
	}
	*t = (struct thread){ .process = p, .past = past, .ended = true };
	p->threads++;
	p->past = *place = t;
	return t;
}

static bool is_in_call(const struct book *b)
{
	return b->has_open && !b->is_off && !b->hole;
}

/* It becomes part of who stands for others of that process, and is no more. */
static int fold_thread(struct model *m, struct thread *t, struct process *into)
{
	struct thread_past *past = into->past->past;
	struct book_sum sum;
	int err = 0;

	if (t->past) {
		past->threads += t->past->threads;
		book_sum_add(&past->sum, &t->past->sum);
	} else if (t->has_book && t->drives && !t->over) {
		/* The exit of a thread that was gone with its process may be unreported. */
		book_read(&t->book, t->ended ? m->now_ns : t->process->gone_ns, &sum);
		book_sum_add(&past->sum, &sum);
		past->threads++;
		if (is_in_call(&t->book))
			err = call_stats_leave(&into->info.calls, t->book.open_func,
					       t->book.before);
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

static bool ended_long_ago(const struct model *m, const struct thread *t)
{
	return t->ended && !t->past &&
	       (!t->has_book || m->now_ns - num_min(t->book.exit, m->now_ns) > JOIN_WINDOW_NS);
}

static int age_threads(struct model *m)
{
	/* Twice as fast as they end. */
	for (int i = 0; i < 2 && m->threads.n; i++) {
		struct thread *t;

		if (m->aged >= m->threads.n)
			m->aged = 0;
		t = m->threads.v[m->aged];
		if (!ended_long_ago(m, t)) {
			m->aged++;
			continue;
		}
		timeline_free(&t->timeline, &m->timelines);
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

/* ---- one process
 * ------------------------------------------------------------------------------ */

static struct process *find_past(struct model *m)
{
	struct process *p = m->past ? NULL : calloc(1, sizeof(*p)), **place;

	if (m->past)
		return m->past;
	place = p ? VEC_PUSH(&m->processes) : NULL;
	if (!place) {
		free(p);
		return NULL;
	}
	p->info.process = p->info.pid = MODEL_PAST_PID;
	p->index = m->processes.n - 1;
	*place = m->past = p;
	return make_past(m, p) ? p : NULL;
}

/* Nothing of it will come: it waits for nothing, and takes no more memory than it needs. *done:
 * but for others with which it shared a device. */
static int settle(struct model *m, struct process *p, bool *done)
{
	int err = consumers_settle(&m->consumers, p, done);

	if (err || p->is_settled)
		return err;
	call_stats_trim(&p->info.calls);
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
	into->past_unarmed_ns += intervals_overlap(&p->unarmed, 0, UINT64_MAX);
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

/* ---- which processes
 * -------------------------------------------------------------------------- */

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

static size_t bytes_of(const struct process *p)
{
	return PROCESS_BYTES + call_stats_bytes(&p->info.calls) +
	       (p->ranges ? ranges_bytes(p->ranges) : 0) +
	       (p->memory ? memory_book_bytes(p->memory) : 0);
}

static bool may_fold(const struct model *m, const struct process *p)
{
	uint64_t wait_ns = m->processes.n > CROWDED ? JOIN_SETTLE_NS : JOIN_WINDOW_NS;

	return end_of(p) && !p->info.past && (!p->living || p->gone_ns) &&
	       m->now_ns - num_min(num_max(end_of(p), p->gone_ns), m->now_ns) > wait_ns &&
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
		*e = (struct ended){ p, end_of(p), end_of(p) - num_min(start_ns, end_of(p)),
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
			size_t bytes = bytes_of(next->process);

			if (bytes > left_bytes || (reasons[r].only_failed && !next->failed))
				break;
			left_bytes -= bytes;
		}
	}
	return stay;
}

/* ---- many at once
 * ----------------------------------------------------------------------------- */

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

static int age(struct model *m, bool is_process)
{
	int err = age_threads(m);

	m->ended += is_process;
	if (err || m->ended < BATCH)
		return err;
	m->ended = 0;
	return age_processes(m);
}

/* ---- when they ended
 * --------------------------------------------------------------------------- */

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
	return unseen_note_exit(m, p, t) ? -ENOMEM : note_helper_end(m, p);
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
	if (!is_end || !p->recorded_ns || p->recorded_ns > ns)
		p->recorded_ns = ns;
	if (!is_end)
		return 0;
	p->helper_end_ns = ns;
	return unseen_note_end(m, p) ? -ENOMEM : note_helper_end(m, p);
}

/* ---- the consumers
 * ---------------------------------------------------------------------------- */

static int on_end(void *state, const struct event *ev)
{
	return ev->kind == EVENT_EXIT ? note_exit(state, ev) : note_identity(state, ev);
}

/* Exited ones leave, and the counts of the others. */
static void cut(void *state)
{
	struct model *m = state;

	processes_drop_ended(m, m->cut_ns);
	for (size_t i = 0; i < m->processes.n; i++) {
		call_stats_reset(&m->processes.v[i]->info.calls);
		intervals_drop_before(&m->processes.v[i]->unarmed, m->cut_ns);
	}
}

const struct consumer ends_consumer = {
	.kinds = 1ull << EVENT_EXIT | 1ull << EVENT_IDENTITY,
	.on_event = on_end,
	.cut = cut,
};

static int on_exit_event(void *state, const struct event *ev)
{
	return age(state, ev->tid == ev->pid);
}

const struct consumer retention_consumer = {
	.kinds = 1ull << EVENT_EXIT,
	.on_event = on_exit_event,
};

// SPDX-License-Identifier: BSD-3-Clause
/* Which job hangs, and for which of its ranks. */
#include "findings/hang.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"

#define NAMED_MAX 4	/* ranks with their pids */

/* Where a rank is at the end: what it may wait for. */
enum place {
	PLACE_ELSEWHERE,	/* in no call, in one that compiles or sets up a device, stopped */
	PLACE_COLLECTIVE,	/* in any call of NCCL */
	PLACE_DEVICE,		/* in any other: all may wait for the device */
};

struct rank {
	const struct snapshot_process *process;
	const char *job;		/* "": none */
	uint64_t number;
	uint64_t collectives;		/* calls, also one that has not returned */
	const struct snapshot_thread *thread;	/* longest in a call; NULL: all are in none */
	enum place place;
	bool has_ended, makes_calls;
	bool is_stopped;		/* its threads that make calls are, by a signal */
	bool is_behind;			/* all that are not wait for it */
};

struct ranks {
	VEC(struct rank) all;
};

struct job {
	const struct snapshot *snap;
	struct rank *ranks;		/* by number */
	size_t n;
	uint64_t end_ns;		/* of its last rank, or of the session */
};

/* ---- ranks ----------------------------------------------------------------------------------- */

static enum place place_of(const struct snapshot *snap, const struct snapshot_thread *t)
{
	const struct func *fn = &snap->funcs->v[t->func];

	if (fn->library && !strcmp(fn->library, "nccl"))
		return PLACE_COLLECTIVE;
	return fn->class == CLASS_COMPILE || fn->class == CLASS_INIT ? PLACE_ELSEWHERE :
								       PLACE_DEVICE;
}

/* A rank that is in a collective has not launched it, whatever its other threads wait for. */
static bool says_more(const struct snapshot *snap, const struct snapshot_thread *t,
		      const struct rank *than)
{
	enum place place = place_of(snap, t);

	if (!than->thread)
		return true;
	if ((place == PLACE_COLLECTIVE) != (than->place == PLACE_COLLECTIVE))
		return place == PLACE_COLLECTIVE;
	return t->open_ns < than->thread->open_ns;
}

static void read_threads(struct rank *r, const struct snapshot *snap, size_t process)
{
	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];

		if (t->process != process || !t->has_book)
			continue;
		r->is_stopped = t->stopped && (r->is_stopped || !r->makes_calls);
		r->makes_calls = true;
		if (!t->open || t->func >= snap->funcs->n || !says_more(snap, t, r))
			continue;
		r->thread = t;
		r->place = place_of(snap, t);
	}
	r->collectives = r->thread && r->place == PLACE_COLLECTIVE;
}

static void count_collectives(struct rank *r, const struct funcs *funcs)
{
	const struct call_stats *calls = &r->process->calls;

	for (size_t i = 0; i < call_stats_count(calls); i++) {
		const struct call_stat *t = call_stats_at(calls, i);

		if (t->key.func < funcs->n && funcs->v[t->key.func].class == CLASS_COLLECTIVE)
			r->collectives = num_add(r->collectives, t->count);
	}
}

static int compare_ranks(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;
	int jobs = strcmp(x->job, y->job);

	if (jobs || x->number != y->number)
		return jobs ? jobs : num_compare(x->number, y->number);
	if (x->makes_calls != y->makes_calls)
		return x->makes_calls ? -1 : 1;
	return num_compare(x->process->start_ns, y->process->start_ns);
}

static int read_ranks(struct ranks *ranks, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];
		const char *number = snapshot_identity(p, "rank");
		const char *job = snapshot_identity(p, "job");
		struct rank *r = number && !p->past ? VEC_PUSH(&ranks->all) : NULL;

		if (!number || p->past)
			continue;
		if (!r)
			return -ENOMEM;
		*r = (struct rank){ .process = p, .job = job ? job : "",
				    .number = strtoull(number, NULL, 10),
				    .has_ended = p->has_ended };
		read_threads(r, snap, i);
		count_collectives(r, snap->funcs);
	}
	if (ranks->all.n)
		qsort(ranks->all.v, ranks->all.n, sizeof(*ranks->all.v), compare_ranks);
	return 0;
}

/* Takes the next job's ranks from v[*at] on; the children of ranks, as data loaders, inherit their
 * variables and make no calls: they leave. n is 0 where ranks are of several jobs. */
static struct job next_job(struct ranks *ranks, size_t *at)
{
	struct rank *first = &ranks->all.v[*at], *to = first;
	bool several = false;

	for (; *at < ranks->all.n && !strcmp(ranks->all.v[*at].job, first->job); ++*at) {
		const struct rank *r = &ranks->all.v[*at];

		if (to == first || to[-1].number != r->number)
			*to++ = *r;
		else
			several |= r->makes_calls;
	}
	return (struct job){ .ranks = first, .n = several ? 0 : (size_t)(to - first) };
}

/* ---- does it hang ---------------------------------------------------------------------------- */

static uint64_t end_of(const struct job *j, const struct rank *r)
{
	return r->has_ended && r->process->exit_ns ? r->process->exit_ns : j->snap->now_ns;
}

/* It was ended while the others went on: not by what ended all. */
static bool is_gone(const struct job *j, const struct rank *r)
{
	return r->has_ended && end_of(j, r) + HANG_NS <= j->end_ns;
}

static enum place where(const struct job *j, const struct rank *r)
{
	return is_gone(j, r) || r->is_stopped || !r->thread ? PLACE_ELSEWHERE : r->place;
}

static uint64_t waits_ns(const struct job *j, const struct rank *r)
{
	return num_sub(end_of(j, r), num_max(r->thread->open_ns, j->snap->since_ns));
}

/* Ranks that all others wait for are those at `place`; PLACE_DEVICE: all are there. */
static enum place first_place(const struct job *j)
{
	enum place first = PLACE_DEVICE;

	for (size_t i = 0; i < j->n; i++)
		if (where(j, &j->ranks[i]) < first)
			first = where(j, &j->ranks[i]);
	return first;
}

static size_t count_at(const struct job *j, enum place place)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += where(j, &j->ranks[i]) == place;
	return n;
}

/* For so long no rank has gone on that waits; 0: one has. */
static uint64_t hangs_ns(const struct job *j)
{
	uint64_t ns = UINT64_MAX;

	for (size_t i = 0; i < j->n; i++)
		if (where(j, &j->ranks[i]) != PLACE_ELSEWHERE)
			ns = num_min(ns, waits_ns(j, &j->ranks[i]));
	return ns == UINT64_MAX || ns < HANG_NS ? 0 : ns;
}

/* All ranks' collectives can be compared: they began in the session. */
static bool began_all(const struct job *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->ranks[i].process->start_ns < j->snap->session.start_ns)
			return false;
	return true;
}

static void mark_behind(struct job *j)
{
	const enum place first = first_place(j);
	const bool together = count_at(j, first) == j->n;
	uint64_t least = UINT64_MAX, most = 0;

	for (size_t i = 0; i < j->n; i++) {
		least = num_min(least, j->ranks[i].collectives);
		most = num_max(most, j->ranks[i].collectives);
	}
	if (together && (least == most || !began_all(j)))
		return;
	for (size_t i = 0; i < j->n; i++) {
		struct rank *r = &j->ranks[i];

		r->is_behind = together ? r->collectives == least : where(j, r) == first;
	}
}

/* ---- in words -------------------------------------------------------------------------------- */

static size_t count(const struct job *j, bool behind)
{
	size_t n = 0;

	for (size_t i = 0; i < j->n; i++)
		n += j->ranks[i].is_behind == behind;
	return n;
}

static const struct rank *first_of(const struct job *j, bool behind)
{
	size_t i = 0;

	while (j->ranks[i].is_behind != behind)
		i++;
	return &j->ranks[i];
}

/* Those that wait: "rank 1", "ranks 0, 2-3" */
static void add_numbers(struct strbuf *out, const struct job *j)
{
	const struct rank *ranks = j->ranks;
	size_t last;

	strbuf_addstr(out, count(j, false) == 1 ? "rank " : "ranks ");
	for (size_t i = 0, said = 0; i < j->n; i = last + 1) {
		last = i;
		if (ranks[i].is_behind)
			continue;
		while (last + 1 < j->n && !ranks[last + 1].is_behind &&
		       ranks[last + 1].number == ranks[last].number + 1)
			last++;
		strbuf_addf(out, "%s%llu", said++ ? ", " : "", (unsigned long long)ranks[i].number);
		if (last > i)
			strbuf_addf(out, "-%llu", (unsigned long long)ranks[last].number);
	}
}

static void add_place(struct strbuf *out, const struct job *j, const struct rank *r)
{
	const char *stopped = r->is_stopped ? "stopped by a signal or a debugger, " : "";

	if (is_gone(j, r))
		strbuf_addstr(out, "has ended");
	else if (r->thread)
		strbuf_addf(out, "is %sin %s", stopped, j->snap->funcs->v[r->thread->func].name);
	else
		strbuf_addf(out, "is %sin no call", stopped);
}

/* "rank 1, which is in ncclAllReduce"; of several with their pids */
static void add_behind(struct strbuf *out, const struct job *j)
{
	const bool several = count(j, true) > 1;
	size_t said = 0;

	for (size_t i = 0; i < j->n; i++) {
		const struct rank *r = &j->ranks[i];

		if (!r->is_behind || said++ >= NAMED_MAX)
			continue;
		strbuf_addf(out, "%srank %llu", said > 1 ? ", and " : "",
			    (unsigned long long)r->number);
		if (several)
			strbuf_addf(out, " (pid %u)", r->process->pid);
		strbuf_addstr(out, ", which ");
		add_place(out, j, r);
	}
	if (said > NAMED_MAX)
		strbuf_addf(out, ", and %zu more", said - NAMED_MAX);
}

/* "; go on with: kill -CONT 402" */
static void add_remedy(struct strbuf *out, const struct job *j)
{
	bool begun = false;

	for (size_t i = 0; i < j->n; i++) {
		const struct rank *r = &j->ranks[i];

		if (!r->is_behind || !r->is_stopped || r->has_ended || r->process->is_gone)
			continue;
		strbuf_addf(out, "%s %u", begun ? "" : "; go on with: kill -CONT", r->process->pid);
		begun = true;
	}
}

static int add_job(struct findings *f, const struct job *j, uint64_t ns)
{
	const bool behind = count(j, true);
	const struct rank *of = first_of(j, behind);
	const struct next_target target = next_of(j->snap, of->process->process, 0);
	const struct snapshot *snap = j->snap;
	struct finding *to = VEC_PUSH(&f->all);

	if (!to)
		return -ENOMEM;
	*to = (struct finding){
		.name = "hang", .process = of->process->process, .pid = of->process->pid,
		.device = FINDING_NO_DEVICE, .is_notable = true,
		.is_severe = ns >= HANG_LONG_NS || ns >= num_sub(snap->now_ns, snap->since_ns) / 2,
		.cause = STRBUF_INIT, .evidence = STRBUF_INIT, .next = STRBUF_INIT,
	};
	to->headline = to->is_severe ? "This job hangs" : NULL;
	add_numbers(&to->cause, j);
	strbuf_addf(&to->cause, " wait%s in %s", count(j, false) == 1 ? "s" : "",
		    snap->funcs->v[first_of(j, false)->thread->func].name);
	strbuf_addstr(&to->cause, behind ? " for " : ", and no rank is behind");
	add_behind(&to->cause, j);
	add_remedy(&to->cause, j);
	strbuf_addf(&to->evidence, "none of %zu ranks went on for %s, up to the end", j->n,
		    ns_text(ns).s);
	next_add(&to->next, NEXT_STACKS, &target, NULL);
	return to->cause.failed || to->evidence.failed || to->next.failed ? -ENOMEM : 0;
}

int hang_find(struct findings *f, const struct snapshot *snap)
{
	struct ranks ranks = { 0 };
	int err = read_ranks(&ranks, snap);

	for (size_t at = 0; !err && at < ranks.all.n;) {
		struct job j = next_job(&ranks, &at);
		uint64_t ns;

		j.snap = snap;
		for (size_t i = 0; i < j.n; i++)
			j.end_ns = num_max(j.end_ns, end_of(&j, &j.ranks[i]));
		ns = j.n > 1 ? hangs_ns(&j) : 0;
		if (ns)
			mark_behind(&j);
		err = ns ? add_job(f, &j, ns) : 0;
	}
	VEC_FREE(&ranks.all);
	return err;
}

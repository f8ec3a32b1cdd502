// SPDX-License-Identifier: BSD-3-Clause
/*
 * The calls of the time are walked three times: how much of it is inside of calls, what sleeping
 * leaves, and where each part goes. The longest stretches are found by powers of two, without
 * sorting: those of one power share what the longer ones leave.
 */
#include "ledger/sampled.h"

#include "base/num.h"

#define POWERS 64
#define POWER_MIN 15		/* 32 us: a shorter wait is not worth a place */
#define FOUND_MAX 64		/* readings that the next ones outweigh */

/* ---- stretches ------------------------------------------------------------------------------- */

enum where { OUTSIDE, IN_CALL, UNSEEN };

/* Between two begins or ends of calls, as far as it is in the time that is walked. */
struct stretch {
	uint64_t start_ns, end_ns;
	enum where where;
};

struct walk {
	uint64_t at_ns, end_ns;
	void (*fn)(void *ctx, const struct stretch *stretch);
	void *ctx;
};

static void pass(struct walk *w, uint64_t end_ns, enum where where)
{
	const struct stretch stretch = { w->at_ns, num_min(end_ns, w->end_ns), where };

	if (stretch.start_ns >= stretch.end_ns)
		return;
	w->fn(w->ctx, &stretch);
	w->at_ns = stretch.end_ns;
}

static enum where where_of(unsigned int bucket)
{
	return bucket == CLASS_OTHER ? OUTSIDE : bucket < CLASS_END ? IN_CALL : UNSEEN;
}

static void on_span(void *ctx, const struct timeline_span *span)
{
	pass(ctx, span->start_ns, OUTSIDE);
	pass(ctx, span->end_ns, where_of(span->bucket));
}

static void walk(const struct idle_thread *who, uint64_t from, uint64_t to,
		 void (*fn)(void *ctx, const struct stretch *stretch), void *ctx)
{
	struct walk w = { from, to, fn, ctx };

	timeline_each(who->timeline, from, to, on_span, &w);
	if (who->now != CLASS_OTHER)
		pass(&w, who->now_ns, OUTSIDE);
	pass(&w, to, where_of(who->now));
}

/* ---- the longest of them --------------------------------------------------------------------- */

static unsigned int power_of(uint64_t ns)
{
	return ns ? 63 - (unsigned int)__builtin_clzll(ns) : 0;
}

/* Stretches of a larger power are taken whole, of this one in part. */
struct longest {
	unsigned int power;
	double part;
};

static struct longest find_longest(const uint64_t by_power[POWERS], uint64_t ns)
{
	for (unsigned int i = POWERS; i-- > POWER_MIN;) {
		if (by_power[i] >= ns)
			return (struct longest){ i, num_ratio(ns, by_power[i]) };
		ns -= by_power[i];
	}
	return (struct longest){ POWER_MIN, 1 };
}

static uint64_t part_of(uint64_t ns, double part)
{
	return num_min((uint64_t)((double)ns * part), ns);
}

static uint64_t take(const struct longest *l, uint64_t ns)
{
	return power_of(ns) > l->power ? ns : power_of(ns) < l->power ? 0 : part_of(ns, l->part);
}

/* ---- one account ----------------------------------------------------------------------------- */

struct placing {
	struct sampled *s;
	struct timeline_room *room;
	uint64_t slept_ns, delayed_ns;		/* to be placed */
	uint64_t call_ns, outside_ns;		/* lengths of stretches */
	uint64_t outside[POWERS], left[POWERS];	/* by length, and by what sleeping leaves */
	double sleeps;				/* part of the time in calls */
	struct longest sleep, delay;
	struct stretch first, last;
};

static void add_up(void *ctx, const struct stretch *stretch)
{
	struct placing *p = ctx;
	const uint64_t ns = stretch->end_ns - stretch->start_ns;

	if (!p->first.end_ns)
		p->first = *stretch;
	p->last = *stretch;
	if (stretch->where == IN_CALL)
		p->call_ns += ns;
	if (stretch->where != OUTSIDE)
		return;
	p->outside_ns += ns;
	p->outside[power_of(ns)] += ns;
}

static uint64_t asleep_in(const struct placing *p, const struct stretch *stretch)
{
	const uint64_t ns = stretch->end_ns - stretch->start_ns;

	return stretch->where == IN_CALL ? part_of(ns, p->sleeps) : take(&p->sleep, ns);
}

static void add_left(void *ctx, const struct stretch *stretch)
{
	struct placing *p = ctx;
	const uint64_t ns = stretch->end_ns - stretch->start_ns - asleep_in(p, stretch);

	if (stretch->where != UNSEEN)
		p->left[power_of(ns)] += ns;
}

static void add_span(struct placing *p, uint64_t start_ns, uint64_t end_ns, unsigned int reason)
{
	timeline_add(&p->s->spans, p->room, &(struct timeline_span){
		.start_ns = start_ns, .end_ns = end_ns,
		.bucket = (uint8_t)(BUCKET_OFF_0 + reason), .func = TIMELINE_NO_FUNC });
}

/* A thread that slept is woken, and then waits for a CPU. */
static void place(void *ctx, const struct stretch *stretch)
{
	struct placing *p = ctx;
	const uint64_t slept_ns = asleep_in(p, stretch), end_ns = stretch->end_ns;
	const uint64_t late_ns =
		end_ns - take(&p->delay, end_ns - stretch->start_ns - slept_ns);

	if (stretch->where == UNSEEN)
		return;
	if (stretch->where == OUTSIDE)
		add_span(p, late_ns - slept_ns, late_ns, p->s->reason ? p->s->reason : OFF_OTHER);
	add_span(p, late_ns, end_ns, OFF_RUNQUEUE);
}

/* Divides the time asleep between calls and outside. */
static void divide_sleep(struct placing *p)
{
	const struct sampled *s = p->s;
	const uint64_t ns = num_min(p->slept_ns, p->call_ns + p->outside_ns);
	uint64_t outside_ns =
		part_of(ns, num_ratio(s->outside, num_max(s->inside + s->outside, 1)));

	outside_ns = num_min(num_max(outside_ns, num_sub(ns, p->call_ns)), p->outside_ns);
	p->sleep = find_longest(p->outside, outside_ns);
	p->sleeps = p->call_ns ? num_ratio(ns - outside_ns, p->call_ns) : 0;
}

static void place_all(struct placing *p, const struct idle_thread *who, uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	p->call_ns = p->outside_ns = 0;
	memset(p->outside, 0, sizeof(p->outside));
	walk(who, from, to, add_up, p);
	divide_sleep(p);
	walk(who, from, to, add_left, p);
	p->delay = find_longest(p->left, p->delayed_ns);
	walk(who, from, to, place, p);
}

/* Where a reading found it asleep, or stopped outside of calls. */
static void note_found(struct sampled *s, enum where where, uint8_t reason)
{
	if (where == UNSEEN || (reason == OFF_STOPPED && where == IN_CALL))
		return;
	if (s->inside + s->outside >= FOUND_MAX) {
		s->inside /= 2;
		s->outside /= 2;
	}
	s->inside += where == IN_CALL;
	s->outside += where == OUTSIDE;
	if (where == OUTSIDE)
		s->reason = reason;
}

bool sampled_add(struct sampled *s, struct timeline_room *room, const struct idle_thread *who,
		 const struct event *ev)
{
	const struct event_sched *sched = &ev->sched;
	struct placing p = { .s = s, .room = room };
	uint64_t from = ev->start_ns, to = ev->end_ns, off_ns, head_ns = from, tail_ns = to;
	enum where where;

	if (from >= to || from < s->end_ns || sched->ran_ns > to - from ||
	    sched->delayed_ns > to - from - sched->ran_ns || sched->first >= OFF_REASON_END ||
	    sched->last >= OFF_REASON_END)
		return false;
	s->end_ns = to;
	p.delayed_ns = sched->delayed_ns;
	off_ns = to - from - sched->ran_ns - sched->delayed_ns;
	walk(who, from, to, add_up, &p);
	where = p.last.where;
	if (sched->last != OFF_RUNQUEUE && sched->last != OFF_STOPPED)
		note_found(s, where, sched->last);
	if (sched->first == OFF_STOPPED)
		head_ns = num_min(from + off_ns, p.first.end_ns);
	off_ns -= head_ns - from;
	if (sched->last == OFF_STOPPED)
		tail_ns = num_max(num_max(to - off_ns, p.last.start_ns), head_ns);
	p.slept_ns = off_ns - (to - tail_ns);
	add_span(&p, from, head_ns, OFF_STOPPED);
	place_all(&p, who, head_ns, tail_ns);
	add_span(&p, tail_ns, to, OFF_STOPPED);
	/* Once: for the waits after it, which may be stops, too. */
	if (sched->last == OFF_STOPPED && sched->first != OFF_STOPPED)
		note_found(s, where, OFF_STOPPED);
	return true;
}

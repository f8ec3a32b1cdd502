// SPDX-License-Identifier: BSD-3-Clause
/* See the header. The cost of each thread since the last look, the credit, and the step. */
#include "probe/budget.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "probe/plan.h"

#define RATE_NS (1 * NS_PER_SEC)	/* what others cost is averaged over that */

struct payer {			/* a thread */
	uint32_t pid, tid;
	uint32_t seq;			/* the last number seen; 0: none */
	uint64_t launches_ns, others_ns;	/* cost since the last look */
};

struct budget {
	struct budget_rules rules;
	uint8_t outcomes[GP_ROWS_MAX];	/* as of the last look */
	VEC(struct payer) payers;
	struct map by_tid;		/* -> index + 1 */
	size_t last;			/* index of the one that called last */
	uint64_t nested, silent;	/* counters, at the last look */
	bool has_launched;		/* the thread that paid most since the one before */
	double launches;		/* share of time that they cost it */
	double credit_ns;
	uint64_t looked_ns;
	uint64_t since_ns;		/* probes is as it is since then */
	double others;			/* share of time, averaged */
	/* since the credit was full: */
	uint64_t full_ns;
	double spent_ns, spent_others_ns;
	uint64_t within_ns;		/* others cost no more than the share then */
	uint64_t up_ns;			/* after so long without a pause all are probed */
	struct budget_state state;
};

struct budget *budget_new(const struct budget_rules *rules, uint64_t now_ns)
{
	struct budget *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->rules = *rules;
	b->credit_ns = rules->share * BUDGET_HOLD_NS;
	b->looked_ns = b->since_ns = b->full_ns = b->within_ns = now_ns;
	b->up_ns = BUDGET_UP_NS / 2;
	b->state.probes = true;
	return b;
}

void budget_free(struct budget *b)
{
	if (!b)
		return;
	VEC_FREE(&b->payers);
	map_free(&b->by_tid);
	free(b);
}

const char *budget_step_name(enum budget_step step)
{
	static const char *const names[BUDGET_STEPS] = {
		[BUDGET_ALL] = "all", [BUDGET_RECORDS] = "records", [BUDGET_PART] = "part",
		[BUDGET_NONE] = "none",
	};

	return names[step];
}

/* ---- what threads pay ------------------------------------------------------------------------ */

/* NULL: out of memory. */
static struct payer *find_payer(struct budget *b, const struct event *ev)
{
	struct map_slot *slot;
	struct payer *p;

	if (b->last < b->payers.n && b->payers.v[b->last].tid == ev->tid)
		return &b->payers.v[b->last];
	slot = map_put(&b->by_tid, ev->tid, NULL);
	p = slot && !slot->value ? VEC_PUSH(&b->payers) : NULL;
	if (slot && slot->value) {
		b->last = slot->value - 1;
		return &b->payers.v[b->last];
	}
	if (!p)
		return NULL;
	*p = (struct payer){ .pid = ev->pid, .tid = ev->tid };
	slot->value = b->payers.n;
	b->last = b->payers.n - 1;
	return p;
}

/* The last one takes its place. */
static void forget_payer(struct budget *b, size_t i)
{
	struct map_slot *moved;

	map_del(&b->by_tid, b->payers.v[i].tid);
	b->payers.v[i] = b->payers.v[--b->payers.n];
	moved = i < b->payers.n ? map_find(&b->by_tid, b->payers.v[i].tid) : NULL;
	if (moved)
		moved->value = i + 1;
}

static bool is_launch(const struct event *ev)
{
	return ev->kind == EVENT_CALL && ev->func < catalog_n_rows() && catalog_row(ev->func) &&
	       catalog_row(ev->func)->class == CLASS_LAUNCH;
}

static uint64_t call_ns(const struct budget *b, const struct event *ev)
{
	const bool stepped = ev->kind == EVENT_CALL && ev->func < GP_ROWS_MAX &&
			     b->outcomes[ev->func] & PLAN_STEPPED;

	return b->rules.call_ns + (stepped ? b->rules.step_ns : 0);
}

int budget_push(struct budget *b, const struct event *ev)
{
	const bool is_call = ev->kind == EVENT_CALL || ev->kind == EVENT_OP;
	struct payer *p;

	if (!ev->tid || (!ev->seq && !is_call))
		return 0;
	p = find_payer(b, ev);
	if (!p)
		return -ENOMEM;
	if (is_launch(ev))
		p->launches_ns += call_ns(b, ev);
	else if (is_call)
		p->others_ns += call_ns(b, ev);
	if (ev->seq && ev->kind != EVENT_TAIL) {
		/* Most records of a thread that loses some are launches. */
		if (p->seq && ev->seq > p->seq)
			p->launches_ns += (ev->seq - p->seq - 1) * b->rules.call_ns;
		p->seq = ev->seq;
	}
	if (ev->kind == EVENT_EXIT)
		p->seq = UINT32_MAX;	/* until its last cost was looked at */
	return 0;
}

static uint64_t cost_of(const struct payer *p)
{
	return p->launches_ns + p->others_ns;
}

/* Of the thread that paid most since the last look. */
static struct payer take_costs(struct budget *b, const struct budget_look *look)
{
	const uint64_t nested_ns = num_sub(look->nested, b->nested) * b->rules.nested_ns;
	const uint64_t silent_ns = num_sub(look->silent, b->silent) * b->rules.nested_ns;
	struct payer most = { .pid = 0 };

	for (size_t i = 0; i < b->payers.n;) {
		struct payer *p = &b->payers.v[i];

		if (cost_of(p) > cost_of(&most))
			most = *p;
		p->launches_ns = p->others_ns = 0;
		if (p->seq == UINT32_MAX)
			forget_payer(b, i);
		else
			i++;
	}
	b->nested = look->nested;
	b->silent = look->silent;
	b->has_launched = most.launches_ns;
	if (b->state.probes || look->now_ns - b->since_ns < BUDGET_LATE_NS)
		most.launches_ns += nested_ns;
	else
		most.others_ns += nested_ns;
	most.launches_ns += silent_ns;
	return most;
}

/* ---- the credit ------------------------------------------------------------------------------ */

static double full(const struct budget *b)
{
	return b->rules.share * BUDGET_HOLD_NS;
}

/* Others do not make debts: they cannot be left out, so launches would have to pay them. */
static void fill(struct budget *b, double others_ns, uint64_t ns)
{
	const double net_ns = b->rules.share * BUDGET_FILL * (double)ns - others_ns;

	if (net_ns < 0 && b->credit_ns <= 0)
		return;
	b->credit_ns += net_ns;
	if (net_ns < 0 && b->credit_ns < 0)
		b->credit_ns = 0;
	if (b->credit_ns > full(b))
		b->credit_ns = full(b);
}

static void take(struct budget *b, const struct payer *most, uint64_t now_ns)
{
	const uint64_t ns = num_sub(now_ns, b->looked_ns);
	const double weight = (double)num_min(ns, RATE_NS) / RATE_NS;

	b->looked_ns = now_ns;
	if (!ns)
		return;
	b->launches = (double)most->launches_ns / (double)ns;
	b->others += weight * ((double)most->others_ns / (double)ns - b->others);
	fill(b, (double)most->others_ns, ns);
	if (b->credit_ns >= full(b)) {
		b->full_ns = now_ns - ns;
		b->spent_ns = b->spent_others_ns = 0;
	}
	b->credit_ns -= (double)most->launches_ns;
	b->spent_ns += (double)cost_of(most);
	b->spent_others_ns += (double)most->others_ns;
}

/* From now on, until the credit is full. */
static uint64_t filling_ns(const struct budget *b)
{
	const double rate = b->rules.share * BUDGET_FILL - b->others;
	const double ns = rate > 0 ? (full(b) - b->credit_ns) / rate : 0;

	return rate > 0 && ns < 10.0 * BUDGET_NONE_NS ? (uint64_t)ns : 10 * BUDGET_NONE_NS;
}

/* So long the credit lasts, if all goes on as since the last look. */
static uint64_t using_ns(const struct budget *b, uint64_t now_ns)
{
	const double ns = b->launches > 0 ? b->credit_ns / b->launches : BUDGET_NONE_NS;

	if (now_ns - b->since_ns < BUDGET_LATE_NS || ns <= 0)
		return 0;
	return ns < BUDGET_NONE_NS ? (uint64_t)ns : BUDGET_NONE_NS;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void note_cost(struct budget *b, const struct payer *most, uint64_t now_ns)
{
	const double ns = (double)num_max(num_sub(now_ns, b->full_ns), 1);

	b->state.cost = b->spent_ns / ns;
	b->state.others = b->spent_others_ns / ns;
	if (!most->tid)
		return;
	b->state.pid = most->pid;
	b->state.tid = most->tid;
}

static void switch_probes(struct budget *b, bool probes, uint64_t now_ns)
{
	b->state.probes = probes;
	b->since_ns = now_ns;
}

static void step_down(struct budget *b, const struct payer *most, const struct budget_look *look)
{
	struct budget_state *s = &b->state;
	const uint64_t off_ns = filling_ns(b);

	if (s->step == BUDGET_ALL || s->step == BUDGET_RECORDS) {
		note_cost(b, most, look->now_ns);
		if (s->step == BUDGET_ALL)
			b->up_ns = num_min(2 * b->up_ns, BUDGET_UP_MAX_NS);
		if (s->step == BUDGET_ALL && look->has_records && look->has_records(look->ctx)) {
			s->step = BUDGET_RECORDS;
			b->since_ns = look->now_ns;
			return;
		}
		s->step = BUDGET_PART;
	} else if (s->step == BUDGET_NONE && off_ns < BUDGET_NONE_NS / 2) {
		note_cost(b, most, look->now_ns);
		s->step = BUDGET_PART;
	}
	switch_probes(b, false, look->now_ns);
}

/* Launches that are still probed after the step to records are few, or about to be taken off. */
#define RECORDS_NS (500 * NS_PER_MS)

static bool must_step_down(const struct budget *b, uint64_t now_ns)
{
	return b->credit_ns <= 0 && b->has_launched &&
	       !(b->state.step == BUDGET_RECORDS && now_ns - b->since_ns < RECORDS_NS);
}

static void choose(struct budget *b, const struct payer *most, const struct budget_look *look)
{
	struct budget_state *s = &b->state;
	const uint64_t now_ns = look->now_ns;

	if (s->probes && must_step_down(b, now_ns)) {
		step_down(b, most, look);
	} else if (s->probes && s->step != BUDGET_ALL && now_ns - b->since_ns >= b->up_ns) {
		note_cost(b, most, now_ns);
		s->step = BUDGET_ALL;
	} else if (!s->probes && b->credit_ns >= full(b)) {
		switch_probes(b, true, now_ns);
	} else if (!s->probes && s->step == BUDGET_PART &&
		   now_ns - b->since_ns >= BUDGET_NONE_NS) {
		s->others = b->others;	/* the rest is as it was when launches were probed */
		s->step = BUDGET_NONE;
	}
	s->turn_ns = now_ns + (s->probes ? using_ns(b, now_ns) : filling_ns(b));
}

static void note_passed(struct budget *b, const struct payer *most, uint64_t now_ns)
{
	struct budget_state *s = &b->state;

	if (b->others <= b->rules.share)
		b->within_ns = now_ns;
	s->is_passed = now_ns - b->within_ns >= BUDGET_PASSED_NS;
	if (!s->is_passed)
		return;
	s->others = b->others;
	s->pid = most->pid;
	s->tid = most->tid;
}

struct budget_state budget_look(struct budget *b, const struct budget_look *look)
{
	const struct payer most = take_costs(b, look);

	if (look->outcomes)
		memcpy(b->outcomes, look->outcomes, sizeof(b->outcomes));
	take(b, &most, look->now_ns);
	choose(b, &most, look);
	note_passed(b, &most, look->now_ns);
	return b->state;
}

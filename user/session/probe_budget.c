// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "session/probe_budget.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "probe/budget.h"
#include "probe/loader_read.h"
#include "session/live_source.h"
#include "target/target.h"

#define CALLERS_MIN 1024
#define FEW_CALLS 1000		/* since the last look ... */
#define FEW_NS (LIVE_QUIET_NS / 2)	/* ... so long one is put off */

/* Unarmed time is pushed ahead of what is booked, until after the next look, but not far, as the
 * process may end. */
#define AHEAD_MIN_NS (10 * NS_PER_MS)
#define AHEAD_MAX_NS (250 * NS_PER_MS)

struct probe_budget {
	struct budget *budget;
	struct budget_state state;
	const struct loader *loader;
	const struct event_sink *sink;
	double share;
	struct map callers;	/* pid -> up to when it was reported as unarmed */
	size_t callers_max;	/* then those that have ended are looked for */
	uint32_t last_pid;
	uint64_t off_ns;	/* since then they are; 0: they are not */
	uint64_t looked_ns;
	uint64_t calls;		/* since then */
	bool has_passed;	/* the budget, with a message */
	uint64_t unprobed_ns;	/* so long launches had no probes, so far */
};

struct probe_budget *probe_budget_new(double share, const struct loader *l,
				      const struct event_sink *sink)
{
	const struct loader_facts facts = loader_facts(l);
	const struct budget_rules rules = { share, facts.call_cost_ns, facts.nested_cost_ns,
					    facts.step_cost_ns };
	struct probe_budget *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->share = share;
	b->loader = l;
	b->sink = sink;
	b->looked_ns = time_now_ns();
	b->budget = budget_new(&rules, b->looked_ns);
	if (b->budget)
		return b;
	free(b);
	return NULL;
}

void probe_budget_free(struct probe_budget *b)
{
	if (!b)
		return;
	budget_free(b->budget);
	map_free(&b->callers);
	free(b);
}

static void forget_ended(struct probe_budget *b)
{
	size_t i = 0;

	while (i < b->callers.cap) {
		const struct map_slot *caller = &b->callers.slot[i];

		if (caller->used && target_process_ended((pid_t)caller->key))
			map_del(&b->callers, caller->key);	/* another may be there now */
		else
			i++;
	}
	b->last_pid = 0;
}

/* One that has just come is unarmed since then. */
static int note_caller(struct probe_budget *b, uint32_t pid, uint64_t since_ns)
{
	struct map_slot *caller;
	bool is_new;

	if (pid == b->last_pid)
		return 0;
	if (b->callers.n >= b->callers_max) {
		forget_ended(b);
		b->callers_max = num_max(2 * b->callers.n, CALLERS_MIN);
	}
	b->last_pid = pid;
	caller = map_put(&b->callers, pid, &is_new);
	if (caller && is_new)
		caller->value = since_ns;
	return caller ? 0 : -ENOMEM;
}

int probe_budget_push(struct probe_budget *b, const struct event *ev)
{
	int err = 0;

	if (event_is_call(ev->kind)) {
		b->calls++;
		err = note_caller(b, ev->pid, 0);
	} else if (ev->kind == EVENT_PROCESS && !ev->task.comm && !ev->end_ns) {
		err = note_caller(b, ev->pid, time_now_ns() - LIVE_BUSY_NS - AHEAD_MIN_NS);
	} else if (ev->kind == EVENT_EXIT && ev->tid == ev->pid) {
		map_del(&b->callers, ev->pid);
		b->last_pid = 0;
	}
	return err ? err : budget_push(b->budget, ev);
}

/* ---- what is reported ------------------------------------------------------------------------ */

struct share_text {
	char s[24];
};

/* "1 %", "24 %", "0.5 %"; never with an exponent */
static struct share_text share_text(double share)
{
	struct share_text text;

	const bool is_round = share >= 0.0995 || share < 1e-6;

	snprintf(text.s, sizeof(text.s), is_round ? "%.0f %%" : "%.2g %%", 100 * share);
	return text;
}

struct reason {
	char s[160];
};

/* "probes cost thread 12 of process 10 ~24 % of its time, and --budget is 1 %" */
static struct reason reason_text(const struct probe_budget *b)
{
	const struct budget_state *s = &b->state;
	struct reason text;

	snprintf(text.s, sizeof(text.s),
		 "probes cost thread %u of process %u ~%s of its time, and --budget is %s", s->tid,
		 s->pid, share_text(s->cost).s, share_text(b->share).s);
	return text;
}

static void note_part(const struct probe_budget *b)
{
	const struct budget_state *s = &b->state;
	const double part = (b->share * BUDGET_FILL - s->others) / (s->cost - s->others);

	live_push_note(b->sink, NOTE_BUDGET, (pid_t)s->pid,
		       "budget: %s: launches are probed for ~%s of the time now and not seen in "
		       "the rest, which is unarmed; with the helper (gpuprof env, --inject) each "
		       "is seen, and so with --budget off",
		       reason_text(b).s, share_text(part > 0 ? part : 0).s);
}

static void note_step(const struct probe_budget *b)
{
	const struct budget_state *s = &b->state;

	switch (s->step) {
	case BUDGET_RECORDS:
		live_push_note(b->sink, NOTE_BUDGET, (pid_t)s->pid,
			       "budget: %s: from now on launches are what CUPTI records, without "
			       "stacks; --budget off probes each",
			       reason_text(b).s);
		break;
	case BUDGET_PART:
		note_part(b);
		break;
	case BUDGET_NONE:
		live_push_note(b->sink, NOTE_BUDGET, (pid_t)s->pid,
			       "budget: %s (%s for other calls than launches): launches are not "
			       "probed until they can be, and time without other calls is "
			       "unarmed; give a larger --budget, or off",
			       reason_text(b).s, share_text(s->others).s);
		break;
	default:
		live_push_note(b->sink, NOTE_BUDGET, 0,
			       "budget: all launches are probed again, which costs ~%s of a "
			       "thread's time now; --budget is %s",
			       share_text(s->cost).s, share_text(b->share).s);
	}
}

/* Once: others than launches cannot be left out. */
static void note_passed(struct probe_budget *b)
{
	if (b->has_passed || !b->state.is_passed)
		return;
	b->has_passed = true;
	live_push_note(b->sink, NOTE_BUDGET, (pid_t)b->state.pid,
		       "budget: passed: calls other than launches cost thread %u of process %u "
		       "~%s of its time, and their probes stay; --budget is %s; with the helper, "
		       "--attach none measures without probes",
		       b->state.tid, b->state.pid, share_text(b->state.others).s,
		       share_text(b->share).s);
}

void probe_budget_describe(const struct probe_budget *b)
{
	live_push_fact(b->sink, "budget", "%s", share_text(b->share).s);
	live_push_fact(b->sink, "budget_step", "%s", budget_step_name(b->state.step));
	if (b->unprobed_ns || b->off_ns)
		live_push_fact(b->sink, "launches_unprobed_ns", "%" PRIu64, b->unprobed_ns);
}

/* ---- unarmed --------------------------------------------------------------------------------- */

/* Up to to_ns, from when that was pushed last. */
static void push_unarmed(struct probe_budget *b, const struct probe_budget_now *now,
			 struct map_slot *caller, uint64_t to_ns)
{
	const uint64_t from_ns = num_max(caller->value, b->off_ns);
	const pid_t pid = (pid_t)caller->key;

	if (from_ns >= to_ns || (now->is_recorded && now->is_recorded(now->ctx, pid)) ||
	    target_process_ended(pid))
		return;
	caller->value = to_ns;
	b->sink->push(b->sink->ctx, &(struct event){ .kind = EVENT_UNARMED, .pid = (uint32_t)pid,
						     .start_ns = from_ns, .end_ns = to_ns });
}

static bool is_close(const struct probe_budget *b, uint64_t now_ns)
{
	return b->state.turn_ns < now_ns + LIVE_QUIET_NS + LIVE_BUSY_NS;
}

static void push_all_unarmed(struct probe_budget *b, const struct probe_budget_now *now)
{
	const uint64_t every_ns = is_close(b, now->now_ns) ? LIVE_BUSY_NS : LIVE_QUIET_NS,
		       on_ns = b->state.probes ? now->now_ns : b->state.turn_ns,
		       min_ns = now->now_ns + every_ns + AHEAD_MIN_NS,
		       to_ns = num_min(num_max(on_ns, min_ns), now->now_ns + AHEAD_MAX_NS);

	for (size_t i = 0; i < b->callers.cap; i++) {
		struct map_slot *caller = &b->callers.slot[i];

		if (caller->used && caller->value < min_ns)
			push_unarmed(b, now, caller, to_ns);
	}
}

/* ---- looking --------------------------------------------------------------------------------- */

struct looking {
	struct probe_budget *b;
	const struct probe_budget_now *now;
};

/* Of all processes that make calls. */
static bool has_records(void *ctx)
{
	const struct looking *l = ctx;
	struct map *callers = &l->b->callers;

	forget_ended(l->b);
	for (size_t i = 0; i < callers->cap; i++)
		if (callers->slot[i].used &&
		    !l->now->is_recorded(l->now->ctx, (pid_t)callers->slot[i].key))
			return false;
	return callers->n;
}

static void switch_launches(struct probe_budget *b, const struct probe_budget_now *now)
{
	if (!b->state.probes && !b->off_ns) {
		forget_ended(b);
		b->off_ns = now->now_ns;
	} else if (b->state.probes && b->off_ns && now->launches.until > PLAN_RUNTIME_LAUNCHES &&
		   now->launches.since_ns > b->off_ns) {
		b->off_ns = 0;
	}
}

/* False: the counters cannot be read. */
static bool take_look(struct probe_budget *b, const struct probe_budget_now *now)
{
	const enum budget_step before = b->state.step;
	struct looking looking = { b, now };
	struct budget_look look = { .now_ns = now->now_ns, .outcomes = now->outcomes,
				    .ctx = &looking };
	struct gp_counts counts;

	if (loader_counts(b->loader, &counts))
		return false;
	look.nested = counts.nested;
	look.silent = counts.silent;
	if (now->is_recorded && now->records_would_do)
		look.has_records = has_records;
	if (b->off_ns)
		b->unprobed_ns += now->now_ns - b->looked_ns;
	b->looked_ns = now->now_ns;
	b->calls = 0;
	b->state = budget_look(b->budget, &look);
	switch_launches(b, now);
	if (b->state.step != before) {
		note_step(b);
		probe_budget_describe(b);
	}
	note_passed(b);
	if (b->off_ns)
		push_all_unarmed(b, now);
	return true;
}

static enum probe_budget_wish wish(const struct probe_budget *b)
{
	if (b->off_ns)
		return b->state.probes ? WISH_BACK : WISH_NONE;
	return b->state.step == BUDGET_RECORDS ? WISH_RECORDS : WISH_ANY;
}

struct probe_budget_choice probe_budget_look(struct probe_budget *b,
					     const struct probe_budget_now *now)
{
	const bool is_due = b->off_ns || b->calls >= FEW_CALLS ||
			    now->now_ns - b->looked_ns >= FEW_NS;

	if (is_due && !take_look(b, now))
		return (struct probe_budget_choice){ WISH_ANY, false };
	return (struct probe_budget_choice){ wish(b), is_close(b, now->now_ns) };
}

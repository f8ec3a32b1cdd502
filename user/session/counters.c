// SPDX-License-Identifier: BSD-3-Clause
/*
 * What the kernel counted, as events: once at the end of a session, and so far where a capture file
 * ends before it.
 */
#include "session/session_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"
#include "base/str.h"
#include "catalog/catalog.h"
#include "event/names.h"
#include "gpuprof/event.h"
#include "probe/loader_read.h"
#include "probe/plan.h"

static const char *const kinds[GP_KINDS] = {
	[GP_CALL] = "call", [GP_ENTER] = "enter", [GP_OPEN] = "open",
	[GP_TASK_NEW] = "thread", [GP_TASK_EXIT] = "exit", [GP_TASK_FORK] = "fork",
	[GP_TASK_EXEC] = "exec", [GP_STACK] = "stack",
	[GP_OFF] = "off",
};

static void put_count(const struct event_sink *to, const char *kind, uint64_t hits,
		      uint64_t received, uint64_t lost)
{
	to->push(to->ctx, &(struct event){ .kind = EVENT_COUNT, .count.source = "uprobe",
					   .count.kind = kind,
					   .count.hits = hits, .count.received = received,
					   .count.lost = lost });
}

static void put_fact(const struct event_sink *to, const char *key, uint64_t n)
{
	char value[24];

	snprintf(value, sizeof(value), "%" PRIu64, n);
	to->push(to->ctx, &(struct event){ .kind = EVENT_FACT, .fact.key = key,
					   .fact.value = value });
}

static void put_counts(const struct session *s, const struct gp_counts *c,
		       const struct event_sink *to)
{
	const uint64_t counters[COUNTER_END] = {
		[COUNTER_NESTED] = c->nested, [COUNTER_REACHED] = c->reached,
		[COUNTER_ABANDONED] = c->abandoned, [COUNTER_FOREIGN] = c->foreign,
		[COUNTER_UNFOLLOWED] = c->unfollowed,
	};

	for (int k = 1; k < GP_KINDS; k++)
		put_count(to, kinds[k], c->hits[k], s->live.received[k], c->lost[k]);
	if (c->no_state)
		put_count(to, "unplaced", c->no_state, 0, c->no_state);
	if (s->live.invalid)
		put_count(to, "malformed", s->live.invalid, 0, s->live.invalid);
	if (s->live.skipped)
		put_count(to, "unknown", s->live.skipped, 0, s->live.skipped);
	for (size_t i = 0; i < COUNTER_END; i++)
		put_fact(to, counter_name(i), counters[i]);
}

static void check_counts(const struct session *s, const struct gp_counts *c)
{
	for (int k = 1; k < GP_KINDS; k++)
		if (c->hits[k] != s->live.received[k] + c->lost[k])
			log_warn("%s records do not add up: %" PRIu64 " hits, %" PRIu64
				 " received, %" PRIu64 " lost; please report this", kinds[k],
				 c->hits[k], s->live.received[k], c->lost[k]);
	if (c->unfollowed)
		log_warn("%" PRIu64
			 " child processes were not followed: more than 65,536 at a time "
			 "are not; give -a",
			 c->unfollowed);
	if (s->live.invalid || s->live.skipped)
		log_warn("%" PRIu64 " malformed records and %" PRIu64
			 " of unknown kinds came from the "
			 "kernel side; please report this",
			 s->live.invalid, s->live.skipped);
}

/* The kernel's counters, and of what they count what the worker has received. */
static int read_counters(struct session *s, struct gp_counts *c)
{
	s->live.received[GP_STACK] = worker_stacks_received(s->worker);
	return loader_counts(s->loader, c);
}

void counts_push(struct session *s)
{
	struct gp_counts c;

	if (read_counters(s, &c))
		return;
	check_counts(s, &c);
	put_counts(s, &c, &s->sink);
}

static int put_kept(void *ctx, const struct event *ev)
{
	return capture_sink_push(ctx, ev);
}

void counts_cut(void *ctx)
{
	struct session *s = ctx;
	const struct event_sink to = { put_kept, s->tap.keep };
	struct gp_counts c;

	helpers_push_count(s, &to);
	if (!s->loader || read_counters(s, &c))
		return;
	/* A hit that is neither received nor lost is on its way, and the next file's. */
	for (int k = 1; k < GP_KINDS; k++)
		c.hits[k] = s->live.received[k] + c.lost[k];
	put_counts(s, &c, &to);
}

/* ---- session probes ------------------------------------------------------------------------ */

/*
 * What a session's probes can see and what not, as facts: whose calls are followed to the return,
 * what a hit costs, which functions are single-stepped or left out. Told when probes are made and
 * again at the end, since libraries come later.
 */

#define LIST_MAX 3900		/* bytes of names; texts of facts are cut at 4096 */

static const char *const returns_names[] = {
	[GP_RETURNS_ALL] = "all", [GP_RETURNS_NO_SECCOMP] = "not under seccomp",
	[GP_RETURNS_NONE] = "none",
};

static const struct {
	const char *key;
	uint8_t fate;
} lists[] = {
	{ "stepped", PLAN_STEPPED },
	{ "too_dear", PLAN_TOO_DEAR },
	{ "refused", PLAN_REFUSED },
};

/* "cuFoo,cuBar", or "cuFoo,cuBar,+12 more" where that is too long. */
static void push_list(struct session *s, const char *key, uint8_t fate)
{
	struct strbuf names = STRBUF_INIT;
	unsigned int more = 0;

	for (unsigned int row = 1; row < catalog_n_rows(); row++) {
		if (!(attach_fate(s->attach, row) & fate))
			continue;
		if (names.len < LIST_MAX)
			strbuf_addf(&names, "%s%s", names.len ? "," : "", catalog_row(row)->name);
		else
			more++;
	}
	if (more)
		strbuf_addf(&names, ",+%u more", more);
	if (names.len)
		session_push(s, &(struct event){ .kind = EVENT_FACT, .fact.key = key,
						 .fact.value = names.s });
	strbuf_free(&names);
}

static const char *whose_launches(const struct session *s)
{
	static const char *const modes[] = {
		[LAUNCH_AUTO] = "auto: of the runtime and of the driver",
		[LAUNCH_RUNTIME] = "runtime: of the runtime alone",
		[LAUNCH_DRIVER] = "driver: of the driver alone",
	};

	return attach_probes_driver(s->attach) ?
	       "runtime: of the runtime, and of the driver for a process without one to probe" :
	       modes[s->plan->o->launch];
}

static void push_numbers(struct session *s)
{
	unsigned int probed = 0, left_out = 0;

	for (size_t i = 0; i < attach_count(s->attach); i++) {
		probed += attach_get(s->attach, i)->result.probes;
		left_out += attach_get(s->attach, i)->result.left_out;
	}
	session_fact(s, "functions_probed", "%u", probed);
	session_fact(s, "functions_left_out", "%u", left_out);
}

void probes_report(struct session *s)
{
	push_numbers(s);
	session_fact(s, "launch", "%s", whose_launches(s));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		push_list(s, lists[i].key, lists[i].fate);
}

void probes_report_start(struct session *s)
{
	session_fact(s, "attach", "%s", loader_way_name(loader_way(s->loader)));
	session_fact(s, "returns", "%s", returns_names[loader_returns(s->loader)]);
	session_fact(s, "cost_per_hit_ns", "%" PRIu64, loader_call_cost_ns(s->loader));
	session_fact(s, "cost_per_nested_ns", "%" PRIu64, loader_nested_cost_ns(s->loader));
	session_fact(s, "cost_per_step_ns", "%" PRIu64, loader_step_cost_ns(s->loader));
	session_fact(s, "off_cpu", "%s", loader_off_cpu(s->loader) ? "recorded" : "not recorded");
	if (loader_off_cpu(s->loader))	/* a capture of an earlier version has none */
		session_fact(s, "off_cpu_calls", "the last wait for a CPU of %llu ns or more",
			     GP_LATE_MIN_NS);
	probes_report(s);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a session's probes can see and what not, as facts: whose calls are followed to the return,
 * what a hit costs, which functions are single-stepped or left out. Told when probes are made and
 * again at the end, since libraries come later.
 */
#include <inttypes.h>

#include "base/str.h"
#include "session/session_internal.h"
#include "gpuprof/event.h"
#include "catalog/catalog.h"
#include "probe/plan.h"

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

void probes_met(struct session *s)
{
	push_numbers(s);
	session_fact(s, "launch", "%s", whose_launches(s));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		push_list(s, lists[i].key, lists[i].fate);
}

void probes_facts(struct session *s)
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
	probes_met(s);
}

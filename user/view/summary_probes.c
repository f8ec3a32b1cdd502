// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a report says of the probes it was made with: functions that are not seen, those that cost
 * more, calls that were seen at their entry only. Samples:
 *
 *   not seen: cuFoo, cuBar: their probes would be single-stepped, which adds 16.1 us to each call
 *   here (--budget)
 *   detail: count: each function's entries alone, also those within another call ...
 *   entry only: 3,000 calls of pid 427 (train): their times and results are not known ...
 */
#include "view/summary_probes.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/counters.h"
#include "view/format.h"
#include "view/views.h"

#define NAMED_MAX 8		/* functions in a line */

/* ---- calls without a return --------------------------------------------------------------- */

static bool follows_all(const struct model *m)
{
	const char *returns = model_fact(m, "returns");

	return !returns || !strcmp(returns, "all");
}

static uint64_t entries_of(const struct model_process *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < p->tallies.all.n; i++)
		n = num_add(n, p->tallies.all.v[i]->count - p->tallies.all.v[i]->time.count);
	return n;
}

uint64_t summary_entries(const struct model *m)
{
	uint64_t n = 0;

	for (size_t i = 0; !follows_all(m) && i < model_processes(m); i++)
		n = num_add(n, entries_of(model_process(m, i)));
	return n;
}

static void add_entries(struct strbuf *out, const struct model *m)
{
	size_t said = 0;

	if (!summary_entries(m))
		return;
	strbuf_addstr(out, "\nentry only: ");
	for (size_t i = 0; i < model_processes(m); i++) {
		const struct model_process *p = model_process(m, i);
		uint64_t n = entries_of(p);

		if (!n || ++said > NAMED_MAX)
			continue;
		strbuf_addstr(out, said > 1 ? ", " : "");
		format_count(out, n);
		if (p->past)
			strbuf_addf(out, " calls of %s", p->comm);
		else
			strbuf_addf(out, " calls of pid %u", p->pid);
		if (*p->comm && !p->past) {
			strbuf_addstr(out, " (");
			format_safe(out, p->comm);
			strbuf_addch(out, ')');
		}
	}
	strbuf_addf(out, "%s: their times (in `other`) and results are not known, and what they "
		    "call inside is counted too: ", said > NAMED_MAX ? ", ..." : "");
	strbuf_addstr(out, "a return probe kills a process under seccomp on this kernel");
}

/* ---- what is not seen --------------------------------------------------------------------- */

/* How many names a list has; one that was too long ends with "+12 more". */
static uint64_t count_names(const char *list)
{
	uint64_t n = 0;

	for (; list; list = strchr(list, ',')) {
		list += *list == ',';
		n = num_add(n, *list == '+' ? strtoul(list, NULL, 10) : 1);
	}
	return n;
}

static void add_names(struct strbuf *out, const char *list)
{
	size_t n = 0;

	for (; list && n < NAMED_MAX; n++) {
		size_t len = strcspn(list, ",");
		char name[128];

		if (len >= sizeof(name))
			len = sizeof(name) - 1;
		memcpy(name, list, len);
		name[len] = '\0';
		strbuf_addstr(out, n ? ", " : "");
		format_safe(out, name);
		list = strchr(list, ',');
		list += !!list;
	}
	if (!list)
		return;
	strbuf_addstr(out, " and ");
	format_count(out, count_names(list));
	strbuf_addstr(out, " more (json's not_seen names them)");
}

static void add_unseen(struct strbuf *out, const struct model *m)
{
	const char *dear = model_fact(m, "too_dear"), *refused = model_fact(m, "refused");

	if (dear) {
		strbuf_addstr(out, "\nnot seen: ");
		add_names(out, dear);
		strbuf_addstr(out, ": their probes would be single-stepped, which adds ");
		format_ns(out, model_fact_number(m, "cost_per_step_ns"));
		strbuf_addstr(out, " to each call here (--budget)");
	}
	if (refused) {
		strbuf_addstr(out, "\nnot seen: ");
		add_names(out, refused);
		strbuf_addstr(out, ": the kernel cannot probe how they begin");
	}
}

/* ---- launches ------------------------------------------------------------------------------ */

struct launches {
	uint64_t runtime, driver;	/* outermost calls, by who was called */
	bool runtime_called;		/* for whatever */
};

static struct launches count_launches(const struct model *m)
{
	const struct funcs *funcs = model_funcs(m);
	struct launches n = { 0 };

	for (size_t i = 0; i < model_processes(m); i++) {
		const struct tallies *ts = &model_process(m, i)->tallies;

		for (size_t k = 0; k < ts->all.n; k++) {
			const struct func *fn = &funcs->v[ts->all.v[k]->func];
			bool runtime = !strcmp(fn->library, "cudart");

			n.runtime_called |= runtime && ts->all.v[k]->count;
			if (fn->class != CLASS_LAUNCH)
				continue;
			if (runtime)
				n.runtime = num_add(n.runtime, ts->all.v[k]->count);
			else if (!strcmp(fn->library, "cuda"))
				n.driver = num_add(n.driver, ts->all.v[k]->count);
		}
	}
	return n;
}

/* What another --launch would spare, or what this one may miss. */
static void add_launches(struct strbuf *out, const struct summary *s)
{
	const char *mode = model_fact(s->model, "launch");
	struct launches n = count_launches(s->model);
	/* Of a call that is still open the driver's launch has been hit, and it is none of the calls yet. */
	uint64_t reached = num_min(summary_since_start(s->model, counter_names[COUNTER_REACHED]), n.runtime);
	uint64_t spared = num_mul(reached, s->cost.nested_ns);

	if (!mode)
		return;
	if (!strncmp(mode, "driver", 6) && n.runtime_called && !n.driver)
		strbuf_addstr(out, "\nlaunch: none was seen in the driver, where alone they were "
			      "looked for; a runtime may call what it does not export: --launch auto");
	if (strncmp(mode, "auto", 4) || n.driver || !reached || spared < s->thread_ns / 200)
		return;
	strbuf_addstr(out, "\nlaunch: ");
	format_count(out, reached);
	strbuf_addstr(out, " of ");
	format_count(out, n.runtime);
	strbuf_addstr(out, " launches of the runtime were hit in the driver again, and none was the "
		      "driver's own: --launch runtime would spare ");
	format_ns(out, spared);
}

/* What the tables lack, and how they count, because calls were added up in the kernel. */
static void add_detail(struct strbuf *out, const struct model *m)
{
	const char *detail = model_fact(m, "detail");

	if (detail && !strcmp(detail, "latency"))
		strbuf_addstr(out, "\ndetail: latency: calls were added up in the kernel: no threads, "
			      "bytes or open calls");
	else if (detail && !strcmp(detail, "count"))
		strbuf_addstr(out, "\ndetail: count: entries of each function alone, also inside another "
			      "call: a launch by the runtime counts there and in the driver");
}

/* "told: 12 calls of functions without a probe are what CUPTI recorded: in calls, and, but for what they were off
 * the CPU, in threads' books; 3 are in no thread's book" */
static void add_told(struct strbuf *out, const struct model *m)
{
	struct model_counts counts;
	uint64_t left;

	model_counts(m, &counts);
	if (!counts.told)
		return;
	left = counts.told - counts.told_booked;
	strbuf_addstr(out, "\ntold: ");
	format_count(out, counts.told);
	strbuf_addf(out, " call%s of functions without a probe %s what CUPTI recorded: in calls", counts.told > 1 ? "s" : "",
		    counts.told > 1 ? "are" : "is");
	if (counts.told_booked)
		strbuf_addstr(out, ", and, but for their time off the CPU, in threads' books");
	if (!left)
		return;
	strbuf_addstr(out, counts.told_booked ? "; " : ", and in no thread's book");
	if (counts.told_booked) {
		format_count(out, left);
		strbuf_addf(out, " %s in no thread's book", left > 1 ? "are" : "is");
	}
	strbuf_addstr(out, ", where that time is what was around");
}

void summary_add_probes(struct strbuf *out, const struct summary *s)
{
	add_detail(out, s->model);
	add_entries(out, s->model);
	add_unseen(out, s->model);
	add_told(out, s->model);
	add_launches(out, s);
}

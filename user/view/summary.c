// SPDX-License-Identifier: BSD-3-Clause
/*
 * The words around the tables, from the model's facts and counters. What is estimated says so.
 * Knows nothing of options, so that every verb says the same of the same session. Sample:
 *
 *   gpuprof: pid 1234 (train), 2.010 s on myhost
 *   ...
 *   lost: none of 123,456 events; gpuprof cost: ~0.8 % of the targets' thread time (estimated,
 *   123,456 hits x 810 ns)
 */
#include "view/summary.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "view/summary_probes.h"
#include "event/counters.h"
#include "view/format.h"

#define NAMED_MAX 4	/* processes in the header line */
#define TOLD_SHARE 0.01	/* so much of our own is worth a look at the threads */

uint64_t summary_since_start(const struct model *m, const char *counter)
{
	struct model_session session = model_session(m);

	return session.interval_ns == session.start_ns ? model_fact_number(m, counter) : 0;
}

static uint64_t read_thread_time(const struct model *m, uint64_t now_ns)
{
	uint64_t ns = 0;
	struct model_thread t;

	for (size_t i = 0; i < model_threads(m); i++) {
		model_thread(m, i, now_ns, &t);
		if (t.has_book)
			ns = num_add(ns, t.book.close_ns - t.book.open_ns);
	}
	return ns;
}

struct summary summary_read(const struct model *m, const struct print_extra *extra)
{
	struct summary s = { .model = m, .incomplete = extra && extra->incomplete };

	s.start_ns = model_session(m).interval_ns;
	s.now_ns = extra && extra->now_ns ? extra->now_ns : model_now(m);
	if (s.now_ns < s.start_ns)
		s.now_ns = s.start_ns;
	summary_read_losses(&s);
	s.cost = own_cost_read(m);
	s.thread_ns = read_thread_time(m, s.now_ns);
	return s;
}

double summary_cost_share(const struct summary *s)
{
	uint64_t ns = num_min(own_cost_ns(&s->cost), s->thread_ns);

	return s->thread_ns ? (double)ns / (double)s->thread_ns : 0;
}

static void add_comm(struct strbuf *out, const char *comm)
{
	if (!*comm)
		return;
	strbuf_addstr(out, " (");
	format_safe(out, comm);
	strbuf_addch(out, ')');
}

/* Others were only seen to fork, exec or end. */
static bool made_calls(const struct model_process *p)
{
	return p->tallies.all.n > 0;
}

static void add_named(struct strbuf *out, const struct model *m, size_t n)
{
	size_t said = 0;

	for (size_t i = 0; i < model_processes(m); i++) {
		const struct model_process *p = model_process(m, i);

		if (!made_calls(p))
			continue;
		strbuf_addf(out, "%s%u", said++ ? ", " : n > 1 ? "pids " : "pid ", p->pid);
		add_comm(out, p->comm);
	}
}

/* "pid 1234 (train)", "pids 12 (a), 13 (b)", "17 processes", "no calls seen in pid 1234" */
static void add_processes(struct strbuf *out, const struct model *m)
{
	const char *target = model_fact(m, "target");
	bool folded = false;
	uint64_t n = 0;

	for (size_t i = 0; i < model_processes(m); i++) {
		const struct model_process *p = model_process(m, i);

		folded |= p->past > 0;
		n += p->past ? p->past : made_calls(p);
	}
	if (!n) {
		strbuf_addstr(out, "no calls seen in ");
		format_safe(out, target ? target : "any process");
	} else if (n > NAMED_MAX || folded) {
		strbuf_addf(out, "%llu processes", (unsigned long long)n);
	} else {
		add_named(out, m, n);
	}
}

/* "; probed are 32 of 284 functions, the most important ones (attach way perf)" */
static void add_left_out(struct strbuf *out, const struct model *m)
{
	uint64_t probed = model_fact_number(m, "functions_probed");
	uint64_t left_out = model_fact_number(m, "functions_left_out");
	const char *way = model_fact(m, "attach");

	if (!left_out)
		return;
	strbuf_addstr(out, "; probed are ");
	format_count(out, probed);
	strbuf_addstr(out, " of ");
	format_count(out, num_add(probed, left_out));
	strbuf_addstr(out, " functions, the core (attach way ");
	format_safe(out, way ? way : "?");
	strbuf_addch(out, ')');
}

/* "; without probes (CAP_BPF; run as root or with sudo): calls are those of CUPTI's API records" */
static void add_blind(struct strbuf *out, const struct model *m)
{
	const char *why = model_fact(m, "without_probes");

	if (!why)
		return;
	strbuf_addstr(out, "; without probes (");
	format_safe(out, why);
	strbuf_addstr(out, "): calls are those that CUPTI records");
}

void summary_head(struct strbuf *out, const struct summary *s)
{
	const char *host = model_fact(s->model, "host");

	strbuf_addstr(out, "gpuprof: ");
	add_processes(out, s->model);
	strbuf_addstr(out, ", ");
	format_ns(out, s->now_ns - s->start_ns);
	if (host) {
		strbuf_addstr(out, " on ");
		format_safe(out, host);
	}
	add_left_out(out, s->model);
	add_blind(out, s->model);
}

/* Some figures are of an interval; counters are the session's, as those of the table events. */
static bool is_later(const struct summary *s)
{
	struct model_session session = model_session(s->model);

	return session.interval_ns != session.start_ns;
}

static const char *since(const struct summary *s)
{
	return is_later(s) ? " since the session began" : "";
}

static void add_loss(struct strbuf *out, const struct summary *s)
{
	strbuf_addf(out, "lost%s: ", since(s));
	if (s->lost)
		format_count(out, s->lost);
	else
		strbuf_addstr(out, "none");
	strbuf_addstr(out, " of ");
	format_count(out, s->events);
	strbuf_addstr(out, " events");
	if (s->lost)
		strbuf_addf(out, " (%.3g %%), booked as lost where they are missing",
			    s->lost_share * 100);
}

/* Time within calls stays theirs. "off-CPU: 3 times the kernel did not report that a thread was back on
 * a CPU: for at most 1.2 ms it is not known whether it ran; what of them is outside calls is booked as
 * lost; no call is missing" */
static void add_untold(struct strbuf *out, const struct summary *s)
{
	const struct offs *offs = model_offs(s->model);

	if (!offs->untold)
		return;
	strbuf_addstr(out, "\noff-CPU: ");
	format_count(out, offs->untold);
	strbuf_addf(out, " time%s the kernel did not report that a thread was back on a CPU: for "
		    "at most ",
		    offs->untold > 1 ? "s" : "");
	format_ns(out, offs->untold_ns);
	strbuf_addstr(out, " it is not known whether it ran; what of them is outside calls is booked "
		      "as lost; no call is missing");
}

/* Calls of theirs that came before a copy got through have no stack in the table. */
static void add_lost_stacks(struct strbuf *out, const struct summary *s)
{
	for (size_t i = 0; i < model_readings(s->model); i++) {
		const struct model_reading *r = model_reading(s->model, i);

		if (strcmp(r->kind, "stack") != 0 || !r->lost)
			continue;
		strbuf_addf(out, "\nstacks%s: ", since(s));
		format_count(out, r->lost);
		strbuf_addstr(out, " of ");
		format_count(out, r->hits);
		strbuf_addstr(out, " copies were lost: their calls may have no stack");
	}
}

/* " ~12 % of the targets' thread time": never with an exponent, and not more than there was. */
static void add_cost_share(struct strbuf *out, const struct summary *s)
{
	double percent = 100 * summary_cost_share(s);

	if (percent > 0 && percent < 0.01)
		strbuf_addstr(out, "less than 0.01");
	else
		strbuf_addf(out, percent < 9.95 ? "~%.2g" : "~%.0f", percent);
	strbuf_addstr(out, " % of the targets' thread time");
	if (own_cost_ns(&s->cost) > s->thread_ns)
		strbuf_addstr(out, " (the estimate is above what the threads had)");
}

/* "403,813 calls x 1863 ns + 403,815 nested x 1379 ns" */
static void add_cost_terms(struct strbuf *out, const struct own_cost *c)
{
	format_count(out, c->calls);
	strbuf_addf(out, " calls x %llu ns", (unsigned long long)c->call_ns);
	if (c->nested) {
		strbuf_addstr(out, " + ");
		format_count(out, c->nested);
		strbuf_addf(out, " nested x %llu ns", (unsigned long long)c->nested_ns);
	}
	if (c->stepped) {
		strbuf_addstr(out, " + ");
		format_count(out, c->stepped);
		strbuf_addf(out, " single-stepped x %llu ns", (unsigned long long)c->step_ns);
	}
	if (c->calls_only)
		strbuf_addstr(out, "; calls inside these are not in it: how many there were is known "
			      "at the end, of the whole session");
}

static void add_cost(struct strbuf *out, const struct summary *s)
{
	strbuf_addstr(out, "; gpuprof cost: ");
	if (!s->cost.call_ns) {
		strbuf_addstr(out, "not known, ");
		format_count(out, s->cost.calls);
		strbuf_addstr(out, is_later(s) ? " calls in this interval" : " calls");
		return;
	}
	strbuf_addstr(out, s->cost.calls_only ? "at least " : "");
	if (s->thread_ns) {
		add_cost_share(out, s);
	} else {
		strbuf_addch(out, '~');
		format_ns(out, own_cost_ns(&s->cost));
	}
	strbuf_addstr(out, is_later(s) ? " in this interval" : "");
	strbuf_addstr(out, " (estimated: ");
	add_cost_terms(out, &s->cost);
	strbuf_addstr(out, summary_cost_share(s) < TOLD_SHARE ? ")" :
		      "; in threads the bucket gpuprof)");
}

/* "not followed: 2 children of pid 1234: 1240 (sh), 1241" */
static void add_children_of(struct strbuf *out, const struct model_process *p)
{
	size_t named = p->n_child < NAMED_MAX ? p->n_child : NAMED_MAX;

	strbuf_addstr(out, "\nnot followed: ");
	format_count(out, p->children);
	strbuf_addf(out, " child%s of ", p->children > 1 ? "ren" : "");
	if (p->past) {
		strbuf_addstr(out, p->comm);
		return;
	}
	strbuf_addf(out, "pid %u:", p->pid);
	for (size_t i = 0; i < named; i++) {
		strbuf_addf(out, "%s %u", i ? "," : "", p->child[i].pid);
		add_comm(out, p->child[i].comm);
	}
	strbuf_addstr(out, p->children > named ? ", ..." : "");
}

static void add_children(struct strbuf *out, const struct model *m)
{
	const char *fact = model_fact(m, "children");

	if (!fact || strcmp(fact, "not followed"))
		return;
	for (size_t i = 0; i < model_processes(m); i++)
		if (model_process(m, i)->children)
			add_children_of(out, model_process(m, i));
}

/* "unarmed: 3.2 ms in pid 427 (train), before its libraries were probed" */
static void add_unarmed(struct strbuf *out, const struct summary *s)
{
	for (size_t i = 0; i < model_processes(s->model); i++) {
		const struct model_process *p = model_process(s->model, i);
		uint64_t ns = model_unarmed_ns(s->model, i, s->start_ns, s->now_ns);

		if (!ns)
			continue;
		strbuf_addstr(out, "\nunarmed: ");
		format_ns(out, ns);
		if (p->past)
			strbuf_addf(out, " in %s", p->comm);
		else
			strbuf_addf(out, " in pid %u", p->pid);
		add_comm(out, p->past ? "" : p->comm);
		strbuf_addstr(out, ", before a library was probed that it had loaded: "
			      "calls then are not counted");
	}
}

/* "unknown: 3.2 ms, when calls that began before gpuprof may have returned already" */
static void add_unknown(struct strbuf *out, const struct summary *s)
{
	struct model_thread t;
	uint64_t ns = 0;

	for (size_t i = 0; i < model_threads(s->model); i++) {
		model_thread(s->model, i, s->now_ns, &t);
		if (t.has_book)
			ns = num_add(ns, t.book.ns[BUCKET_UNKNOWN]);
	}
	if (!ns)
		return;
	strbuf_addstr(out, "\nunknown: ");
	format_ns(out, ns);
	strbuf_addstr(out, " in which calls that began before gpuprof may have returned already");
}

/* Nothing in the tables: what that may mean. */
static void add_hint(struct strbuf *out, const struct summary *s)
{
	const char *why = model_fact(s->model, "no_calls");

	for (size_t i = 0; i < model_processes(s->model); i++)
		if (made_calls(model_process(s->model, i)))
			return;
	strbuf_addstr(out, "\nno calls: ");
	format_safe(out, why ? why : "none began, and no thread was in one");
	strbuf_addstr(out, "; gpuprof doctor -p PID tells more");
}

static void add_invalid(struct strbuf *out, const struct summary *s)
{
	struct model_counts counts;
	uint64_t n = 0;

	model_counts(s->model, &counts);
	for (unsigned int i = 0; i < EVENT_KIND_END; i++)
		n = num_add(n, counts.invalid[i]);
	if (n > counts.outside) {
		strbuf_addf(out, "\ninvalid%s: ", since(s));
		format_count(out, n - counts.outside);
		strbuf_addstr(out, " events contradicted others and were not used");
	}
	if (counts.outside) {
		strbuf_addf(out, "\noutside%s: ", since(s));
		format_count(out, counts.outside);
		strbuf_addstr(out, " works of devices ran before the measuring began or after it ended, "
			      "and are in no table (invalid in events)");
	}
}

/* "late: 12 us of threads' and devices' time were told when the books had gone on, and are in none" */
static void add_late(struct strbuf *out, const struct summary *s)
{
	struct model_counts counts;

	model_counts(s->model, &counts);
	if (!counts.late_ns)
		return;
	strbuf_addf(out, "\nlate%s: ", since(s));
	format_ns(out, counts.late_ns);
	strbuf_addstr(out, " of threads' and devices' time were told when the books had gone on, and are "
		      "in none");
}

/* "ended: 188 processes are added up as one, [188 ended], without ...; 256 others ... are told apart" */
static void add_ended(struct strbuf *out, const struct model *m)
{
	const struct model_process *past = NULL;
	uint64_t apart = 0;

	for (size_t i = 0; i < model_processes(m); i++) {
		if (model_process(m, i)->past)
			past = model_process(m, i);
		apart += model_has_ended(m, i);
	}
	if (!past)
		return;
	strbuf_addstr(out, "\nended: ");
	format_count(out, past->past);
	strbuf_addf(out, " processes are added up as one, %s, without pid, identity and findings; ",
		    past->comm);
	format_count(out, apart - 1);
	strbuf_addstr(out, " others that ended are told apart (the latest, those with errors, those that "
		      "lived longest)");
}

static void add_devices(struct strbuf *out, const struct summary *s)
{
	if (!s->cost.calls || devices_count(model_devices(s->model)))
		return;
	strbuf_addstr(out, "\ndevice times: not known, no helper told of any: -- CMD and gpuprof "
		      "env bring one into what is started, --inject into what runs");
}

/* What NVML alone knows is in tables of devices. */
static void add_nvml(struct strbuf *out, const struct summary *s)
{
	const char *why = model_fact(s->model, "nvml_missing");

	if (!why || !devices_count(model_devices(s->model)))
		return;
	strbuf_addstr(out, "\nnvml: ");
	format_safe(out, why);
	strbuf_addstr(out, ": how active devices were, who else was on them and their faults are not all "
		      "known");
}

/* "goes on in run.000002.gpr, which may have what 3 launches of the last moments gave devices" */
static void add_next(struct strbuf *out, const struct summary *s)
{
	const char *next = model_fact(s->model, "goes_on");
	struct model_counts counts;

	if (!next)
		return;
	model_counts(s->model, &counts);
	strbuf_addstr(out, "\ngoes on in ");
	format_safe(out, next);
	if (!counts.awaited)
		return;
	strbuf_addstr(out, ", which may have what ");
	format_count(out, counts.awaited);
	strbuf_addf(out, " launch%s of the last moments gave devices", counts.awaited > 1 ? "es" : "");
}

void summary_foot(struct strbuf *out, const struct summary *s)
{
	add_loss(out, s);
	add_cost(out, s);
	add_untold(out, s);
	add_lost_stacks(out, s);
	add_children(out, s->model);
	add_unarmed(out, s);
	add_ended(out, s->model);
	add_devices(out, s);
	add_nvml(out, s);
	summary_add_probes(out, s);
	add_unknown(out, s);
	add_hint(out, s);
	add_invalid(out, s);
	add_late(out, s);
	add_next(out, s);
	if (s->incomplete)
		strbuf_addstr(out, "\nincomplete: what the capture still holds was used");
}

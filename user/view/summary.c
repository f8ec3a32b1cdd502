// SPDX-License-Identifier: BSD-3-Clause
/*
 * The words around the tables, from a snapshot's facts and counters. Estimates are labelled.
 * Knows nothing of options, so that every verb prints the same for the same session. Sample:
 *
 *   gpuprof: pid 1234 (train), 2.010 s on myhost
 *   ...
 *   lost: none of 123,456 events; gpuprof cost: ~0.8 % of the targets' thread time (estimated,
 *   123,456 hits x 810 ns)
 *
 *   not seen: cuFoo, cuBar: their probes would be single-stepped, which adds 16.1 us to each call
 *   here (--budget)
 *   entry only: 3,000 calls of pid 427 (train): their times and results are not known ...
 */
#include "view/summary.h"

#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/note.h"
#include "base/num.h"
#include "base/time.h"
#include "base/version.h"
#include "event/names.h"
#include "view/format.h"
#include "view/view.h"

#define NAMED_MAX 4			/* processes in the header line */
#define FUNCTIONS_NAMED_MAX 8		/* functions in a line */
#define FOOT_LINES_MAX 512
#define CUPTI_SHARE 0.01	/* so much of our own is worth a look at the threads */

static uint64_t sum_received(const struct model_counts *c)
{
	static const uint8_t kinds[] = { EVENT_CALL, EVENT_ENTER, EVENT_EXIT, EVENT_LEFT,
					 EVENT_OFF };
	uint64_t sum = 0;

	for (size_t i = 0; i < sizeof(kinds); i++)
		sum = num_add(sum, c->received[kinds[i]]);
	return sum;
}

/*
 * The kernel's counters and the holes in threads' numbers are the same loss; a capture that was
 * cut has only the holes up to there, so the larger of the two is taken.
 */
static void read_losses(struct summary *s)
{
	const struct model_counts *counts = &s->snap->counts;
	uint64_t hits = 0, lost = 0;

	for (size_t i = 0; i < s->snap->readings.n; i++) {
		const struct model_reading *r = &s->snap->readings.v[i];

		/* Copies of stacks that are lost leave calls without them; bytes are no events. */
		if (!strcmp(r->kind, "stack") || !strcmp(r->kind, "kept-bytes"))
			continue;
		hits = num_add(hits, r->hits);
		lost = num_add(lost, r->lost);
	}
	s->lost = num_max(lost, counts->lost);
	s->events = num_max(hits, num_add(sum_received(counts), s->lost));
	s->lost_share = s->events ? (double)s->lost / (double)s->events : 0;
}

static uint64_t since_start(const struct snapshot *snap, const char *counter)
{
	return snap->session.interval_ns == snap->session.start_ns ?
		       snapshot_fact_number(snap, counter) :
		       0;
}

static uint64_t read_thread_time(const struct snapshot *snap)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];

		if (t->has_book)
			ns = num_add(ns, t->book.close_ns - t->book.open_ns);
	}
	return ns;
}

struct summary summary_read(const struct snapshot *snap, bool incomplete)
{
	struct summary s = {
		.snap = snap, .incomplete = incomplete, .start_ns = snap->session.interval_ns,
		.now_ns = snap->now_ns, .cost = own_cost_read(snap),
		.thread_ns = read_thread_time(snap),
	};

	read_losses(&s);
	return s;
}

/* Of thread_ns, at most 1; 0 when that is 0. */
static double cost_share(const struct summary *s)
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
static bool made_calls(const struct snapshot_process *p)
{
	return call_stats_count(&p->calls) > 0;
}

static void add_named(struct strbuf *out, const struct snapshot *snap, size_t n)
{
	size_t said = 0;

	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];

		if (!made_calls(p))
			continue;
		strbuf_addf(out, "%s%u", said++ ? ", " : n > 1 ? "pids " : "pid ", p->pid);
		add_comm(out, p->comm);
	}
}

/* "pid 1234 (train)", "pids 12 (a), 13 (b)", "17 processes", "no calls seen in pid 1234" */
static void add_processes(struct strbuf *out, const struct snapshot *snap)
{
	const char *target = snapshot_fact(snap, "target");
	bool folded = false;
	uint64_t n = 0;

	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];

		folded |= p->past > 0;
		n += p->past ? p->past : made_calls(p);
	}
	if (!n) {
		strbuf_addstr(out, "no calls seen in ");
		format_safe(out, target ? target : "any process");
	} else if (n > NAMED_MAX || folded) {
		strbuf_addf(out, "%llu processes", (unsigned long long)n);
	} else {
		add_named(out, snap, n);
	}
}

/* "; probed are 32 of 284 functions, the most important ones (attach way perf)" */
static void add_left_out(struct strbuf *out, const struct snapshot *snap)
{
	uint64_t probed = snapshot_fact_number(snap, "functions_probed");
	uint64_t left_out = snapshot_fact_number(snap, "functions_left_out");
	const char *way = snapshot_fact(snap, "attach");

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
static void add_blind(struct strbuf *out, const struct snapshot *snap)
{
	const char *why = snapshot_fact(snap, "without_probes");

	if (!why)
		return;
	strbuf_addstr(out, "; without probes (");
	format_safe(out, why);
	strbuf_addstr(out, "): calls are those that CUPTI records");
}

void summary_head(struct strbuf *out, const struct summary *s)
{
	const char *host = snapshot_fact(s->snap, "host");

	strbuf_addstr(out, "gpuprof: ");
	add_processes(out, s->snap);
	strbuf_addstr(out, ", ");
	format_ns(out, s->now_ns - s->start_ns);
	if (host) {
		strbuf_addstr(out, " on ");
		format_safe(out, host);
	}
	add_left_out(out, s->snap);
	add_blind(out, s->snap);
}

/* ---- notes ---------------------------------------------------------------------------------- */

/* The lines below the tables, each a note. */
struct foot {
	struct strbuf text;		/* joined by newlines */
	struct foot_line {
		size_t at, bytes;	/* in text; 0: the whole line */
		enum note_code code;	/* NOTE_CODES: no note */
		uint32_t pid;
	} lines[FOOT_LINES_MAX];
	size_t n;
};

/* A line of its own; where it is written to. Over the bound they have no code. */
static struct strbuf *begin_note(struct foot *f, enum note_code code, uint32_t pid)
{
	if (f->n)
		strbuf_addch(&f->text, '\n');
	if (f->n < FOOT_LINES_MAX)
		f->lines[f->n++] = (struct foot_line){ f->text.len, 0, code, pid };
	return &f->text;
}

/* Some figures are of an interval; counters are the session's, as those of the table events. */
static bool is_later(const struct summary *s)
{
	return s->snap->session.interval_ns != s->snap->session.start_ns;
}

static const char *since(const struct summary *s)
{
	return is_later(s) ? " since the session began" : "";
}

static void add_loss(struct foot *f, const struct summary *s)
{
	struct strbuf *out = begin_note(f, s->lost ? NOTE_EVENTS_LOST : NOTE_CODES, 0);

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
	f->lines[0].bytes = out->len;	/* without the cost, which follows in the line */
}

/* Time within calls stays theirs. "off-CPU: 3 times the kernel did not report that a thread was
 * back on a CPU: for at most 1.2 ms it is not known whether it ran; what of them is outside
 * calls is booked as lost; no call is missing" */
static void add_unrecorded(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	const struct offcpu *offs = &s->snap->offcpu;

	if (!offs->no_end)
		return;
	out = begin_note(f, NOTE_OFF_CPU_MISSING, 0);
	strbuf_addstr(out, "off-CPU: ");
	format_count(out, offs->no_end);
	strbuf_addf(out, " time%s the kernel did not report that a thread was back on a CPU: for "
		    "at most ",
		    offs->no_end > 1 ? "s" : "");
	format_ns(out, offs->no_end_ns);
	strbuf_addstr(out,
		      " it is not known whether it ran; what of them is outside calls is booked "
		      "as lost; no call is missing");
}

/* Calls of theirs that came before a copy got through have no stack in the table. */
static void add_lost_stacks(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	for (size_t i = 0; i < s->snap->readings.n; i++) {
		const struct model_reading *r = &s->snap->readings.v[i];

		if (strcmp(r->kind, "stack") != 0 || !r->lost)
			continue;
		out = begin_note(f, NOTE_STACKS_LOST, 0);
		strbuf_addf(out, "stacks%s: ", since(s));
		format_count(out, r->lost);
		strbuf_addstr(out, " of ");
		format_count(out, r->hits);
		strbuf_addstr(out, " copies were lost: their calls may have no stack");
	}
}

/* " ~12 % of the targets' thread time": never with an exponent, and not more than there was. */
static void add_cost_share(struct strbuf *out, const struct summary *s)
{
	double percent = 100 * cost_share(s);

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
		strbuf_addstr(out,
			      "; calls inside these are not in it: how many there were is known "
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
	strbuf_addstr(out, cost_share(s) < CUPTI_SHARE ? ")" :
		      "; in threads the bucket gpuprof)");
}

/* "not followed: 2 children of pid 1234: 1240 (sh), 1241" */
static void add_children_of(struct foot *f, const struct snapshot_process *p)
{
	struct strbuf *out;
	size_t named = num_min(p->child.n, NAMED_MAX);

	out = begin_note(f, NOTE_CHILDREN_NOT_FOLLOWED, p->past ? 0 : p->pid);
	strbuf_addstr(out, "not followed: ");
	format_count(out, p->children);
	strbuf_addf(out, " child%s of ", p->children > 1 ? "ren" : "");
	if (p->past) {
		strbuf_addstr(out, p->comm);
		return;
	}
	strbuf_addf(out, "pid %u:", p->pid);
	for (size_t i = 0; i < named; i++) {
		strbuf_addf(out, "%s %u", i ? "," : "", p->child.v[i].pid);
		add_comm(out, p->child.v[i].comm);
	}
	strbuf_addstr(out, p->children > named ? ", ..." : "");
}

static void add_children(struct foot *f, const struct snapshot *snap)
{
	const char *fact = snapshot_fact(snap, "children");

	if (!fact || strcmp(fact, "not followed"))
		return;
	for (size_t i = 0; i < snap->processes.n; i++)
		if (snap->processes.v[i].children)
			add_children_of(f, &snap->processes.v[i]);
}

/* "unarmed: 3.2 ms in pid 427 (train), before its libraries were probed" */
static void add_unarmed(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	for (size_t i = 0; i < s->snap->processes.n; i++) {
		const struct snapshot_process *p = &s->snap->processes.v[i];
		uint64_t ns = s->snap->processes.v[i].unarmed_ns;

		if (!ns)
			continue;
		out = begin_note(f, NOTE_UNARMED, p->past ? 0 : p->pid);
		strbuf_addstr(out, "unarmed: ");
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
static void add_unknown(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	uint64_t ns = 0;

	for (size_t i = 0; i < s->snap->threads.n; i++) {
		const struct snapshot_thread *t = &s->snap->threads.v[i];

		if (t->has_book)
			ns = num_add(ns, t->book.ns[BUCKET_UNKNOWN]);
	}
	if (!ns)
		return;
	out = begin_note(f, NOTE_INFLIGHT_UNKNOWN, 0);
	strbuf_addstr(out, "unknown: ");
	format_ns(out, ns);
	strbuf_addstr(out, " in which calls that began before gpuprof may have returned already");
}

/* Nothing in the tables: possible reasons. */
static void add_hint(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	const char *why = snapshot_fact(s->snap, "no_calls");

	for (size_t i = 0; i < s->snap->processes.n; i++)
		if (made_calls(&s->snap->processes.v[i]))
			return;
	out = begin_note(f, NOTE_NO_CALLS, 0);
	strbuf_addstr(out, "no calls: ");
	format_safe(out, why ? why : "none began, and no thread was in one");
	strbuf_addstr(out, "; gpuprof doctor -p PID tells more");
}

static void add_invalid(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	const struct model_counts *counts = &s->snap->counts;
	uint64_t n = 0;

	for (unsigned int i = 0; i < EVENT_KIND_END; i++)
		n = num_add(n, counts->invalid[i]);
	if (n > counts->outside) {
		out = begin_note(f, NOTE_EVENTS_INVALID, 0);
		strbuf_addf(out, "invalid%s: ", since(s));
		format_count(out, n - counts->outside);
		strbuf_addstr(out, " events contradicted others and were not used");
	}
	if (counts->outside) {
		out = begin_note(f, NOTE_WORKS_OUTSIDE, 0);
		strbuf_addf(out, "outside%s: ", since(s));
		format_count(out, counts->outside);
		strbuf_addstr(out,
			      " works of devices ran before the measuring began or after it ended, "
			      "and are in no table (invalid in events)");
	}
}

/* "late: 12 us of threads' and devices' time were told when the books had gone on, and are in
 * none" */
static void add_late(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	const struct model_counts *counts = &s->snap->counts;

	if (!counts->late_ns)
		return;
	out = begin_note(f, NOTE_TIME_LATE, 0);
	strbuf_addf(out, "late%s: ", since(s));
	format_ns(out, counts->late_ns);
	strbuf_addstr(
		out, " of threads' and devices' time were told when the books had gone on, and are "
		     "in none");
}

/* "ended: 188 processes are added up as one, [188 ended], without ...; 256 others ... are told
 * apart" */
static void add_ended(struct foot *f, const struct snapshot *snap)
{
	struct strbuf *out;
	const struct snapshot_process *past = NULL;
	uint64_t apart = 0;

	for (size_t i = 0; i < snap->processes.n; i++) {
		if (snap->processes.v[i].past)
			past = &snap->processes.v[i];
		apart += snap->processes.v[i].has_ended;
	}
	if (!past)
		return;
	out = begin_note(f, NOTE_PROCESSES_MERGED, 0);
	strbuf_addstr(out, "ended: ");
	format_count(out, past->past);
	strbuf_addf(out, " processes are added up as one, %s, without pid, identity and findings; ",
		    past->comm);
	format_count(out, apart - 1);
	strbuf_addstr(
		out, " others that ended are told apart (the latest, those with errors, those that "
		     "lived longest)");
}

static void add_devices(struct foot *f, const struct summary *s)
{
	struct strbuf *out;

	if (!s->cost.calls || s->snap->devices.n)
		return;
	out = begin_note(f, NOTE_DEVICE_TIMES_MISSING, 0);
	strbuf_addstr(out, "device times: not known, no helper told of any: -- CMD and gpuprof "
		      "env bring one into what is started, --inject into what runs");
}

/* NVML's own knowledge is in tables of devices. */
static void add_nvml(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	const char *why = snapshot_fact(s->snap, "nvml_missing");

	if (!why || !s->snap->devices.n)
		return;
	out = begin_note(f, NOTE_NVML_INCOMPLETE, 0);
	strbuf_addstr(out, "nvml: ");
	format_safe(out, why);
	strbuf_addstr(
		out, ": how active devices were, who else was on them and their faults are not all "
		     "known");
}

/* "goes on in run.000002.gpr, which may have what 3 launches of the last moments gave devices" */
static void add_next(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	const struct model_counts *counts = &s->snap->counts;
	const char *next = snapshot_fact(s->snap, "goes_on");

	if (!next)
		return;
	out = begin_note(f, NOTE_GOES_ON, 0);
	strbuf_addstr(out, "goes on in ");
	format_safe(out, next);
	if (!counts->awaited)
		return;
	strbuf_addstr(out, ", which may have what ");
	format_count(out, counts->awaited);
	strbuf_addf(out, " launch%s of the last moments gave devices",
		    counts->awaited > 1 ? "es" : "");
}

/* ---- limits of the probes ------------------------------------------------------------------ */

/* ---- calls without a return --------------------------------------------------------------- */

static bool follows_all(const struct snapshot *snap)
{
	const char *returns = snapshot_fact(snap, "returns");

	return !returns || !strcmp(returns, "all");
}

static uint64_t entries_of(const struct snapshot_process *p)
{
	uint64_t n = 0;

	for (size_t i = 0; i < call_stats_count(&p->calls); i++)
		n = num_add(n, call_stats_at(&p->calls, i)->count -
				       call_stats_at(&p->calls, i)->time.count);
	return n;
}

/* Calls that were seen at their entry only. */
static uint64_t count_entries(const struct snapshot *snap)
{
	uint64_t n = 0;

	for (size_t i = 0; !follows_all(snap) && i < snap->processes.n; i++)
		n = num_add(n, entries_of(&snap->processes.v[i]));
	return n;
}

static void add_entries(struct foot *f, const struct snapshot *snap)
{
	struct strbuf *out;
	size_t said = 0;

	if (!count_entries(snap))
		return;
	out = begin_note(f, NOTE_ENTRY_ONLY, 0);
	strbuf_addstr(out, "entry only: ");
	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];
		uint64_t n = entries_of(p);

		if (!n || ++said > FUNCTIONS_NAMED_MAX)
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
		    "call inside is counted too: ", said > FUNCTIONS_NAMED_MAX ? ", ..." : "");
	strbuf_addstr(out, "a return probe kills a process under seccomp on this kernel");
}

/* ---- unseen time ------------------------------------------------------------------------- */

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

	for (; list && n < FUNCTIONS_NAMED_MAX; n++) {
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

static void add_unseen(struct foot *f, const struct snapshot *snap)
{
	struct strbuf *out;
	const char *dear = snapshot_fact(snap, "too_dear"),
		   *refused = snapshot_fact(snap, "refused");

	if (dear) {
		out = begin_note(f, NOTE_FUNCTIONS_NOT_SEEN, 0);
		strbuf_addstr(out, "not seen: ");
		add_names(out, dear);
		strbuf_addstr(out, ": their probes would be single-stepped, which adds ");
		format_ns(out, snapshot_fact_number(snap, "cost_per_step_ns"));
		strbuf_addstr(out, " to each call here (--budget)");
	}
	if (refused) {
		out = begin_note(f, NOTE_FUNCTIONS_NOT_SEEN, 0);
		strbuf_addstr(out, "not seen: ");
		add_names(out, refused);
		strbuf_addstr(out, ": the kernel cannot probe how they begin");
	}
}

/* ---- launches ------------------------------------------------------------------------------ */

struct launches {
	uint64_t runtime, driver;	/* outermost calls, by the library called */
	bool runtime_called;		/* for whatever */
};

static struct launches count_launches(const struct snapshot *snap)
{
	const struct funcs *funcs = snap->funcs;
	struct launches n = { 0 };

	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct call_stats *ts = &snap->processes.v[i].calls;

		for (size_t k = 0; k < call_stats_count(ts); k++) {
			const struct func *fn = &funcs->v[call_stats_at(ts, k)->key.func];
			bool runtime = !strcmp(fn->library, "cudart");

			n.runtime_called |= runtime && call_stats_at(ts, k)->count;
			if (fn->class != CLASS_LAUNCH)
				continue;
			if (runtime)
				n.runtime = num_add(n.runtime, call_stats_at(ts, k)->count);
			else if (!strcmp(fn->library, "cuda"))
				n.driver = num_add(n.driver, call_stats_at(ts, k)->count);
		}
	}
	return n;
}

/* The saving of another --launch, or the risk of this one. */
static void add_launches(struct foot *f, const struct summary *s)
{
	struct strbuf *out;
	const char *mode = snapshot_fact(s->snap, "launch");
	struct launches n = count_launches(s->snap);
	/* Of a call that is still open the driver's launch has been hit, and it is none of the
	 * calls yet. */
	uint64_t reached = num_min(since_start(s->snap, counter_name(COUNTER_REACHED)), n.runtime);
	uint64_t spared = num_mul(reached, s->cost.nested_ns);

	if (!mode)
		return;
	if (!strncmp(mode, "driver", 6) && n.runtime_called && !n.driver) {
		out = begin_note(f, NOTE_LAUNCH_MODE, 0);
		strbuf_addstr(out, "launch: none was seen in the driver, where alone they were "
			      "looked for; a runtime may call what it does not export: "
			      "--launch auto");
	}
	if (strncmp(mode, "auto", 4) || n.driver || !reached || spared < s->thread_ns / 200)
		return;
	out = begin_note(f, NOTE_LAUNCH_MODE, 0);
	strbuf_addstr(out, "launch: ");
	format_count(out, reached);
	strbuf_addstr(out, " of ");
	format_count(out, n.runtime);
	strbuf_addstr(out,
		      " launches of the runtime were hit in the driver again, and none was the "
		      "driver's own: --launch runtime would spare ");
	format_ns(out, spared);
}

/* "told: 12 calls of functions without a probe are what CUPTI recorded: in calls, and, but for
 * what they were off the CPU, in threads' books; 3 are in no thread's book" */
static void add_cupti_calls(struct foot *f, const struct snapshot *snap)
{
	struct strbuf *out;
	const struct model_counts *counts = &snap->counts;
	uint64_t left;

	if (!counts->cupti_calls)
		return;
	left = counts->cupti_calls - counts->cupti_calls_booked;
	out = begin_note(f, NOTE_CALLS_BY_CUPTI, 0);
	strbuf_addstr(out, "told: ");
	format_count(out, counts->cupti_calls);
	strbuf_addf(out, " call%s of functions without a probe %s what CUPTI recorded: in calls",
		    counts->cupti_calls > 1 ? "s" : "", counts->cupti_calls > 1 ? "are" : "is");
	if (counts->cupti_calls_booked)
		strbuf_addstr(out, ", and, but for their time off the CPU, in threads' books");
	if (!left)
		return;
	strbuf_addstr(out, counts->cupti_calls_booked ? "; " : ", and in no thread's book");
	if (counts->cupti_calls_booked) {
		format_count(out, left);
		strbuf_addf(out, " %s in no thread's book", left > 1 ? "are" : "is");
	}
	strbuf_addstr(out, ", where that time is what was around");
}

static void add_probes(struct foot *f, const struct summary *s)
{
	add_entries(f, s->snap);
	add_unseen(f, s->snap);
	add_cupti_calls(f, s->snap);
	add_launches(f, s);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static void write_foot(struct foot *f, const struct summary *s)
{
	add_loss(f, s);
	add_cost(&f->text, s);
	add_unrecorded(f, s);
	add_lost_stacks(f, s);
	add_children(f, s->snap);
	add_unarmed(f, s);
	add_ended(f, s->snap);
	add_devices(f, s);
	add_nvml(f, s);
	add_probes(f, s);
	add_unknown(f, s);
	add_hint(f, s);
	add_invalid(f, s);
	add_late(f, s);
	add_next(f, s);
	if (s->incomplete)
		strbuf_addstr(begin_note(f, NOTE_CAPTURE_INCOMPLETE, 0),
			      "incomplete: what the capture still holds was used");
}

static int add_line(struct notes *to, const struct foot *f, size_t i)
{
	const struct foot_line *line = &f->lines[i];
	const char *at = f->text.s + line->at;
	char *text = strndup(at, line->bytes ? line->bytes : strcspn(at, "\n"));
	int err = text ? notes_add(to, line->code, line->pid, text) : -ENOMEM;

	free(text);
	return err;
}

/* A part of the header line, behind "; ". */
static int add_head(struct notes *to, enum note_code code, const struct snapshot *snap,
		    void (*add_part)(struct strbuf *out, const struct snapshot *snap))
{
	struct strbuf text = STRBUF_INIT;
	int err = 0;

	add_part(&text, snap);
	if (text.failed)
		err = -ENOMEM;
	else if (text.len)
		err = notes_add(to, code, 0, text.s + 2);
	strbuf_free(&text);
	return err;
}

int summary_notes(struct notes *to, struct strbuf *foot, const struct summary *s)
{
	struct foot *f = calloc(1, sizeof(*f));
	int err = f ? notes_copy(to, &s->snap->notes) : -ENOMEM;

	if (!err)
		err = add_head(to, NOTE_PARTIALLY_PROBED, s->snap, add_left_out);
	if (!err)
		err = add_head(to, NOTE_WITHOUT_PROBES, s->snap, add_blind);
	if (f)
		write_foot(f, s);
	if (!err && f->text.failed)
		err = -ENOMEM;
	for (size_t i = 0; !err && i < f->n; i++)
		if (f->lines[i].code != NOTE_CODES)
			err = add_line(to, f, i);
	if (!err)
		strbuf_addstr(foot, f->text.s);
	if (f)
		strbuf_free(&f->text);
	free(f);
	return err;
}

/* ---- meta: the same for programs; keys keep their meaning, unknown is null ----------------- */

struct meta_filling {
	struct meta_pair *v;
	size_t n;
	struct strpool *pool;
};

static struct cell *add(struct meta_filling *p, const char *key, uint8_t type)
{
	struct meta_pair *pair = &p->v[p->n++];

	*pair = (struct meta_pair){ .key = key, .type = type };
	return &pair->value;
}

static void add_text(struct meta_filling *p, const char *key, const char *text)
{
	struct cell *c = add(p, key, CELL_TEXT);

	c->s = text ? strpool_add(p->pool, text) : NULL;
	c->known = c->s != NULL;
}

/* ISO 8601, UTC: "2026-11-21T12:22:11.123456789Z"; null when the wall clock is unknown. */
static void add_time(struct meta_filling *p, const char *key, const struct snapshot *snap,
		     uint64_t ns)
{
	uint64_t offset = snapshot_fact_number(snap, "wall_offset_ns");
	uint64_t wall = num_add(ns, offset);
	time_t s = (time_t)(wall / NS_PER_SEC);
	char text[64];
	struct tm tm;
	size_t n;

	if (!offset || !gmtime_r(&s, &tm)) {
		add_text(p, key, NULL);
		return;
	}
	n = strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%09uZ", (unsigned int)(wall % NS_PER_SEC));
	add_text(p, key, text);
}

/* Functions of probed libraries whose calls are not seen, whyever. */
static void meta_add_unseen(struct meta_filling *p, const struct snapshot *snap)
{
	const char *dear = snapshot_fact(snap, "too_dear"),
		   *refused = snapshot_fact(snap, "refused");
	struct strbuf both = STRBUF_INIT;

	strbuf_addf(&both, "%s%s%s", dear ? dear : "", dear && refused ? "," : "",
		    refused ? refused : "");
	add_text(p, "not_seen", both.len ? both.s : NULL);
	strbuf_free(&both);
}

/* Null while the session goes on: the kernel's counters are read at its end. */
static void add_reached(struct meta_filling *p, const struct snapshot *snap)
{
	struct cell *c = add(p, "launches_reached_driver", CELL_INT);

	if (snapshot_fact(snap, counter_name(COUNTER_REACHED)))
		cell_u(c, snapshot_fact_number(snap, counter_name(COUNTER_REACHED)));
}

static void meta_add_cost(struct meta_filling *p, const struct summary *s)
{
	struct cell *ns = add(p, "own_cost_ns", CELL_NS);
	struct cell *share = add(p, "own_cost_share", CELL_SHARE);

	if (!s->cost.call_ns)
		return;
	cell_u(ns, own_cost_ns(&s->cost));
	if (s->thread_ns)
		cell_d(share, cost_share(s));
}

/* Null where unknown, though it is part of gpuprof's cost. */
static void add_nested(struct meta_filling *p, const struct own_cost *cost)
{
	struct cell *c = add(p, "own_cost_nested", CELL_INT);

	if (!cost->calls_only)
		cell_u(c, cost->nested);
}

static void add_fact_number(struct meta_filling *p, const char *key, const struct snapshot *snap)
{
	struct cell *c = add(p, key, CELL_INT);

	if (snapshot_fact(snap, key))
		cell_u(c, snapshot_fact_number(snap, key));
}

/* Of all processes. Of calls then nothing is known, not even how many. */
static uint64_t unarmed_ns(const struct summary *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->snap->processes.n; i++)
		ns = num_add(ns, s->snap->processes.v[i].unarmed_ns);
	return ns;
}

size_t summary_meta(struct meta_pair *v, const struct summary *s, const char *verdict,
		    struct strpool *pool)
{
	const struct snapshot *snap = s->snap;
	const char *version = snapshot_fact(snap, "version");
	struct meta_filling p = { .v = v, .pool = pool };

	add_text(&p, "host", snapshot_fact(snap, "host"));
	add_time(&p, "start", snap, s->start_ns);
	add_time(&p, "end", snap, s->now_ns);
	cell_u(add(&p, "duration_ns", CELL_NS), s->now_ns - s->start_ns);
	add_text(&p, "version", version ? version : version_text());
	add_text(&p, "kernel", snapshot_fact(snap, "kernel"));
	add_text(&p, "attach", snapshot_fact(snap, "attach"));
	add_fact_number(&p, "functions_probed", snap);
	add_fact_number(&p, "functions_left_out", snap);
	cell_u(add(&p, "complete", CELL_BOOL), !s->incomplete);
	cell_u(add(&p, "events", CELL_INT), s->events);
	cell_u(add(&p, "lost", CELL_INT), s->lost);
	cell_u(add(&p, "unarmed_ns", CELL_NS), unarmed_ns(s));
	cell_u(add(&p, "own_cost_calls", CELL_INT), s->cost.calls);
	add_nested(&p, &s->cost);
	meta_add_cost(&p, s);
	add_text(&p, "return_probes", snapshot_fact(snap, "returns"));
	cell_u(add(&p, "entry_only_calls", CELL_INT), count_entries(snap));
	add_text(&p, "single_stepped", snapshot_fact(snap, "stepped"));
	meta_add_unseen(&p, snap);
	add_text(&p, "launch", snapshot_fact(snap, "launch"));
	add_reached(&p, snap);
	cell_u(add(&p, "clock_uncertainty_ns", CELL_NS), snap->counts.clock_error_ns);
	add_text(&p, "sources", snapshot_fact(snap, "sources"));
	add_text(&p, "nvml", snapshot_fact(snap, "nvml"));
	add_text(&p, "nvml_missing", snapshot_fact(snap, "nvml_missing"));
	add_text(&p, "verdict", *verdict ? verdict : NULL);
	return p.n;
}

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
 *   here (--step-limit)
 *   entry only: 3,000 calls of pid 427 (train): their times and results are not known ...
 */
#include "view/summary.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/note.h"
#include "base/num.h"
#include "base/time.h"
#include "base/units.h"
#include "base/version.h"
#include "event/names.h"
#include "view/render.h"
#include "view/view.h"

#define NAMED_MAX 4			/* processes in the header line */
#define FUNCTIONS_NAMED_MAX 8		/* functions in a line */
#define NAME_MAX_BYTES 127		/* of a function there */
#define NOTES_OF_FOOT 512		/* lines below the tables that are notes, too */
#define OWN_SHARE 0.02			/* so much of our own is said first */
#define CUPTI_SHARE 0.01		/* so much of our own is worth a look at the threads */

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
	return (struct summary){
		.snap = snap, .incomplete = incomplete, .losses = snapshot_losses(snap),
		.cost = own_cost_read(snap), .thread_ns = read_thread_time(snap),
	};
}

double summary_cost_share(const struct summary *s)
{
	return num_ratio(num_min(own_cost_ns(&s->cost), s->thread_ns), s->thread_ns);
}

struct comm_text {
	char s[24];
};

/* " (train)"; nothing without a name */
static struct comm_text brackets(const char *comm)
{
	struct comm_text text = { "" };

	if (*comm)
		snprintf(text.s, sizeof(text.s), " (%s)", comm);
	return text;
}

struct process_text {
	char s[40];
};

/* "pid 427 (train)"; "[188 ended]" for those that were merged */
static struct process_text process_text(const struct snapshot_process *p)
{
	struct process_text text;

	if (p->past)
		snprintf(text.s, sizeof(text.s), "%s", p->comm);
	else
		snprintf(text.s, sizeof(text.s), "pid %u%s", p->pid, brackets(p->comm).s);
	return text;
}

/* Also one that has not returned. Others were only seen to fork, exec or end. */
static bool made_calls(const struct snapshot_process *p)
{
	return call_stats_count(&p->calls) || p->in_call;
}

/* "pid 1234 (train)", "pids 12 (a), 13 (b)", "17 processes", "no calls seen in pid 1234" */
static void add_processes(struct strbuf *out, const struct snapshot *snap)
{
	const char *target = snapshot_fact(snap, "target"), *before;
	bool folded = false;
	uint64_t n = 0;

	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];

		folded |= p->past > 0;
		n += p->past ? p->past : made_calls(p);
	}
	if (!n)
		format_safef(out, "no calls seen in %s", target ? target : "any process");
	else if (n > NAMED_MAX || folded)
		strbuf_addf(out, "%llu processes", (unsigned long long)n);
	if (!n || n > NAMED_MAX || folded)
		return;
	before = n > 1 ? "pids " : "pid ";
	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];

		if (!made_calls(p))
			continue;
		format_safef(out, "%s%u%s", before, p->pid, brackets(p->comm).s);
		before = ", ";
	}
}

/* "; probed are 32 of 284 functions, the core (attach way perf)" */
static void add_left_out(struct strbuf *out, const struct snapshot *snap)
{
	uint64_t probed = snapshot_fact_number(snap, "functions_probed");
	uint64_t left_out = snapshot_fact_number(snap, "functions_left_out");
	const char *way = snapshot_fact(snap, "attach");

	if (left_out)
		format_safef(out, "; probed are %s of %s functions, the core (attach way %s)",
			     count_text(probed).s, count_text(num_add(probed, left_out)).s,
			     way ? way : "?");
}

/* "; without probes (CAP_BPF; run as root or with sudo): calls are those that CUPTI records" */
static void add_blind(struct strbuf *out, const struct snapshot *snap)
{
	const char *why = snapshot_fact(snap, "without_probes");

	if (why)
		format_safef(out, "; without probes (%s): calls are those that CUPTI records", why);
}

/* "; gpuprof itself takes ~12 % of the threads' time (estimated): short calls look longer" */
static void add_own_share(struct strbuf *out, const struct summary *s)
{
	if (summary_cost_share(s) >= OWN_SHARE)
		strbuf_addf(out, "; gpuprof itself takes ~%.0f %% of the threads' time "
			    "(estimated): short calls, and what is between them, look longer",
			    100 * summary_cost_share(s));
}

static void add_subject(struct strbuf *out, const struct snapshot *snap)
{
	const char *host = snapshot_fact(snap, "host"), *part = snapshot_fact(snap, "part");

	add_processes(out, snap);
	format_safef(out, ", %s", ns_text(snap->now_ns - snap->since_ns).s);
	if (part)
		format_safef(out, " (%s)", part);
	format_safef(out, "%s%s", host ? " on " : "", host ? host : "");
}

static void add_header(struct strbuf *out, const struct summary *s)
{
	const struct snapshot *snap = s->snap;

	strbuf_addstr(out, "gpuprof: ");
	add_subject(out, snap);
	add_own_share(out, s);
	add_left_out(out, snap);
	add_blind(out, snap);
}

/* ---- notes ---------------------------------------------------------------------------------- */

struct foot {
	struct strbuf *text;	/* the lines below the tables, joined by newlines */
	struct notes *notes;	/* one for each of the first NOTES_OF_FOOT lines */
	size_t n;
	int err;
};

/* A line of its own, which is a note, too, unless it has no code (NOTE_CODES). */
static void __attribute__((format(printf, 4, 5)))
add_note(struct foot *f, enum note_code code, uint32_t pid, const char *fmt, ...)
{
	struct strbuf line = STRBUF_INIT;
	size_t at;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&line, fmt, ap);
	va_end(ap);
	if (f->n++)
		strbuf_addch(f->text, '\n');
	at = f->text->len;
	format_safef(f->text, "%s", line.s);
	f->text->failed |= line.failed;
	strbuf_free(&line);
	if (!f->err && f->text->failed)
		f->err = -ENOMEM;
	if (!f->err && code != NOTE_CODES && f->n <= NOTES_OF_FOOT)
		f->err = notes_add(f->notes, code, pid, f->text->s + at);
}

/* Some figures are of an interval, or of a part of a capture; counters are the session's, as those
 * of the table events. */
static bool is_later(const struct summary *s)
{
	return s->snap->since_ns != s->snap->session.start_ns || snapshot_fact(s->snap, "part");
}

static const char *since(const struct summary *s)
{
	return is_later(s) ? " since the session began" : "";
}

static void add_loss(struct foot *f, const struct summary *s)
{
	if (s->losses.lost)
		add_note(f, NOTE_EVENTS_LOST, 0,
			 "lost%s: %s%s of %s events (%.3g %%), booked as lost where they are "
			 "missing",
			 since(s), s->losses.is_at_least ? "at least " : "",
			 count_text(s->losses.lost).s, count_text(s->losses.events).s,
			 s->losses.share * 100);
	else
		add_note(f, NOTE_CODES, 0, "lost%s: none of %s events", since(s),
			 count_text(s->losses.events).s);
}

/* Time within calls stays theirs. */
static void add_unrecorded(struct foot *f, const struct summary *s)
{
	const struct offcpu *offs = s->snap->offcpu;

	if (offs->no_end)
		add_note(f, NOTE_OFF_CPU_MISSING, 0,
			 "off-CPU: %s time%s the kernel did not report that a thread was back on a "
			 "CPU: for at most %s it is not known whether it ran; what of them is "
			 "outside calls is booked as lost; no call is missing",
			 count_text(offs->no_end).s, offs->no_end > 1 ? "s" : "",
			 ns_text(offs->no_end_ns).s);
}

/* What is an estimate in the books of devices. */
static void add_sampled(struct foot *f, const struct summary *s)
{
	const char *off_cpu = snapshot_fact(s->snap, "off_cpu");
	uint64_t ns = 0;

	for (size_t i = 0; i < s->snap->devices.n; i++)
		for (unsigned int k = IDLE_RUNQUEUE; k <= IDLE_STOPPED; k++)
			ns += s->snap->devices.v[i].idle_ns[k];
	if (off_cpu && !strcmp(off_cpu, "sampled") && ns)
		add_note(f, NOTE_OFF_CPU_SAMPLED, 0,
			 "off-CPU: devices were idle %s while a thread waited outside calls, was "
			 "stopped or had no CPU: estimated from samples (%s records it)",
			 ns_text(ns).s, snapshot_fact(s->snap, "without_probes") ? "root" :
			 "--off-cpu on");
}

/* Calls of theirs that came before a copy got through have no stack in the table. */
static void add_lost_stacks(struct foot *f, const struct summary *s)
{
	for (size_t i = 0; i < s->snap->readings.n; i++) {
		const struct model_reading *r = &s->snap->readings.v[i];

		if (!strcmp(r->kind, "stack") && r->lost)
			add_note(f, NOTE_STACKS_LOST, 0, "stacks%s: %s of %s copies were lost: "
				 "their calls may have no stack",
				 since(s), count_text(r->lost).s, count_text(r->hits).s);
	}
}

/* "~12 % of the targets' thread time": never with an exponent, and not more than there was. */
static void add_cost_share(struct strbuf *out, const struct summary *s)
{
	double percent = 100 * summary_cost_share(s);

	if (percent > 0 && percent < 0.01)
		strbuf_addstr(out, "less than 0.01");
	else
		strbuf_addf(out, percent < 9.95 ? "~%.2g" : "~%.0f", percent);
	strbuf_addf(out, " %% of the targets' thread time%s", own_cost_ns(&s->cost) > s->thread_ns ?
		    " (the estimate is above what the threads had)" : "");
}

const char *summary_budget_text(const struct snapshot *snap)
{
	static const struct {
		const char *step, *text;
	} steps[] = {
		{ "records", "launches are CUPTI's" }, { "part", "launches probed in part" },
		{ "none", "launches not probed" },
	};
	const char *step = snapshot_fact(snap, "budget_step");

	for (size_t i = 0; step && i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!strcmp(step, steps[i].step) && snapshot_fact(snap, "budget"))
			return steps[i].text;
	return NULL;
}

/* " + 403,815 nested x 1379 ns" */
static void add_cost_term(struct strbuf *out, const char *what, uint64_t n, uint64_t ns)
{
	if (n)
		strbuf_addf(out, " + %s %s x %llu ns", count_text(n).s, what,
			    (unsigned long long)ns);
}

static void add_cost(struct strbuf *out, const struct summary *s)
{
	const struct own_cost *c = &s->cost;
	const char *interval = is_later(s) ? " in this interval" : "";

	strbuf_addstr(out, "; gpuprof cost: ");
	if (!c->call_ns) {
		strbuf_addf(out, "not known, %s calls%s", count_text(c->calls).s, interval);
		return;
	}
	strbuf_addstr(out, c->calls_only || c->ops || c->entries ? "at least " : "");
	if (s->thread_ns)
		add_cost_share(out, s);
	else
		strbuf_addf(out, "~%s", ns_text(own_cost_ns(c)).s);
	strbuf_addf(out, "%s (estimated: %s calls x %llu ns", interval, count_text(c->calls).s,
		    (unsigned long long)c->call_ns);
	add_cost_term(out, "nested", c->nested, c->nested_ns);
	add_cost_term(out, "not recorded", c->silent, c->nested_ns);
	add_cost_term(out, "single-stepped", c->stepped, c->step_ns);
	add_cost_term(out, "operators and modules", c->ops, c->call_ns);
	add_cost_term(out, "entries of others", c->entries, c->call_ns / 2);
	if (summary_budget_text(s->snap))
		strbuf_addf(out, "; kept below %s: %s", snapshot_fact(s->snap, "budget"),
			    summary_budget_text(s->snap));
	if (c->calls_only)
		strbuf_addstr(out, "; calls inside these are not in it: how many there were is "
			      "known at the end, of the whole session");
	if (summary_cost_share(s) >= CUPTI_SHARE)
		strbuf_addf(out, "; in threads the bucket gpuprof%s",
			    c->ops || c->entries ? ", without operators" : "");
	strbuf_addch(out, ')');
}

/* "not followed: 2 children of pid 1234: 1240 (sh), 1241" */
static void add_children_of(struct foot *f, const struct snapshot_process *p)
{
	size_t named = p->past ? 0 : num_min(p->child.n, NAMED_MAX);
	struct strbuf names = STRBUF_INIT;

	if (p->past)
		strbuf_addstr(&names, p->comm);
	else
		strbuf_addf(&names, "pid %u:", p->pid);
	for (size_t i = 0; i < named; i++)
		strbuf_addf(&names, "%s %u%s", i ? "," : "", p->child.v[i].pid,
			    brackets(p->child.v[i].comm).s);
	add_note(f, NOTE_CHILDREN_NOT_FOLLOWED, p->past ? 0 : p->pid,
		 "not followed: %s child%s of %s%s", count_text(p->children).s,
		 p->children > 1 ? "ren" : "", names.s,
		 !p->past && p->children > named ? ", ..." : "");
	f->text->failed |= names.failed;
	strbuf_free(&names);
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

/* Of all processes. Of calls then nothing is known, not even how many. */
static uint64_t sum_unarmed(const struct snapshot *snap)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < snap->processes.n; i++)
		ns = num_add(ns, snap->processes.v[i].unarmed_ns);
	return ns;
}

/* Of each process; where launches of all were left out, of many together. */
static void add_unarmed(struct foot *f, const struct snapshot *snap)
{
	const bool left_out = snapshot_fact(snap, "launches_unprobed_ns");
	const char *why = left_out ? "in which launches were not probed (--budget), or a library "
				     "was not yet: those calls are not counted, and launches/s is "
				     "of the rest" :
				     "before a library was probed that it had loaded: calls then "
				     "are not counted";
	uint64_t n = 0;

	for (size_t i = 0; i < snap->processes.n; i++)
		n += snap->processes.v[i].unarmed_ns > 0;
	if (left_out && n > NAMED_MAX) {
		add_note(f, NOTE_UNARMED, 0, "unarmed: %s in %s processes, %s",
			 ns_text(sum_unarmed(snap)).s, count_text(n).s, why);
		return;
	}
	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];

		if (p->unarmed_ns)
			add_note(f, NOTE_UNARMED, p->past ? 0 : p->pid, "unarmed: %s in %s, %s",
				 ns_text(p->unarmed_ns).s, process_text(p).s, why);
	}
}

static void add_unknown(struct foot *f, const struct snapshot *snap)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];

		if (t->has_book)
			ns = num_add(ns, t->book.ns[BUCKET_UNKNOWN]);
	}
	if (ns)
		add_note(f, NOTE_INFLIGHT_UNKNOWN, 0, "unknown: %s in which calls that began "
			 "before gpuprof may have returned already", ns_text(ns).s);
}

/* Nothing in the tables: possible reasons. */
static void add_hint(struct foot *f, const struct snapshot *snap)
{
	const char *why = snapshot_fact(snap, "no_calls");

	for (size_t i = 0; i < snap->processes.n; i++)
		if (made_calls(&snap->processes.v[i]))
			return;
	add_note(f, NOTE_NO_CALLS, 0, "no calls: %s; gpuprof doctor -p PID tells more",
		 why ? why : "none began, and no thread was in one");
}

/* Events that came, and are in no table. */
static void add_unused(struct foot *f, const struct summary *s)
{
	const struct model_counts *counts = &s->snap->counts;
	uint64_t n = 0;

	for (unsigned int i = 0; i < EVENT_KIND_END; i++)
		n = num_add(n, counts->invalid[i]);
	if (n > counts->outside)
		add_note(f, NOTE_EVENTS_INVALID, 0,
			 "invalid%s: %s events contradicted others and were not used", since(s),
			 count_text(n - counts->outside).s);
	if (counts->outside && !snapshot_fact(s->snap, "part"))
		add_note(f, NOTE_WORKS_OUTSIDE, 0,
			 "outside%s: %s works of devices ran before the measuring began or after "
			 "it ended, and are in no table (invalid in events)",
			 since(s), count_text(counts->outside).s);
	if (counts->late_ns)
		add_note(f, NOTE_TIME_LATE, 0,
			 "late%s: %s of threads' and devices' time were told when the books had "
			 "gone on, and are in none", since(s), ns_text(counts->late_ns).s);
}

static void add_ended(struct foot *f, const struct snapshot *snap)
{
	const struct snapshot_process *past = NULL;
	uint64_t apart = 0;

	for (size_t i = 0; i < snap->processes.n; i++) {
		if (snap->processes.v[i].past)
			past = &snap->processes.v[i];
		apart += snap->processes.v[i].has_ended;
	}
	if (past)
		add_note(f, NOTE_PROCESSES_MERGED, 0,
			 "ended: %s processes are added up as one, %s, without pid, identity and "
			 "findings; %s others that ended are told apart (the latest, those with "
			 "errors, those that lived longest)",
			 count_text(past->past).s, past->comm, count_text(apart - 1).s);
}

static void add_devices(struct foot *f, const struct summary *s)
{
	const char *why = snapshot_fact(s->snap, "nvml_missing");

	if (s->cost.calls && !s->snap->devices.n)
		add_note(f, NOTE_DEVICE_TIMES_MISSING, 0,
			 "device times: not known, no helper told of any: %s",
			 snapshot_fact(s->snap, "command") ?
			 "the command was given one, which had none to report (no CUDA driver, or "
			 "no device was used); gpuprof doctor" :
			 "-- CMD and gpuprof env bring one into what is started, --inject into "
			 "what runs");
	if (why && s->snap->devices.n)	/* NVML's own knowledge is in tables of devices */
		add_note(f, NOTE_NVML_INCOMPLETE, 0,
			 "nvml: %s: how active devices were, who else was on them and their "
			 "faults are not all known", why);
}

/* The next file of the capture. */
static void add_next(struct foot *f, const struct snapshot *snap)
{
	const char *next = snapshot_fact(snap, "goes_on");
	uint64_t awaited = snap->counts.awaited;

	if (next && awaited)
		add_note(f, NOTE_GOES_ON, 0, "goes on in %s, which may have what %s launch%s of "
			 "the last moments gave devices",
			 next, count_text(awaited).s, awaited > 1 ? "es" : "");
	else if (next)
		add_note(f, NOTE_GOES_ON, 0, "goes on in %s", next);
}

/* ---- calls without a return --------------------------------------------------------------- */

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
	const char *returns = snapshot_fact(snap, "returns");
	bool follows_all = !returns || !strcmp(returns, "all");
	uint64_t n = 0;

	for (size_t i = 0; !follows_all && i < snap->processes.n; i++)
		n = num_add(n, entries_of(&snap->processes.v[i]));
	return n;
}

static void add_entries(struct foot *f, const struct snapshot *snap)
{
	struct strbuf calls = STRBUF_INIT;
	size_t said = 0;

	if (!count_entries(snap))
		return;
	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct snapshot_process *p = &snap->processes.v[i];
		uint64_t n = entries_of(p);

		if (n && ++said <= FUNCTIONS_NAMED_MAX)
			strbuf_addf(&calls, "%s%s calls of %s", said > 1 ? ", " : "",
				    count_text(n).s, process_text(p).s);
	}
	add_note(f, NOTE_ENTRY_ONLY, 0,
		 "entry only: %s%s: their times (in `other`) and results are not known, and what "
		 "they call inside is counted too: a return probe kills a process under seccomp on "
		 "this kernel", calls.s, said > FUNCTIONS_NAMED_MAX ? ", ..." : "");
	f->text->failed |= calls.failed;
	strbuf_free(&calls);
}

/* ---- functions that are not probed --------------------------------------------------------- */

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

static void add_not_seen(struct foot *f, const char *list, const char *why)
{
	struct strbuf names = STRBUF_INIT;

	for (size_t n = 0; list && n < FUNCTIONS_NAMED_MAX; n++) {
		strbuf_addf(&names, "%s%.*s", n ? ", " : "",
			    (int)num_min(strcspn(list, ","), NAME_MAX_BYTES), list);
		list = strchr(list, ',');
		list += !!list;
	}
	if (list)
		strbuf_addf(&names, " and %s more (json's not_seen names them)",
			    count_text(count_names(list)).s);
	add_note(f, NOTE_FUNCTIONS_NOT_SEEN, 0, "not seen: %s: %s", names.s, why);
	f->text->failed |= names.failed;
	strbuf_free(&names);
}

static void add_unseen(struct foot *f, const struct snapshot *snap)
{
	const char *dear = snapshot_fact(snap, "too_dear"),
		   *refused = snapshot_fact(snap, "refused");
	char why[128];

	snprintf(why, sizeof(why),
		 "their probes would be single-stepped, which adds %s to each call here "
		 "(--step-limit)",
		 ns_text(snapshot_fact_number(snap, "cost_per_step_ns")).s);
	if (dear)
		add_not_seen(f, dear, why);
	if (refused)
		add_not_seen(f, refused, "the kernel cannot probe how they begin");
}

/* ---- launches ------------------------------------------------------------------------------ */

/* The runtime was called, for whatever, and no launch of the driver. */
static bool misses_launches(const struct snapshot *snap)
{
	bool runtime_called = false;

	for (size_t i = 0; i < snap->processes.n; i++) {
		const struct call_stats *ts = &snap->processes.v[i].calls;

		for (size_t k = 0; k < call_stats_count(ts); k++) {
			const struct call_stat *t = call_stats_at(ts, k);
			const struct func *fn = &snap->funcs->v[t->key.func];

			if (!t->count)
				continue;
			if (fn->class == CLASS_LAUNCH && !strcmp(fn->library, "cuda"))
				return false;
			runtime_called |= !strcmp(fn->library, "cudart");
		}
	}
	return runtime_called;
}

/* Launches that were not looked for. */
static void add_launches(struct foot *f, const struct summary *s)
{
	const struct snapshot *snap = s->snap;
	const char *mode = snapshot_fact(snap, "launch");
	/* Of the session, so unknown in an interval. */
	uint64_t runtime_ns = is_later(s) ? 0 :
					    snapshot_fact_number(snap, "launches_by_runtime_ns");
	uint64_t cupti_ns = is_later(s) ? 0 : snapshot_fact_number(snap, "launches_by_cupti_ns");

	if (!mode)
		return;
	if (!strncmp(mode, "driver", 6) && misses_launches(snap))
		add_note(f, NOTE_LAUNCH_MODE, 0,
			 "launch: none was seen in the driver, where alone they were looked for; a "
			 "runtime may call what it does not export: --launch auto");
	if (runtime_ns)
		add_note(f, NOTE_LAUNCH_MODE, 0,
			 "launch: probed in the runtime alone for %s, as no process called the "
			 "driver itself: launches by the driver are not seen then; --launch both "
			 "sees each",
			 ns_text(runtime_ns).s);
	if (cupti_ns)
		add_note(f, NOTE_LAUNCH_MODE, 0,
			 "launch: not probed for %s, as CUPTI recorded those of all processes: "
			 "without stream and stack; --launch both probes each",
			 ns_text(cupti_ns).s);
}

/* "... 12 calls of functions without a probe are what CUPTI recorded: in calls, and, but for
 * their time off the CPU, in threads' books; 3 are in no thread's book, where ..." */
static void add_cupti_calls(struct foot *f, const struct model_counts *counts)
{
	uint64_t n = counts->cupti_calls, booked = counts->cupti_calls_booked, left = n - booked;
	char rest[64] = "";

	if (!n)
		return;
	if (left && booked)
		snprintf(rest, sizeof(rest), "; %s %s in no thread's book", count_text(left).s,
			 left > 1 ? "are" : "is");
	add_note(f, NOTE_CALLS_BY_CUPTI, 0, "told: %s call%s of functions without a probe %s what "
		 "CUPTI recorded: in calls%s%s%s",
		 count_text(n).s, n > 1 ? "s" : "", n > 1 ? "are" : "is",
		 booked ? ", and, but for their time off the CPU, in threads' books" :
		 left ? ", and in no thread's book" : "",
		 rest, left ? ", where that time is what was around" : "");
}

/* "not followed: 30,000 events of more than 16,384 processes, ... at once: they are in no table" */
static void add_unfollowed(struct foot *f, const struct model_counts *counts)
{
	uint64_t n = 0;

	for (unsigned int kind = 0; kind < EVENT_KIND_END; kind++)
		n = num_add(n, counts->unfollowed[kind]);
	if (n)
		add_note(f, NOTE_UNFOLLOWED, 0,
			 "not followed: %s event%s of more than %s processes, %s threads or %s "
			 "devices of processes at once: in no table and counted as lost",
			 count_text(n).s, n > 1 ? "s" : "", count_text(MODEL_PROCESSES_MAX).s,
			 count_text(MODEL_THREADS_MAX).s, count_text(MODEL_DEVICES_MAX).s);
}

static void write_foot(struct foot *f, const struct summary *s)
{
	const struct snapshot *snap = s->snap;

	add_loss(f, s);
	add_cost(f->text, s);
	add_unrecorded(f, s);
	add_sampled(f, s);
	add_lost_stacks(f, s);
	add_unfollowed(f, &snap->counts);
	add_children(f, snap);
	add_unarmed(f, snap);
	add_ended(f, snap);
	add_devices(f, s);
	add_entries(f, snap);
	add_unseen(f, snap);
	add_cupti_calls(f, &snap->counts);
	add_launches(f, s);
	add_unknown(f, snap);
	add_hint(f, snap);
	add_unused(f, s);
	add_next(f, snap);
	if (s->incomplete)
		add_note(f, NOTE_CAPTURE_INCOMPLETE, 0,
			 "incomplete: what the capture still holds was used");
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

/* ---- meta: the same for programs; keys keep their meaning, unknown is null ----------------- */

static struct cell *add(struct summary_text *t, const char *key, uint8_t type)
{
	struct meta_pair *pair = &t->pairs[t->meta.n++];

	*pair = (struct meta_pair){ .key = key, .type = type };
	return &pair->value;
}

static void add_text(struct summary_text *t, const char *key, const char *text)
{
	struct cell *c = add(t, key, CELL_TEXT);

	c->s = text ? strpool_add(t->pool, text) : NULL;
	c->known = c->s != NULL;
}

/* ISO 8601, UTC: "2026-11-21T12:22:11.123456789Z"; null when the wall clock is unknown. */
static void add_time(struct summary_text *t, const char *key, const struct snapshot *snap,
		     uint64_t ns)
{
	uint64_t offset = snapshot_fact_number(snap, "wall_offset_ns");
	uint64_t wall = num_add(ns, offset);
	time_t s = (time_t)(wall / NS_PER_SEC);
	char text[64];
	struct tm tm;
	size_t n;

	if (!offset || !gmtime_r(&s, &tm)) {
		add_text(t, key, NULL);
		return;
	}
	n = strftime(text, 40, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%09uZ", (unsigned int)(wall % NS_PER_SEC));
	add_text(t, key, text);
}

/* Functions of probed libraries whose calls are not seen, whyever. */
static void add_unprobed(struct summary_text *t, const struct snapshot *snap)
{
	const char *dear = snapshot_fact(snap, "too_dear"),
		   *refused = snapshot_fact(snap, "refused");
	struct strbuf both = STRBUF_INIT;

	strbuf_addf(&both, "%s%s%s", dear ? dear : "", dear && refused ? "," : "",
		    refused ? refused : "");
	add_text(t, "not_seen", both.len ? both.s : NULL);
	strbuf_free(&both);
}

static void add_number(struct summary_text *t, const char *key, uint8_t type, uint64_t n)
{
	cell_u(add(t, key, type), n);
}

static void add_fact(struct summary_text *t, const char *key, const struct snapshot *snap,
		     const char *fact)
{
	add_text(t, key, snapshot_fact(snap, fact));
}

static void add_fact_number(struct summary_text *t, const char *key, const struct snapshot *snap,
			    const char *fact)
{
	struct cell *c = add(t, key, CELL_INT);

	if (snapshot_fact(snap, fact))
		cell_u(c, snapshot_fact_number(snap, fact));
}

static void add_own_cost(struct summary_text *t, const struct summary *s)
{
	const struct own_cost *cost = &s->cost;
	struct cell *nested, *ns, *share;

	add_number(t, "own_cost_calls", CELL_INT, cost->calls);
	nested = add(t, "own_cost_nested", CELL_INT);
	ns = add(t, "own_cost_ns", CELL_NS);
	share = add(t, "own_cost_share", CELL_SHARE);
	if (!cost->calls_only)		/* else unknown, though it is part of gpuprof's cost */
		cell_u(nested, cost->nested);
	if (cost->call_ns)
		cell_u(ns, own_cost_ns(cost));
	if (cost->call_ns && s->thread_ns)
		cell_d(share, summary_cost_share(s));
}

/* "NVIDIA H200 x 8, NVIDIA H100": the devices that processes used. */
static void add_gpus(struct summary_text *t, const struct snapshot *snap)
{
	struct strbuf names = STRBUF_INIT;

	for (size_t i = 0; i < snap->hosts.n; i++) {
		const char *name = snap->hosts.v[i].name;
		size_t n = 0, before = 0;

		for (size_t k = 0; k < snap->hosts.n; k++) {
			n += !strcmp(snap->hosts.v[k].name, name);
			before += k < i && !strcmp(snap->hosts.v[k].name, name);
		}
		if (!*name || before)
			continue;
		strbuf_addf(&names, "%s%s", names.len ? ", " : "", name);
		if (n > 1)
			strbuf_addf(&names, " x %zu", n);
	}
	add_text(t, "gpus", names.len ? names.s : NULL);
	strbuf_free(&names);
}

static void add_meta(struct summary_text *t, const struct summary *s, const char *verdict)
{
	const struct snapshot *snap = s->snap;
	const char *version = snapshot_fact(snap, "version");

	add_fact(t, "host", snap, "host");
	add_time(t, "start", snap, snap->since_ns);
	add_time(t, "end", snap, snap->now_ns);
	add_number(t, "duration_ns", CELL_NS, snap->now_ns - snap->since_ns);
	add_text(t, "version", version ? version : version_text());
	add_fact(t, "kernel", snap, "kernel");
	add_fact(t, "driver_version", snap, "driver_version");
	add_fact(t, "cuda_version", snap, "cuda_version");
	add_fact(t, "attach", snap, "attach");
	add_fact_number(t, "functions_probed", snap, "functions_probed");
	add_fact_number(t, "functions_left_out", snap, "functions_left_out");
	add_number(t, "complete", CELL_BOOL, !s->incomplete);
	add_number(t, "events", CELL_INT, s->losses.events);
	add_number(t, "lost", CELL_INT, s->losses.lost);
	add_number(t, "unarmed_ns", CELL_NS, sum_unarmed(snap));
	add_own_cost(t, s);
	add_fact(t, "return_probes", snap, "returns");
	add_number(t, "entry_only_calls", CELL_INT, count_entries(snap));
	add_fact(t, "single_stepped", snap, "stepped");
	add_unprobed(t, snap);
	add_fact(t, "launch", snap, "launch");
	/* Null while the session goes on: the kernel's counters are read at its end. */
	add_fact_number(t, "launches_reached_driver", snap, counter_name(COUNTER_REACHED));
	add_number(t, "clock_uncertainty_ns", CELL_NS, snap->counts.clock_error_ns);
	add_fact(t, "sources", snap, "sources");
	add_fact(t, "nvml", snap, "nvml");
	add_fact(t, "nvml_missing", snap, "nvml_missing");
	add_fact(t, "command", snap, "command");
	add_gpus(t, snap);
	add_text(t, "verdict", *verdict ? verdict : NULL);
}

/* ---- all of it ----------------------------------------------------------------------------- */

void summary_add_title(struct strbuf *left, struct strbuf *right, const struct summary *s)
{
	const struct snapshot_losses *l = &s->losses;

	add_subject(left, s->snap);
	if (s->cost.call_ns && s->thread_ns)
		strbuf_addf(right, "cost ~%.2g %% (estimated%s%s); ", 100 * summary_cost_share(s),
			    summary_budget_text(s->snap) ? "; " : "",
			    summary_budget_text(s->snap) ? summary_budget_text(s->snap) : "");
	if (l->lost)
		strbuf_addf(right, "%s%.3g %% of the events lost",
			    l->is_at_least ? "at least " : "", 100 * l->share);
	else
		strbuf_addstr(right, s->incomplete ? "part of the capture is missing" :
						     "nothing lost");
}

int summary_write(struct summary_text *t, const struct summary *s, const char *verdict)
{
	struct foot f = { .text = &t->foot, .notes = &t->notes };

	*t = (struct summary_text){ .head = STRBUF_INIT, .foot = STRBUF_INIT,
				    .meta = { .v = t->pairs, .notes = &t->notes },
				    .pool = strpool_new() };
	add_header(&t->head, s);
	f.err = t->pool ? notes_copy(&t->notes, &s->snap->notes) : -ENOMEM;
	if (!f.err)
		f.err = add_head(&t->notes, NOTE_PARTIALLY_PROBED, s->snap, add_left_out);
	if (!f.err)
		f.err = add_head(&t->notes, NOTE_WITHOUT_PROBES, s->snap, add_blind);
	write_foot(&f, s);
	if (t->pool)
		add_meta(t, s, verdict);
	return f.err ? f.err : t->head.failed || t->foot.failed ? -ENOMEM : 0;
}

void summary_write_unknown(struct summary_text *t)
{
	static const struct snapshot empty;
	const struct summary unknown = { .snap = &empty, .cost = { .calls_only = true } };

	*t = (struct summary_text){ .meta = { .v = t->pairs } };
	t->pool = strpool_new();
	if (t->pool)
		add_meta(t, &unknown, "");
}

void summary_text_free(struct summary_text *t)
{
	strbuf_free(&t->head);
	strbuf_free(&t->foot);
	notes_free(&t->notes);
	strpool_free(t->pool);
}

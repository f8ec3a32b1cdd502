// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cases: a process that can do nothing more with a device, a finding that matters, books without
 * one, and no books of devices, or only unknown ones.
 */
#include "view/verdict.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "event/device_number.h"
#include "findings/findings.h"
#include "model/own_cost.h"
#include "view/render.h"
#include "view/view.h"

/* " (pid 12, train)" */
static void add_process(struct strbuf *out, const struct snapshot *snap, uint32_t pid,
			uint32_t process)
{
	const char *comm = view_comm(snap, process);

	format_safef(out, " (pid %u%s%s)", pid, comm ? ", " : "", comm ? comm : "");
}

static void add_device(struct strbuf *out, const char *what, const struct snapshot *snap,
		       const struct snapshot_device *s)
{
	strbuf_addf(out, "%s %s", what, device_text(s->number).s);
	add_process(out, snap, s->pid, s->process);
}

/* ---- a finding ------------------------------------------------------------------------------- */

/* What its device did meanwhile may make it larger or smaller. */
static void add_lost(struct strbuf *out, const struct snapshot *snap, const struct finding *f)
{
	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *s = &snap->devices.v[i];
		const uint64_t wall_ns = s->sum.close_ns - s->sum.open_ns;
		const double share = num_ratio(s->idle_ns[IDLE_LOST], wall_ns);

		if (s->process != f->process || s->number != f->device || share < FINDING_SHARE_MIN)
			continue;
		strbuf_addf(out, "; for %.1f %% of the time records of the device were lost",
			    100 * share);
	}
}

/* It has no share, and slows all that is not idle. */
static void add_throttled(struct strbuf *out, const struct findings *all)
{
	for (size_t i = 0; i < all->all.n; i++) {
		const struct finding *f = &all->all.v[i];
		size_t of_time = strcspn(f->evidence.s, ";");

		if (strcmp(f->name, "throttled") != 0)
			continue;
		strbuf_addf(out, " %s (%.*s).", f->cause.s, (int)of_time, f->evidence.s);
		return;
	}
}

/* Nothing is "". */
static void add_next(struct strbuf *out, const char *next)
{
	if (*next)
		strbuf_addf(out, "\nNext: %s", next);
}

static void add_finding(struct strbuf *out, const struct snapshot *snap, const struct findings *all)
{
	const struct finding *f = &all->all.v[0];
	size_t same = 0;

	for (size_t i = 1; i < all->all.n; i++)
		same += !strcmp(all->all.v[i].name, f->name) &&
			all->all.v[i].share >= FINDING_SHARE_MEDIUM;
	strbuf_addf(out, "%.1f %% of device %s", 100 * f->share, device_text(f->device).s);
	add_process(out, snap, f->pid, f->process);
	format_safef(out, " is lost to %s: %s", f->name, f->cause.s);
	if (same)
		strbuf_addf(out, "; the same %zu more time%s, of other devices or processes", same,
			    same > 1 ? "s" : "");
	strbuf_addch(out, '.');
	add_throttled(out, all);
	strbuf_addf(out, "\nEvidence: %s; without it at most %.1f %% is gained", f->evidence.s,
		    100 * f->gain_bound);
	add_lost(out, snap, f);
	strbuf_addch(out, '.');
	add_next(out, f->next.s);
}

/* After this the process cannot go on: what it could do faster is irrelevant. */
static void add_error(struct strbuf *out, const struct snapshot *snap, const struct finding *f)
{
	strbuf_addstr(out, f->headline);
	if (f->pid)
		add_process(out, snap, f->pid, f->process);
	format_safef(out, ": %s", f->cause.s);
	strbuf_addf(out, ".\nEvidence: %s.", f->evidence.s);
	add_next(out, f->next.s);
}

/* ---- no finding that matters ----------------------------------------------------------------- */

struct idlest {			/* the book of which the largest share is unexplained */
	const struct snapshot_device *state;
	const struct snapshot_host *shared;	/* the device is not this process's alone: of all
						 * that use it */
	uint64_t wall_ns, idle_ns, before_ns, after_ns;
	unsigned int cause;
	uint64_t cause_ns, unknown_ns, lost_ns;
};

/* The share that it idled between its first work and its last. */
static double between(const struct idlest *book)
{
	return num_ratio(book->idle_ns - book->before_ns - book->after_ns, book->wall_ns);
}

/* Time of unknown use, before its first work, between or after its last. */
static double unknown(const struct idlest *book)
{
	return num_ratio(book->unknown_ns + book->lost_ns, book->wall_ns);
}

static double unexplained(const struct idlest *book)
{
	return between(book) > unknown(book) ? between(book) : unknown(book);
}

static void look_at(struct idlest *worst, const struct snapshot_device *s)
{
	struct idlest this = {
		.state = s,
		.wall_ns = s->sum.close_ns - s->sum.open_ns,
		.idle_ns = s->sum.idle_ns,
		.before_ns = s->stalls.before_ns,
		.after_ns = s->idle_ns[IDLE_NO_WORK] + s->idle_ns[IDLE_OPEN],
		.unknown_ns = s->idle_ns[IDLE_UNKNOWN],
		.lost_ns = s->idle_ns[IDLE_LOST],
	};

	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		if (i != IDLE_NO_WORK && i != IDLE_OPEN && s->idle_ns[i] > this.cause_ns) {
			this.cause = i;
			this.cause_ns = s->idle_ns[i];
		}
	if (snapshot_host_is_shared(s->host)) {
		this.shared = s->host;
		this.wall_ns = s->host->sum.close_ns - s->host->sum.open_ns;
		this.idle_ns = s->host->sum.idle_ns + s->host->sum.unknown_ns;
		this.unknown_ns = s->host->sum.unknown_ns;
		this.before_ns = this.after_ns = this.lost_ns = 0;
	}
	if (!worst->state || unexplained(&this) > unexplained(worst))
		*worst = this;
}

/* Its process is named, unless others use it, too. */
static void add_book_device(struct strbuf *out, const char *what, const struct snapshot *snap,
			    const struct idlest *book)
{
	if (book->shared)
		strbuf_addf(out, "%s %s", what, device_text(book->state->number).s);
	else
		add_device(out, what, snap, book->state);
}

/* What a process loses of its own time while others use its device. */
static void add_own_wait(struct strbuf *out, const struct snapshot *snap, const struct findings *f,
			 uint32_t device)
{
	const struct finding *most = NULL;

	for (size_t i = 0; i < f->all.n; i++)
		if (f->all.v[i].device == device &&
		    (!most || f->all.v[i].waits_share > most->waits_share))
			most = &f->all.v[i];
	if (!most || most->waits_share < FINDING_SHARE_MEDIUM)
		return;
	strbuf_addf(out, "\nOf a process's own time %.1f %% is lost to %s", 100 * most->waits_share,
		    most->name);
	add_process(out, snap, most->pid, most->process);
	strbuf_addstr(out, ", while others use the device.");
}

/* What its device does is not known, and a thread has waited in one call for half of the time. */
static void add_open_call(struct strbuf *out, const struct snapshot *snap,
			  const struct idlest *book)
{
	const struct snapshot_thread *first = NULL;
	uint64_t ns;

	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];

		if (t->open && !t->ended && (!first || t->open_ns < first->open_ns) &&
		    snap->processes.v[t->process].process == book->state->process)
			first = t;
	}
	ns = first ? num_sub(snap->now_ns, num_max(first->open_ns, snap->since_ns)) : 0;
	if (!first || ns < (snap->now_ns - snap->since_ns) / 2 || first->func >= snap->funcs->n)
		return;
	format_safef(out, " It may be busy, or hang: thread %u (%s) has been in %s for %s.",
		     first->tid, first->comm[0] ? first->comm : first->process_comm,
		     snap->funcs->v[first->func].name, ns_text(ns).s);
}

/* It was idle, or its activity is unknown. */
static void add_no_work(struct strbuf *out, const struct snapshot *snap, const struct idlest *book)
{
	const struct next_target target = next_of(snap, book->state->process, book->state->device);
	struct strbuf next = STRBUF_INIT;

	if (unknown(book) >= 0.5) {
		add_book_device(out, "What device", snap, book);
		strbuf_addf(out, " did is not known: no work of it was seen, and %.1f %% of its "
			    "time is unknown.", 100 * unknown(book));
		add_open_call(out, snap, book);
		return;
	}
	add_book_device(out, "Device", snap, book);
	strbuf_addf(out, " did nothing: no work of it was seen in %s.", ns_text(book->wall_ns).s);
	next_add(&next, NEXT_STACKS, &target, NULL);
	add_next(out, next.s);
	out->failed |= next.failed;
	strbuf_free(&next);
}

#define NAMED_CAUSES 3

/* "; 98.5 % passed before its first work: 12 ms in alloc, 3 ms in init": of the first gap, which
 * is in no stall. */
static void add_start(struct strbuf *out, const struct idlest *book)
{
	uint64_t ns[IDLE_CAUSES];
	const struct stalls *stalls = &book->state->stalls;

	memcpy(ns, book->state->idle_ns, sizeof(ns));
	for (size_t i = 0; i < stalls_count(stalls); i++)
		for (unsigned int k = 0; k < IDLE_CAUSES; k++)
			ns[k] = num_sub(ns[k], stalls_at(stalls, i)->cause_ns[k]);
	ns[IDLE_NO_WORK] = ns[IDLE_OPEN] = 0;
	strbuf_addf(out, " %.1f %% passed before its first work",
		    100 * num_ratio(book->before_ns, book->wall_ns));
	for (unsigned int named = 0, most = 0; named < NAMED_CAUSES; named++, ns[most] = 0) {
		for (unsigned int k = 0; k < IDLE_CAUSES; k++)
			most = ns[k] > ns[most] ? k : most;
		if (ns[most] < book->before_ns / 100 || !ns[most])
			break;
		strbuf_addf(out, "%s %s %s", named ? "," : ":", ns_text(ns[most]).s,
			    idle_name(most));
	}
	strbuf_addf(out, "; after its last came %.1f %%.",
		    100 * num_ratio(book->after_ns, book->wall_ns));
}

/* It worked for less than a hundredth of the time, and nothing of that says why. */
static void add_too_little(struct strbuf *out, const struct snapshot *snap,
			   const struct idlest *book)
{
	strbuf_addstr(out, "Too little to judge: ");
	add_book_device(out, "GPU", snap, book);
	strbuf_addf(out, " worked %s of %s.", ns_text(book->wall_ns - book->idle_ns).s,
		    ns_text(book->wall_ns).s);
	if (!book->shared)
		add_start(out, book);
}

/* No finding that matters, and the largest shares of idle time. */
static void add_busy(struct strbuf *out, const struct snapshot *snap, const struct findings *f,
		     const struct idlest *book)
{
	const uint64_t wall_ns = book->wall_ns;

	strbuf_addf(out, "No avoidable loss above %.0f %% was found: ", 100 * FINDING_SHARE_MEDIUM);
	add_book_device(out, "device", snap, book);
	strbuf_addf(out, " is busy %.1f %% of the time",
		    100 * num_ratio(wall_ns - book->idle_ns, wall_ns));
	if ((book->before_ns + book->after_ns) * 100 >= wall_ns)
		strbuf_addf(out, "; its first work came after %.1f %%, after its last came %.1f %%",
			    100 * num_ratio(book->before_ns, wall_ns),
			    100 * num_ratio(book->after_ns, wall_ns));
	strbuf_addch(out, '.');
	add_throttled(out, f);
	if (book->shared)
		add_own_wait(out, snap, f, book->state->number);
	else if (between(book) >= FINDING_SHARE_MEDIUM)
		strbuf_addf(out, "\nThe rest is idle time that no rule explains, most of it %s "
			    "(%.1f %%).", idle_name(book->cause),
			    100 * num_ratio(book->cause_ns, wall_ns));
}

static void add_no_finding(struct strbuf *out, const struct snapshot *snap,
			   const struct findings *f)
{
	struct idlest worst = { 0 };

	for (size_t i = 0; i < snap->devices.n; i++)
		if (snap->devices.v[i].has_book)
			look_at(&worst, &snap->devices.v[i]);
	if (!worst.wall_ns)
		return;
	if (worst.idle_ns == worst.wall_ns) {
		add_no_work(out, snap, &worst);
	} else if (unknown(&worst) >= FINDING_SHARE_MEDIUM) {	/* losses in that time, too */
		add_book_device(out, "What device", snap, &worst);
		strbuf_addf(out, " did, or waited for, is not known for %.1f %% of the time; it is "
			    "busy at least %.1f %% of it.", 100 * unknown(&worst),
			    100 * num_ratio(worst.wall_ns - worst.idle_ns, worst.wall_ns));
		add_open_call(out, snap, &worst);
	} else if ((worst.wall_ns - worst.idle_ns) * 100 < worst.wall_ns) {
		add_too_little(out, snap, &worst);
	} else {
		add_busy(out, snap, f, &worst);
	}
}

/* ---- no device times ------------------------------------------------------------------------- */

/* The thread that is longest in calls that launch or wait: it drives the device, as far as is
 * known. */
static bool find_driver(struct snapshot_thread *driver, const struct snapshot *snap)
{
	const struct own_cost cost = own_cost_read(snap);
	uint64_t most_ns = 0;

	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];
		uint64_t ns = num_add(t->book.ns[CLASS_LAUNCH], t->book.ns[CLASS_SYNC]);

		if (!t->has_book || t->past || ns <= most_ns)
			continue;
		most_ns = ns;
		*driver = *t;
		/* It may be all of it: the thread drives the device all the same. */
		own_cost_take(&cost, &driver->book);
	}
	return most_ns > 0;
}

/* A device waits for a cause on the thread's side for no longer than the thread is there. */
static void add_bounds(struct strbuf *out, const struct snapshot_thread *t)
{
	const uint64_t *ns = t->book.ns, wall_ns = t->book.close_ns - t->book.open_ns;
	double outside, launch = 100 * num_ratio(ns[CLASS_LAUNCH], wall_ns);
	uint64_t outside_ns = ns[CLASS_OTHER], stopped_ns;

	for (unsigned int i = BUCKET_OFF_0; i < BUCKET_END; i++)
		outside_ns += ns[i];
	stopped_ns = num_add(ns[BUCKET_OFF_0 + OFF_STOPPED], t->sampled_stopped_ns);
	outside = 100 * num_ratio(outside_ns, wall_ns);
	format_safef(out, "Thread %u (%s) waits for the device in synchronising calls %.1f %% of "
		     "its time, is in no call %.1f %%, launches %.1f %%",
		     t->tid, t->comm[0] ? t->comm : t->process_comm,
		     100 * num_ratio(ns[CLASS_SYNC], wall_ns), outside, launch);
	if (stopped_ns >= wall_ns / 100 && stopped_ns)
		strbuf_addf(out, ", was stopped %s%.1f %%",
			    t->sampled_stopped_ns ? "~" : "", 100 * num_ratio(stopped_ns, wall_ns));
	if (ns[BUCKET_GPUPROF] >= wall_ns / 100 && ns[BUCKET_GPUPROF])
		strbuf_addf(out, ", ~%.1f %% is gpuprof's own cost (estimated)",
			    100 * num_ratio(ns[BUCKET_GPUPROF], wall_ns));
	strbuf_addf(out, ": if no other thread drives the device, input or host code costs it at "
		    "most %.1f %%, launching at most %.1f %%.", outside, launch);
}

/* How to have device times of a process, by the state of its helper (session/helper_source.c). */
static const struct remedy {
	const char *helper;
	enum next runs, ended;
} remedies[] = {
	{ "none", NEXT_INJECT, NEXT_RESTART },
	{ "stopped", NEXT_INJECT, NEXT_RESTART },
	{ "refused", NEXT_DOCTOR, NEXT_RESTART },
	{ "silent", NEXT_DOCTOR, NEXT_HOST },
};

static enum next choose_remedy(const char *helper, const struct next_target *target)
{
	const struct remedy *r = &remedies[0];

	for (size_t i = 1; helper && i < sizeof(remedies) / sizeof(remedies[0]); i++)
		if (!strcmp(remedies[i].helper, helper))
			r = &remedies[i];
	if (!target->ended)
		return r->runs;
	/* A command was given the helper. */
	return snapshot_fact(target->snap, "command") ? NEXT_HOST : r->ended;
}

static void add_unseen(struct strbuf *out, const struct snapshot *snap,
		       const struct snapshot_thread *t)
{
	const struct snapshot_process *p = &snap->processes.v[t->process];
	const char *helper = snapshot_identity(p, "helper"),
		   *why = snapshot_identity(p, "helper_why");
	const struct next_target target = next_of(snap, p->process, 0);
	struct strbuf next = STRBUF_INIT;

	format_safef(out, "What the devices of pid %u%s%s%s did was not seen: %s.", t->pid,
		     *p->comm ? " (" : "", p->comm, *p->comm ? ")" : "",
		     why ? why : "no helper told of them");
	strbuf_addch(out, '\n');
	add_bounds(out, t);
	if (helper && !strcmp(helper, "pending"))
		return;		/* the next interval has them */
	if (helper && !strcmp(helper, "stopped") && !target.ended)
		strbuf_addf(&next, "%skill -CONT %u && ", target.sudo ? "sudo " : "", t->pid);
	next_add(&next, choose_remedy(helper, &target), &target, NULL);
	add_next(out, next.s);
	out->failed |= next.failed;
	strbuf_free(&next);
}

/* Of no device is more known than that it is there, and not even that it was given work. */
static bool know_nothing(const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *s = &snap->devices.v[i];

		if (s->sum.idle_ns != s->sum.close_ns - s->sum.open_ns ||
		    s->idle_ns[IDLE_UNKNOWN] < s->sum.idle_ns / 2)
			return false;
	}
	return !snap->counts.launches;
}

/* No device is known, and a call's result is the reason. */
static const struct finding *find_reason(const struct findings *f, const struct snapshot *snap)
{
	for (size_t i = 0; i < f->all.n && !snap->devices.n; i++)
		if (f->all.v[i].headline)
			return &f->all.v[i];
	return NULL;
}

/* The only call that did not return; NULL: none, or there are several. */
static const char *find_last_call(const struct snapshot *snap)
{
	const struct snapshot_thread *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < snap->threads.n; i++) {
		if (!snap->threads.v[i].open)
			continue;
		last = &snap->threads.v[i];
		n++;
	}
	return n == 1 && last->func < snap->funcs->n ? snap->funcs->v[last->func].name : NULL;
}

static void add_death(struct strbuf *out, const struct snapshot *snap)
{
	const char *signal = snapshot_fact(snap, "command_signal");
	const char *call = signal ? find_last_call(snap) : NULL;

	if (!signal)
		return;
	format_safef(out, "The command was killed by %s%s%s.", signal, call ? " in " : "",
		     call ? call : "");
	strbuf_addch(out, '\n');
}

int verdict_add(struct strbuf *out, const struct snapshot *snap)
{
	struct snapshot_thread driver;
	struct findings f = { 0 };
	int err = findings_read(&f, snap);
	const struct finding *first = !err && f.all.n ? &f.all.v[0] : NULL;
	const struct finding *reason = err ? NULL : find_reason(&f, snap);

	add_death(out, snap);
	if (first && first->is_severe)
		add_error(out, snap, first);
	else if (reason)
		add_error(out, snap, reason);
	else if (!err && know_nothing(snap) && find_driver(&driver, snap))
		add_unseen(out, snap, &driver);
	else if (first && first->has_share && first->share >= FINDING_SHARE_MEDIUM)
		add_finding(out, snap, &f);
	else if (!err)
		add_no_finding(out, snap, &f);
	findings_free(&f);
	return err ? err : out->failed ? -ENOMEM : 0;
}

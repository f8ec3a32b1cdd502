// SPDX-License-Identifier: BSD-3-Clause
/*
 * One function per rule. Texts name the measurement; possible meanings follow an "or".
 */
#include "findings/findings_rules.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "bucket/kernel_short.h"
#include "elf/demangle.h"

#define SMALL_KERNEL_NS 20000	/* and less: about the cost of a launch on both sides */
#define SMALL_KERNELS 1000	/* so many, that their average means something */
#define LEAK_BYTES (1u << 20)	/* and a hundredth of the process's peak; else no line */
#define ONE_OFF 10	/* a tenth of the loss, and less, is in all its times but one */
#define OWN_PART 100	/* of the loss: a smaller part of gpuprof's own is not mentioned */

/* ---- stalls added up ------------------------------------------------------------------------- */

#define KIND(k) (1u << (k))

struct stall_sum {
	uint64_t ns, gaps, longest_ns, late_ns;
	uint64_t unseen_ns;			/* not in ns: outside of calls, where there were
						 * no probes. Of STALL_HOST it is, since that is
						 * nothing else */
	/* of ns, up to: gpuprof's cost for these threads; 0: not mentioned */
	uint64_t own_ns;
	uint64_t cause_ns[IDLE_CAUSES];
	const struct finding_stall *most;	/* NULL: there is none */
	unsigned int others;			/* rows of other threads or functions */
};

/* Each thread's once: with the first of its rows. */
static uint64_t own_of(const struct finding_book *b, size_t first, unsigned int kinds)
{
	uint32_t tid = b->stalls[first].stall.key.tid;
	uint64_t ns = 0;

	for (size_t i = 0; tid && i < b->n_stalls; i++) {
		const struct stall *stall = &b->stalls[i].stall;

		if (stall->key.tid != tid || !(kinds & KIND(stall->key.kind)))
			continue;
		if (i < first)
			return 0;
		ns = num_add(ns, stall->ns);
	}
	return num_min(ns, b->stalls[first].own_ns);
}

/* KIND(...) | ... added up. */
static struct stall_sum stall_add_up(const struct finding_book *b, unsigned int kinds)
{
	struct stall_sum sum = { .ns = 0 };

	for (size_t i = 0; i < b->n_stalls; i++) {
		const struct finding_stall *row = &b->stalls[i];
		uint64_t unseen_ns;

		if (!(kinds & KIND(row->stall.key.kind)))
			continue;
		unseen_ns = row->stall.key.kind == STALL_HOST ?
				    0 : row->stall.cause_ns[IDLE_UNKNOWN];
		sum.ns += num_sub(row->stall.ns, unseen_ns);
		sum.unseen_ns += unseen_ns;
		sum.own_ns += own_of(b, i, kinds);
		sum.gaps += row->stall.gaps;
		sum.late_ns += row->late_ns;
		sum.longest_ns = num_max(sum.longest_ns, row->stall.longest_ns);
		for (unsigned int k = 0; k < IDLE_CAUSES; k++)
			sum.cause_ns[k] += row->stall.cause_ns[k];
		sum.others += sum.most != NULL;
		if (!sum.most || row->stall.ns > sum.most->stall.ns)
			sum.most = row;
	}
	sum.longest_ns = num_min(sum.longest_ns, sum.ns);
	sum.own_ns = sum.own_ns < sum.ns / OWN_PART ? 0 : num_min(sum.own_ns, sum.ns);
	return sum;
}

/* What a device loses while it is idle, and while it runs. */
struct lost {
	uint64_t idle_ns, run_ns;
	uint64_t more_ns;		/* idle: may be gained, too */
};

/* Of the device's wall time. */
static double share_of(const struct finding_book *b, uint64_t idle_ns, uint64_t run_ns)
{
	if (!b->is_shared)
		return num_ratio(idle_ns + run_ns, b->wall_ns);
	return ((double)idle_ns * b->idle_part + (double)run_ns * b->alone_part) /
	       (double)num_max(b->device_ns, 1);
}

/* Share and bound; false: not worth a line. */
static bool set_share(struct finding *f, const struct finding_book *b, const struct lost *l)
{
	f->has_share = true;
	f->waits_share = num_ratio(l->idle_ns + l->run_ns, b->wall_ns);
	f->share = share_of(b, l->idle_ns, l->run_ns);
	f->gain_bound = share_of(b, l->idle_ns + l->more_ns, l->run_ns);
	return f->share >= FINDING_SHARE_MIN ||
	       (b->is_shared && f->waits_share >= FINDING_SHARE_MEDIUM);
}

/* Parts of a sentence, by value for printf; "" where there is nothing to say. */
struct clause {
	char s[160];
};

/* "; up to 1.2 ms of that is gpuprof's own cost (estimated)" */
static struct clause own_clause(const struct stall_sum *sum)
{
	struct clause text = { "" };

	if (sum->own_ns)
		snprintf(text.s, sizeof(text.s),
			 "; up to %s of that is gpuprof's own cost (estimated)",
			 ns_text(sum->own_ns).s);
	return text;
}

/* "20 times, 1.2 ms each, 8.1 ms at most" */
static struct clause times_clause(const struct stall_sum *sum)
{
	struct clause text;

	if (sum->gaps == 1)
		snprintf(text.s, sizeof(text.s), "1 time, %s", ns_text(sum->ns).s);
	else
		snprintf(text.s, sizeof(text.s), "%s times, %s each, %s at most",
			 count_text(sum->gaps).s, ns_text(sum->ns / num_max(sum->gaps, 1)).s,
			 ns_text(sum->longest_ns).s);
	return text;
}

/* "; 1.2 s more ..." */
static struct clause unseen_clause(const struct stall_sum *sum)
{
	struct clause text = { "" };

	if (sum->unseen_ns)
		snprintf(text.s, sizeof(text.s), "; %s more, between calls, are not counted: the "
			 "thread may have had no CPU, which probes tell",
			 ns_text(sum->unseen_ns).s);
	return text;
}

/* "; 200 calls x 6.7 ms" */
static struct clause calls_clause(const struct finding_stall *row)
{
	struct clause text = { "" };

	if (row->calls)
		snprintf(text.s, sizeof(text.s), "; %s call%s x %s", count_text(row->calls).s,
			 row->calls == 1 ? "" : "s", ns_text(row->calls_ns / row->calls).s);
	return text;
}

/* "; 2 more threads or functions" */
static struct clause others_clause(const struct stall_sum *sum)
{
	const char *plural = sum->others > 1 ? "s" : "";
	struct clause text = { "" };

	if (sum->others)
		snprintf(text.s, sizeof(text.s), "; %u more thread%s or function%s", sum->others,
			 plural, plural);
	return text;
}

static const char *stall_function(const struct stall_sum *sum, const char *else_name)
{
	return sum->most->function ? sum->most->function : else_name;
}

/* "thread 12 (train)" */
static void add_thread(struct strbuf *out, uint32_t tid, const char *comm)
{
	strbuf_addf(out, "thread %u", tid);
	if (comm && *comm)
		strbuf_addf(out, " (%s)", comm);
}

/* Begins the cause: the thread that lost most. */
static void add_main_thread(struct finding *f, const struct stall_sum *sum)
{
	f->tid = sum->most->stall.key.tid;
	f->function = sum->most->function;
	if (f->tid)
		add_thread(&f->cause, f->tid, sum->most->comm);
	else
		strbuf_addstr(&f->cause, "one thread after the other");
}

struct place_sum {
	uint64_t function_ns;	/* over all its callers */
	uint64_t ns;
};

static struct place_sum add_up_place(const struct finding_book *b, unsigned int kinds,
				     const struct finding_place *place)
{
	struct place_sum sum = { 0, 0 };

	for (size_t i = 0; i < b->places.n; i++) {
		const struct finding_place *one = &b->places.v[i];

		if (!(kinds & KIND(one->kind)) || one->function != place->function)
			continue;
		sum.function_ns = num_add(sum.function_ns, one->ns);
		if (one->caller == place->caller)
			sum.ns = num_add(sum.ns, one->ns);
	}
	return sum;
}

/* The function that most of these kinds is in, and of its callers the one with the most. */
static void find_where(struct finding *f, const struct finding_book *b, unsigned int kinds)
{
	struct place_sum most = { 0, 0 };

	for (size_t i = 0; i < b->places.n; i++) {
		const struct finding_place *one = &b->places.v[i];
		struct place_sum sum;

		if (!(kinds & KIND(one->kind)))
			continue;
		sum = add_up_place(b, kinds, one);
		if (sum.function_ns < most.function_ns ||
		    (sum.function_ns == most.function_ns && sum.ns <= most.ns))
			continue;
		most = sum;
		f->where = one->function;
		f->where_caller = one->caller;
	}
}

/* Kinds of the thread that are known from its calls: that it waited, or had no CPU, is not. */
#define SEEN_IN_CALLS                                                                       \
	(KIND(STALL_SYNC) | KIND(STALL_COPY) | KIND(STALL_COPY_SMALL) | KIND(STALL_ALLOC) | \
	 KIND(STALL_COMPILE) | KIND(STALL_COLLECTIVE) | KIND(STALL_HOST) | KIND(STALL_LAUNCH))

/* A loss by stalls of some kinds, added up; false: not worth a line. */
static bool begin_lost(struct finding *f, const struct finding_book *b, unsigned int kinds,
		       const struct stall_sum *sum, const struct lost *lost)
{
	if (!sum->most || !set_share(f, b, lost))
		return false;
	f->times = sum->gaps;
	f->each_ns = sum->gaps ? sum->ns / sum->gaps : 0;
	f->is_one_off = num_sub(sum->ns, sum->longest_ns) <= sum->ns / ONE_OFF;
	f->needs_off_cpu = kinds & SEEN_IN_CALLS ||
			   (b->off_cpu_sampled &&
			    kinds & (KIND(STALL_RUNQUEUE) | KIND(STALL_STOPPED)));
	add_main_thread(f, sum);
	find_where(f, b, kinds);
	return true;
}

/* The same of these stalls alone. Fixing them saves the unseen time, too. */
static bool begin_stalls(struct finding *f, const struct finding_book *b, unsigned int kinds,
			 struct stall_sum *sum)
{
	*sum = stall_add_up(b, kinds);
	return begin_lost(f, b, kinds, sum,
			  &(struct lost){ .idle_ns = sum->ns, .more_ns = sum->unseen_ns });
}

/*
 * gpuprof's own cost in the evidence, and it is not gained. If it is most of the share, the cause
 * mentions it (end_with_own: and the next command is one without probes).
 */
static void subtract_own(struct finding *f, const struct finding_book *b,
			 const struct stall_sum *sum)
{
	double own = share_of(b, sum->own_ns, 0);

	f->own_share = own < f->share ? own : f->share;
	f->gain_bound = own < f->gain_bound ? f->gain_bound - own : 0;
	strbuf_addstr(&f->evidence, own_clause(sum).s);
	if (finding_is_own(f))
		strbuf_addstr(&f->cause, "; most of that may be gpuprof's own cost");
}

static void end_with_own(struct finding *f, const struct finding_book *b,
			 const struct stall_sum *sum, const char *filter)
{
	subtract_own(f, b, sum);
	if (finding_is_own(f))
		f->advice = "change nothing yet: measure again without probes, as `next` does.";
	next_add(&f->next, finding_is_own(f) ? NEXT_UNPROBED : NEXT_CALLERS, &b->target, filter);
}

/* ---- rules ----------------------------------------------------------------------------------- */

/*
 * Without the sync the host runs ahead, and what it waits for elsewhere (input, a CPU) and copies
 * hide under compute: other findings have that time, but this fix saves it, too. At most as long
 * as the host is in these calls, since the rest it does all the same. Measured:
 * tests/bats/bounds.bats.
 */
static void add_run_ahead(struct finding *f, const struct finding_book *b,
			  const struct stall_sum *sum)
{
	const struct stall_sum held = stall_add_up(b, KIND(STALL_HOST) | KIND(STALL_COPY) |
						      KIND(STALL_RUNQUEUE));
	const uint64_t most_ns = num_sub(sum->most->calls_ns, sum->ns);
	const uint64_t idle_ns = num_min(held.ns, most_ns);
	const uint64_t copies_ns = num_min(num_add(b->pageable.owned_ns, b->pinned.owned_ns),
					   most_ns - idle_ns);

	f->gain_of_others = share_of(b, idle_ns, copies_ns);
	f->gain_bound += f->gain_of_others;
}

static bool judge_needless_sync(const struct finding_book *b, struct finding *f)
{
	uint64_t inside_ns;
	struct stall_sum sum;

	if (!begin_stalls(f, b, KIND(STALL_SYNC) | KIND(STALL_COPY_SMALL), &sum))
		return false;
	inside_ns = sum.cause_ns[IDLE_SYNC] + sum.cause_ns[IDLE_COPY_HOST];
	strbuf_addf(&f->cause, " waits in %s until the device has nothing left to do%s",
		    stall_function(&sum, "a synchronising call"), others_clause(&sum).s);
	strbuf_addf(&f->evidence, "the device ran dry in it %s: %s still in the call, %s until the "
		    "next work began%s%s", times_clause(&sum).s, ns_text(inside_ns).s,
		    ns_text(sum.ns - inside_ns).s, calls_clause(sum.most).s, unseen_clause(&sum).s);
	end_with_own(f, b, &sum, stall_function(&sum, "Synchronize"));
	if (!finding_is_own(f))
		add_run_ahead(f, b, &sum);
	return true;
}

/* "; 81 % lock, 19 % disk", where more is known than that it was in no call. */
static void add_causes(struct strbuf *out, const struct stall_sum *sum)
{
	const char *separator = "; ";

	if (sum->cause_ns[IDLE_OTHER] == sum->ns || sum->cause_ns[IDLE_UNKNOWN] == sum->ns)
		return;
	for (unsigned int i = 0; i < IDLE_CAUSES; i++) {
		if (sum->cause_ns[i] * 100 < sum->ns)
			continue;
		strbuf_addf(out, "%s%.0f %% %s", separator,
			    100.0 * (double)sum->cause_ns[i] / (double)sum->ns,
			    i == IDLE_OTHER ? "on a CPU" : idle_name(i));
		separator = ", ";
	}
}

/* What a thread may wait for outside of calls; advice NULL: input-stall's own. */
static const struct {
	const char *what, *advice;
} waits[IDLE_CAUSES] = {
	[IDLE_DISK] = { "the disk", NULL },
	[IDLE_IO] = { "input or output", NULL },
	[IDLE_LOCK] = { "a lock or another thread", NULL },
	[IDLE_PAGE_FAULT] = { "memory (page faults)",
			      "allocate buffers once and touch them before the loop." },
	[IDLE_SLEEP] = { "time to pass: it sleeps",
			 "launch the next work before it sleeps, or wait for an event instead." },
	[IDLE_OFF_CPU] = { "something unknown", "find what it waits for: its stacks show where." },
};

/* Outside of calls: waiting, or at work, as far as it was seen which. True: it waits. */
static bool add_why_outside(struct finding *f, const struct stall_sum *sum)
{
	static const char *const works[2][2] = {	/* without probes; off-CPU is known */
		{ "it waits for input, or runs host code", "it runs host code" },
		{ "it waits for input, runs host code, has no CPU, or is in one that only probes "
		  "see",
		  "it runs host code, or is in one that only probes see" },
	};
	const uint64_t unknown_ns = sum->cause_ns[IDLE_UNKNOWN];
	const struct offcpu_row *off = sum->most->off;
	unsigned int longest = IDLE_OTHER;
	uint64_t off_ns = 0;

	for (unsigned int i = 0; i < IDLE_CAUSES; i++) {
		off_ns += waits[i].what ? sum->cause_ns[i] : 0;
		if (waits[i].what &&
		    (longest == IDLE_OTHER || sum->cause_ns[i] > sum->cause_ns[longest]))
			longest = i;
	}
	strbuf_addf(&f->cause, " is in no call%s while the device has nothing to do: ",
		    unknown_ns ? " that CUPTI records" : "");
	if (!off_ns || off_ns < unknown_ns + sum->cause_ns[IDLE_OTHER]) {
		strbuf_addstr(&f->cause, works[unknown_ns != 0][off_ns != 0]);
		if (off_ns && !unknown_ns)
			f->advice = "run host code on another thread, or behind the next launch; "
				    "its stacks show where.";
		return false;
	}
	f->advice = waits[longest].advice;
	strbuf_addf(&f->cause, "it waits for %s", waits[longest].what);
	if (longest == IDLE_LOCK && off && off->what && !strcmp(off->what, "futex GIL"))
		f->advice = "another thread runs Python meanwhile, holding the GIL: have that "
			    "work done by another process.";
	if (off && (off->what || off->waker))	/* " (futex, woken by loader)" */
		strbuf_addf(&f->cause, " (%s%s%s%s)", off->what ? off->what : "",
			    off->what && off->waker ? ", " : "", off->waker ? "woken by " : "",
			    off->waker ? off->waker : "");
	return true;
}

static bool judge_input_stall(const struct finding_book *b, struct finding *f)
{
	enum next next = NEXT_WAITING;
	struct stall_sum sum;
	bool is_waiting;

	if (!begin_stalls(f, b, KIND(STALL_HOST), &sum))
		return false;
	is_waiting = add_why_outside(f, &sum);
	strbuf_addstr(&f->cause, others_clause(&sum).s);
	strbuf_addstr(&f->evidence, times_clause(&sum).s);
	add_causes(&f->evidence, &sum);
	if (!is_waiting)
		next = b->target.ended ? NEXT_CALLERS : NEXT_STACKS;
	next_add(&f->next, next, &b->target, NULL);
	return true;
}

/* Its short name; another kernel may have the same. */
static void add_kernel(struct strbuf *out, const char *symbol)
{
	struct strbuf name = STRBUF_INIT;

	elf_demangle(&name, symbol);
	kernel_short_add(out, name.s, false);
	out->failed |= name.failed;
	strbuf_free(&name);
}

/* For the names of kernels like this one: only NCCL's have something in common. */
static const char *comm_filter(const char *kernel)
{
	return !kernel || strstr(kernel, "nccl") ? "nccl" : ".";
}

static bool judge_exposed_comm(const struct finding_book *b, struct finding *f)
{
	uint64_t hidden_ns = b->comm_busy_ns - b->comm_ns;
	uint64_t free_ns = num_sub(b->compute_ns, hidden_ns);

	if (!b->comms || !set_share(f, b, &(struct lost){ .run_ns = b->comm_ns }))
		return false;
	f->tid = b->comm_tid;
	find_where(f, b, KIND(PLACE_COLLECTIVES));
	f->times = b->comms;
	f->each_ns = b->comm_ns / b->comms;
	add_kernel(&f->cause, b->comm_kernel ? b->comm_kernel : "communication");
	strbuf_addstr(&f->cause, " runs with no compute beside it");
	if (f->tid) {
		strbuf_addstr(&f->cause, "; ");
		add_thread(&f->cause, f->tid, b->comm_thread);
		strbuf_addstr(&f->cause, " launches it");
	}
	f->late_process = b->late_process;
	if (b->late_pid)
		strbuf_addf(&f->cause,
			    "; most of it waits for the late rank of pid %u, whose "
			    "communications take %s",
			    b->late_pid, ns_text(b->late_comm_ns).s);
	strbuf_addf(&f->evidence, "%s communications x %s, %.0f %% hidden under compute, %s more "
		    "could hide under the compute there is", count_text(b->comms).s,
		    ns_text(b->comm_busy_ns / b->comms).s,
		    b->comm_busy_ns ? 100.0 * (double)hidden_ns / (double)b->comm_busy_ns : 0,
		    ns_text(num_min(free_ns, b->comm_ns)).s);
	next_add(&f->next, NEXT_COMM, &b->target, comm_filter(b->comm_kernel));
	return true;
}

static bool judge_launch_bound(const struct finding_book *b, struct finding *f)
{
	uint64_t launch_ns, queued_ns;
	struct stall_sum sum;

	if (!begin_stalls(f, b, KIND(STALL_LAUNCH), &sum))
		return false;
	launch_ns = sum.cause_ns[IDLE_LAUNCH];
	queued_ns = sum.cause_ns[IDLE_QUEUED];
	strbuf_addf(&f->cause, " does not launch as fast as the device works%s",
		    others_clause(&sum).s);
	strbuf_addf(&f->evidence, "nothing was launched ahead %s: %s in launch calls, %s between "
		    "them, %s until it began%s", times_clause(&sum).s, ns_text(launch_ns).s,
		    ns_text(sum.ns - launch_ns - queued_ns).s, ns_text(queued_ns).s,
		    unseen_clause(&sum).s);
	end_with_own(f, b, &sum, "Launch");
	return true;
}

/* A thread that could not run. */
static bool judge_not_running(const struct finding_book *b, struct finding *f,
			      enum stall_kind kind, const char *cause, enum next next)
{
	struct stall_sum sum;

	if (!begin_stalls(f, b, KIND(kind), &sum))
		return false;
	f->gain_bound = f->share;
	strbuf_addf(&f->cause, "%s%s", cause, others_clause(&sum).s);
	strbuf_addstr(&f->evidence, times_clause(&sum).s);
	/* What gpuprof ran, the thread may have waited for: its probes' cost is no part of this. */
	sum.own_ns = kind == STALL_RUNQUEUE ? num_min(b->gpuprof_cpu_ns, sum.ns) : 0;
	if (sum.own_ns >= sum.ns / OWN_PART)
		subtract_own(f, b, &sum);
	next_add(&f->next, next, &b->target, NULL);
	return true;
}

static bool judge_cpu_starved(const struct finding_book *b, struct finding *f)
{
	return judge_not_running(b, f, STALL_RUNQUEUE,
				 " is ready to run and gets no CPU while the device has nothing "
				 "to do", NEXT_THREADS);
}

static bool judge_stopped(const struct finding_book *b, struct finding *f)
{
	return judge_not_running(b, f, STALL_STOPPED,
				 " was stopped by a signal (SIGSTOP, SIGTSTP) or a debugger, until "
				 "SIGCONT or that let it go on", NEXT_WAITING);
}

static bool judge_unpinned_copies(const struct finding_book *b, struct finding *f)
{
	struct stall_sum sum = stall_add_up(b, KIND(STALL_COPY));
	const char *function = sum.most ? sum.most->function : NULL;
	const struct finding_copies *c = &b->pageable;

	if (!c->count || !set_share(f, b, &(struct lost){ sum.ns, c->owned_ns, sum.unseen_ns }))
		return false;
	f->times = c->count;
	f->each_ns = c->owned_ns / c->count;
	find_where(f, b, KIND(PLACE_COPIES) | KIND(STALL_COPY));
	if (sum.most)
		add_main_thread(f, &sum);
	strbuf_addf(&f->cause,
		    "%scopies pageable memory%s%s: slower than pinned, and the call waits for it",
		    sum.most ? " " : "", function ? " by " : "", function ? function : "");
	strbuf_addf(&f->evidence, "%s cop%s of %s at %.3g GB/s", count_text(c->count).s,
		    c->count == 1 ? "y" : "ies", bytes_text(c->bytes / c->count).s,
		    num_ratio(c->bytes, c->busy_ns));
	if (b->pinned.busy_ns)
		strbuf_addf(&f->evidence, " (pinned ones %.3g GB/s)",
			    num_ratio(b->pinned.bytes, b->pinned.busy_ns));
	strbuf_addf(&f->evidence, "; %s with no compute beside, %s idle for it%s",
		    ns_text(c->owned_ns).s, ns_text(sum.ns).s, unseen_clause(&sum).s);
	next_add(&f->next, NEXT_CALLERS, &b->target, "Memcpy");
	return true;
}

/* Calls that stop the device for as long as the host is in them. */
static bool judge_calls(const struct finding_book *b, struct finding *f, enum stall_kind kind,
			const char *why, const char *filter)
{
	struct stall_sum sum;

	if (!begin_stalls(f, b, KIND(kind), &sum))
		return false;
	strbuf_addf(&f->cause, " is in %s, %s%s", stall_function(&sum, "calls"), why,
		    others_clause(&sum).s);
	strbuf_addf(&f->evidence, "idle in and after it %s%s%s", times_clause(&sum).s,
		    calls_clause(sum.most).s, unseen_clause(&sum).s);
	next_add(&f->next, NEXT_CALLERS, &b->target, stall_function(&sum, filter));
	return true;
}

/* Of the copies that the calls wait for, as many run alone as their calls last. */
static bool judge_blocking_copies(const struct finding_book *b, struct finding *f)
{
	struct stall_sum sum = stall_add_up(b, KIND(STALL_COPY));
	uint64_t calls_ns = 0, alone_ns;

	for (size_t i = 0; i < b->n_stalls; i++)
		if (b->stalls[i].stall.key.kind == STALL_COPY)
			calls_ns = num_add(calls_ns, b->stalls[i].calls_ns);
	alone_ns = num_min(b->pinned.owned_ns, calls_ns);
	if (b->pageable.count || !begin_lost(f, b, KIND(STALL_COPY), &sum,
					     &(struct lost){ sum.ns, alone_ns, sum.unseen_ns }))
		return false;
	strbuf_addf(&f->cause, " is in %s, which waits for the copy, and so does the device%s",
		    stall_function(&sum, "calls"), others_clause(&sum).s);
	strbuf_addf(&f->evidence, "idle in and after it %s; %s with no compute beside%s%s",
		    times_clause(&sum).s, ns_text(alone_ns).s, calls_clause(sum.most).s,
		    unseen_clause(&sum).s);
	next_add(&f->next, NEXT_CALLERS, &b->target, stall_function(&sum, "Memcpy"));
	return true;
}

static bool judge_alloc_stall(const struct finding_book *b, struct finding *f)
{
	return judge_calls(b, f, STALL_ALLOC, "while the device has nothing to do", "Malloc|Free");
}

static bool judge_comm_call(const struct finding_book *b, struct finding *f)
{
	return judge_calls(b, f, STALL_COLLECTIVE, "while the device has nothing to do", "nccl");
}

static bool judge_steady_compile(const struct finding_book *b, struct finding *f)
{
	struct stall_sum sum = stall_add_up(b, KIND(STALL_COMPILE));
	uint64_t late_ns = num_min(sum.late_ns, sum.ns);

	if (!begin_lost(f, b, KIND(STALL_COMPILE), &sum,
			&(struct lost){ .idle_ns = late_ns, .more_ns = sum.late_ns - late_ns }))
		return false;
	strbuf_addf(&f->cause,
		    " still compiles or loads modules in the later half of the session: %s%s",
		    stall_function(&sum, "?"), others_clause(&sum).s);
	strbuf_addf(&f->evidence, "in all %s, of that %s in the later half%s%s",
		    times_clause(&sum).s, ns_text(late_ns).s, calls_clause(sum.most).s,
		    unseen_clause(&sum).s);
	next_add(&f->next, NEXT_CALLERS, &b->target, stall_function(&sum, "Module"));
	return true;
}

static bool judge_small_kernels(const struct finding_book *b, struct finding *f)
{
	struct stall_sum queued = stall_add_up(b, KIND(STALL_QUEUED)),
			 launch = stall_add_up(b, KIND(STALL_LAUNCH));

	if (b->kernels < SMALL_KERNELS || b->kernels_ns / b->kernels > SMALL_KERNEL_NS)
		return false;
	set_share(f, b,
		  &(struct lost){ .idle_ns = queued.ns,
				  .more_ns = launch.ns + launch.unseen_ns - launch.own_ns });
	if (f->gain_bound < FINDING_SHARE_MIN)
		return false;
	strbuf_addstr(&f->cause, "kernels are so short that the ways between them count; "
		      "a CUDA graph launches many at once");
	strbuf_addf(&f->evidence, "%s kernels x %s; %s idle between launched ones, %s because none "
		    "was launched%s", count_text(b->kernels).s,
		    ns_text(b->kernels_ns / b->kernels).s, ns_text(queued.ns).s,
		    ns_text(launch.ns).s, own_clause(&launch).s);
	next_add(&f->next, NEXT_SMALL, &b->target, NULL);
	return true;
}

static bool judge_device_wait(const struct finding_book *b, struct finding *f)
{
	struct stall_sum sum = stall_add_up(b, KIND(STALL_WAITED));
	uint64_t known_ns = b->has_waited ? num_min(b->waited_ns, sum.ns) : 0;

	if (!sum.most || !set_share(f, b, &(struct lost){ .idle_ns = sum.ns - known_ns }))
		return false;
	strbuf_addstr(&f->cause,
		      "work was launched and the device did not begin it: it waits for another "
		      "stream, device or process");
	strbuf_addf(&f->evidence, "in the queue of an idle device %s", times_clause(&sum).s);
	next_add(&f->next, NEXT_QUEUED, &b->target, NULL);
	return true;
}

static bool judge_other_process(const struct finding_book *b, struct finding *f)
{
	f->waits_share = b->has_waited ? num_ratio(b->waited_ns, b->wall_ns) : 0;
	if (f->waits_share < FINDING_SHARE_MIN)
		return false;
	f->has_share = true;
	f->is_notable = f->waits_share >= FINDING_SHARE_MEDIUM;
	strbuf_addstr(&f->cause, "other processes use the device while work of this one is ready");
	strbuf_addf(&f->evidence,
		    "%s in which this one's next work was launched, another one's ran",
		    ns_text(b->waited_ns).s);
	next_add(&f->next, NEXT_DEVICE, &b->target, NULL);
	return true;
}

static bool judge_never_freed(const struct finding_book *b, struct finding *f)
{
	if (!b->has_memory || b->leaked_bytes < num_max(LEAK_BYTES, b->peak_bytes / 100))
		return false;
	strbuf_addstr(&f->cause,
		      "device memory was still allocated when the process ended: harmless in "
		      "itself, a leak if it grows with run time");
	strbuf_addf(&f->evidence, "%s in %s allocation%s, of %s that it had at most",
		    bytes_text(b->leaked_bytes).s, count_text(b->leaks).s, b->leaks == 1 ? "" : "s",
		    bytes_text(b->peak_bytes).s);
	next_add(&f->next, NEXT_MEMORY, &b->target, NULL);
	return true;
}

const struct finding_rule finding_rules[] = {
	{ "needless-sync", judge_needless_sync },
	{ "input-stall", judge_input_stall },
	{ "exposed-comm", judge_exposed_comm },
	{ "cpu-starved", judge_cpu_starved },
	{ "stopped", judge_stopped },
	{ "launch-bound", judge_launch_bound },
	{ "unpinned-copies", judge_unpinned_copies },
	{ "blocking-copies", judge_blocking_copies },
	{ "steady-compile", judge_steady_compile },
	{ "alloc-stall", judge_alloc_stall },
	{ "comm-call", judge_comm_call },
	{ "small-kernels", judge_small_kernels },
	{ "device-wait", judge_device_wait },
	{ "other-process", judge_other_process },
	{ "never-freed", judge_never_freed },
};

const size_t finding_rules_n = sizeof(finding_rules) / sizeof(finding_rules[0]);

// SPDX-License-Identifier: BSD-3-Clause
/*
 * One function per rule. Texts name what was measured; what it may mean is said as "or".
 */
#include "findings/findings_rules.h"

#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "elf/demangle.h"
#include "findings/findings_device.h"
#include "findings/findings_errors.h"
#include "findings/findings_lost.h"

#define SMALL_KERNEL_NS 20000	/* and less: about what a launch costs on both sides */
#define SMALL_KERNELS 1000	/* so many, that their average means something */
#define LEAK_BYTES (1u << 20)	/* and a hundredth of what the process had: else it is not worth a line */

/* ---- rules ----------------------------------------------------------------------------------- */

static bool judge_needless_sync(const struct finding_book *b, struct finding *f)
{
	struct lost lost = lost_add_up(b, KIND(LOSS_SYNC) | KIND(LOSS_COPY_SMALL));
	uint64_t inside_ns = lost.cause_ns[IDLE_SYNC] + lost.cause_ns[IDLE_COPY_HOST];

	if (!lost.most || !lost_set_share(f, b, lost.ns, lost.ns + lost.unseen_ns))
		return false;
	lost_add_main(f, &lost);
	strbuf_addf(&f->cause, " waits in %s until the device has nothing left to do",
		    lost_function(&lost, "a synchronising call"));
	lost_add_others(f, &lost);
	strbuf_addstr(&f->evidence, "the device ran dry in it ");
	lost_add_times(&f->evidence, &lost);
	strbuf_addstr(&f->evidence, ": ");
	format_ns(&f->evidence, inside_ns);
	strbuf_addstr(&f->evidence, " still in the call, ");
	format_ns(&f->evidence, lost.ns - inside_ns);
	strbuf_addstr(&f->evidence, " until the next work began");
	lost_add_calls(&f->evidence, lost.most);
	lost_add_unseen(&f->evidence, &lost);
	lost_take_own(f, b, &lost);
	if (!lost_blame_own(f, b))
		next_add(&f->next, NEXT_CALLERS, &b->whom, lost_function(&lost, "Synchronize"));
	return true;
}

/* "; 81 % lock, 19 % disk", where more is known than that it was in no call. */
static void add_causes(struct strbuf *out, const struct lost *lost)
{
	const char *separator = "; ";

	if (lost->cause_ns[IDLE_OTHER] == lost->ns || lost->cause_ns[IDLE_UNKNOWN])
		return;
	for (unsigned int i = 0; i < IDLE_CAUSES; i++) {
		if (lost->cause_ns[i] * 100 < lost->ns)
			continue;
		strbuf_addf(out, "%s%.0f %% %s", separator,
			    100.0 * (double)lost->cause_ns[i] / (double)lost->ns,
			    i == IDLE_OTHER ? "on a CPU" : idle_name(i));
		separator = ", ";
	}
}

/* " (futex, woken by loader)" */
static void add_waiting(struct strbuf *out, const struct offcpu_row *off)
{
	if (!off || (!off->what && !off->waker))
		return;
	strbuf_addf(out, " (%s%s%s%s)", off->what ? off->what : "",
		    off->what && off->waker ? ", " : "", off->waker ? "woken by " : "",
		    off->waker ? off->waker : "");
}

/* Outside of calls: waiting, or at work, as far as it was seen which. True: it waits. */
static bool add_why_outside(struct strbuf *out, const struct lost *lost)
{
	static const char *const waits[IDLE_CAUSES] = {
		[IDLE_DISK] = "the disk", [IDLE_IO] = "input or output",
		[IDLE_LOCK] = "a lock or another thread", [IDLE_PAGE_FAULT] = "memory (page faults)",
		[IDLE_SLEEP] = "time to pass: it sleeps", [IDLE_OFF_CPU] = "something unknown",
	};
	unsigned int longest = IDLE_OTHER;
	uint64_t off_ns = 0;

	for (unsigned int i = 0; i < IDLE_CAUSES; i++) {
		off_ns += waits[i] ? lost->cause_ns[i] : 0;
		if (waits[i] && (longest == IDLE_OTHER || lost->cause_ns[i] > lost->cause_ns[longest]))
			longest = i;
	}
	strbuf_addf(out, " is in no call%s while the device has nothing to do: ",
		    lost->cause_ns[IDLE_UNKNOWN] ? " that CUPTI records" : "");
	if (lost->cause_ns[IDLE_UNKNOWN])
		strbuf_addstr(out, "it waits for input, runs host code, has no CPU, or is in one "
			      "that only probes see");
	else if (!off_ns)
		strbuf_addstr(out, "it waits for input, or runs host code");
	else if (off_ns < lost->cause_ns[IDLE_OTHER])
		strbuf_addstr(out, "it runs host code");
	if (!off_ns || off_ns < lost->cause_ns[IDLE_OTHER])
		return false;
	strbuf_addf(out, "it waits for %s", waits[longest]);
	add_waiting(out, lost->most->off);
	return true;
}

static bool judge_input_stall(const struct finding_book *b, struct finding *f)
{
	struct lost lost = lost_add_up(b, KIND(LOSS_HOST));
	bool waits;

	if (!lost.most || !lost_set_share(f, b, lost.ns, lost.ns))
		return false;
	lost_add_main(f, &lost);
	waits = add_why_outside(&f->cause, &lost);
	lost_add_others(f, &lost);
	lost_add_times(&f->evidence, &lost);
	add_causes(&f->evidence, &lost);
	next_add(&f->next, waits ? NEXT_WAITING : NEXT_STACKS, &b->whom, NULL);
	return true;
}

/* Its name in the source, without its arguments. */
static void add_kernel(struct strbuf *out, const char *symbol)
{
	struct strbuf name = STRBUF_INIT;

	elf_demangle(&name, symbol);
	strbuf_add(out, name.s, strcspn(name.s, "("));
	out->failed |= name.failed;
	strbuf_free(&name);
}

static bool judge_exposed_comm(const struct finding_book *b, struct finding *f)
{
	uint64_t hidden_ns = b->comm_busy_ns - b->comm_ns;
	uint64_t free_ns = b->compute_ns > hidden_ns ? b->compute_ns - hidden_ns : 0;

	if (!b->comms || !lost_set_share(f, b, b->comm_ns, b->comm_ns))
		return false;
	f->tid = b->comm_tid;
	add_kernel(&f->cause, b->comm_kernel ? b->comm_kernel : "communication");
	strbuf_addstr(&f->cause, " runs with no compute beside it");
	if (f->tid) {
		strbuf_addstr(&f->cause, "; ");
		lost_add_thread(&f->cause, f->tid, b->comm_thread);
		strbuf_addstr(&f->cause, " launches it");
	}
	format_count(&f->evidence, b->comms);
	strbuf_addstr(&f->evidence, " communications x ");
	format_ns(&f->evidence, b->comm_busy_ns / b->comms);
	strbuf_addf(&f->evidence, ", %.0f %% hidden under compute, ",
		    b->comm_busy_ns ? 100.0 * (double)hidden_ns / (double)b->comm_busy_ns : 0);
	format_ns(&f->evidence, num_min(free_ns, b->comm_ns));
	strbuf_addstr(&f->evidence, " more could hide under the compute there is");
	next_add(&f->next, NEXT_COMM, &b->whom, NULL);
	return true;
}

static bool judge_launch_bound(const struct finding_book *b, struct finding *f)
{
	struct lost lost = lost_add_up(b, KIND(LOSS_LAUNCH));

	if (!lost.most || !lost_set_share(f, b, lost.ns, lost.ns + lost.unseen_ns))
		return false;
	lost_add_main(f, &lost);
	strbuf_addstr(&f->cause, " does not launch as fast as the device works");
	lost_add_others(f, &lost);
	strbuf_addstr(&f->evidence, "nothing was launched ahead ");
	lost_add_times(&f->evidence, &lost);
	strbuf_addstr(&f->evidence, ": ");
	format_ns(&f->evidence, lost.cause_ns[IDLE_LAUNCH]);
	strbuf_addstr(&f->evidence, " in launch calls, ");
	format_ns(&f->evidence, lost.ns - lost.cause_ns[IDLE_LAUNCH] - lost.cause_ns[IDLE_QUEUED]);
	strbuf_addstr(&f->evidence, " between them, ");
	format_ns(&f->evidence, lost.cause_ns[IDLE_QUEUED]);
	strbuf_addstr(&f->evidence, " until it began");
	lost_add_unseen(&f->evidence, &lost);
	lost_take_own(f, b, &lost);
	if (!lost_blame_own(f, b))
		next_add(&f->next, NEXT_CALLERS, &b->whom, "Launch");
	return true;
}

static bool judge_cpu_starved(const struct finding_book *b, struct finding *f)
{
	struct lost lost = lost_add_up(b, KIND(LOSS_RUNQUEUE));

	if (!lost.most || !lost_set_share(f, b, lost.ns, lost.ns))
		return false;
	lost_add_main(f, &lost);
	strbuf_addstr(&f->cause, " is ready to run and gets no CPU while the device has nothing to do");
	lost_add_others(f, &lost);
	lost_add_times(&f->evidence, &lost);
	next_add(&f->next, NEXT_THREADS, &b->whom, NULL);
	return true;
}

static bool judge_stopped(const struct finding_book *b, struct finding *f)
{
	struct lost lost = lost_add_up(b, KIND(LOSS_STOPPED));

	if (!lost.most || !lost_set_share(f, b, lost.ns, lost.ns))
		return false;
	lost_add_main(f, &lost);
	strbuf_addstr(&f->cause, " was stopped by a signal (SIGSTOP, SIGTSTP) or a debugger, until SIGCONT or "
		      "that let it go on");
	lost_add_others(f, &lost);
	lost_add_times(&f->evidence, &lost);
	next_add(&f->next, NEXT_WAITING, &b->whom, NULL);
	return true;
}

static void add_speed(struct strbuf *out, const struct finding_copies *c)
{
	strbuf_addf(out, "%.3g GB/s", c->busy_ns ? (double)c->bytes / (double)c->busy_ns : 0);
}

static bool judge_unpinned_copies(const struct finding_book *b, struct finding *f)
{
	struct lost lost = lost_add_up(b, KIND(LOSS_COPY));
	const struct finding_copies *c = &b->pageable;

	if (!c->count || !lost_set_share(f, b, c->owned_ns + lost.ns,
					  c->owned_ns + lost.ns + lost.unseen_ns))
		return false;
	if (lost.most)
		lost_add_main(f, &lost);
	strbuf_addf(&f->cause,
		    "%scopies pageable memory%s%s: slower than pinned, and the call waits for it",
		    lost.most ? " " : "", lost.most && lost.most->function ? " by " : "",
		    lost.most && lost.most->function ? lost.most->function : "");
	format_count(&f->evidence, c->count);
	strbuf_addstr(&f->evidence, c->count == 1 ? " copy of " : " copies of ");
	format_bytes(&f->evidence, c->bytes / c->count);
	strbuf_addstr(&f->evidence, " at ");
	add_speed(&f->evidence, c);
	if (b->pinned.busy_ns) {
		strbuf_addstr(&f->evidence, " (pinned ones ");
		add_speed(&f->evidence, &b->pinned);
		strbuf_addch(&f->evidence, ')');
	}
	strbuf_addstr(&f->evidence, "; ");
	format_ns(&f->evidence, c->owned_ns);
	strbuf_addstr(&f->evidence, " with no compute beside, ");
	format_ns(&f->evidence, lost.ns);
	strbuf_addstr(&f->evidence, " idle for it");
	lost_add_unseen(&f->evidence, &lost);
	next_add(&f->next, NEXT_CALLERS, &b->whom, "Memcpy");
	return true;
}

/* Calls that stop the device for as long as the host is in them. */
static bool judge_calls(const struct finding_book *b, struct finding *f, enum loss_kind kind,
			const char *why, const char *filter)
{
	struct lost lost = lost_add_up(b, KIND(kind));

	if (!lost.most || !lost_set_share(f, b, lost.ns, lost.ns + lost.unseen_ns))
		return false;
	lost_add_main(f, &lost);
	strbuf_addf(&f->cause, " is in %s, %s", lost_function(&lost, "calls"), why);
	lost_add_others(f, &lost);
	strbuf_addstr(&f->evidence, "idle in and after it ");
	lost_add_times(&f->evidence, &lost);
	lost_add_calls(&f->evidence, lost.most);
	lost_add_unseen(&f->evidence, &lost);
	next_add(&f->next, NEXT_CALLERS, &b->whom, lost_function(&lost, filter));
	return true;
}

static bool judge_blocking_copies(const struct finding_book *b, struct finding *f)
{
	return !b->pageable.count &&
	       judge_calls(b, f, LOSS_COPY, "which waits for the copy, and so does the device", "Memcpy");
}

static bool judge_alloc_stall(const struct finding_book *b, struct finding *f)
{
	return judge_calls(b, f, LOSS_ALLOC, "while the device has nothing to do", "Malloc|Free");
}

static bool judge_comm_call(const struct finding_book *b, struct finding *f)
{
	return judge_calls(b, f, LOSS_COLLECTIVE, "while the device has nothing to do", "nccl");
}

static bool judge_steady_compile(const struct finding_book *b, struct finding *f)
{
	struct lost lost = lost_add_up(b, KIND(LOSS_COMPILE));
	uint64_t late_ns = num_min(lost.late_ns, lost.ns);

	if (!lost.most || !lost_set_share(f, b, late_ns, lost.late_ns))
		return false;
	lost_add_main(f, &lost);
	strbuf_addf(&f->cause, " still compiles or loads modules in the later half of the session: %s",
		    lost_function(&lost, "?"));
	lost_add_others(f, &lost);
	strbuf_addstr(&f->evidence, "in all ");
	lost_add_times(&f->evidence, &lost);
	strbuf_addstr(&f->evidence, ", of that ");
	format_ns(&f->evidence, late_ns);
	strbuf_addstr(&f->evidence, " in the later half");
	lost_add_calls(&f->evidence, lost.most);
	lost_add_unseen(&f->evidence, &lost);
	next_add(&f->next, NEXT_CALLERS, &b->whom, lost_function(&lost, "Module"));
	return true;
}

static bool judge_small_kernels(const struct finding_book *b, struct finding *f)
{
	struct lost queued = lost_add_up(b, KIND(LOSS_QUEUED)), launch = lost_add_up(b, KIND(LOSS_LAUNCH));

	if (b->kernels < SMALL_KERNELS || b->kernels_ns / b->kernels > SMALL_KERNEL_NS)
		return false;
	lost_set_share(f, b, queued.ns, queued.ns + launch.ns + launch.unseen_ns - launch.own_ns);
	if (f->gain_bound < FINDING_SHARE_MIN)
		return false;
	strbuf_addstr(&f->cause, "kernels are so short that the ways between them count; "
		      "a CUDA graph launches many at once");
	format_count(&f->evidence, b->kernels);
	strbuf_addstr(&f->evidence, " kernels x ");
	format_ns(&f->evidence, b->kernels_ns / b->kernels);
	strbuf_addstr(&f->evidence, "; ");
	format_ns(&f->evidence, queued.ns);
	strbuf_addstr(&f->evidence, " idle between launched ones, ");
	format_ns(&f->evidence, launch.ns);
	strbuf_addstr(&f->evidence, " because none was launched");
	lost_add_own(&f->evidence, &launch);
	next_add(&f->next, NEXT_SMALL, &b->whom, NULL);
	return true;
}

static bool judge_device_wait(const struct finding_book *b, struct finding *f)
{
	struct lost lost = lost_add_up(b, KIND(LOSS_WAITED));
	uint64_t known_ns = b->has_waited ? num_min(b->waited_ns, lost.ns) : 0;

	if (!lost.most || !lost_set_share(f, b, lost.ns - known_ns, lost.ns - known_ns))
		return false;
	strbuf_addstr(&f->cause, "work was launched and the device did not begin it: it waits for another "
		      "stream, device or process");
	strbuf_addstr(&f->evidence, "in the queue of an idle device ");
	lost_add_times(&f->evidence, &lost);
	next_add(&f->next, NEXT_QUEUED, &b->whom, NULL);
	return true;
}

static bool judge_other_process(const struct finding_book *b, struct finding *f)
{
	if (!b->has_waited || !lost_set_share(f, b, b->waited_ns, b->waited_ns))
		return false;
	strbuf_addstr(&f->cause, "other processes use the device while work of this one is ready");
	format_ns(&f->evidence, b->waited_ns);
	strbuf_addstr(&f->evidence, " in which this one's next work was launched, another one's ran");
	next_add(&f->next, NEXT_DEVICE, &b->whom, NULL);
	return true;
}

static bool judge_never_freed(const struct finding_book *b, struct finding *f)
{
	if (!b->has_memory || b->leaked_bytes < num_max(LEAK_BYTES, b->peak_bytes / 100))
		return false;
	strbuf_addstr(&f->cause, "device memory was still allocated when the process ended: harmless in "
		      "itself, a leak if it grows with run time");
	format_bytes(&f->evidence, b->leaked_bytes);
	strbuf_addstr(&f->evidence, " in ");
	format_count(&f->evidence, b->leaks);
	strbuf_addstr(&f->evidence, b->leaks == 1 ? " allocation, of " : " allocations, of ");
	format_bytes(&f->evidence, b->peak_bytes);
	strbuf_addstr(&f->evidence, " that it had at most");
	next_add(&f->next, NEXT_MEMORY, &b->whom, NULL);
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
	{ "cuda-error", errors_judge },
	{ "device-fault", fault_judge },
	{ "throttled", throttled_judge },
	{ "unwatched-process", unwatched_judge },
	{ "untold-process", untold_judge },
};

const size_t finding_rules_n = sizeof(finding_rules) / sizeof(finding_rules[0]);

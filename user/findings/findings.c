// SPDX-License-Identifier: BSD-3-Clause
/* From a snapshot to the books that rules judge, and from the rules to sorted findings. */
#include "findings/findings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/units.h"
#include "facts/memory_calls.h"
#include "findings/findings_rules.h"
#include "findings/hang.h"
#include "model/own_cost.h"

const char *finding_severity(const struct finding *f)
{
	double share = f->share - f->own_share;

	if (f->is_severe)
		return "high";
	if (!f->has_share || share < FINDING_SHARE_MEDIUM)
		return f->is_notable ? "medium" : "low";
	return share < FINDING_SHARE_HIGH || f->is_uncertain ? "medium" : "high";
}

/* ---- judging --------------------------------------------------------------------------------- */

static void finding_free(struct finding *f)
{
	strbuf_free(&f->cause);
	strbuf_free(&f->evidence);
	strbuf_free(&f->next);
}

/* ", a, b": why a loss of time may be other than it looks. */
static void add_doubts(struct strbuf *out, const struct finding_book *b, const struct finding *f)
{
	if (b->measured_ns && b->measured_ns < FINDING_MEASURED_NS)
		strbuf_addf(out, ", only %s were measured", ns_text(b->measured_ns).s);
	if (b->lost_share > FINDING_LOST_MAX)
		strbuf_addf(out, ", %.3g %% of the events were lost", 100 * b->lost_share);
	if (f->needs_off_cpu && b->off_cpu_unknown)
		strbuf_addstr(out, ", it was not recorded if the thread was stopped or had no CPU");
	if (f->needs_off_cpu && b->off_cpu_sampled)
		strbuf_addstr(out, ", when the thread waited, was stopped or had no CPU is "
				   "estimated from samples");
	if (f->times > 1 && f->is_one_off)
		strbuf_addstr(out, ", one-off: nearly all of it is a single time");
	else if (f->times && f->times < FINDING_TIMES)
		strbuf_addf(out, f->times > 1 ? ", it happened only %llu times" : ", one-off",
			    (unsigned long long)f->times);
}

/* Begins the evidence with them. */
static void doubt(struct finding *f, const struct finding_book *b)
{
	struct strbuf all = STRBUF_INIT;

	if (f->has_share &&
	    (f->share >= FINDING_SHARE_MEDIUM || f->waits_share >= FINDING_SHARE_MEDIUM))
		add_doubts(&all, b, f);
	f->is_uncertain = all.len > 0;
	if (f->is_uncertain) {
		f->doubts = all.len - strlen(", ");
		strbuf_addf(&all, ": %s", f->evidence.s);
		strbuf_reset(&f->evidence);
		strbuf_addstr(&f->evidence, all.s + strlen(", "));
	}
	f->evidence.failed |= all.failed;
	strbuf_free(&all);
}

static int keep(struct findings *all, const struct finding *f)
{
	struct finding *at = f->cause.failed || f->evidence.failed || f->next.failed ?
			     NULL : VEC_PUSH(&all->all);

	if (!at)
		return -ENOMEM;
	*at = *f;
	return 0;
}

/* It costs the process clearly more time than the device. */
static bool is_shared_loss(const struct finding_book *b, const struct finding *f)
{
	return f->has_share && b->is_shared &&
	       (f->waits_share - FINDING_SHARE_MIN) * (double)b->wall_ns >
		       f->share * (double)b->device_ns;
}

static int judge(struct findings *f, const struct finding_book *b, const struct finding_rule *rules,
		 size_t n)
{
	int err = 0;

	for (size_t i = 0; !err && i < n; i++) {
		struct finding found = { .name = rules[i].name, .process = b->process,
					 .pid = b->pid, .device = b->device,
					 .cause = STRBUF_INIT, .evidence = STRBUF_INIT,
					 .next = STRBUF_INIT };
		bool holds = rules[i].judge(b, &found);

		if (holds && is_shared_loss(b, &found))
			strbuf_addf(&found.evidence,
				    "; it is %.1f %% of the process's own time: "
				    "others use the device, too",
				    100 * found.waits_share);
		if (holds)
			doubt(&found, b);
		err = holds ? keep(f, &found) : 0;
		if (!holds || err)
			finding_free(&found);
	}
	return err;
}

int findings_judge(struct findings *f, const struct finding_book *b)
{
	int err = judge(f, b, finding_rules, finding_rules_n);

	return err ? err : judge(f, b, finding_device_rules, finding_device_rules_n);
}

static bool is_of_program(const struct finding *f)
{
	return f->has_share && f->share >= FINDING_SHARE_MEDIUM && !finding_is_own(f);
}

static int compare_findings(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	double of_x = x->has_share ? x->share : -1, of_y = y->has_share ? y->share : -1;

	if (x->is_severe != y->is_severe)
		return x->is_severe ? -1 : 1;
	if (is_of_program(x) != is_of_program(y))
		return is_of_program(x) ? -1 : 1;
	if (x->is_after != y->is_after && is_of_program(x))
		return x->is_after ? 1 : -1;
	if (of_x != of_y)
		return of_x < of_y ? 1 : -1;
	if (x->pid != y->pid)
		return num_compare(x->pid, y->pid);
	return x->device != y->device ? num_compare(x->device, y->device) :
					strcmp(x->name, y->name);
}

void findings_free(struct findings *f)
{
	for (size_t i = 0; i < f->all.n; i++)
		finding_free(&f->all.v[i]);
	VEC_FREE(&f->all);
}

/* ---- the book of a process on a device ------------------------------------------------------- */

static void read_states(struct finding_book *b, const struct device_sum *sum)
{
	b->wall_ns = sum->close_ns - sum->open_ns;
	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++) {
		bool comm = i == DEVICE_KERNELS + KERNEL_COMM;

		if (comm) {
			b->comm_ns = sum->owned_ns[i];
			b->comm_busy_ns = sum->busy_ns[i];
			b->comms = sum->works[i];
		} else if (i <= DEVICE_GRAPHS) {
			b->compute_ns += sum->owned_ns[i];
			b->compute_busy_ns += sum->busy_ns[i];
		} else if (i >= DEVICE_PAGEABLE && i <= DEVICE_PAGEABLE + COPY_DEFAULT) {
			b->pageable.owned_ns += sum->owned_ns[i];
		} else if (i == DEVICE_COPIES + COPY_H2D || i == DEVICE_COPIES + COPY_D2H) {
			b->pinned.owned_ns += sum->owned_ns[i];
		}
	}
}

#define LATE_TIMES 4	/* a late rank's communications are so many times shorter, at least */

/* The rank that comes last to a collective is the one for which it is shortest. */
static void read_late_rank(struct finding_book *b, const struct snapshot *snap)
{
	const unsigned int comm = DEVICE_KERNELS + KERNEL_COMM;
	uint64_t least_ns = b->comms ? b->comm_busy_ns / b->comms / LATE_TIMES : 0;

	for (size_t i = 0; b->comms && i < snap->devices.n; i++) {
		const struct snapshot_device *s = &snap->devices.v[i];
		uint64_t works = s->sum.works[comm], ns = works ? s->sum.busy_ns[comm] / works : 0;

		if (!s->has_book || s->process == b->process || !works || ns > least_ns ||
		    num_max(works, b->comms) - num_min(works, b->comms) > b->comms / 10 + 1)
			continue;
		least_ns = ns;
		b->late_process = s->process;
		b->late_pid = s->pid;
		b->late_comm_ns = ns;
	}
}

/* A victim's loss comes after what its late rank loses, if that is about as much. */
static void order_victims(struct findings *f)
{
	for (size_t i = 0; i < f->all.n; i++) {
		struct finding *victim = &f->all.v[i];

		for (size_t k = 0; k < f->all.n && victim->late_process; k++) {
			const struct finding *late = &f->all.v[k];

			victim->is_after |= late->process == victim->late_process &&
					    !late->late_process && is_of_program(late) &&
					    late->share >= victim->share / 2;
		}
	}
}

static void read_kernels(struct finding_book *b, const struct snapshot_device *s)
{
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < kernels_count(&s->kernels); i++) {
		const struct kernel_stats *k = kernels_at(&s->kernels, i);

		if (k->class != KERNEL_COMM) {
			b->kernels += k->time.count;
			b->kernels_ns = num_add(b->kernels_ns, k->time.total);
		} else if (k->time.total >= longest_ns) {
			b->comm_kernel = k->name;
			longest_ns = k->time.total;
		}
	}
}

static void add_copies(struct finding_copies *to, const struct copy_stats *from)
{
	to->count += from->count;
	to->bytes += from->bytes;
	to->busy_ns += from->total_ns;
}

static void read_memory(struct finding_book *b, const struct snapshot_process *p)
{
	b->has_memory = p && p->has_memory && p->has_ended && !p->memory_incomplete;
	for (size_t i = 0; b->has_memory && i < p->memory.n; i++) {
		const struct memory_sums *s = &p->memory.v[i];
		uint32_t device = s->key.device == MEMORY_NO_DEVICE ? 0 : s->key.device;

		if (s->key.by_stack || !memory_kind_is_device(s->key.kind) || device != b->ordinal)
			continue;
		b->peak_bytes = num_add(b->peak_bytes, s->peak_bytes);
		b->leaked_bytes = num_add(b->leaked_bytes, num_add(s->live_bytes, s->leaked_bytes));
		b->leaks += s->live + s->leaked;
	}
}

static void name_call(struct finding_stall *row, const struct snapshot *snap,
		      const struct snapshot_process *p)
{
	const struct funcs *funcs = snap->funcs;

	if (row->stall.key.func >= funcs->n)
		return;
	row->function = funcs->v[row->stall.key.func].name;
	for (size_t i = 0; p && i < call_stats_count(&p->calls); i++) {
		const struct call_stat *t = call_stats_at(&p->calls, i);

		if (t->key.func != row->stall.key.func)
			continue;
		row->calls += t->time.count;
		row->calls_ns = num_add(row->calls_ns, t->time.total);
	}
}

/* Where the thread that lost most outside of calls was longest off the CPU. */
static const struct offcpu_row *longest_off(const struct snapshot *snap, uint32_t process,
					    uint32_t tid)
{
	const struct offcpu *o = snap->offcpu;
	const struct offcpu_row *longest = NULL;

	for (size_t i = 0; i < offcpu_count(o); i++) {
		const struct offcpu_row *row = offcpu_at(o, i);

		if (row->key.process == process && row->key.tid == tid &&
		    row->key.reason != OFF_RUNQUEUE &&
		    (!longest || row->blocked_ns > longest->blocked_ns))
			longest = row;
	}
	return longest;
}

static int read_stalls(struct finding_book *b, const struct stalls *l, const struct snapshot *snap,
		       const struct snapshot_process *p)
{
	b->stalls = calloc(stalls_count(l) + 1, sizeof(*b->stalls));
	if (!b->stalls)
		return -ENOMEM;
	for (size_t i = 0; i < stalls_count(l); i++) {
		struct finding_stall *row = &b->stalls[b->n_stalls++];

		row->stall = *stalls_at(l, i);
		row->late_ns = stalls_late_ns(l, stalls_at(l, i), snap->now_ns);
		row->comm = "";
		if (row->stall.key.kind == STALL_HOST)
			row->off = longest_off(snap, b->process, row->stall.key.tid);
		name_call(row, snap, p);
	}
	return 0;
}

/* Threads' names, and what gpuprof cost them. */
static void read_threads(struct finding_book *b, const struct snapshot *snap,
			 const struct own_cost *cost)
{
	uint64_t longest_ns = 0;

	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];
		struct book_sum sum;

		if (snap->processes.v[t->process].process != b->process)
			continue;
		sum = t->book;
		own_cost_take(cost, &sum);
		for (size_t k = 0; k < b->n_stalls; k++) {
			if (b->stalls[k].stall.key.tid != t->tid)
				continue;
			b->stalls[k].comm = t->comm;
			b->stalls[k].own_ns = sum.ns[BUCKET_GPUPROF];
		}
		if (!t->has_book || sum.ns[CLASS_COLLECTIVE] <= longest_ns)
			continue;
		longest_ns = sum.ns[CLASS_COLLECTIVE];
		b->comm_tid = t->tid;
		b->comm_thread = t->comm;
	}
}

/* Its samples are reported with its first process that has a book. */
static const struct snapshot_member *reporter(const struct snapshot_host *h)
{
	for (size_t i = 0; i < h->members.n; i++)
		if (h->members.v[i].has_book)
			return &h->members.v[i];
	return NULL;
}

/* Samples of the device, if this is the first process on it: the others have the same. */
static void read_samples(struct finding_book *b, const struct snapshot *snap,
			 const struct snapshot_device *s)
{
	const struct snapshot_member *first = s->host ? reporter(s->host) : NULL;

	if (!first || first->process != s->process || first->device != s->device)
		return;
	b->sampled = samples_find(&snap->samples, s->host->uuid);
	if (!b->sampled)
		return;
	b->gpu = samples_gpu_of(&snap->samples, b->sampled);
	b->others = (struct device_users){ snap, s->host };
	b->session_ns = snap->session.start_ns;
	b->unwatched_ns = s->host->sum.unwatched_ns;
	b->shared_ns = s->host->sum.close_ns - s->host->sum.open_ns;
}

/* With a book of it, or of a MIG instance of it. */
static bool is_reported(const struct snapshot *snap, const struct sampled_device *d)
{
	for (size_t i = 0; i < snap->hosts.n; i++) {
		const struct snapshot_host *h = &snap->hosts.v[i];
		const struct sampled_device *of =
			reporter(h) ? samples_find(&snap->samples, h->uuid) : NULL;

		if (of && (of == d || samples_gpu_of(&snap->samples, of) == d))
			return true;
	}
	return false;
}

/* Samples of a device without a book of any process, if it concerns the session: the session is the
 * whole host's, or NVML saw a process on the device whose calls are known. */
static bool read_alone(struct finding_book *b, const struct snapshot *snap,
		       const struct sampled_device *d)
{
	const struct device_users seen = { snap, NULL };
	bool whole = snapshot_fact(snap, "whole_host");

	*b = (struct finding_book){ .device = d->number, .sampled = d,
				    .session_ns = snap->session.start_ns };
	if (!whole)
		b->gpu = samples_gpu_of(&snap->samples, d);
	return !is_reported(snap, d) && (whole || device_users_count(&seen, d, true));
}

static const struct share_member *share_of_member(const struct snapshot_device *s)
{
	for (size_t i = 0; s->host && i < s->host->members.n; i++) {
		const struct snapshot_member *m = &s->host->members.v[i];

		if (m->process == s->process && m->device == s->device)
			return &m->share;
	}
	return NULL;
}

/* What is the session's, and so in all books of devices. */
struct session_facts {
	struct own_cost cost;
	struct finding_book book;
};

static struct session_facts read_session(const struct snapshot *snap)
{
	const char *off_cpu = snapshot_fact(snap, "off_cpu");
	const bool sampled = off_cpu && !strcmp(off_cpu, "sampled");
	const bool recorded = snapshot_knows_off_cpu(snap);

	return (struct session_facts){ .cost = own_cost_read(snap), .book = {
		.measured_ns = snap->now_ns - snap->session.start_ns,
		.lost_share = snapshot_losses(snap).share,
		.gpuprof_cpu_ns = snapshot_fact_number(snap, "gpuprof_cpu_ns"),
		.off_cpu_unknown = !recorded && !sampled,
		.off_cpu_sampled = sampled,
	} };
}

/* How much of what the process lost its device did; where a process has it alone, all. */
static void read_sharing(struct finding_book *b, const struct snapshot_device *s)
{
	const struct share_member *m = share_of_member(s);
	uint64_t run_ns = s->sum.close_ns - s->sum.open_ns - s->sum.idle_ns;

	b->is_shared = m && snapshot_host_is_shared(s->host);
	if (!b->is_shared)
		return;
	b->device_ns = s->host->sum.close_ns - s->host->sum.open_ns;
	b->idle_part = num_ratio(m->gaps_idle_ns,
				 num_max(num_sub(m->gaps_ns, m->waited_ns), m->gaps_idle_ns));
	b->alone_part = num_ratio(num_min(m->owned_ns, run_ns), run_ns);
}

/* ---- places ---------------------------------------------------------------------------------- */

static int add_to_place(struct finding_book *b, const struct finding_place *one)
{
	struct finding_place *place;

	for (size_t i = 0; i < b->places.n; i++) {
		place = &b->places.v[i];
		if (place->kind == one->kind && place->function == one->function &&
		    place->caller == one->caller) {
			place->ns = num_add(place->ns, one->ns);
			return 0;
		}
	}
	place = VEC_PUSH(&b->places);
	if (!place)
		return -ENOMEM;
	*place = *one;
	return 0;
}

/* The number of the frame that the function stands on which a stack ends with; 0: unknown. */
static uint64_t frame_of_caller(const struct snapshot *snap, uint64_t id)
{
	const struct stacks_stack *stack = stacks_find(&snap->stacks, id);
	const struct stacks_frame *called =
		stack ? stacks_frame(&snap->stacks, stack->frame) : NULL;

	return called ? called->caller : 0;
}

/* Where a thread waited: it may have entered the kernel itself. */
static uint64_t frame_of_wait(const struct snapshot *snap, uint64_t id)
{
	const struct stacks_stack *stack = stacks_find(&snap->stacks, id);

	return stack ? stack->frame : 0;
}

static int add_place(struct finding_book *b, const struct snapshot *snap, uint64_t frame,
		     unsigned int kind, uint64_t ns)
{
	const struct stacks_frame *own = stacks_own_frame(&snap->stacks, frame), *caller;

	if (!own || !ns)
		return 0;
	caller = stacks_own_frame(&snap->stacks, own->caller);
	return add_to_place(b, &(struct finding_place){ kind, own->place,
							caller ? caller->function : NULL, ns });
}

static int read_calls_places(struct finding_book *b, const struct snapshot *snap,
			     const struct snapshot_process *p)
{
	const struct funcs *funcs = snap->funcs;
	int err = 0;

	for (size_t i = 0; p && !err && i < call_stats_count(&p->calls); i++) {
		const struct call_stat *t = call_stats_at(&p->calls, i);
		const unsigned int class = t->key.func < funcs->n ? funcs->v[t->key.func].class :
								    CLASS_OTHER;

		if (class == CLASS_COPY || class == CLASS_COLLECTIVE)
			err = add_place(b, snap, frame_of_caller(snap, t->key.stack),
					class == CLASS_COPY ? PLACE_COPIES : PLACE_COLLECTIVES,
					t->time.total);
	}
	return err;
}

static bool loses_outside(const struct finding_book *b, uint32_t tid)
{
	for (size_t i = 0; i < b->n_stalls; i++)
		if (b->stalls[i].stall.key.tid == tid && b->stalls[i].stall.key.kind == STALL_HOST)
			return true;
	return false;
}

static int read_places(struct finding_book *b, const struct stalls *stalls,
		       const struct snapshot *snap, const struct snapshot_process *p)
{
	const struct offcpu *o = snap->offcpu;
	int err = 0;

	if (!snap->stacks.all.n)
		return 0;
	for (size_t i = 0; !err && i < stalls->places.n; i++) {
		const struct stall_place *place = stalls->places.v[i];

		err = add_place(b, snap, frame_of_caller(snap, place->key.stack),
				(unsigned int)place->key.kind, place->ns);
	}
	for (size_t i = 0; !err && i < offcpu_count(o); i++) {
		const struct offcpu_row *row = offcpu_at(o, i);

		if (row->key.process == b->process && row->key.stack &&
		    loses_outside(b, row->key.tid))
			err = add_place(b, snap, frame_of_wait(snap, row->key.stack), STALL_HOST,
					row->blocked_ns);
	}
	return err ? err : read_calls_places(b, snap, p);
}

/* ---- judging devices and processes ----------------------------------------------------------- */

static int judge_device(struct findings *f, const struct snapshot *snap,
			const struct snapshot_device *s, const struct session_facts *session)
{
	static const uint8_t host_copies[] = { COPY_H2D, COPY_D2H, COPY_DEFAULT };
	const struct snapshot_process *p = snapshot_process(snap, s->process);
	struct finding_book b = session->book;
	int err;

	b.process = s->process;
	b.pid = s->pid;
	b.ordinal = s->device;
	b.device = s->number;
	b.target = next_of(snap, s->process, s->device);
	read_states(&b, &s->sum);
	read_sharing(&b, s);
	read_late_rank(&b, snap);
	read_kernels(&b, s);
	for (size_t i = 0; i < sizeof(host_copies); i++) {
		add_copies(&b.pageable, &s->copies[host_copies[i]][MEMORY_PAGEABLE]);
		add_copies(&b.pinned, &s->copies[host_copies[i]][MEMORY_PINNED]);
	}
	read_memory(&b, p);
	/* Findings about all devices of a process are reported with its lowest one. */
	if (!p || p->first_device == s->device)
		finding_read_errors(&b, snap->funcs, p);
	b.has_waited = s->host && s->host->members.n > 1;
	b.waited_ns = s->idle_ns[IDLE_OTHER_PROCESS];
	err = read_stalls(&b, &s->stalls, snap, p);
	err = err ? err : read_places(&b, &s->stalls, snap, p);
	if (!err) {
		read_samples(&b, snap, s);
		read_threads(&b, snap, &session->cost);
		err = findings_judge(f, &b);
	}
	free(b.stalls);
	VEC_FREE(&b.places);
	return err;
}

static int judge_alone(struct findings *f, const struct snapshot *snap)
{
	const struct samples *samples = &snap->samples;
	struct finding_book b;
	int err = 0;

	for (size_t i = 0; !err && i < samples->all.n; i++)
		if (read_alone(&b, snap, samples->all.v[i]))
			err = findings_judge(f, &b);
	return err;
}

/* Of no device of it is anything known, but what its calls gave is. */
static int judge_process(struct findings *f, const struct snapshot *snap,
			 const struct snapshot_process *p)
{
	struct finding_book b = { .process = p->process, .pid = p->pid,
				  .device = FINDING_NO_DEVICE };

	if (p->has_device)
		return 0;
	finding_read_errors(&b, snap->funcs, p);
	if (!b.fatal_function)
		return 0;
	b.target = next_of(snap, p->process, 0);
	return findings_judge(f, &b);
}

int findings_read(struct findings *f, const struct snapshot *snap)
{
	const struct session_facts session = read_session(snap);
	int err = judge_alone(f, snap);

	for (size_t i = 0; !err && i < snap->devices.n; i++)
		if (snap->devices.v[i].has_book)
			err = judge_device(f, snap, &snap->devices.v[i], &session);
	for (size_t i = 0; !err && i < snap->processes.n; i++)
		err = judge_process(f, snap, &snap->processes.v[i]);
	err = err ? err : hang_find(f, snap);
	if (!err)
		order_victims(f);
	if (!err && f->all.n)
		qsort(f->all.v, f->all.n, sizeof(*f->all.v), compare_findings);
	if (err)
		findings_free(f);
	return err;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * How targets are probed: -p gives each process its own links with the kernel's pid filter; -a
 * and -- CMD give each library one unfiltered link, and for CMD and selectors the set of pids in
 * BPF decides which are recorded. The worker probes the files that are mapped later.
 */
#include "session/probe_source.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time.h"
#include "catalog/catalog.h"
#include "event/names.h"
#include "host/caps.h"
#include "host/proc.h"
#include "inject/injectable.h"
#include "probe/attach.h"
#include "probe/launches.h"
#include "probe/loader_read.h"
#include "session/probe_budget.h"
#include "session/sched_source.h"
#include "session/worker.h"
#include "source/bpf/drain.h"
#include "source/helper/ring_reader.h"
#include "stack/inflight.h"
#include "target/selection.h"
#include "target/target.h"

extern char **environ;

struct probe_source {
	struct live_source live;
	struct targets *targets;
	struct loader *loader;
	struct attach *attach;
	struct worker *worker;		/* probes files mapped later */
	struct worker_rules rules;	/* for worker_run */
	struct inflight *inflight;	/* NULL: none; the worker's while that runs */
	struct bpf_source bpf;
	struct launches *launches;	/* NULL: their probes stay as they are */
	struct probe_budget *budget;	/* NULL: there is none */
	enum probe_budget_wish wish;	/* its last */
	bool needs_launches;		/* see struct probe_plan */
	struct live_unprobed unprobed;
	bool unprobed_for_budget;	/* ... and with pauses in it */
	bool (*is_recorded)(void *ctx, pid_t pid);	/* see unprobed_launches */
	void *recorded_ctx;
	bool wants_launches;		/* ... though CUPTI records them */
	uint64_t gap_ns;		/* neither probed nor recorded, and not noted yet ... */
	uint32_t gap_pid;		/* ... by this process */
	/* so long launches before this part were probed, up to chosen_ns */
	uint64_t probed_ns[PLAN_PARTS + 1], chosen_ns;
};

static struct probe_source *probes_of(struct live_source *l)
{
	return (struct probe_source *)l;
}

/* ---- with or without probes ------------------------------------------------------------------ */

static bool has_helper(pid_t pid)
{
	int fd = ring_reader_find(pid);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Every target has a helper, or will. */
static bool have_helpers(const struct session_options *o)
{
	for (size_t i = 0; i < o->n_pids; i++)
		if (!has_helper((pid_t)o->pids[i]))
			return false;
	return o->cmd || o->n_pids;
}

/* The option that needs probes, or NULL. */
static const char *asks_for_probes(const struct session_options *o)
{
	return o->stacks ? "--stacks" : o->torch ? "--torch" : o->tier ? "--tier 1" :
	       o->off_cpu == OFF_CPU_ON ? "--off-cpu on" :
	       o->launch != LAUNCH_AUTO && o->launch != LAUNCH_HELPER ? "--launch" : NULL;
}

static bool may_do_without(const struct session_options *o)
{
	return o->attach == WAY_AUTO && !asks_for_probes(o) && have_helpers(o);
}

static int check_none(const struct session_options *o)
{
	if (asks_for_probes(o)) {
		log_error("%s needs probes, which --attach none turns off; leave out one of them",
			  asks_for_probes(o));
		return -EINVAL;
	}
	if (o->cmd || o->n_pids)
		return 0;
	log_error("--attach none needs a process: give -p PID, or a command behind --");
	return -EINVAL;
}

/* Names the processes that the helper alone could measure, if they had it. */
static int deny(const struct session_options *o, const struct caps_need *missing)
{
	for (size_t i = 0; i < o->n_pids; i++)
		if (!has_helper((pid_t)o->pids[i]))
			log_error("cannot probe process %u: %s is missing (needed to %s); run as "
				  "root or with sudo, or without probes by the helper: --inject "
				  "brings it into a process of yours",
				  o->pids[i], missing->name, missing->why);
	return -EPERM;
}

static int do_without(struct no_probes *none, const char *why, const char *remedy)
{
	*none = (struct no_probes){ why, remedy };
	return 0;
}

/* Sets none->why if there are to be no probes. 0 or -errno, logged. */
static int choose(const struct session_options *o, struct no_probes *none)
{
	const struct caps_need *missing = caps_missing();

	if (o->attach == WAY_NONE)
		return check_none(o) ? -EINVAL :
				       do_without(none, "--attach none", "leave that out");
	if (missing && o->n_pids && o->attach == WAY_AUTO && !asks_for_probes(o) &&
	    !have_helpers(o))
		return deny(o, missing);
	if (!may_do_without(o))
		return 0;
	if (missing)
		return do_without(none, missing->name, "run as root or with sudo");
	if (!proc_pids_are_hosts())
		return do_without(none, "in a container with pids of its own",
				"run gpuprof on the host, or the container with --pid=host");
	return 0;
}

/* Probes failed with err. 0: none->why is set, else err. */
static int after_failure(const struct session_options *o, const struct event_sink *sink,
			 struct no_probes *none, int err)
{
	/* For a kernel without support the user has to select the helper alone. */
	if (!err || err == -ENOMEM || err == -ENOTSUP || err == -EMFILE ||
	    !may_do_without(o))
		return err;
	live_push_note(sink, NOTE_WITHOUT_PROBES, 0,
		       "going on without probes: calls are told by the helper alone");
	return do_without(none, "BPF cannot be used here", "gpuprof doctor tells more");
}

/* ---- the files of one process ---------------------------------------------------------------- */

/* Also a family.on_new: new members are followed before their children are looked for. */
static int follow(void *source, pid_t pid)
{
	const struct probe_source *p = source;
	int err = loader_follow(p->loader, pid);

	if (err)
		log_error("cannot follow process %d: %s; %s", pid, strerror(-err), err == -E2BIG ?
			  "choose fewer than 65,536 processes, or give -a" : "see gpuprof doctor");
	return err;
}

struct scan {			/* over processes that are attached to */
	struct probe_source *p;
	pid_t filter;		/* of the probes that are made; 0: none */
	unsigned int denied;	/* processes that could not be read */
	pid_t denied_pid;	/* one of them */
	bool uses;		/* the process that is being read has something to probe */
	int err;		/* of attaching, logged; ends the scan */
};

static int on_file(void *ctx, const struct target_file *file)
{
	struct scan *scan = ctx;
	struct attach_result result;

	scan->err = attach_file(scan->p->attach, file, scan->filter, &result);
	scan->uses |= !scan->err && result.has_calls;
	return scan->err;
}

/* 0 or -errno: ESRCH, an error of attaching. */
static int attach_pid(struct scan *scan, pid_t pid)
{
	pid_t *user;
	int err;

	scan->uses = false;
	err = target_each_file(pid, on_file, scan);
	if (!err && scan->uses && scan->p->inflight)
		err = inflight_add(scan->p->inflight, pid);
	if (!err && scan->uses) {
		/* It may have a helper, which is woken once the probes are made. */
		user = VEC_PUSH(&scan->p->targets->users);
		if (!user)
			return -ENOMEM;
		*user = pid;
	}
	if (err == -EACCES || err == -EPERM) {
		scan->denied++;
		scan->denied_pid = pid;
		return 0;
	}
	return err;
}

/* A process that has ended is no error. */
static int attach_living(void *scan, pid_t pid)
{
	int err = attach_pid(scan, pid);

	return err == -ESRCH ? 0 : err;
}

/* ---- -p: processes and all that is below them ------------------------------------------------ */

/* More than these are probed without filters: each filter looks at every hit of the others. */
#define WATCHES_MAX 16
#define FILTERS_MAX 4	/* named processes that use one library, before it is probed for all */

#define WALKS_MAX 8	/* over processes that keep forking */

/* Until a walk finds no new process: BPF follows a member's child once the member is followed. */
static int walk_family(const struct probe_source *p, struct family *f)
{
	const struct session_options *o = p->targets->o;
	size_t before = SIZE_MAX;
	int err = family_add(f, o->pids, o->n_pids, false);

	for (int i = 0; i < WALKS_MAX && !err && !o->isolate && f->members.n != before; i++) {
		before = f->members.n;
		err = family_add(f, o->pids, o->n_pids, true);
	}
	return err;
}

/* A child that ended meanwhile is no error. */
static int watch_members(struct probe_source *p, const struct family *f)
{
	int err = 0;

	for (size_t i = 0; i < f->members.n && !err; i++) {
		const struct family_member *m = &f->members.v[i];

		err = worker_watch(p->worker, m->pid, m->named);
		if (err == -ESRCH && m->pid != m->named)
			err = 0;
		else if (err == -ESRCH)
			log_error("process %d ended before it could be profiled", m->pid);
	}
	return err;
}

static int watch_family(struct probe_source *p, struct family *f)
{
	int err = walk_family(p, f);

	if (err)
		return err;
	if (p->targets->o->isolate || f->members.n <= WATCHES_MAX)
		return watch_members(p, f);
	err = worker_watch(p->worker, -1, 0);
	p->rules.only_followed = true;
	if (!err)
		err = attach_hand_over(p->attach);
	return err ? err : walk_family(p, f);	/* born before there was a watch */
}

static int is_wanted(void *ctx, const struct target_file *file)
{
	return attach_wants(ctx, file);
}

static bool uses_library(const struct probe_source *p, pid_t pid)
{
	return target_each_file(pid, is_wanted, p->attach) > 0;
}

/* One process that uses a library, or few that were named: filters keep probes out of others. */
static int choose_filters(struct probe_source *p, const struct family *f)
{
	unsigned int users = 0, below = 0;

	if (p->targets->o->isolate || f->members.n < 2)
		return 0;
	for (size_t i = 0; i < f->members.n; i++) {
		const struct family_member *m = &f->members.v[i];

		if (!uses_library(p, m->pid))
			continue;
		users++;
		below += m->pid != m->named;
	}
	return (below && users > 1) || users > FILTERS_MAX ? attach_hand_over(p->attach) : 0;
}

/* Processes that were to be attached to. */
static void note_denied(const struct scan *scan)
{
	char others[32] = "";

	if (scan->denied > 1)
		snprintf(others, sizeof(others), " and %u more", scan->denied - 1);
	if (scan->denied)
		live_push_note(scan->p->live.sink, NOTE_PROCESSES_UNREADABLE, 0,
			       "process %d%s could not be read: permission denied; %s; libraries "
			       "used by no other are not probed", scan->denied_pid, others,
			       denied_reading());
}

static int attach_members(struct probe_source *p, const struct family *f)
{
	struct scan below = { .p = p };
	int err = 0;

	for (size_t i = 0; i < f->members.n && !err; i++) {
		const struct family_member *m = &f->members.v[i];
		struct scan scan = { .p = p, .filter = m->pid };

		err = attach_pid(&scan, m->pid);
		if (m->pid != m->named) {
			below.denied += scan.denied;
			below.denied_pid = scan.denied ? m->pid : below.denied_pid;
			err = err == -ESRCH ? 0 : err;
		} else if (err == -ESRCH) {
			log_error("process %d ended before it could be profiled", m->pid);
		} else if (!err && scan.denied) {
			log_error("cannot read what process %d maps: permission denied; %s",
				  m->pid, denied_reading());
			err = -EPERM;
		}
	}
	note_denied(&below);
	return err;
}

static int attach_named(struct probe_source *p)
{
	struct family f = { .on_new = follow, .ctx = p };
	int err;

	p->rules.follow_children = !p->targets->o->isolate;
	err = watch_family(p, &f);
	if (!err)
		err = choose_filters(p, &f);
	if (!err)
		err = attach_members(p, &f);
	family_free(&f);
	return err;
}

/* ---- -a, -- CMD ------------------------------------------------------------------------------ */

static int attach_all(struct probe_source *p)
{
	struct scan scan = { .p = p };
	int err = worker_watch(p->worker, -1, 0);

	if (!err)
		err = target_each_pid(attach_living, &scan);
	note_denied(&scan);
	return err;
}

static int attach_command(struct probe_source *p)
{
	const char *name = p->targets->o->cmd[0];
	struct scan scan = { .p = p };
	int err = follow(p, p->targets->command.pid);

	if (!err)
		err = worker_watch(p->worker, p->targets->command.pid, 0);
	if (err)
		return err;
	err = target_expect(p->targets->o->cmd, environ, catalog_wants_file, on_file, &scan);
	if (err == -ENOENT) {
		bool there = strchr(name, '/') && !access(name, F_OK);

		return command_cannot_run(&p->targets->command, name, there ? -EACCES : -ENOENT);
	}
	/* Unreadable files are noticed when they are mapped, and exec reports a command that
	 * cannot be run. */
	return err == -ENOMEM ? err : scan.err;
}

/* ---- selectors ------------------------------------------------------------------------------- */

/*
 * Processes that match when the session begins are attached with all below them; those that
 * begin to match later join them (probe/recheck.h). One watch of the host; the set of pids in
 * BPF decides which are recorded.
 */

/* Those that use a library now: they have a name in the report, calls or not. */
static int list_users(struct probe_source *p, const struct selection *found)
{
	for (size_t i = 0; i < found->all.n; i++) {
		pid_t pid = found->all.v[i].pid, *slot;

		if (!uses_library(p, pid))
			continue;
		slot = VEC_PUSH(&p->targets->chosen);
		if (!slot)
			return -ENOMEM;
		*slot = pid;
	}
	return 0;
}

static void report_selection(const struct scan *scan, const struct selection *found)
{
	const struct session_options *o = scan->p->targets->o;
	struct strbuf sb = STRBUF_INIT;

	selection_describe(found, o->selector, &sb);
	if (found->matches)
		log_info("%s", sb.s);
	else
		log_info("%s yet; waiting for one to start, %s", sb.s,
			 o->duration_ns ? "as long as -d says" : "until Ctrl-C");
	strbuf_free(&sb);
	if (found->denied)
		live_push_note(scan->p->live.sink, NOTE_MATCH_UNKNOWN, 0,
			       "of %u process%s it cannot be told whether they match: permission "
			       "denied; %s", found->denied, found->denied == 1 ? "" : "es",
			       denied_reading());
	note_denied(scan);
}

static int attach_selected(struct probe_source *p)
{
	const struct session_options *o = p->targets->o;
	struct selection found = { .denied = 0 };
	struct scan scan = { .p = p };
	int err = worker_watch(p->worker, -1, 0);

	p->rules.only_followed = true;
	p->rules.follow_children = !o->isolate;
	if (!err)
		err = selection_find(&found, o->selector, !o->isolate);
	for (size_t i = 0; i < found.all.n && !err; i++)
		err = follow(p, found.all.v[i].pid);
	if (!err)
		err = list_users(p, &found);
	/* While one process uses a library, the kernel keeps probes out of all others. */
	scan.filter = p->targets->chosen.n == 1 ? p->targets->chosen.v[0] : 0;
	p->rules.filter = scan.filter;
	p->rules.match = (struct target_match){ .selector = o->selector, .loader = p->loader,
						.below = !o->isolate };
	if (!err && !scan.filter)
		err = attach_hand_over(p->attach);
	for (size_t i = 0; i < found.all.n && !err; i++)
		err = attach_living(&scan, found.all.v[i].pid);
	if (!err)
		report_selection(&scan, &found);
	selection_free(&found);
	return err;
}

static int attach_targets(struct probe_source *p)
{
	const struct session_options *o = p->targets->o;
	int err = o->n_pids   ? attach_named(p) :
		  o->selector ? attach_selected(p) :
		  o->cmd      ? attach_command(p) :
				attach_all(p);

	return err ? err : attach_begin(p->attach);
}

/* ---- launches -------------------------------------------------------------------------------- */

static int on_event(void *ctx, const struct event *ev)
{
	struct probe_source *p = ctx;

	if (ev->kind == EVENT_CALL)
		launches_push(p->launches, ev);
	if (p->budget && probe_budget_push(p->budget, ev))
		return -ENOMEM;
	return p->live.sink->push(p->live.sink->ctx, ev);
}

static bool has_ended(void *ctx, pid_t pid)
{
	(void)ctx;
	return target_process_ended(pid);
}

/* Then the processes are unarmed. */
static bool is_off_for_budget(const struct probe_source *p)
{
	return p->wish == WISH_NONE || p->wish == WISH_BACK;
}

static void note_choice(struct probe_source *p, const struct attach_launches *now, uint64_t now_ns)
{
	const bool probed = now->until > PLAN_RUNTIME_LAUNCHES;

	if (p->chosen_ns && !is_off_for_budget(p))
		p->probed_ns[now->until] += now_ns - p->chosen_ns;
	p->chosen_ns = now_ns;
	if (probed && p->unprobed.until_ns == UINT64_MAX && now->since_ns > p->unprobed.since_ns)
		p->unprobed.until_ns = now->since_ns;
}

/* CUPTI did not record a process: its launches were not seen where they were not probed either. */
static int note_gap(struct live_source *l, const struct event *ev)
{
	struct probe_source *p = probes_of(l);
	uint64_t from, to;

	if (p->budget && ev->kind == EVENT_PROCESS)
		return probe_budget_push(p->budget, ev);
	if (ev->kind != EVENT_UNSEEN || ev->unseen.why != UNSEEN_UNKNOWN ||
	    ev->unseen.of == UNSEEN_OF_MEMORY || !p->unprobed.since_ns ||
	    p->unprobed_for_budget)
		return 0;	/* unarmed, then */
	from = num_max(ev->start_ns, p->unprobed.since_ns);
	to = num_min(ev->end_ns, p->unprobed.until_ns);
	if (from < to) {
		p->gap_ns += to - from;
		p->gap_pid = ev->pid;
	}
	return 0;
}

static void push_gap(struct probe_source *p)
{
	if (p->gap_ns)
		live_push_note(p->live.sink, NOTE_LAUNCHES_UNSEEN, (pid_t)p->gap_pid,
			       "process %u made launches in %.3g s that are not counted: none was "
			       "probed as CUPTI recorded them, and then it did not; --launch both "
			       "probes each", p->gap_pid, (double)p->gap_ns / NS_PER_SEC);
	p->gap_ns = 0;
}

/* CUPTI's records of what is seen no more are read from now on, whenever that is. For the budget
 * probes come back for moments: records of before come when they are there again, and those of
 * calls that were probed are known. */
static void leave_to_records(struct probe_source *p, uint64_t now_ns)
{
	const bool for_budget = is_off_for_budget(p);

	if (p->unprobed.until_ns == UINT64_MAX)
		return;
	if (!for_budget || !p->unprobed_for_budget)
		p->unprobed.since_ns = now_ns;
	p->unprobed.until_ns = UINT64_MAX;
	p->unprobed_for_budget = for_budget;
}

static void wish(struct probe_source *p, const struct attach_launches *now, enum plan_part until,
		 uint64_t now_ns)
{
	if (until <= PLAN_RUNTIME_LAUNCHES)
		leave_to_records(p, now_ns);
	/* Above the budget, processes that come do not change that. */
	worker_set_launches(p->worker, now, until, p->wish == WISH_NONE);
}

static void look_at_budget(struct probe_source *p, const struct worker_facts *facts,
			   uint64_t now_ns)
{
	const struct probe_budget_now look = {
		.now_ns = now_ns, .launches = facts->launches, .outcomes = facts->outcomes,
		.is_recorded = p->is_recorded, .ctx = p->recorded_ctx,
		.records_would_do = p->wants_launches,
	};
	struct probe_budget_choice choice;

	if (!p->budget)
		return;
	choice = probe_budget_look(p->budget, &look);
	p->wish = choice.wish;
	p->live.is_busy = choice.is_close;
}

/* Records of CUPTI stand for launches where nothing wants their probes, or these cost too much. */
static bool records_do(const struct probe_source *p)
{
	return !p->wants_launches || p->wish == WISH_RECORDS;
}

static void choose_launches(struct probe_source *p)
{
	const struct worker_facts worker = worker_facts(p->worker);
	const struct attach_launches now = worker.launches;
	const uint64_t now_ns = time_now_ns();
	struct launches_facts facts = { NULL, has_ended, p->recorded_ctx, now_ns };
	enum plan_part until;
	pid_t pid;

	note_choice(p, &now, now_ns);
	look_at_budget(p, &worker, now_ns);
	if (records_do(p))
		facts.is_recorded = p->is_recorded;
	until = p->wish == WISH_NONE ? PLAN_RUNTIME_LAUNCHES :
		p->wish == WISH_BACK ? launches_needed(p->launches, &facts) :
				       launches_choose(p->launches, &now, &facts);
	if (until != now.until || now.stays != (p->wish == WISH_NONE))
		wish(p, &now, until, now_ns);
	/* The helper has reported all of it by then. */
	if (now.until == PLAN_PARTS && now_ns > now.since_ns + NS_PER_SEC)
		push_gap(p);
	pid = launches_surprise(p->launches);
	if (pid)
		live_push_note(p->live.sink, NOTE_LAUNCHES_UNSEEN, pid,
			       "process %d calls the driver itself, too: launches there were not "
			       "probed, up to %u s before that was seen; --launch both probes each",
			       pid, (unsigned int)(LAUNCHES_LOOK_NS / NS_PER_SEC));
}

static int read_launches(struct live_source *l)
{
	if (probes_of(l)->launches)
		choose_launches(probes_of(l));
	return 0;
}

/* Levels of operators (enum ops_level); 0: none. Not in every process of the host. */
static unsigned int ops_levels(const struct session_options *o)
{
	if (o->all)
		return 0;
	return (o->torch ? 1u << o->torch : 0) | (o->gemms ? 1u << OPS_GEMMS : 0);
}

static struct live_unprobed unprobed_launches(struct live_source *l,
					      bool (*is_recorded)(void *ctx, pid_t pid), void *ctx)
{
	struct probe_source *p = probes_of(l);

	if (p->targets->o->launch == LAUNCH_HELPER)
		return (struct live_unprobed){ 1, UINT64_MAX };
	/* A stack is taken, and an operator is noted, where a call is probed. */
	p->wants_launches = p->needs_launches || p->targets->o->stacks || ops_levels(p->targets->o);
	p->is_recorded = is_recorded;
	p->recorded_ctx = ctx;
	return p->unprobed;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool takes_stacks(const struct session_options *o)
{
	return o->stacks || (!o->no_stacks && !o->all);
}

/* 0 or -errno, logged unless -ENOMEM. */
static int start_loader(struct probe_source *p)
{
	const struct session_options *o = p->targets->o;
	struct loader_options lo = {
		.way = (enum loader_way)o->attach,
		.ring_bytes = o->ring_bytes,
		.follow_all = o->all,
		.follow_children = o->cmd || !o->isolate,
		.off_cpu = o->off_cpu == OFF_CPU_ON || (o->off_cpu == OFF_CPU_AUTO && !o->all),
		.stack_bytes = takes_stacks(o) ? (uint32_t)o->stack_bytes : 0,
		.all_stacks = o->stacks,
		.ops = ops_levels(o),
		.shapes = o->shapes,
		.marks = o->torch_memory && !o->all,
	};
	const struct plan_rules rules = { .tier = (unsigned int)o->tier,
					  .asks = !o->all,
					  .ops = ops_levels(o),
					  .shapes = o->shapes,
					  .marks = o->torch_memory && !o->all,
					  .step_limit_ns = o->step_limit_ns,
					  .launch = (enum plan_launch)o->launch };

	p->loader = loader_new(&lo);
	if (!p->loader)
		return errno == ENOMEM ? -EIO : -errno;	/* logged */
	if (o->launch == LAUNCH_AUTO && !loader_facts(p->loader).probes_max) {
		p->launches = launches_new();
		if (o->budget > 0)
			p->budget = probe_budget_new(o->budget, p->loader, p->live.sink);
		if (!p->launches || (o->budget > 0 && !p->budget))
			return live_cannot("count launches", errno);
		p->bpf.sink = (struct event_sink){ on_event, p };
	} else if (o->budget > 0) {
		live_push_note(p->live.sink, NOTE_BUDGET, 0,
			       "budget: not kept: probes of this kernel (--attach perf) take too "
			       "long to be taken off and made again");
	}
	p->attach = attach_new(p->loader, &rules);
	p->inflight = inflight_new(p->loader, (unsigned int)o->tier);
	if (p->attach)
		p->worker = worker_new(p->attach, p->inflight, takes_stacks(o) ? p->loader : NULL);
	if (!p->worker)
		return live_cannot("watch what is mapped", errno);
	p->bpf.drain = drain_start(loader_facts(p->loader).calls_fd,
				   loader_facts(p->loader).tasks_fd);
	return p->bpf.drain ? 0 : live_cannot("read the ring buffers", errno);
}

static void release(struct live_source *l)
{
	struct probe_source *p = probes_of(l);

	worker_free(p->worker);
	inflight_free(p->inflight);
	attach_free(p->attach);
	drain_free(p->bpf.drain);
	launches_free(p->launches);
	probe_budget_free(p->budget);
	p->launches = NULL;
	p->budget = NULL;
	p->worker = NULL;
	p->inflight = NULL;
	p->attach = NULL;
	p->bpf.drain = NULL;
}

/* WAY_PERF: waits for breakpoints that the kernel is still taking off. */
static void free_source(struct live_source *l)
{
	release(l);
	loader_free(probes_of(l)->loader);
	free(l);
}

static const struct live_source_ops ops;

static struct probe_source *new_source(const struct probe_plan *plan)
{
	struct probe_source *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->live = (struct live_source){ .ops = &ops, .sink = plan->sink, .fds = { -1, -1 } };
	p->targets = plan->targets;
	p->needs_launches = plan->needs_launches;
	p->bpf.decoder = plan->decoder;
	p->bpf.sink = *plan->sink;
	return p;
}

int probe_source_open(struct live_source **out, const struct probe_plan *plan,
		      struct no_probes *none)
{
	const struct session_options *o = plan->targets->o;
	struct probe_source *p;
	int err = choose(o, none);

	*out = NULL;
	if (err || none->why)
		return err;
	p = new_source(plan);
	if (!p)
		return -ENOMEM;
	err = after_failure(o, plan->sink, none, start_loader(p));
	if (!err && !none->why)
		err = attach_targets(p);
	if (err || none->why) {
		free_source(&p->live);
		return err;
	}
	p->live.fds[0] = drain_fd(p->bpf.drain);
	p->live.fds[1] = worker_facts(p->worker).fd;
	if (loader_facts(p->loader).way == WAY_PERF)	/* also for files loaded later */
		p->live.caps = 1ull << CAP_SYS_ADMIN;
	*out = &p->live;
	return 0;
}

static int begin(struct live_source *l, uint64_t start_ns)
{
	struct probe_source *p = probes_of(l);

	p->rules.armed_ns = start_ns;
	return p->inflight ? inflight_find(p->inflight, start_ns, l->sink) : 0;
}

static int run(struct live_source *l, struct capture_sink *keep)
{
	return worker_run(probes_of(l)->worker, &probes_of(l)->rules, keep);
}

static bool left_out(struct live_source *l, unsigned int *noted, bool rows[GP_ROWS_MAX])
{
	const struct worker_facts facts = worker_facts(probes_of(l)->worker);

	if (facts.noted == *noted)
		return false;
	*noted = facts.noted;
	for (unsigned int row = 0; row < GP_ROWS_MAX; row++)
		rows[row] = facts.outcomes[row] &
			    (PLAN_TOO_DEAR | PLAN_REFUSED | PLAN_LEFT_OUT | PLAN_FAILED);
	return true;
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* INSIDE comes before the thread's next events. The sink remembers errors. */
static void pump(struct live_source *l)
{
	struct probe_source *p = probes_of(l);

	worker_pump(p->worker, l->sink);
	bpf_source_pump(&p->bpf);
}

static void pump_drain(void *ctx)
{
	bpf_source_pump(ctx);
}

static void catch_up(struct live_source *l)
{
	drain_catch_up(probes_of(l)->bpf.drain, pump_drain, &probes_of(l)->bpf);
}

struct off_reading {
	struct bpf_source *live;
	uint64_t until_ns;
};

static void on_off(void *ctx, const void *rec, size_t len)
{
	const struct off_reading *r = ctx;

	bpf_source_push_off(r->live, rec, len, r->until_ns);
}

/* A thread that is off the CPU all the time has no record of it yet. */
static void cut(struct live_source *l, uint64_t until_ns)
{
	struct probe_source *p = probes_of(l);
	struct off_reading r = { &p->bpf, until_ns };

	if (loader_each_off(p->loader, on_off, &r))
		live_push_note(l->sink, NOTE_OFF_CPU_UNREAD, 0,
			       "cannot read who is off the CPU: what began before this "
			       "interval's end and goes on is shown as other");
}

/* ---- counters -------------------------------------------------------------------------------- */

static const char *const kind_names[GP_KINDS] = {
	[GP_CALL] = "call", [GP_ENTER] = "enter", [GP_OPEN] = "open",
	[GP_TASK_NEW] = "thread", [GP_TASK_EXIT] = "exit", [GP_TASK_FORK] = "fork",
	[GP_TASK_EXEC] = "exec", [GP_STACK] = "stack",
	[GP_OFF] = "off",
	[GP_PYTHON] = "stack-python", [GP_PYTHON_CODE] = "stack-code", [GP_OP] = "op",
	[GP_MODULE] = "module", [GP_SHAPE] = "shape", [GP_GEMM] = "gemm",
	[GP_ASKS] = "asks",
};

/* The kernel's counters; the worker counts the events of its own ring. */
static int read_counters(struct probe_source *p, struct gp_counts *c)
{
	static const uint8_t kinds[] = { GP_STACK, GP_PYTHON, GP_PYTHON_CODE };
	const struct worker_facts facts = worker_facts(p->worker);

	for (size_t i = 0; i < sizeof(kinds); i++)
		p->bpf.received[kinds[i]] = facts.stacks_received[kinds[i]];
	return loader_counts(p->loader, c);
}

/* A hit that is neither received nor lost is on its way, and counted in the next file. */
static void push_counts(struct live_source *l, const struct event_sink *to)
{
	struct probe_source *p = probes_of(l);
	struct gp_counts c;

	if (read_counters(p, &c))
		return;
	for (int k = 1; k < GP_KINDS; k++)
		if (k < GP_PYTHON || c.hits[k])
			live_push_count(to, "uprobe", kind_names[k], p->bpf.received[k],
					c.lost[k] + (k == GP_OP ? c.deep : 0));
	if (c.no_state)
		live_push_count(to, "uprobe", "unplaced", 0, c.no_state);
	if (p->bpf.invalid)
		live_push_count(to, "uprobe", "malformed", 0, p->bpf.invalid);
	if (p->bpf.skipped)
		live_push_count(to, "uprobe", "unknown", 0, p->bpf.skipped);
	live_push_fact(to, counter_name(COUNTER_NESTED), "%" PRIu64, c.nested);
	live_push_fact(to, counter_name(COUNTER_REACHED), "%" PRIu64, c.reached);
	live_push_fact(to, counter_name(COUNTER_ABANDONED), "%" PRIu64, c.abandoned);
	live_push_fact(to, counter_name(COUNTER_FOREIGN), "%" PRIu64, c.foreign);
	live_push_fact(to, counter_name(COUNTER_UNFOLLOWED), "%" PRIu64, c.unfollowed);
	live_push_fact(to, counter_name(COUNTER_SILENT), "%" PRIu64, c.silent);
}

/* After stop: nothing is on its way. */
static void check_counts(struct probe_source *p)
{
	struct gp_counts c;

	if (read_counters(p, &c))
		return;
	for (int k = 1; k < GP_KINDS; k++)
		if (c.hits[k] != p->bpf.received[k] + c.lost[k])
			live_push_note(p->live.sink, NOTE_COUNTERS_UNBALANCED, 0,
				       "%s records do not add up: %" PRIu64 " hits, %" PRIu64
				       " received, %" PRIu64 " lost; please report this",
				       kind_names[k], c.hits[k], p->bpf.received[k], c.lost[k]);
	if (c.unfollowed)
		live_push_note(p->live.sink, NOTE_TOO_MANY_CHILDREN, 0,
			       "%" PRIu64 " child processes were not followed: more than 65,536 "
			       "at a time are not; give -a", c.unfollowed);
	if (p->bpf.invalid || p->bpf.skipped)
		live_push_note(p->live.sink, NOTE_RECORDS_MALFORMED, 0,
			       "%" PRIu64 " malformed records and %" PRIu64 " of unknown kinds "
			       "came from the kernel side; please report this", p->bpf.invalid,
			       p->bpf.skipped);
}

/* ---- facts ----------------------------------------------------------------------------------- */

/*
 * The limits of the probes: whose calls are followed to the return, the cost of a hit, which
 * functions are single-stepped or left out. Pushed when probes are made and again at the end,
 * since libraries come later.
 */

#define LIST_MAX 3900		/* bytes of names; texts of facts are cut at 4096 */

static const char *const returns_names[] = {
	[GP_RETURNS_ALL] = "all", [GP_RETURNS_NO_SECCOMP] = "not under seccomp",
	[GP_RETURNS_NONE] = "none",
};

static const struct {
	const char *key;
	uint8_t outcome;
} lists[] = {
	{ "stepped", PLAN_STEPPED },
	{ "too_dear", PLAN_TOO_DEAR },
	{ "refused", PLAN_REFUSED },
};

/* "cuFoo,cuBar", or "cuFoo,cuBar,+12 more" where that is too long. */
static void push_list(struct probe_source *p, const char *key, uint8_t outcome)
{
	struct strbuf names = STRBUF_INIT;
	unsigned int more = 0;

	for (unsigned int row = 1; row < catalog_n_rows(); row++) {
		if (!(attach_outcome(p->attach, row) & outcome))
			continue;
		if (names.len < LIST_MAX)
			strbuf_addf(&names, "%s%s", names.len ? "," : "", catalog_row(row)->name);
		else
			more++;
	}
	if (more)
		strbuf_addf(&names, ",+%u more", more);
	if (names.len)
		live_push_fact(p->live.sink, key, "%s", names.s);
	strbuf_free(&names);
}

static const char *whose_launches(const struct probe_source *p)
{
	static const char *const modes[] = {
		[LAUNCH_AUTO] = "auto: of the runtime and of the driver, where they are needed",
		[LAUNCH_BOTH] = "both: of the runtime and of the driver",
		[LAUNCH_RUNTIME] = "runtime: of the runtime alone",
		[LAUNCH_DRIVER] = "driver: of the driver alone",
		[LAUNCH_HELPER] = "helper: none, CUPTI records them",
	};

	return p->targets->o->launch == LAUNCH_RUNTIME && attach_probes_driver(p->attach) ?
	       "runtime: of the runtime, and of the driver for a process without one to probe" :
	       modes[p->targets->o->launch];
}

static void push_reach(struct probe_source *p)
{
	unsigned int probed = 0, unprobed = 0;

	for (size_t i = 0; i < attach_count(p->attach); i++) {
		probed += attach_get(p->attach, i)->result.probes;
		unprobed += attach_get(p->attach, i)->result.left_out;
	}
	live_push_fact(p->live.sink, "functions_probed", "%u", probed);
	live_push_fact(p->live.sink, "functions_left_out", "%u", unprobed);
	live_push_fact(p->live.sink, "launch", "%s", whose_launches(p));
	live_push_fact(p->live.sink, "launches_by_runtime_ns", "%" PRIu64,
		       p->probed_ns[PLAN_DRIVER_LAUNCHES]);
	live_push_fact(p->live.sink, "launches_by_cupti_ns", "%" PRIu64,
		       p->probed_ns[PLAN_RUNTIME_LAUNCHES]);
	if (p->budget)
		probe_budget_describe(p->budget);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		push_list(p, lists[i].key, lists[i].outcome);
}

static void push_libraries(struct probe_source *p)
{
	char key[32];

	for (size_t i = 0; i < attach_count(p->attach); i++) {
		const struct attach_info *info = attach_get(p->attach, i);

		snprintf(key, sizeof(key), "library.%zu", i);
		live_push_fact(p->live.sink, key,
			       "%s probes=%u too_dear=%u refused=%u left_out=%u build_id=%s",
			     info->path, info->result.probes, info->result.too_dear,
			     info->result.refused, info->result.left_out, info->build_id);
	}
}

/* By session/sched_source.h, which costs less than the scheduler's events and knows less. */
static bool is_off_cpu_sampled(const struct probe_source *p)
{
	return p->targets->o->off_cpu == OFF_CPU_AUTO && proc_pids_are_hosts();
}

static void describe(struct live_source *l)
{
	struct probe_source *p = probes_of(l);
	const struct loader_facts facts = loader_facts(p->loader);
	const struct event_sink *to = l->sink;

	live_push_fact(to, "attach", "%s", loader_way_name(facts.way));
	live_push_fact(to, "returns", "%s", returns_names[facts.returns]);
	live_push_fact(to, "cost_per_hit_ns", "%" PRIu64, facts.call_cost_ns);
	live_push_fact(to, "cost_per_nested_ns", "%" PRIu64, facts.nested_cost_ns);
	live_push_fact(to, "cost_per_step_ns", "%" PRIu64, facts.step_cost_ns);
	live_push_fact(to, "stacks", "%s",
		       facts.stacks_fd < 0 ? "none" : p->targets->o->stacks ? "all" : "sampled");
	live_push_fact(to, "off_cpu", "%s",
		       facts.off_cpu	     ? "recorded" :
		       is_off_cpu_sampled(p) ? SCHED_SAMPLED :
					       "not recorded");
	if (facts.off_cpu)
		live_push_fact(to, "off_cpu_calls",
			       "the last wait for a CPU of %llu ns or more", GP_LATE_MIN_NS);
	push_reach(p);
	push_libraries(p);
}

/* ---- the end --------------------------------------------------------------------------------- */

struct records {		/* all of one size, one behind the other; start zeroed */
	void *v;
	size_t n, cap;
	bool full;		/* out of memory */
};

static void keep(void *ctx, const void *rec, size_t len)
{
	struct records *r = ctx;
	void *slot = vec_push(&r->v, &r->n, &r->cap, len);

	if (slot)
		memcpy(slot, rec, len);
	r->full |= !slot;
}

struct states {
	struct records all;		/* struct loader_state */
	struct records off;		/* struct gp_off, of threads that are off the CPU */
	struct records ops;		/* struct gp_op */
};

static void push_states(struct probe_source *p, struct states *states, uint64_t now_ns)
{
	const struct loader_state *all = states->all.v;
	const struct gp_off *off = states->off.v;
	const struct gp_op *op = states->ops.v;

	for (size_t i = 0; i < states->all.n; i++)
		bpf_source_push_state(&p->bpf, &all[i], sizeof(all[i]), now_ns);
	/* Behind the last numbers, so that holes before them are known. */
	for (size_t i = 0; i < states->off.n; i++)
		bpf_source_push_off(&p->bpf, &off[i], sizeof(off[i]), now_ns);
	for (size_t i = states->ops.n; i-- > 0;)	/* the innermost first */
		bpf_source_push_op(&p->bpf, &op[i], sizeof(op[i]), now_ns);
	free(states->all.v);
	free(states->off.v);
	free(states->ops.v);
}

/* The sink remembers errors. */
static int stop(struct live_source *l, uint64_t now_ns)
{
	struct probe_source *p = probes_of(l);
	struct states states = { 0 };

	worker_stop(p->worker);
	worker_pump(p->worker, l->sink);
	if (p->inflight)
		inflight_stop(p->inflight, l->sink);
	loader_detach(p->loader);
	/* At once, since a thread that ends takes its state with it. */
	if (loader_each_off(p->loader, keep, &states.off) ||
	    loader_each_state(p->loader, keep, &states.all) ||
	    loader_each_op(p->loader, keep, &states.ops) || states.off.full ||
	    states.all.full || states.ops.full)
		live_push_note(l->sink, NOTE_STATES_UNREAD, 0, "cannot read the threads' last "
			       "states; calls still open are not shown");
	push_gap(p);
	drain_finish(p->bpf.drain, pump_drain, &p->bpf);
	worker_finish_stacks(p->worker);
	worker_pump(p->worker, l->sink);
	push_reach(p);
	push_states(p, &states, now_ns);
	check_counts(p);
	push_counts(l, l->sink);
	return 0;
}

static void explain_empty(const struct live_source *l, struct strbuf *why)
{
	const struct probe_source *p = (const struct probe_source *)l;
	unsigned int probes = 0, refused = 0;
	size_t files = attach_count(p->attach);

	for (size_t i = 0; i < files; i++) {
		const struct attach_result *r = &attach_get(p->attach, i)->result;

		probes += r->probes;
		refused += r->too_dear + r->refused;
	}
	if (worker_facts(p->worker).missed)
		strbuf_addf(why, "what mapped a CUDA or NCCL library had ended before it could be "
			    "probed%s", p->targets->o->cmd ?
				    "" :
				    "; with `--` before the command that is done first");
	else if (probes)
		strbuf_addf(why, "%u functions in %zu file%s%s were probed, none was called and "
				 "no thread was in one", probes, files, files > 1 ? "s" : "",
			    p->targets->o->cmd ? " that it uses or might load" : "");
	else if (refused)
		strbuf_addf(why, "none of the %u functions that were found can be probed here",
			    refused);
	else
		strbuf_addf(why, "no CUDA or NCCL library was mapped%s",
			    p->targets->o->tier ?
				    "" : " (what cublas and cudnn do alone needs --tier 1)");
}

static const struct live_source_ops ops = {
	.describe = describe, .begin = begin, .run = run, .on_event = note_gap, .pump = pump,
	.catch_up = catch_up, .read = read_launches, .cut = cut, .left_out = left_out,
	.unprobed_launches = unprobed_launches, .stop = stop, .push_counts = push_counts,
	.explain_empty = explain_empty, .release = release, .free = free_source,
};

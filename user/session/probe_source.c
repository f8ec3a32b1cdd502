// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Probes are made by probe_set.c and, while the session runs, by worker.c. */
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
#include "probe/loader_read.h"
#include "session/probe_set.h"
#include "source/bpf/bpf_source.h"
#include "source/helper/ring_reader.h"

struct probe_source {
	struct live_source live;
	struct probe_set set;
	struct bpf_source bpf;
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
	return o->stacks ? "--stacks" : o->tier ? "--tier 1" :
	       o->launch != LAUNCH_AUTO ? "--launch" : NULL;
}

static bool may_do_without(const struct session_options *o)
{
	return o->attach == WAY_AUTO && !asks_for_probes(o) && have_helpers(o);
}

static int check_none(const struct session_options *o)
{
	if (asks_for_probes(o)) {
		log_error("%s needs probes, and --attach none is without", asks_for_probes(o));
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
				  "root or with "
				  "sudo, or without probes by the helper: --inject brings it into "
				  "a process "
				  "of yours",
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

/* ---- opening --------------------------------------------------------------------------------- */


/* Only -ENOMEM means that the error is not logged yet. */
static int logged(int err)
{
	return err == ENOMEM ? -EIO : -err;
}

static const char *const advice[] = {
	[EMFILE] = "; raise the limit of open files (ulimit -n)",
	[EAGAIN] = " to start a thread; raise the limit of processes (ulimit -u)",
	[ENOMEM] = "; give a smaller --ring-size, or raise the limit of memory (ulimit -v)",
};

int probe_source_cannot(const char *what, int err)
{
	const char *text = (size_t)err < sizeof(advice) / sizeof(advice[0]) ? advice[err] : NULL;

	log_error("cannot %s: %s%s", what, strerror(err), text ? text : "");
	return logged(err);
}

/* 0 or -errno, logged unless -ENOMEM. */
static int start_loader(struct probe_source *p)
{
	const struct session_options *o = p->set.targets->o;
	struct loader_options lo = {
		.way = (enum loader_way)o->attach,
		.ring_bytes = o->ring_bytes,
		.follow_all = o->all,
		.follow_children = o->cmd || !o->isolate,
		.off_cpu = o->off_cpu == OFF_CPU_ON || (o->off_cpu == OFF_CPU_AUTO && !o->all),
		.stack_bytes = o->stacks ? (uint32_t)o->stack_bytes : 0,
	};
	const struct plan_rules rules = { .tier = (unsigned int)o->tier,
					  .budget_ns = o->budget_ns,
					  .launch = (enum plan_launch)o->launch };

	p->set.loader = loader_new(&lo);
	if (!p->set.loader)
		return logged(errno);
	p->set.attach = attach_new(p->set.loader, &rules);
	p->set.inflight = inflight_new(p->set.loader, (unsigned int)o->tier);
	p->set.worker = p->set.attach ? worker_new(p->set.attach, p->set.inflight) : NULL;
	if (!p->set.worker)
		return probe_source_cannot("watch what is mapped", errno);
	p->bpf.drain = drain_start(loader_facts(p->set.loader).calls_fd,
				   loader_facts(p->set.loader).tasks_fd);
	return p->bpf.drain ? 0 : probe_source_cannot("read the ring buffers", errno);
}

static void release(struct live_source *l)
{
	struct probe_source *p = probes_of(l);

	worker_free(p->set.worker);
	inflight_free(p->set.inflight);
	attach_free(p->set.attach);
	drain_free(p->bpf.drain);
	p->set.worker = NULL;
	p->set.inflight = NULL;
	p->set.attach = NULL;
	p->bpf.drain = NULL;
}

/* WAY_PERF: waits for breakpoints that the kernel is still taking off. */
static void free_source(struct live_source *l)
{
	release(l);
	loader_free(probes_of(l)->set.loader);
	free(l);
}

static const struct live_source_ops ops;

static struct probe_source *new_source(const struct probe_plan *plan)
{
	struct probe_source *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->live = (struct live_source){ .ops = &ops, .sink = plan->sink, .fds = { -1, -1 } };
	p->set.targets = plan->targets;
	p->set.sink = plan->sink;
	p->bpf.decoder = plan->decoder;
	p->bpf.sink = *plan->sink;
	return p;
}

static void finish_opening(struct probe_source *p)
{
	p->live.fds[0] = drain_queue_fd(drain_queue_of(p->bpf.drain));
	p->live.fds[1] = worker_fd(p->set.worker);
	if (loader_facts(p->set.loader).way == WAY_PERF)	/* also for files loaded later */
		p->live.caps = 1ull << CAP_SYS_ADMIN;
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
		err = probe_set_attach(&p->set);
	if (err || none->why) {
		free_source(&p->live);
		return err;
	}
	finish_opening(p);
	*out = &p->live;
	return 0;
}

int probe_source_find_inflight(struct live_source *l, uint64_t start_ns)
{
	struct probe_source *p = probes_of(l);

	return p->set.inflight ? inflight_find(p->set.inflight, start_ns, l->sink) : 0;
}

static int start_stacks(struct probe_source *p)
{
	int err;

	if (loader_facts(p->set.loader).stacks_fd < 0)
		return 0;
	err = worker_take_stacks(p->set.worker, p->set.loader);
	return err ? probe_source_cannot("read stacks of calls", -err) : 0;
}

int probe_source_run(struct live_source *l, struct capture_sink *keep)
{
	struct probe_source *p = probes_of(l);
	int err = start_stacks(p);

	if (err)
		return err;
	err = worker_run(p->set.worker, keep);
	return err ? probe_source_cannot("probe what is mapped later", -err) : 0;
}

bool probe_source_left_out(struct live_source *l, unsigned int *noted, bool left_out[GP_ROWS_MAX])
{
	return worker_left_out(probes_of(l)->set.worker, noted, left_out);
}

/* ---- while it runs --------------------------------------------------------------------------- */

/* INSIDE comes before the thread's next events. The sink remembers errors. */
static void pump(struct live_source *l)
{
	struct probe_source *p = probes_of(l);

	worker_pump(p->set.worker, l->sink);
	bpf_source_pump(&p->bpf);
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

	if (loader_each_off(p->set.loader, on_off, &r))
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
};

static void put_counts(const struct probe_source *p, const struct gp_counts *c,
		       const struct event_sink *to)
{
	const uint64_t counters[COUNTER_END] = {
		[COUNTER_NESTED] = c->nested, [COUNTER_REACHED] = c->reached,
		[COUNTER_ABANDONED] = c->abandoned, [COUNTER_FOREIGN] = c->foreign,
		[COUNTER_UNFOLLOWED] = c->unfollowed,
	};

	for (int k = 1; k < GP_KINDS; k++)
		live_push_count(to, "uprobe", kind_names[k], p->bpf.received[k], c->lost[k]);
	if (c->no_state)
		live_push_count(to, "uprobe", "unplaced", 0, c->no_state);
	if (p->bpf.invalid)
		live_push_count(to, "uprobe", "malformed", 0, p->bpf.invalid);
	if (p->bpf.skipped)
		live_push_count(to, "uprobe", "unknown", 0, p->bpf.skipped);
	for (size_t i = 0; i < COUNTER_END; i++)
		live_push_fact(to, counter_name(i), "%" PRIu64, counters[i]);
}

static void check_counts(const struct probe_source *p, const struct gp_counts *c)
{
	for (int k = 1; k < GP_KINDS; k++)
		if (c->hits[k] != p->bpf.received[k] + c->lost[k])
			live_push_note(p->live.sink, NOTE_COUNTERS_UNBALANCED, 0,
				       "%s records do not add up: %" PRIu64 " hits, %" PRIu64
				       " received, %" PRIu64 " lost; please report this",
				       kind_names[k], c->hits[k], p->bpf.received[k], c->lost[k]);
	if (c->unfollowed)
		live_push_note(p->live.sink, NOTE_TOO_MANY_CHILDREN, 0,
			       "%" PRIu64 " child processes were not followed: more than 65,536 "
			       "at a time are not; give -a", c->unfollowed);
	if (p->bpf.invalid || p->bpf.skipped)
		live_push_note(p->live.sink, NOTE_RECORDS_MALFORMED, 0,
			       "%" PRIu64 " malformed records and %" PRIu64 " of unknown kinds "
			       "came from the kernel side; please report this", p->bpf.invalid,
			       p->bpf.skipped);
}

/* The kernel's counters; the worker counts the events of its own ring. */
static int read_counters(struct probe_source *p, struct gp_counts *c)
{
	p->bpf.received[GP_STACK] = worker_stacks_received(p->set.worker);
	return loader_counts(p->set.loader, c);
}

static void push_last_counts(struct probe_source *p)
{
	struct gp_counts c;

	if (read_counters(p, &c))
		return;
	check_counts(p, &c);
	put_counts(p, &c, p->live.sink);
}

static void push_counts(struct live_source *l, const struct event_sink *to)
{
	struct probe_source *p = probes_of(l);
	struct gp_counts c;

	if (read_counters(p, &c))
		return;
	/* A hit that is neither received nor lost is on its way, and the next file's. */
	for (int k = 1; k < GP_KINDS; k++)
		c.hits[k] = p->bpf.received[k] + c.lost[k];
	put_counts(p, &c, to);
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
		if (!(attach_outcome(p->set.attach, row) & outcome))
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
		[LAUNCH_AUTO] = "auto: of the runtime and of the driver",
		[LAUNCH_RUNTIME] = "runtime: of the runtime alone",
		[LAUNCH_DRIVER] = "driver: of the driver alone",
	};

	return attach_probes_driver(p->set.attach) ?
	       "runtime: of the runtime, and of the driver for a process without one to probe" :
	       modes[p->set.targets->o->launch];
}

static void push_numbers(struct probe_source *p)
{
	unsigned int probed = 0, left_out = 0;

	for (size_t i = 0; i < attach_count(p->set.attach); i++) {
		probed += attach_get(p->set.attach, i)->result.probes;
		left_out += attach_get(p->set.attach, i)->result.left_out;
	}
	live_push_fact(p->live.sink, "functions_probed", "%u", probed);
	live_push_fact(p->live.sink, "functions_left_out", "%u", left_out);
}

static void push_reach(struct probe_source *p)
{
	push_numbers(p);
	live_push_fact(p->live.sink, "launch", "%s", whose_launches(p));
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		push_list(p, lists[i].key, lists[i].outcome);
}

static void push_libraries(struct probe_source *p)
{
	char key[32];

	for (size_t i = 0; i < attach_count(p->set.attach); i++) {
		const struct attach_info *info = attach_get(p->set.attach, i);

		snprintf(key, sizeof(key), "library.%zu", i);
		live_push_fact(p->live.sink, key,
			       "%s probes=%u too_dear=%u refused=%u left_out=%u build_id=%s",
			     info->path, info->result.probes, info->result.too_dear,
			     info->result.refused, info->result.left_out, info->build_id);
	}
}

static void describe(struct live_source *l)
{
	struct probe_source *p = probes_of(l);
	const struct loader_facts facts = loader_facts(p->set.loader);
	const struct event_sink *to = l->sink;

	live_push_fact(to, "attach", "%s", loader_way_name(facts.way));
	live_push_fact(to, "returns", "%s", returns_names[facts.returns]);
	live_push_fact(to, "cost_per_hit_ns", "%" PRIu64, facts.call_cost_ns);
	live_push_fact(to, "cost_per_nested_ns", "%" PRIu64, facts.nested_cost_ns);
	live_push_fact(to, "cost_per_step_ns", "%" PRIu64, facts.step_cost_ns);
	live_push_fact(to, "off_cpu", "%s", facts.off_cpu ? "recorded" : "not recorded");
	if (facts.off_cpu)
		live_push_fact(to, "off_cpu_calls",
			       "the last wait for a CPU of %llu ns or more", GP_LATE_MIN_NS);
	push_reach(p);
	push_libraries(p);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void pump_drain(void *ctx)
{
	bpf_source_pump(ctx);
}

struct states {
	VEC(struct loader_state) all;
	VEC(struct gp_off) off;		/* of threads that are off the CPU */
	bool full;
};

static void on_state(void *ctx, const void *rec, size_t len)
{
	struct states *states = ctx;
	struct loader_state *slot = VEC_PUSH(&states->all);

	if (slot)
		memcpy(slot, rec, len);
	states->full |= !slot;
}

static void on_last_off(void *ctx, const void *rec, size_t len)
{
	struct states *states = ctx;
	struct gp_off *slot = VEC_PUSH(&states->off);

	if (slot)
		memcpy(slot, rec, len);
	states->full |= !slot;
}

/* At once, since a thread that ends takes its state with it. */
static void read_states(struct probe_source *p, struct states *states)
{
	if (loader_each_off(p->set.loader, on_last_off, states) ||
	    loader_each_state(p->set.loader, on_state, states) || states->full)
		live_push_note(p->live.sink, NOTE_STATES_UNREAD, 0,
			       "cannot read the threads' last states; calls still open are not "
			       "shown");
}

static void push_states(struct probe_source *p, struct states *states, uint64_t now_ns)
{
	for (size_t i = 0; i < states->all.n; i++)
		bpf_source_push_state(&p->bpf, &states->all.v[i], sizeof(states->all.v[i]),
				      now_ns);
	/* Behind the last numbers, so that holes before them are known. */
	for (size_t i = 0; i < states->off.n; i++)
		bpf_source_push_off(&p->bpf, &states->off.v[i], sizeof(states->off.v[i]), now_ns);
	VEC_FREE(&states->all);
	VEC_FREE(&states->off);
}

/* The sink remembers errors. */
static int stop(struct live_source *l, uint64_t now_ns)
{
	struct probe_source *p = probes_of(l);
	struct states states = { 0 };

	worker_stop(p->set.worker);
	worker_pump(p->set.worker, l->sink);
	if (p->set.inflight)
		inflight_stop(p->set.inflight, l->sink);
	loader_detach(p->set.loader);
	read_states(p, &states);
	drain_finish(p->bpf.drain, pump_drain, &p->bpf);
	worker_finish_stacks(p->set.worker);
	worker_pump(p->set.worker, l->sink);
	push_reach(p);
	push_states(p, &states, now_ns);
	push_last_counts(p);
	return 0;
}

static void explain_empty(const struct live_source *l, struct strbuf *why)
{
	const struct probe_source *p = (const struct probe_source *)l;
	unsigned int probes = 0, left_out = 0;
	size_t files = attach_count(p->set.attach);

	for (size_t i = 0; i < files; i++) {
		const struct attach_result *r = &attach_get(p->set.attach, i)->result;

		probes += r->probes;
		left_out += r->too_dear + r->refused;
	}
	if (probes)
		strbuf_addf(why, "%u functions in %zu file%s%s were probed, none was called and "
				 "no thread was in one", probes, files, files > 1 ? "s" : "",
			    p->set.targets->o->cmd ? " that it uses or might load" : "");
	else if (left_out)
		strbuf_addf(why, "none of the %u functions that were found can be probed here",
			    left_out);
	else if (worker_missed(p->set.worker))
		strbuf_addstr(why, "what mapped a CUDA or NCCL library had ended before it could "
				   "be probed; with `--` before the command that is done first");
	else
		strbuf_addf(why, "no CUDA or NCCL library was mapped%s",
			    p->set.targets->o->tier ?
				    "" : " (what cublas and cudnn do alone needs --tier 1)");
}

static const struct live_source_ops ops = {
	.describe = describe, .pump = pump, .cut = cut, .stop = stop, .push_counts = push_counts,
	.explain_empty = explain_empty, .release = release, .free = free_source,
};

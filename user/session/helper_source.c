// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Works without any helper. */
#include "session/helper_source.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "host/environment.h"
#include "host/proc.h"
#include "inject/install.h"
#include "inject/injectable.h"
#include "source/helper/helpers.h"
#include "target/target.h"
#include "target/target_mapping.h"

struct forked {			/* children with their parent's program and CUDA */
	struct map looked_at;		/* pid -> 1 */
	uint64_t n;
	pid_t first, parent;		/* one of them */
};

struct unloadable {		/* processes that could not load the helper */
	struct map looked_at;		/* pid -> when to look again, without probes */
	uint64_t n, next_ns;
	pid_t first;
	char comm[16];			/* its */
};

struct helper_source {
	struct live_source live;
	struct helper_plan plan;
	struct helpers *helpers;
	unsigned int left_out_noted;	/* of live_source_ops.left_out */
	uint32_t cuda_version, cuda_pushed;	/* the newest; that of the fact */
	struct map asked;		/* handle of a process -> when, of its helper */
	/* Without probes: */
	uint64_t watermark_ns;
	uint64_t looked_ns;		/* for new processes */
	size_t look_at;			/* whose turn it is then */
	struct forked forked;
	struct unloadable unloadable;
};

static struct helper_source *source_of(struct live_source *l)
{
	return (struct helper_source *)l;
}

/* ---- which processes may have one ------------------------------------------------------------ */

/* Of the whole host: a process without the helper in its environment gets one by an injection. */
static bool is_unlikely(const struct helper_source *s, pid_t pid)
{
	return s->plan.targets->o->all && !inject_may_load(pid);
}

/* This process may have one. 0 or -ENOMEM. */
static int add_target(struct helper_source *s, pid_t pid)
{
	struct helpers_process who = { .pid = pid, .own_pid = pid };

	if (ring_owner_read(pid, &who.owner))
		return 0;
	if (who.owner.own_pid)
		who.own_pid = (pid_t)who.owner.own_pid;
	who.clock_offset_ns = proc_clock_offset_ns(pid);
	who.is_unlikely = is_unlikely(s, pid);
	return helpers_add(s->helpers, &who);
}

static bool wants_whole_graphs(const struct helper_source *s)
{
	const struct session_options *o = s->plan.targets->o;

	return o->graphs == GRAPHS_WHOLE ||
	       (o->graphs == GRAPHS_AUTO && s->plan.at_intervals && o->cupti != CUPTI_SUBSCRIBE);
}

/* ---- processes that cannot load it ----------------------------------------------------------- */

/*
 * The environment names a path that does not exist as they see it, and CUDA reports nothing. They
 * are looked at while they live: when they make calls, or, without probes, while they have CUDA's
 * library mapped.
 */
#define LOOK_AGAIN_NS 100000000ull
#define LOOKS_EACH_NS 25000000ull	/* one may take some ms */
#define CANNOT_LOAD UINT64_MAX		/* in unloadable.looked_at */

static const char unseen[] =
	"its environment names the helper's file, which is not there in its root directory (in a "
	"container?)";

static int is_of_file(void *file, const struct target_mapping *m)
{
	return strstr(m->path, file) != NULL;
}

static bool has_mapped(pid_t pid, char *file)
{
	return target_each_mapping(pid, is_of_file, file) == 1;
}

/* A loaded file may have been removed since. */
static bool is_missing(pid_t pid, const char *path)
{
	int fd;

	if (!path || *path != '/' || strcmp(str_basename(path), INJECT_FILE))
		return false;
	fd = target_open_in_root(pid, path);
	if (fd >= 0)
		close(fd);
	return (fd == -ENOENT || fd == -ENOTDIR) && !has_mapped(pid, "/" INJECT_FILE);
}

static bool cannot_load(pid_t pid, char comm[16])
{
	bool cannot = false;
	struct environment env;
	struct proc_stat stat;
	const char *text;
	struct proc p;

	if (!proc_open(&p, pid)) {
		env = environment_read(&p);
		cannot = env.block && is_missing(pid, environment_find(&env, INJECT_CUDA));
		text = cannot ? proc_read(&p, PROC_STAT, NULL) : NULL;
		/* It lives: else nothing is open in it. */
		cannot = text && !proc_parse_stat(text, &stat) && stat.state != 'Z';
		if (cannot)
			memcpy(comm, stat.comm, sizeof(stat.comm));
	}
	proc_close(&p);
	return cannot;
}

static void note_unloadable(struct unloadable *u, struct map_slot *slot, const char comm[16])
{
	slot->value = CANNOT_LOAD;
	if (u->n++)
		return;
	u->first = (pid_t)slot->key;
	memcpy(u->comm, comm, sizeof(u->comm));
}

/* It makes a call. 0 or -ENOMEM. */
static int check_load_on_call(struct helper_source *s, pid_t pid)
{
	bool is_new;
	struct map_slot *slot = map_put(&s->unloadable.looked_at, (uint64_t)pid, &is_new);
	char comm[16];

	if (!slot)
		return -ENOMEM;
	if (is_new && cannot_load(pid, comm))
		note_unloadable(&s->unloadable, slot, comm);
	return 0;
}

/* Without probes, while it runs. 0 or -ENOMEM. */
static int check_load(struct helper_source *s, pid_t pid)
{
	struct unloadable *u = &s->unloadable;
	struct map_slot *slot = map_put(&u->looked_at, (uint64_t)pid, NULL);
	const uint64_t now_ns = time_now_ns();
	char comm[16];

	if (!slot)
		return -ENOMEM;
	if (now_ns < slot->value || now_ns < u->next_ns)
		return 0;
	slot->value = now_ns + LOOK_AGAIN_NS;
	u->next_ns = now_ns + LOOKS_EACH_NS;
	if (cannot_load(pid, comm) && has_mapped(pid, "/libcuda.so"))
		note_unloadable(u, slot, comm);
	return 0;
}

static void warn_unloadable(const struct helper_source *s, pid_t pid, const char *comm)
{
	live_push_note(s->live.sink, NOTE_HELPER_NOT_LOADABLE, pid,
		       "device times of process %d (%s) are not known: %s, so CUDA could not "
		       "load the helper; let it see that file (gpuprof env --for docker shows "
		       "how), or bring it in while it runs: gpuprof -p PID --inject", pid, comm,
		       unseen);
}

static void warn_unloadable_without_probes(const struct helper_source *s)
{
	const struct unloadable *u = &s->unloadable;

	if (s->plan.probes || !u->n)
		return;
	warn_unloadable(s, u->first, u->comm);
	if (u->n > 1)
		live_push_note(s->live.sink, NOTE_HELPER_NOT_LOADABLE, 0,
			       "the same holds for %" PRIu64 " more processes", u->n - 1);
}

/* ---- forked children ------------------------------------------------------------------------- */

/*
 * CUDA does not work in children that were forked from a process that uses it and run no program of
 * their own, and the helper does nothing there. Only probes see their calls fail. A child that had
 * time to execute a program, and did not, is one.
 */

/* A known child of a process that uses CUDA. 0 or -ENOMEM. */
static int add_forked(struct helper_source *s, const struct helpers_status *parent, pid_t pid)
{
	struct forked *f = &s->forked;
	struct helpers_status own;
	struct proc_stat stat;
	bool is_new;

	if (!parent->head.tag || parent->head.state == GP_HELPER_VIRGIN)
		return 0;
	if (!map_put(&f->looked_at, (uint64_t)pid, &is_new))
		return -ENOMEM;
	if (!is_new || (helpers_find(s->helpers, pid, &own) && own.head.tag) ||
	    !proc_stat_of(pid, &stat) || !stat.forked)
		return 0;
	if (!f->n++) {
		f->first = pid;
		f->parent = parent->pid;
	}
	return 0;
}

static void warn_forked(const struct helper_source *s)
{
	const struct forked *f = &s->forked;

	if (!f->n)
		return;
	live_push_note(s->live.sink, NOTE_FORKED_WITH_CUDA, f->first,
		       "process %d was forked by %d, which uses CUDA: if it calls CUDA too, that "
		       "fails, and is not seen without probes", f->first, f->parent);
	if (f->n > 1)
		live_push_note(s->live.sink, NOTE_FORKED_WITH_CUDA, 0,
			       "the same holds for %" PRIu64 " more processes", f->n - 1);
}

/* ---- without probes -------------------------------------------------------------------------- */

#define LOOK_EVERY_NS 50000000ull
#define LOOK_MAX 64		/* processes at a time */

struct below {
	struct helper_source *s;
	const struct helpers_status *parent;
};

static int meet_below(void *ctx, pid_t pid)
{
	const struct below *b = ctx;

	if (!helpers_know(b->s->helpers, pid))
		return add_target(b->s, pid);
	if (check_load(b->s, pid))
		return -ENOMEM;
	return add_forked(b->s, b->parent, pid);
}

/* A child of gpuprof's own: the command, or an orphan below it. */
static int meet_own(void *ctx, pid_t pid)
{
	struct helper_source *s = ctx;

	return helpers_know(s->helpers, pid) ? check_load(s, pid) : add_target(s, pid);
}

/* A part of the processes at a time: there may be thousands. 0 or -ENOMEM. */
static int look_below(struct helper_source *s)
{
	size_t n = helpers_count(s->helpers);
	unsigned int looked = 0;
	struct helpers_status st;

	for (size_t i = 0; i < n && looked < LOOK_MAX; i++) {
		helpers_status(s->helpers, s->look_at++ % n, &st);
		if (st.state == HELPERS_ENDED)
			continue;
		looked++;
		if (target_each_child(st.pid, meet_below, &(struct below){ s, &st }) == -ENOMEM)
			return -ENOMEM;
	}
	return 0;
}

/* Advances the watermark; looks for new child processes. */
static int scan(struct helper_source *s, uint64_t now_ns)
{
	uint64_t complete_ns = helpers_complete_ns(s->helpers, now_ns);

	if (complete_ns > s->watermark_ns) {
		s->watermark_ns = complete_ns;
		s->live.sink->push(s->live.sink->ctx,
				   &(struct event){ .kind = EVENT_WATERMARK,
						    .end_ns = complete_ns });
	}
	if (s->plan.targets->o->isolate || now_ns - s->looked_ns < LOOK_EVERY_NS)
		return 0;
	s->looked_ns = now_ns;
	if (s->plan.targets->command.pid) {
		command_reap_orphans(&s->plan.targets->command);
		if (target_each_child(getpid(), meet_own, s) == -ENOMEM)
			return -ENOMEM;
	}
	return look_below(s);
}

/* The fact `sources`: how helpers count calls, if one has been armed. */
static void push_calls_source(struct helper_source *s)
{
	static const char *const texts[] = {
		[0] = "cupti", [GP_CALLS_SINGLE] = "cupti: API records of single functions",
		[GP_CALLS_WHOLE] = "cupti: API records of all functions (before CUPTI 12.5)",
	};
	struct helpers_status st;
	unsigned int how = 0;

	for (size_t i = 0; i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		if (st.head.calls <= GP_CALLS_WHOLE && st.head.calls > how)
			how = st.head.calls;
	}
	if (!s->plan.probes)
		live_push_fact(s->live.sink, "sources", "%s", texts[how]);
	else if (how)
		live_push_fact(s->live.sink, "sources", "uprobe, %s", texts[how]);
}

/* ---- the version of CUDA --------------------------------------------------------------------- */

#define CUDA_VERSION_MAX 99990	/* the process that writes the ring may be hostile */

/* Processes may have different drivers' libraries (cuda-compat). */
static void note_cuda_version(struct helper_source *s, pid_t pid)
{
	struct helpers_status st;

	if (helpers_find(s->helpers, pid, &st) && st.head.cuda_version <= CUDA_VERSION_MAX)
		s->cuda_version = (uint32_t)num_max(s->cuda_version, st.head.cuda_version);
}

static void push_cuda_version(struct helper_source *s)
{
	if (s->cuda_version == s->cuda_pushed)
		return;
	s->cuda_pushed = s->cuda_version;
	live_push_fact(s->live.sink, "cuda_version", "%u.%u", s->cuda_version / 1000,
		       s->cuda_version % 1000 / 10);
}

/* ---- while it runs --------------------------------------------------------------------------- */

static int on_event(struct live_source *l, const struct event *ev)
{
	struct helper_source *s = source_of(l);
	const struct session_options *o = s->plan.targets->o;
	int err = 0;

	if (ev->kind == EVENT_DEVICE)
		note_cuda_version(s, (pid_t)ev->pid);
	if (ev->kind == EVENT_PROCESS)
		helpers_look_again(s->helpers, (pid_t)ev->pid);
	/* One that was forked or executed below a target, or is known to make calls, may have a
	 * helper of its own, by NVTX before it makes any. Not each that the whole host executes. */
	l->is_busy |= ev->kind == EVENT_THREAD || ev->kind == EVENT_PROCESS ||
		      ev->kind == EVENT_FORK;
	if ((ev->kind == EVENT_THREAD && !helpers_know(s->helpers, (pid_t)ev->pid)) ||
	    ((ev->kind == EVENT_PROCESS || ev->kind == EVENT_FORK) && (o->n_pids || o->cmd)))
		err = add_target(s, (pid_t)(ev->kind == EVENT_FORK ? ev->tid : ev->pid));
	if (!err && ev->kind == EVENT_THREAD)
		err = check_load_on_call(s, (pid_t)ev->pid);
	return err || ev->kind != EVENT_THREAD ? err :
	       helpers_add_thread(s->helpers, (pid_t)ev->pid, ev->tid, (uint32_t)ev->task.own_tid);
}

static bool records_launches(void *ctx, pid_t pid)
{
	const struct helper_source *s = ctx;
	struct helpers_status h;

	return helpers_find(s->helpers, pid, &h) && h.state == HELPERS_WATCHED &&
	       h.head.state == GP_HELPER_AWAKE;
}

/* Calls of functions without a probe, and launches while theirs are off, are counted by CUPTI's
 * records. Called before records are read, also before the last ones. */
static void note_unprobed(struct live_source *l)
{
	struct helper_source *s = source_of(l);
	struct live_source *probes = s->plan.probes;
	struct live_unprobed unprobed;
	bool left_out[GP_ROWS_MAX];

	if (!probes)
		return;
	if (probes->ops->left_out(probes, &s->left_out_noted, left_out))
		for (unsigned int row = 1; row < GP_ROWS_MAX; row++)
			if (left_out[row])
				helpers_leave_out(s->helpers, row);
	unprobed = probes->ops->unprobed_launches(probes, records_launches, s);
	helpers_leave_out_launches(s->helpers, unprobed.since_ns, unprobed.until_ns);
}

static int read_rings(struct live_source *l)
{
	struct helper_source *s = source_of(l);
	struct live_source *probes = s->plan.probes;
	const uint64_t now_ns = time_now_ns();
	int err;

	note_unprobed(l);
	if (probes && helpers_note(s->helpers))
		probes->ops->catch_up(probes);
	err = helpers_pump(s->helpers, now_ns, l->sink);
	l->is_busy = !probes || helpers_are_busy(s->helpers, now_ns);
	if (!err)
		push_cuda_version(s);
	return err || probes ? err : scan(s, now_ns);
}

static void push_count(const struct event_sink *to, const char *kind, uint64_t received,
		       uint64_t lost)
{
	if (received || lost)
		live_push_count(to, "helper", kind, received, lost);
}

/* Works of all helpers, and calls without probes; the table `events` has what became of them. */
static void push_counts(struct live_source *l, const struct event_sink *to)
{
	struct helper_source *s = source_of(l);
	struct helpers_totals totals;
	struct model_counts counts;

	helpers_totals(s->helpers, &totals);
	model_counts(s->plan.model, &counts);
	push_count(to, "work", totals.works, totals.lost_works);
	push_count(to, "kept-bytes", 0, totals.kept_bytes);
	if (!s->plan.probes)
		push_count(to, "call", counts.received[EVENT_CALL], totals.lost_calls);
}

static int stop(struct live_source *l, uint64_t now_ns)
{
	struct helper_source *s = source_of(l);
	int err = helpers_end(s->helpers, time_now_ns(), l->sink);

	(void)now_ns;
	if (!err)
		push_counts(l, l->sink);
	push_cuda_version(s);
	push_calls_source(s);
	return err;
}

static int finish(struct live_source *l)
{
	return helpers_end_calls(source_of(l)->helpers, l->sink);
}

/* Without probes. */
static void explain_empty(const struct live_source *l, struct strbuf *why)
{
	const struct helper_source *s = (const struct helper_source *)l;
	struct helpers_status st;
	bool any = false;

	if (s->plan.probes)
		return;
	if (s->unloadable.n) {
		strbuf_addf(why, "there are no probes, and CUDA could not load the helper in "
				 "process %d (%s): %s",
			    s->unloadable.first, s->unloadable.comm, unseen);
		return;
	}
	for (size_t i = 0; i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		any |= st.head.tag != 0;
	}
	strbuf_addstr(why, any ? "there are no probes, and CUPTI told the helper of none" :
				 "there are no probes, and no helper was loaded, which CUDA (or "
				 "NVTX) does where it is used");
}

/* ---- why a process is silent ----------------------------------------------------------------- */

static const struct {
	const char *part, *advice;
} advice[] = {
	{ GP_REASON_TOO_NEW,
	  "; start it with GPUPROF_CUPTI=PATH of a libcupti no newer than that, or update "
	  "the driver" },
	{ GP_REASON_NO_CUPTI,
	  "; install the CUPTI of its CUDA, or start it with GPUPROF_CUPTI=PATH of one" },
};

const char *helper_advice(const char *reason)
{
	for (size_t i = 0; i < sizeof(advice) / sizeof(advice[0]); i++)
		if (strstr(reason, advice[i].part))
			return advice[i].advice;
	return "";
}

struct fault {
	enum note_code code;
	const char *text;
};

static const struct fault faults[] = {		/* by helpers_status.state */
	[HELPERS_BUSY] = { NOTE_HELPER_BUSY, "four other readers have its helper" },
	[HELPERS_BROKEN] = { NOTE_HELPER_DAMAGED, "its helper's ring is damaged" },
	[HELPERS_OTHER] = { NOTE_HELPER_VERSION,
			    "its helper is of another version of gpuprof; start it anew with this "
			    "one" },
	[HELPERS_CONFINED] = { NOTE_HELPER_CONFINED,
			       "since its helper came it lets seccomp filter its system calls, "
			       "which may be its end when CUPTI begins; start it by gpuprof's -- "
			       "CMD, then CUPTI begins with CUDA" },
};

/* NULL: nothing is wrong with it. */
static const struct fault *find_fault(const struct helpers_status *st)
{
	static const struct fault occupied = { NOTE_CUPTI_OCCUPIED,
					       "another client uses CUPTI in it" };
	static const struct fault failed = { NOTE_CUPTI_FAILED,
					     "its helper could not start CUPTI" };

	if (st->state < sizeof(faults) / sizeof(faults[0]) && faults[st->state].text)
		return &faults[st->state];
	/* Its state may have changed since: a process that ends is in order. */
	if (*st->head.occupant)
		return &occupied;
	return *st->head.reason ? &failed : NULL;
}

/* The other client, or why CUPTI did not start; "" if neither is known. */
static const char *fault_detail(const struct helpers_status *st)
{
	return *st->head.occupant ? st->head.occupant : st->head.reason;
}

enum silence { NONE, REFUSED, STOPPED, SILENT, PENDING };

static enum silence read_why(struct strbuf *why, const struct helpers_status *st)
{
	const struct fault *fault = find_fault(st);
	struct subject subject;

	if (fault)
		strbuf_addf(why, "%s%s%s", fault->text, *fault_detail(st) ? ": " : "",
			    fault_detail(st));
	else if (st->head.tag)
		strbuf_addstr(why, "its helper told of none");
	if (why->len)
		return SILENT;
	strbuf_addstr(why, "no helper is in it");
	if (targets_has_ended(st->pid) || subject_read_reasons(&subject, st->pid) != -ENOTSUP)
		return NONE;
	strbuf_addf(why, ", and none can be brought in: %s", subject.why);
	return subject.stopped ? STOPPED : REFUSED;
}

static void push_why(struct helper_source *s, const struct helpers_status *st,
		     enum live_moment when)
{
	static const char *const names[] = { [NONE] = "none", [REFUSED] = "refused",
					     [STOPPED] = "stopped", [SILENT] = "silent",
					     [PENDING] = "pending" };
	/* While the session runs: a helper that works, or will come with CUDA, has sent nothing
	 * yet. */
	bool is_pending = when != LIVE_END && !find_fault(st) &&
			  (st->head.tag || s->plan.targets->command.pid);
	struct strbuf why = STRBUF_INIT;
	enum silence is = is_pending ? PENDING : read_why(&why, st);

	if (is_pending)
		strbuf_addstr(&why, st->counts.works ?
					    "its helper's times come about a second late: a later "
					    "report has them" :
					    "its helper has not told of them yet");
	live_push_trait(s->live.sink, st->pid, "helper", names[is]);
	if (!why.failed)
		live_push_trait(s->live.sink, st->pid, "helper_why", why.s);
	strbuf_free(&why);
}

/* It has sent no work, as far as books have any; in the first interval none has settled yet. */
static bool is_silent(const struct helper_source *s, struct helpers_status *st,
		      enum live_moment when)
{
	if (helpers_find(s->helpers, st->pid, st))
		return !st->counts.works || when == LIVE_FIRST_INTERVAL;
	return !helpers_has_sent(s->helpers, st->pid);
}

#define EXPLAINED_NS (10 * NS_PER_SEC)
#define ASK_EVERY_NS (60 * NS_PER_SEC)
#define ASKING_NS (5 * NS_PER_MS)	/* in an interval: what /proc has of many takes long */

/* Does its helper explain itself, or is it time to read the process again? */
static bool is_due(struct helper_source *s, uint32_t process, const struct helpers_status *st,
		   uint64_t until_ns)
{
	const uint64_t now_ns = time_now_ns();
	struct map_slot *asked;

	if (!until_ns || st->head.tag || find_fault(st))
		return true;
	asked = map_put(&s->asked, process, NULL);
	if (!asked)
		return true;
	if (now_ns > until_ns || (asked->value && now_ns - asked->value < ASK_EVERY_NS))
		return false;
	asked->value = now_ns;
	return true;
}

/*
 * As facts about processes with calls: `helper`: none (in it), refused (none can be), stopped (none
 * can be until kill -CONT), silent (it sent no device record) or pending (not yet); `helper_why`
 * explains it. Of each pid the last process that had it.
 */
static void explain_silence(struct live_source *l, enum live_moment when)
{
	struct helper_source *s = source_of(l);
	const struct model *m = s->plan.model;
	const uint64_t until_ns = when == LIVE_END ? 0 : time_now_ns() + ASKING_NS;
	struct map seen = { 0 };
	bool is_new;

	for (size_t i = model_processes(m); i-- > 0;) {
		const struct model_process *p = model_process(m, i);
		struct helpers_status st = { .pid = (pid_t)p->pid };
		/* It ended so long ago that an interval before has explained it. */
		bool is_over = when != LIVE_END && p->exit_ns &&
			       num_sub(time_now_ns(), p->exit_ns) > EXPLAINED_NS;

		if (!map_put(&seen, p->pid, &is_new))
			break;
		if (is_new && !p->past && call_stats_count(&p->calls) && !is_over &&
		    is_silent(s, &st, when) && is_due(s, p->process, &st, until_ns))
			push_why(s, &st, when);
	}
	map_free(&seen);
}

/* ---- warnings at the end --------------------------------------------------------------------- */

static void warn_clock(const struct helper_counts *c, pid_t pid, const struct event_sink *to)
{
	char unplaced[64] = "";

	if (c->unplaced)
		snprintf(unplaced, sizeof(unplaced), "; %" PRIu64 " records have no time",
			 c->unplaced);
	if (c->clock_steps)
		live_push_note(to, NOTE_CLOCK_SET, pid,
			       "the clock that times the works of process %d was set meanwhile, %"
			       PRIu64 " times: around that it is not known what its devices did",
			       pid, c->clock_steps);
	if (c->tick_ps)
		live_push_note(to, NOTE_CLOCK_FOREIGN, pid,
			       "another profiler of process %d set CUPTI's clock to ticks of %.3f "
			       "ns%s: times are interpolated between readings%s", pid,
			       (double)c->tick_ps / 1000, c->clock_replaced ? " meanwhile" : "",
			       unplaced);
}

static void warn_process(const struct helpers_status *st, const struct event_sink *to)
{
	uint64_t lost = num_add(num_add(st->lost, st->counts.dropped), st->counts.invalid);
	const struct fault *fault = find_fault(st);

	if (fault)
		live_push_note(to, fault->code, st->pid,
			       "device times of process %d are not %sknown: %s%s%s%s", st->pid,
			       st->counts.works ? "all " : "", fault->text,
			       *fault_detail(st) ? ": " : "", fault_detail(st),
			       *st->head.occupant ? "" : helper_advice(st->head.reason));
	if (*st->head.chained && strcmp(st->head.chained, GP_CHAIN_LOADED))
		live_push_note(to, NOTE_INJECTION_NOT_CHAINED, st->pid,
			       "the injection that CUDA_INJECTION64_PATH named before is not in "
			       "process %d: %s", st->pid, st->head.chained);
	if (lost)
		live_push_note(to, NOTE_RECORDS_LOST, st->pid,
			       "of process %d, %" PRIu64 " device records were lost%s", st->pid,
			       lost, st->lost && st->head.ring_bytes < GP_RING_BYTES_USUAL ?
			       ": its helper's ring is small, as its files may be (ulimit -f)" :
			       "");
	if (st->kept_bytes)
		live_push_note(to, NOTE_RECORDS_KEPT, st->pid,
			       "of process %d, CUPTI has not given back %" PRIu64 " bytes of "
			       "records: works of the last %.3g s may be missing", st->pid,
			       st->kept_bytes, (double)st->kept_ns / NS_PER_SEC);
	if (st->lost_calls)
		live_push_note(to, NOTE_CALLS_WITHOUT_CLOCK, st->pid,
			       "%" PRIu64 " calls of process %d were lost: its helper did not "
			       "tell the time, and no more than %d can wait for that",
			       st->lost_calls, st->pid, API_CALLS_HELD_MAX);
	if (st->away_ns && st->state != HELPERS_BROKEN)
		live_push_note(to, NOTE_READER_AWAY, st->pid,
			       "what devices did for process %d is not known for %.3g s: gpuprof "
			       "did not run for so long that the helper took it for gone",
			       st->pid, (double)st->away_ns / NS_PER_SEC);
	warn_clock(&st->counts, st->pid, to);
	if (st->unread_ns && !fault)
		live_push_note(to, NOTE_RECORDS_UNREAD, st->pid,
			       "what devices did for process %d in the last %.3g s is not known: "
			       "it was killed or stopped, CUPTI did not answer, or gpuprof did "
			       "not run, before that was handed on", st->pid,
			       (double)st->unread_ns / NS_PER_SEC);
}

/* A forked child whose launches fail has not. */
static bool has_launched(const struct model *m, size_t process)
{
	const struct funcs *funcs = model_funcs(m);
	const struct model_process *p = model_process(m, process);

	for (size_t k = 0; k < call_stats_count(&p->calls); k++) {
		const struct call_stat *t = call_stats_at(&p->calls, k);

		if (t->key.func < funcs->n && funcs->v[t->key.func].class == CLASS_LAUNCH &&
		    t->count > t->errors)
			return true;
	}
	return false;
}

/* Processes that could not load the helper; and, where others sent device records, each that did
 * not. */
static void warn_unfound(const struct helper_source *s)
{
	struct helpers_totals totals;
	struct helpers_status st;
	struct map silent = { 0 };	/* processes that get another warning */
	int err = 0;

	helpers_totals(s->helpers, &totals);
	for (size_t i = 0; !err && i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		if (find_fault(&st) && !map_put(&silent, (uint64_t)st.pid, NULL))
			err = -ENOMEM;
	}
	for (size_t i = 0; !err && i < model_processes(s->plan.model); i++) {
		const struct model_process *p = model_process(s->plan.model, i);
		const uint32_t pid = p->pid;
		const struct map_slot *slot = map_find(&s->unloadable.looked_at, pid);
		bool is_closed = slot && slot->value == CANNOT_LOAD, is_new = false;

		if (!(is_closed || totals.works) || pid == MODEL_PAST_PID ||
		    helpers_has_sent(s->helpers, (pid_t)pid) || !has_launched(s->plan.model, i))
			continue;
		err = map_put(&silent, pid, &is_new) ? 0 : -ENOMEM;
		if (is_new && is_closed)
			warn_unloadable(s, (pid_t)pid, p->comm);
		else if (is_new)
			live_push_note(s->live.sink, NOTE_HELPER_NOT_FOUND, (pid_t)pid,
				       "device times of process %u are not known: no helper was "
				       "found in it in time", pid);
	}
	map_free(&silent);
}

/* Launches of kernels show which records CUPTI lost without counting them. */
static void warn_uncounted(const struct helper_source *s, uint64_t dropped)
{
	struct model_counts counts;
	uint64_t counted, lost;

	model_counts(s->plan.model, &counts);
	counted = num_add(num_add(dropped, counts.unrecorded), counts.invalid[EVENT_WORK]);
	lost = counts.unmet_lost - counts.unmet_ended;	/* the others may have been cut off */
	if (lost > counted)
		live_push_note(s->live.sink, NOTE_RECORDS_MISSING, 0,
			       "no record came of %" PRIu64 " kernels that ran, and CUPTI "
			       "counted %s as dropped: when they ran is `lost` time of devices",
			       lost, counted ? "fewer" : "none");
}

/* Launches that probes saw of which CUPTI recorded not even the call. */
static void warn_missing(const struct helper_source *s)
{
	for (size_t i = 0; i < model_processes(s->plan.model); i++) {
		const struct model_process *p = model_process(s->plan.model, i);

		if (p->missing)
			live_push_note(s->live.sink, NOTE_RECORDS_MISSING,
				       p->pid == MODEL_PAST_PID ? 0 : (pid_t)p->pid,
				       "%" PRIu64 " launches of process %u have no record: CUPTI "
				       "holds them back while a kernel runs on, or another client "
				       "has taken them; device time is unknown meanwhile",
				       p->missing, p->pid);
	}
}

static void warn(const struct live_source *l)
{
	const struct helper_source *s = (const struct helper_source *)l;
	struct helpers_totals totals;
	struct helpers_status st;

	warn_missing(s);
	warn_unfound(s);
	warn_forked(s);
	warn_unloadable_without_probes(s);
	helpers_totals(s->helpers, &totals);
	warn_uncounted(s, totals.lost_works);
	if (totals.forgotten)
		live_push_note(s->live.sink, NOTE_HELPERS_FORGOTTEN, 0,
			       "what helpers of %" PRIu64 " more processes did not tell is only "
			       "added up", totals.forgotten);
	for (size_t i = 0; i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		warn_process(&st, s->live.sink);
		if (s->plan.targets->o->cupti == CUPTI_SUBSCRIBE && *st.head.unsubscribed)
			live_push_note(s->live.sink, NOTE_GRAPHS_BY_ORDER, st.pid,
				       "of process %d, nodes of graphs are known by their order, "
				       "as without --cupti subscribe: %s", st.pid,
				       st.head.unsubscribed);
		if (st.counts.no_launch)
			live_push_note(s->live.sink, NOTE_GRAPHS_UNMATCHED, st.pid,
				       "of process %d, %" PRIu64 " works of graphs are not matched "
				       "with their launches: before 13.1 Update 1 CUPTI numbers "
				       "them wrongly when it records a second time", st.pid,
				       st.counts.no_launch);
	}
}

/* ---- its life -------------------------------------------------------------------------------- */

/* 0 or -ENOMEM. */
static int start(struct helper_source *s)
{
	const struct session_options *o = s->plan.targets->o;
	int err = 0;

	s->helpers = helpers_new(!s->plan.probes ? HELPERS_ALL_CALLS : HELPERS_UNPROBED_CALLS,
				 (wants_whole_graphs(s) ? 0 : GP_RING_WANT_NODES) |
				 (o->cupti == CUPTI_SUBSCRIBE ? GP_RING_WANT_SUBSCRIBED : 0));
	if (!s->helpers)
		return -ENOMEM;
	if (s->plan.targets->command.pid)
		err = add_target(s, s->plan.targets->command.pid);
	/* Nothing else shows which process an orphan was below. */
	if (s->plan.targets->command.pid && !s->plan.probes && !o->isolate)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (size_t i = 0; i < o->n_pids && !err; i++)
		err = add_target(s, (pid_t)o->pids[i]);
	for (size_t i = 0; i < s->plan.targets->users.n && !err; i++)
		err = add_target(s, s->plan.targets->users.v[i]);
	return err;
}

static void release(struct live_source *l)
{
	struct helper_source *s = source_of(l);

	map_free(&s->asked);
	map_free(&s->forked.looked_at);
	map_free(&s->unloadable.looked_at);
	helpers_free(s->helpers);
	s->helpers = NULL;
}

static void free_source(struct live_source *l)
{
	release(l);
	free(l);
}

static const struct live_source_ops ops = {
	.on_event = on_event, .read = read_rings, .explain_silence = explain_silence,
	.request_stop = note_unprobed, .stop = stop, .finish = finish,
	.push_counts = push_counts, .explain_empty = explain_empty, .warn = warn,
	.release = release, .free = free_source,
};

struct live_source *helper_source_new(const struct helper_plan *plan)
{
	struct helper_source *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->live = (struct live_source){ .ops = &ops, .sink = plan->sink, .fds = { -1, -1 } };
	s->plan = *plan;
	if (!start(s))
		return &s->live;
	free_source(&s->live);
	errno = ENOMEM;
	return NULL;
}

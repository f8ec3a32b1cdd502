// SPDX-License-Identifier: BSD-3-Clause
/* Why the tables may be empty, as a fact for the report: by what was met while the session ran. */
#include "session/session_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "base/time.h"
#include "host/environment.h"
#include "host/proc.h"
#include "inject/install.h"
#include "inject/injectable.h"
#include "session/helper_only.h"
#include "target/target.h"
#include "target/target_mapping.h"

/* Is it stopped, now? Then that is why, whatever was probed. */
static bool stopped_empty(struct session *s, pid_t pid)
{
	struct strbuf by = STRBUF_INIT;
	struct proc_stat stat;
	bool is = proc_stat_of(pid, &stat) && proc_add_stopped(&by, pid, stat.state);

	if (is)
		session_fact(s, "no_calls", "process %d (%s) is %s", pid, stat.comm, by.s);
	strbuf_free(&by);
	return is;
}

static bool any_is_stopped(struct session *s)
{
	const struct session_options *o = s->plan->o;

	for (size_t i = 0; i < o->n_pids; i++)
		if (stopped_empty(s, (pid_t)o->pids[i]))
			return true;
	for (size_t i = 0; i < s->chosen.n; i++)
		if (stopped_empty(s, s->chosen.v[i]))
			return true;
	return false;
}

static void diagnose_empty_helper_only(struct session *s)
{
	struct helpers_status st;
	bool any = false;

	if (s->closed.n) {
		session_fact(s, "no_calls",
			     "there are no probes, and CUDA could not load the helper in process "
			     "%d (%s): "
			     "%s",
			     s->closed.first, s->closed.comm,
			     helper_load_reason(s, s->closed.first));
		return;
	}
	for (size_t i = 0; s->helpers && i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		any |= st.head.tag != 0;
	}
	session_fact(s, "no_calls",
		     any ? "there are no probes, and CUPTI told the helper of none" :
			   "there are no probes, and no helper was loaded, which CUDA (or NVTX) "
			   "does where it is used");
}

void diagnose_empty(struct session *s)
{
	unsigned int probes = 0, left_out = 0;
	size_t files = s->blind ? 0 : attach_count(s->attach);

	if (any_is_stopped(s))
		return;
	if (s->blind) {
		diagnose_empty_helper_only(s);
		return;
	}
	for (size_t i = 0; i < files; i++) {
		const struct attach_result *r = &attach_get(s->attach, i)->result;

		probes += r->probes;
		left_out += r->too_dear + r->refused;
	}
	if (probes)
		session_fact(s, "no_calls",
			     "%u functions in %zu file%s%s were probed, none was called and "
			     "no thread was in one",
			     probes, files, files > 1 ? "s" : "",
			     s->plan->o->cmd ? " that it uses or might load" : "");
	else if (left_out)
		session_fact(s, "no_calls",
			     "none of the %u functions that were found can be probed here",
			     left_out);
	else if (worker_missed(s->worker))
		session_fact(s, "no_calls",
			     "what mapped a CUDA or NCCL library had ended before it could be "
			     "probed; with `--` before the command that is done first");
	else
		session_fact(s, "no_calls", "no CUDA or NCCL library was mapped%s",
			     s->plan->o->tier ? "" :
						" (what cublas and cudnn do alone needs --tier 1)");
}

/* ---- session forked ------------------------------------------------------------------------ */

/*
 * Children that were forked from a process that uses CUDA, and run no program of their own: CUDA
 * does not work in them, and the helper does nothing there. That their calls fail only probes see.
 * Who had time to execute a program, and did not, is one.
 */

static bool is_forked(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_of(pid, &stat) && stat.forked;
}

static bool has_own_helper(const struct session *s, pid_t pid)
{
	struct helpers_status st;

	return helpers_find(s->helpers, pid, &st) && st.head.tag;
}

int forked_add(struct session *s, const struct helpers_status *parent, pid_t pid)
{
	struct session_forked *f = &s->forked;
	bool is_new;

	if (!parent->head.tag || parent->head.state == GP_HELPER_VIRGIN)
		return 0;
	if (!map_put(&f->looked_at, (uint64_t)pid, &is_new))
		return -ENOMEM;
	if (!is_new || has_own_helper(s, pid) || !is_forked(pid))
		return 0;
	if (!f->n++) {
		f->first = pid;
		f->parent = parent->pid;
	}
	return 0;
}

void forked_warn(const struct session *s)
{
	const struct session_forked *f = &s->forked;

	if (!f->n)
		return;
	log_warn("process %d was forked by %d, which uses CUDA: if it calls CUDA too, that fails, "
		 "and is not "
		 "seen without probes",
		 f->first, f->parent);
	if (f->n > 1)
		log_warn("the same holds for %" PRIu64 " more processes", f->n - 1);
}

/* ---- session closed ------------------------------------------------------------------------ */

/*
 * Processes that cannot load the helper: the environment names a path that is not there as they see
 * it, and CUDA says nothing. They are looked at while they live: when they make calls, or, without
 * probes, while they have CUDA's library.
 */

#define LOOK_AGAIN_NS 100000000ull
#define LOOKS_EACH_NS 25000000ull	/* one may take some ms */
#define CANNOT_LOAD UINT64_MAX		/* less the reason: in closed.looked_at */

enum reason { LOADS, UNSEEN, REASONS };

static const struct {
	const char *why, *advice;
} reasons[REASONS] = {
	[UNSEEN] = { "its environment names the helper's file, which is not there in its root "
		     "directory (in a container?)",
		     "let it see that file (gpuprof env --for docker shows how)" },
};

static int is_of_file(void *file, const struct target_mapping *m)
{
	return strstr(m->path, file) != NULL;
}

static bool has_mapped(pid_t pid, char *file)
{
	return target_each_mapping(pid, is_of_file, file) == 1;
}

/* What was loaded may have been removed since. */
static enum reason look_at_path(pid_t pid, const char *path)
{
	int fd = target_open_in_root(pid, path);

	if (fd >= 0)
		close(fd);
	return (fd == -ENOENT || fd == -ENOTDIR) && !has_mapped(pid, "/" INJECT_FILE) ? UNSEEN :
											LOADS;
}

static enum reason look_at(pid_t pid, const char *path)
{
	return path && *path == '/' && !strcmp(str_basename(path), INJECT_FILE) ?
		       look_at_path(pid, path) :
		       LOADS;
}

static enum reason find_reason(pid_t pid, char comm[16])
{
	enum reason reason = LOADS;
	struct environment env;
	struct proc_stat stat;
	const char *text;
	struct proc p;

	if (!proc_open(&p, pid)) {
		env.block = proc_read(&p, PROC_ENVIRON, &env.len);
		reason = env.block ? look_at(pid, environment_find(&env, INJECT_CUDA)) : LOADS;
		text = reason != LOADS ? proc_read(&p, PROC_STAT, NULL) : NULL;
		/* It lives: else nothing is open in it. */
		if (!text || proc_parse_stat(text, &stat) || stat.state == 'Z')
			reason = LOADS;
		else
			memcpy(comm, stat.comm, sizeof(stat.comm));
	}
	proc_close(&p);
	return reason;
}

static void note(struct session_closed *c, struct map_slot *slot, enum reason reason,
		 const char comm[16])
{
	slot->value = CANNOT_LOAD - reason;
	if (c->n++)
		return;
	c->first = (pid_t)slot->key;
	memcpy(c->comm, comm, sizeof(c->comm));
}

int helper_load_on_call(struct session *s, pid_t pid)
{
	bool is_new;
	struct map_slot *slot = map_put(&s->closed.looked_at, (uint64_t)pid, &is_new);
	enum reason reason;
	char comm[16];

	if (!slot)
		return -ENOMEM;
	reason = is_new ? find_reason(pid, comm) : LOADS;
	if (reason != LOADS)
		note(&s->closed, slot, reason, comm);
	return 0;
}

int helper_load_check(struct session *s, pid_t pid)
{
	struct session_closed *c = &s->closed;
	struct map_slot *slot = map_put(&c->looked_at, (uint64_t)pid, NULL);
	const uint64_t now_ns = time_now_ns();
	enum reason reason;
	char comm[16];

	if (!slot)
		return -ENOMEM;
	if (now_ns < slot->value || now_ns < c->next_ns)
		return 0;
	slot->value = now_ns + LOOK_AGAIN_NS;
	c->next_ns = now_ns + LOOKS_EACH_NS;
	reason = find_reason(pid, comm);
	if (reason != LOADS && has_mapped(pid, "/libcuda.so"))
		note(c, slot, reason, comm);
	return 0;
}

static enum reason reason_of(const struct session *s, pid_t pid)
{
	const struct map_slot *slot = map_find(&s->closed.looked_at, (uint64_t)pid);
	uint64_t less = slot ? CANNOT_LOAD - slot->value : LOADS;

	return less < REASONS ? (enum reason)less : LOADS;
}

const char *helper_load_reason(const struct session *s, pid_t pid)
{
	return reasons[reason_of(s, pid)].why;
}

void helper_load_warn(const struct session *s, pid_t pid, const char *comm)
{
	enum reason reason = reason_of(s, pid);

	if (reason != LOADS)
		log_warn("device times of process %d (%s) are not known: %s, so CUDA could not "
			 "load the helper; %s, or "
			 "bring it in while it runs: gpuprof -p PID --inject",
			 pid, comm, reasons[reason].why, reasons[reason].advice);
}

void helper_load_warn_helper_only(const struct session *s)
{
	const struct session_closed *c = &s->closed;

	if (!s->blind || !c->n)
		return;
	helper_load_warn(s, c->first, c->comm);
	if (c->n > 1)
		log_warn("the same holds for %" PRIu64 " more processes", c->n - 1);
}

/* ---- session last -------------------------------------------------------------------------- */

/*
 * What is found out of each process when the session, or an interval, ends, as facts about it for
 * the report: `ended`, where its first thread made no call or the end of a thread was lost, so that
 * nobody told; `helper`: none (in it), refused (none can be), stopped (none can be until kill
 * -CONT), silent (it told of no device) or pending (not yet); `helper_why` says so in words.
 */

#define LOOK_NS (5 * NS_PER_SEC)	/* for those that ended */

static void push_fact(struct session *s, uint32_t pid, const char *key, const char *value)
{
	session_push(s, &(struct event){ .kind = EVENT_IDENTITY, .pid = pid, .tid = pid,
					 .fact.key = key,
					 .fact.value = value });
}

static bool is_gone(pid_t pid)
{
	struct target_process p;
	struct proc proc;
	int err = proc_open(&proc, pid);
	bool gone = err == -ESRCH || err == -ENOENT;

	if (!err)
		gone = target_process_from(&proc, &p) == -ESRCH ||
		       (p.ended && target_process_ended(pid));
	proc_close(&proc);
	return gone;
}

static void tell_ended(struct session *s)
{
	const struct model *m = s->tap.model;

	for (size_t i = 0; i < model_processes(m); i++) {
		const struct model_process *p = model_process(m, i);

		if (call_stats_count(&p->calls) && model_may_go_on(m, i) && is_gone((pid_t)p->pid))
			push_fact(s, p->pid, "ended", "yes");
	}
}

void diagnose_ended(struct session *s)
{
	uint64_t now_ns = time_now_ns();

	if (now_ns - s->looked_for_ended_ns < LOOK_NS)
		return;
	s->looked_for_ended_ns = now_ns;
	tell_ended(s);
}

enum silence { NONE, REFUSED, STOPPED, SILENT, PENDING };

/* While the session goes on a helper that is in order, or will come with CUDA, has not told yet. */
static bool is_pending(const struct session *s, const struct helpers_status *st)
{
	return s->state == SESSION_RUNNING && !helpers_why_silent(st) &&
	       (st->head.tag || s->command.pid);
}

/* What it told of works has settled in no book yet. */
static bool is_first_interval(const struct session *s)
{
	return s->state == SESSION_RUNNING && !s->interval_start_ns;
}

static enum silence read_why(struct strbuf *why, const struct helpers_status *st)
{
	const char *wrong = helpers_why_silent(st);
	struct subject subject;

	if (wrong)
		strbuf_addf(why, "%s%s%s%s", wrong,
			    *st->head.occupant || *st->head.reason ? ": " : "", st->head.occupant,
			    *st->head.occupant ? "" : st->head.reason);
	else if (st->head.tag)
		strbuf_addstr(why, "its helper told of none");
	if (why->len)
		return SILENT;
	strbuf_addstr(why, "no helper is in it");
	if (is_gone(st->pid) || subject_read(&subject, st->pid) != -ENOTSUP)
		return NONE;
	strbuf_addf(why, ", and none can be brought in: %s", subject.why);
	return subject.stopped ? STOPPED : REFUSED;
}

static void tell_why(struct session *s, const struct helpers_status *st)
{
	static const char *const names[] = { [NONE] = "none", [REFUSED] = "refused",
					     [STOPPED] = "stopped", [SILENT] = "silent",
					     [PENDING] = "pending" };
	struct strbuf why = STRBUF_INIT;
	enum silence is = is_pending(s, st) ? PENDING : read_why(&why, st);

	if (is == PENDING)
		strbuf_addstr(&why, st->counts.works ?
					    "its helper's times come about a second late: a later "
					    "report has them" :
					    "its helper has not told of them yet");
	push_fact(s, (uint32_t)st->pid, "helper", names[is]);
	if (!why.failed)
		push_fact(s, (uint32_t)st->pid, "helper_why", why.s);
	strbuf_free(&why);
}

/* It has told of no work, as far as books have any. */
static bool is_silent(const struct session *s, struct helpers_status *st)
{
	if (helpers_find(s->helpers, st->pid, st))
		return !st->counts.works || is_first_interval(s);
	return !helpers_has_sent(s->helpers, st->pid);
}

/* Of each number the last process that had it. */
static void tell_silence(struct session *s)
{
	const struct model *m = s->tap.model;
	struct map seen = { 0 };
	bool is_new;

	for (size_t i = model_processes(m); s->helpers && i-- > 0;) {
		const struct model_process *p = model_process(m, i);
		struct helpers_status st = { .pid = (pid_t)p->pid };

		if (!map_put(&seen, p->pid, &is_new))
			break;
		if (is_new && !p->past && call_stats_count(&p->calls) && is_silent(s, &st))
			tell_why(s, &st);
	}
	map_free(&seen);
}

void diagnose_interval(struct session *s)
{
	tell_silence(s);
}

void diagnose_end(struct session *s)
{
	tell_ended(s);
	tell_silence(s);
}

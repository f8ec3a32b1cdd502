// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a session has to do with helpers: which processes may have one, how often they are read, and
 * what is said of them at the end. Works without any.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "session/helper_advice.h"
#include "session/helper_only.h"
#include "source/helper/api_calls.h"
#include "host/proc.h"

int helpers_add_target(struct session *s, pid_t pid)
{
	struct helpers_process who = { .pid = pid, .own_pid = pid };

	if (!s->helpers || ring_owner_read(pid, &who.owner))
		return 0;
	if (who.owner.own_pid)
		who.own_pid = (pid_t)who.owner.own_pid;
	who.clock_offset_ns = proc_clock_offset_ns(pid);
	return helpers_add(s->helpers, &who);
}

int helpers_start(struct session *s)
{
	const struct session_options *o = s->plan->o;
	int err = 0;

	s->helpers = helpers_new(s->blind ? HELPERS_ALL_CALLS : HELPERS_UNPROBED_CALLS);
	if (!s->helpers)
		return -ENOMEM;
	helpers_want(s->helpers, (session_wants_whole_graphs(s) ? 0 : GP_RING_WANT_NODES) |
				 (o->cupti == CUPTI_SUBSCRIBE ? GP_RING_WANT_SUBSCRIBED : 0));
	if (s->command.pid)
		err = helpers_add_target(s, s->command.pid);
	for (size_t i = 0; i < o->n_pids && !err; i++)
		err = helpers_add_target(s, (pid_t)o->pids[i]);
	for (size_t i = 0; i < s->users.n && !err; i++)
		err = helpers_add_target(s, s->users.v[i]);
	return err;
}

/* A process that was forked or executed below a target, or one that is known to make calls: it may
 * have a helper of its own, by NVTX before it makes any call. Whatever is executed on the whole
 * host is not asked, nor is each new thread's process. */
static bool is_to_be_met(const struct session *s, const struct event *ev)
{
	const struct session_options *o = s->plan->o;

	return (ev->kind == EVENT_THREAD && !helpers_know(s->helpers, (pid_t)ev->pid)) ||
	       ((ev->kind == EVENT_PROCESS || ev->kind == EVENT_FORK) && (o->n_pids || o->cmd));
}

int helpers_on_event(struct session *s, const struct event *ev)
{
	int err = 0;

	if (!s->helpers)
		return 0;
	if (ev->kind == EVENT_PROCESS)
		helpers_look_again(s->helpers, (pid_t)ev->pid);
	if (is_to_be_met(s, ev))
		err = helpers_add_target(s, (pid_t)(ev->kind == EVENT_FORK ? ev->tid : ev->pid));
	if (!err && ev->kind == EVENT_THREAD)
		err = helper_load_on_call(s, (pid_t)ev->pid);
	return err || ev->kind != EVENT_THREAD ? err :
	       helpers_add_thread(s->helpers, (pid_t)ev->pid, ev->tid, (uint32_t)ev->task.own_tid);
}

/* Functions without a probe, as files are attached to: of these CUPTI's records are the calls. */
static void note_left_out(struct session *s)
{
	bool left_out[GP_ROWS_MAX];

	if (!s->helpers || !s->worker || s->blind ||
	    !worker_left_out(s->worker, &s->left_out_noted, left_out))
		return;
	for (unsigned int row = 1; row < GP_ROWS_MAX; row++)
		if (left_out[row])
			helpers_leave_out(s->helpers, row);
}

void helpers_read(struct session *s)
{
	uint64_t now_ns = time_now_ns();
	int err;

	note_left_out(s);
	err = s->helpers ? helpers_pump(s->helpers, now_ns, &s->sink) : 0;

	if (err && !s->err)
		s->err = err;
	if (s->blind && s->helpers)
		helper_only_scan(s, now_ns);
}

const char *helpers_why_silent(const struct helpers_status *st)
{
	switch (st->state) {
	case HELPERS_BUSY:
		return "four other readers have its helper";
	case HELPERS_BROKEN:
		return "its helper's ring is damaged";
	case HELPERS_OTHER:
		return "its helper is of another version of gpuprof; start it anew with this one";
	case HELPERS_CONFINED:
		return "since its helper came it lets seccomp filter its system calls, which may "
		       "be its end when "
		       "CUPTI begins; start it by gpuprof's -- CMD, then CUPTI begins with CUDA";
	default:
		break;
	}
	/* Its state may have changed since: a process that ends is in order. */
	if (*st->head.occupant)
		return "another client uses CUPTI in it";
	return *st->head.reason ? "its helper could not start CUPTI" : NULL;
}

static void say(const struct helpers_status *st)
{
	uint64_t lost = num_add(num_add(st->lost, st->counts.dropped), st->counts.invalid);

	if (helpers_why_silent(st))
		log_warn("device times of process %d are not %sknown: %s%s%s%s%s", st->pid,
			 st->counts.works ? "all " : "", helpers_why_silent(st),
			 *st->head.reason || *st->head.occupant ? ": " : "", st->head.occupant,
			 *st->head.occupant ? "" : st->head.reason,
			 *st->head.occupant ? "" : helper_advice(st->head.reason));
	if (*st->head.chained && strcmp(st->head.chained, GP_CHAIN_LOADED))
		log_warn("the injection that CUDA_INJECTION64_PATH named before is not in process "
			 "%d: %s",
			 st->pid, st->head.chained);
	if (lost)
		log_warn("of process %d, %" PRIu64 " device records were lost%s", st->pid, lost,
			 st->lost && st->head.ring_bytes < GP_RING_BYTES_USUAL ?
			 ": its helper's ring is small, as its files may be (ulimit -f)" : "");
	if (st->kept_bytes)
		log_warn("of process %d, CUPTI has not given back %" PRIu64
			 " bytes of records: works of the last "
			 "%.3g s may be missing",
			 st->pid, st->kept_bytes, (double)st->kept_ns / NS_PER_SEC);
	if (st->lost_calls)
		log_warn("%" PRIu64
			 " calls of process %d were lost: its helper did not tell the time, and "
			 "no more than %d can wait for that",
			 st->lost_calls, st->pid, API_CALLS_HELD_MAX);
	if (st->away_ns && st->state != HELPERS_BROKEN)
		log_warn("what devices did for process %d is not known for %.3g s: gpuprof did not "
			 "run for "
			 "so long that the helper took it for gone",
			 st->pid, (double)st->away_ns / NS_PER_SEC);
	if (st->counts.clock_steps)
		log_warn("the clock that times the works of process %d was set meanwhile, %" PRIu64
			 " times: around that it is not known what its devices did", st->pid,
			 st->counts.clock_steps);
	if (st->unread_ns && !helpers_why_silent(st))
		log_warn("what devices did for process %d in the last %.3g s is not known: it was "
			 "killed or "
			 "stopped, CUPTI did not answer, or gpuprof did not run, before that was "
			 "handed on",
			 st->pid, (double)st->unread_ns / NS_PER_SEC);
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

/* Processes of which something else is said. */
static int note_silent(const struct session *s, struct map *silent)
{
	struct helpers_status st;

	for (size_t i = 0; i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		if (helpers_why_silent(&st) && !map_put(silent, (uint64_t)st.pid, NULL))
			return -ENOMEM;
	}
	return 0;
}

/* Of one whose helper could not be loaded that is said; where others told of their devices, of each
 * that did not. */
static void say_unfound(const struct session *s)
{
	struct helpers_totals totals;
	struct map silent = { 0 };
	int err;

	helpers_totals(s->helpers, &totals);
	err = note_silent(s, &silent);
	for (size_t i = 0; !err && i < model_processes(s->tap.model); i++) {
		const struct model_process *p = model_process(s->tap.model, i);
		const uint32_t pid = p->pid;
		bool is_closed = helper_load_reason(s, (pid_t)pid), is_new = false;

		if (!(is_closed || totals.works) || pid == MODEL_PAST_PID ||
		    helpers_has_sent(s->helpers, (pid_t)pid) || !has_launched(s->tap.model, i))
			continue;
		err = map_put(&silent, pid, &is_new) ? 0 : -ENOMEM;
		if (is_new && is_closed)
			helper_load_warn(s, (pid_t)pid, p->comm);
		else if (is_new)
			log_warn("device times of process %u are not known: no helper was found in "
				 "it in time",
				 pid);
	}
	map_free(&silent);
}

/* What CUPTI lost without counting it is known by the launches of kernels. */
static void say_untold(const struct session *s, uint64_t dropped)
{
	struct model_counts counts;
	uint64_t counted, lost;

	model_counts(s->tap.model, &counts);
	counted = num_add(num_add(dropped, counts.untold), counts.invalid[EVENT_WORK]);
	lost = counts.unmet_lost - counts.unmet_ended;	/* the others may have been cut off */
	if (lost > counted)
		log_warn("no record came of %" PRIu64
			 " kernels that ran, and CUPTI counted %s as dropped: when they ran is "
			 "`lost` time of devices",
			 lost, counted ? "fewer" : "none");
}

static int push_count(const struct event_sink *to, const char *kind, uint64_t received,
		      uint64_t lost)
{
	struct event ev = { .kind = EVENT_COUNT, .count.source = "helper", .count.kind = kind,
			    .count.received = received,
			    .count.lost = lost, .count.hits = num_add(received, lost) };

	return ev.count.hits ? to->push(to->ctx, &ev) : 0;
}

/* Works of all helpers, and calls where they alone tell them; beside which the table events shows
 * what became of them. */
int helpers_push_count(const struct session *s, const struct event_sink *to)
{
	struct helpers_totals totals;
	struct model_counts counts;
	int err;

	if (!s->helpers)
		return 0;
	helpers_totals(s->helpers, &totals);
	model_counts(s->tap.model, &counts);
	err = push_count(to, "work", totals.works, totals.lost_works);
	if (!err)
		err = push_count(to, "kept-bytes", 0, totals.kept_bytes);
	if (err || !s->blind)
		return err;
	return push_count(to, "call", counts.received[EVENT_CALL], totals.lost_calls);
}

bool session_wants_whole_graphs(const struct session *s)
{
	const struct session_options *o = s->plan->o;

	return o->graphs == GRAPHS_WHOLE ||
	       (o->graphs == GRAPHS_AUTO && s->plan->interval_ns && o->cupti != CUPTI_SUBSCRIBE);
}

void helpers_stop(struct session *s)
{
	int err = s->helpers ? helpers_end(s->helpers, time_now_ns(), &s->sink) : 0;

	if (!err)
		err = helpers_push_count(s, &s->sink);
	if (err && !s->err)
		s->err = err;
	helper_only_sources(s);
}

void helpers_warn(const struct session *s)
{
	struct helpers_totals totals;
	struct helpers_status st;

	if (!s->helpers)
		return;
	say_unfound(s);
	forked_warn(s);
	helper_load_warn_helper_only(s);
	helpers_totals(s->helpers, &totals);
	say_untold(s, totals.lost_works);
	if (totals.forgotten)
		log_warn("what helpers of %" PRIu64 " more processes did not tell is only added up",
			 totals.forgotten);
	for (size_t i = 0; i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		say(&st);
		if (s->plan->o->cupti == CUPTI_SUBSCRIBE && *st.head.unsubscribed)
			log_warn("of process %d, nodes of graphs are known by their order, as "
				 "without "
				 "--cupti subscribe: %s",
				 st.pid, st.head.unsubscribed);
		if (st.counts.whole_graphs && !session_wants_whole_graphs(s))
			log_warn("of process %d, %" PRIu64
				 " graphs were told whole: CUPTI had no room for "
				 "more of their nodes",
				 st.pid, st.counts.whole_graphs);
	}
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a session has to do with helpers: which processes may have one, how often they are read, and
 * what is said of them at the end. Works without any.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/log.h"
#include "base/num.h"
#include "base/time.h"
#include "cli/session_blind.h"
#include "probe/proc.h"

/* What its time namespace adds to the host's CLOCK_MONOTONIC. */
static int64_t clock_offset(pid_t pid)
{
	char path[64], *text;
	int64_t ns;
	size_t len;

	snprintf(path, sizeof(path), "/proc/%d/timens_offsets", pid);
	text = io_read_file(path, 4096, &len);
	ns = text ? time_parse_shift(text).now_ns : 0;
	free(text);
	return ns;
}

int helpers_meet(struct session *s, pid_t pid)
{
	struct helpers_process who = { .pid = pid, .own_pid = pid };
	const char *status;
	struct proc p;

	if (!s->helpers)
		return 0;
	if (!proc_open(&p, pid)) {
		status = proc_read(&p, PROC_STATUS, NULL);
		if (status && proc_inner_pid(status))
			who.own_pid = (pid_t)proc_inner_pid(status);
		who.clock_offset_ns = clock_offset(pid);
	}
	proc_close(&p);
	return helpers_add(s->helpers, &who);
}

/* A process that was executed below a target, or one that is known to make calls: it may have a helper
 * of its own. Whatever is executed on the whole host is not asked. */
static bool may_have_helper(const struct session *s, const struct event *ev)
{
	const struct options *o = s->plan->o;

	return ev->kind == EVENT_THREAD || (ev->kind == EVENT_PROCESS && (o->n_pids || o->cmd));
}

int helpers_see(struct session *s, const struct event *ev)
{
	if (s->helpers && ev->kind == EVENT_PROCESS)
		helpers_look_again(s->helpers, (pid_t)ev->pid);
	int err = may_have_helper(s, ev) ? helpers_meet(s, (pid_t)ev->pid) : 0;

	if (!err && s->helpers && ev->kind == EVENT_THREAD)
		err = helpers_tell_thread(s->helpers, (pid_t)ev->pid, ev->tid,
					  (uint32_t)EVENT_OWN_TID(ev));
	return err;
}

void helpers_read(struct session *s)
{
	uint64_t now_ns = time_now_ns();
	int err = s->helpers ? helpers_pump(s->helpers, now_ns, &s->sink) : 0;

	if (err && !s->err)
		s->err = err;
	if (s->blind && s->helpers)
		blind_look(s, now_ns);
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
		log_warn("device times of process %d are not %sknown: %s%s%s%s", st->pid,
			 st->counts.works ? "all " : "", helpers_why_silent(st),
			 *st->head.reason || *st->head.occupant ? ": " : "", st->head.occupant,
			 *st->head.occupant ? "" : st->head.reason);
	if (*st->head.chained && strcmp(st->head.chained, GP_CHAIN_LOADED))
		log_warn("the injection that CUDA_INJECTION64_PATH named before is not in process %d: %s",
			 st->pid, st->head.chained);
	if (lost)
		log_warn("of process %d, %" PRIu64 " device records were lost", st->pid, lost);
	if (st->counts.clock_steps)
		log_warn("the clock that times the works of process %d was set meanwhile, %" PRIu64
			 " times: around that it is not known what its devices did", st->pid,
			 st->counts.clock_steps);
	if (st->untold_ns && !helpers_why_silent(st))
		log_warn("what devices did for process %d in the last %.3g s is not known: it was killed or "
			 "stopped, or CUPTI did not answer, before that was handed on", st->pid,
			 (double)st->untold_ns / NS_PER_SEC);
}

static bool has_launched(const struct model *m, pid_t pid)
{
	const struct funcs *funcs = model_funcs(m);

	for (size_t i = 0; i < model_processes(m); i++) {
		const struct model_process *p = model_process(m, i);

		for (size_t k = 0; p->pid == (uint32_t)pid && k < p->tallies.all.n; k++) {
			uint16_t func = p->tallies.all.v[k]->func;

			if (func < funcs->n && funcs->v[func].class == CLASS_LAUNCH)
				return true;
		}
	}
	return false;
}

/* A process may have had several: of programs that it executed, or found before and after it began.
 * pid 0: any process, any work. */
static bool has_told(const struct session *s, pid_t pid)
{
	struct helpers_status st;

	for (size_t i = 0; i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		if (pid ? st.pid == pid && st.counts.received : st.counts.works)
			return true;
	}
	return false;
}

static bool is_first_of_its_process(const struct session *s, size_t i)
{
	struct helpers_status st, earlier;

	helpers_status(s->helpers, i, &st);
	while (i--) {
		helpers_status(s->helpers, i, &earlier);
		if (earlier.pid == st.pid)
			return false;
	}
	return true;
}

/* Where others told of their devices, one that did not is said. */
static void say_unfound(const struct session *s)
{
	struct helpers_status st;
	bool any = has_told(s, 0);

	for (size_t i = 0; any && i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		if (!st.counts.received && !helpers_why_silent(&st) && has_launched(s->tap.model, st.pid) &&
		    !has_told(s, st.pid) && is_first_of_its_process(s, i))
			log_warn("device times of process %d are not known: no helper was found in it in time",
				 st.pid);
	}
}

int helpers_push_count(const struct session *s, const struct event_sink *to)
{
	struct event ev = { .kind = EVENT_COUNT, .text = "helper", .text2 = "work" };

	for (size_t i = 0; s->helpers && i < helpers_count(s->helpers); i++) {
		struct helpers_status st;

		helpers_status(s->helpers, i, &st);
		ev.end_ns = num_add(ev.end_ns, st.counts.works);
		ev.bytes = num_add(ev.bytes, num_add(st.lost_works, st.counts.dropped));
	}
	ev.start_ns = num_add(ev.end_ns, ev.bytes);
	return ev.start_ns ? to->push(to->ctx, &ev) : 0;
}

bool session_wants_whole_graphs(const struct session *s)
{
	const struct options *o = s->plan->o;

	return o->graphs == GRAPHS_WHOLE || (o->graphs == GRAPHS_AUTO && !*o->verb->name);
}

void helpers_stop(struct session *s)
{
	int err = s->helpers ? helpers_end(s->helpers, time_now_ns(), &s->sink) : 0;

	if (!err)
		err = helpers_push_count(s, &s->sink);
	if (err && !s->err)
		s->err = err;
	blind_sources(s);
}

void helpers_say(const struct session *s)
{
	struct helpers_status st;

	if (s->helpers)
		say_unfound(s);
	for (size_t i = 0; s->helpers && i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		say(&st);
		if (st.counts.whole_graphs && !session_wants_whole_graphs(s))
			log_warn("of process %d, %" PRIu64 " graphs were told whole: CUPTI had no room for "
				 "more of their nodes", st.pid,
				 st.counts.whole_graphs);
	}
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a session has to do with helpers: which processes may have one, how often they are read, and
 * what is said of them at the end. Works without any.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/time.h"
#include "cli/session_internal.h"
#include "probe/proc.h"

/* The last of the numbers that a line "NSpid: 1234 5" has is the innermost. */
static pid_t own_pid(struct proc *p)
{
	const char *text = proc_read(p, PROC_STATUS, NULL);
	const char *field = text ? proc_status_field(text, "NSpid") : NULL;
	long last = p->pid;

	for (long n; field && *field && *field != '\n'; field += strcspn(field, "\t\n")) {
		char *end;

		n = strtol(field, &end, 10);
		if (end == field)
			break;
		last = n;
		field = end;
		field += *field == '\t';
	}
	return (pid_t)last;
}

/* What its time namespace adds to CLOCK_MONOTONIC: the line "monotonic SECONDS NANOSECONDS". */
static int64_t clock_offset(pid_t pid)
{
	char path[64];
	long long s = 0, ns = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/timens_offsets", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "monotonic %lld %lld", &s, &ns) != 2)
		s = ns = 0;
	fclose(f);
	return s * (int64_t)NS_PER_SEC + ns;
}

int helpers_meet(struct session *s, pid_t pid)
{
	struct helpers_process who = { .pid = pid, .own_pid = pid };
	struct proc p;

	if (!s->helpers)
		return 0;
	if (!proc_open(&p, pid)) {
		who.own_pid = own_pid(&p);
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
	return may_have_helper(s, ev) ? helpers_meet(s, (pid_t)ev->pid) : 0;
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

static const char *why_silent(const struct helpers_status *st)
{
	switch (st->state) {
	case HELPERS_BUSY:
		return "four other readers have its helper";
	case HELPERS_BROKEN:
		return "its helper's ring is damaged";
	default:
		break;
	}
	if (st->head.state == GP_HELPER_YIELDED)
		return "another client uses CUPTI in it";
	return st->head.state == GP_HELPER_FAILED ? "its helper could not start CUPTI" : NULL;
}

void helpers_stop(struct session *s)
{
	struct helpers_status st;
	int err = s->helpers ? helpers_end(s->helpers, time_now_ns(), &s->sink) : 0;

	if (!err)
		err = model_finish(s->tap.model);
	if (err && !s->err)
		s->err = err;
	blind_sources(s);
	for (size_t i = 0; s->helpers && i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		if (why_silent(&st))
			log_warn("device times of process %d are not known: %s%s%s", st.pid,
				 why_silent(&st), *st.head.reason ? ": " : "", st.head.reason);
		if (*st.head.chained && strcmp(st.head.chained, GP_CHAIN_LOADED))
			log_warn("the injection that CUDA_INJECTION64_PATH named before is not in "
				 "process %d: %s", st.pid, st.head.chained);
		if (st.lost || st.counts.dropped || st.counts.invalid)
			log_warn("of process %d, %" PRIu64 " device records were lost", st.pid,
				 st.lost + st.counts.dropped + st.counts.invalid);
	}
}

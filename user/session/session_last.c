// SPDX-License-Identifier: BSD-3-Clause
/*
 * What is found out of each process when the session, or an interval, ends, as facts about it for the
 * report: `ended`, where its first thread made no call or the end of a thread was lost, so that nobody
 * told; `helper`: none (in it), refused (none can be), stopped (none can be until kill -CONT), silent (it told of no device) or pending (not yet);
 * `helper_why` says so in words.
 */
#include <errno.h>

#include "base/map.h"
#include "base/time.h"
#include "session/session_blind.h"
#include "inject/injectable.h"
#include "host/proc.h"
#include "target/target.h"

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

void session_tell_ended(struct session *s)
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
	return s->state == SESSION_RUNNING && !helpers_why_silent(st) && (st->head.tag || s->command.pid);
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
		strbuf_addf(why, "%s%s%s%s", wrong, *st->head.occupant || *st->head.reason ? ": " : "",
			    st->head.occupant, *st->head.occupant ? "" : st->head.reason);
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
		strbuf_addstr(&why, st->counts.works ? "its helper's times come about a second late: a later "
			      "report has them" : "its helper has not told of them yet");
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

void session_so_far(struct session *s)
{
	tell_silence(s);
}

void session_last(struct session *s)
{
	tell_ended(s);
	tell_silence(s);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The life of a call that was found: FOUND (its return is going to be probed), ARMED (it is, but did
 * the call return before that?), WATCHED (no: BPF tells its end); or UNPROBED (looked at once a
 * second); and OVER. Where a return is probed is inside_link.c's business, what threads are in now
 * inside_look.c's.
 */
#include "session/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time.h"
#include "session/inside_internal.h"

/* A thread on a CPU was where its registers say at the last timer tick: at most so long ago. */
#define TICK_NS (20 * NS_PER_MS)
#define LOOK_NS NS_PER_SEC		/* at most, between looks at what is not probed */
#define LOOKS_SOON 5u			/* at what cannot be told, before it is looked at once a second */
#define ENDED_NS (250 * NS_PER_MS)	/* between looks for probes that are not needed any more */

struct inside *inside_new(struct loader *l, unsigned int tier)
{
	struct inside *in = calloc(1, sizeof(*in));

	if (!in)
		return NULL;
	in->loader = l;
	in->tier = tier;
	return in;
}

void inside_free(struct inside *in)
{
	if (!in)
		return;
	inside_close_links(in, false);
	VEC_FREE(&in->calls);
	VEC_FREE(&in->fresh.all);
	VEC_FREE(&in->links);
	map_free(&in->known);
	free(in);
}

int inside_add(struct inside *in, pid_t pid)
{
	return inside_add_pid(&in->fresh, pid);
}

/* ---- telling ------------------------------------------------------------------------------- */

static int push(const struct event_sink *sink, const struct inside_call *c, uint8_t kind,
		uint64_t end_ns)
{
	struct event ev = { .kind = kind, .pid = (uint32_t)c->pid, .tid = (uint32_t)c->tid,
			    .func = c->row, .start_ns = c->since_ns,
			    .end_ns = end_ns > c->since_ns ? end_ns : c->since_ns };

	if (kind == EVENT_INSIDE && c->state == CALL_WATCHED)
		ev.has = HAS_END;
	return sink->push(sink->ctx, &ev);
}

static int push_thread(const struct event_sink *sink, const struct stack_thread *t)
{
	return sink->push(sink->ctx, &(struct event){
		.kind = EVENT_THREAD, .pid = (uint32_t)t->pid, .tid = (uint32_t)t->tid,
		.start_ns = t->birth_ns, .task.comm = *t->comm ? t->comm : NULL });
}

/* What is known of one that ran is older than the look: not how much. */
static uint64_t known_until(const struct inside_call *c, const struct inside_look *look)
{
	return c->ran ? c->since_ns : look->start_ns;
}

/* ---- finding ------------------------------------------------------------------------------- */

static int find_one(struct inside_look *look, const struct stack_thread *t, uint64_t since_ns,
		    const struct event_sink *sink)
{
	struct inside *in = look->in;
	struct inside_call call, *c;
	bool is_new;
	int err;

	if (inside_was_seen(look, t->tid) || !inside_read_call(t, &call))
		return 0;
	if (!map_put(&in->known, (uint64_t)t->tid, &is_new))
		return -ENOMEM;
	if (!is_new)
		return 0;
	c = VEC_PUSH(&in->calls);
	if (!c)
		return -ENOMEM;
	*c = call;
	c->since_ns = since_ns;
	c->link = INSIDE_NO_LINK;
	inside_mark(in, c, 0);
	err = push_thread(sink, t);
	return err ? err : push(sink, c, EVENT_INSIDE, known_until(c, look));
}

int inside_find(struct inside *in, uint64_t since_ns, const struct event_sink *sink)
{
	struct inside_look look;
	int err;

	if (!in->fresh.all.n)
		return 0;
	err = inside_look_at(&look, in, &in->fresh);
	for (size_t i = 0; !err && i < stack_snapshot_threads(look.snapshot); i++)
		err = find_one(&look, stack_snapshot_thread(look.snapshot, i), since_ns, sink);
	inside_look_end(&look);
	in->fresh.all.n = 0;
	if (err == -ENOTSUP)
		log_debug("calls that began before cannot be found: no registers of threads");
	return err == -ENOTSUP ? 0 : err;
}

/* ---- looking again -------------------------------------------------------------------------- */

static bool is_due(const struct inside_call *c, uint64_t now_ns, bool last)
{
	if (c->state == CALL_ARMED || c->state == CALL_UNPROBED)
		return last || now_ns >= c->due_ns;
	return false;
}

/* Its return was seen, or it ended with its thread: BPF has told. */
static bool has_ended(const struct inside *in, const struct inside_call *c)
{
	return !loader_is_seeded(in->loader, (uint32_t)c->tid);
}

/* What has lasted long is looked at less often. */
static uint64_t next_look(const struct inside_call *c, uint64_t now_ns)
{
	uint64_t lasted = now_ns - c->since_ns;

	return now_ns + (lasted < TICK_NS ? TICK_NS : lasted < LOOK_NS ? lasted : LOOK_NS);
}

static int still_inside(struct inside_look *look, struct inside_call *c, const struct event_sink *sink)
{
	if (c->state == CALL_ARMED)
		c->state = CALL_WATCHED;
	c->looks = 0;
	c->due_ns = next_look(c, look->start_ns);
	return push(sink, c, EVENT_INSIDE, known_until(c, look));
}

/* Not inside any more: it returned at a time that nobody saw. From now on only its thread's end
 * matters. */
static int gone(struct inside *in, struct inside_call *c, const struct event_sink *sink)
{
	inside_mark(in, c, 0);
	c->state = CALL_OVER;
	return push(sink, c, EVENT_GONE, time_now_ns());
}

/* It ended before BPF was told of it. */
static bool has_no_thread(const struct inside_call *c)
{
	return syscall(SYS_tgkill, c->pid, c->tid, 0) && errno == ESRCH;
}

static int ended(struct inside *in, struct inside_call *c, const struct event_sink *sink)
{
	int err = gone(in, c, sink);

	loader_forget_seed(in->loader, (uint32_t)c->tid);
	return err ? err : sink->push(sink->ctx, &(struct event){
		.kind = EVENT_EXIT, .pid = (uint32_t)c->pid, .tid = (uint32_t)c->tid, .seq = 1,
		.end_ns = time_now_ns() });
}

static int look_again(struct inside_look *look, struct inside_call *c, const struct event_sink *sink)
{
	const struct map_slot *slot = map_find(&look->by_tid, (uint64_t)c->tid);
	const struct stack_thread *t = NULL;
	struct inside_call now;

	if (slot)
		t = stack_snapshot_thread(look->snapshot, slot->value - 1);
	if (has_ended(look->in, c)) {
		c->state = CALL_OVER;
		return 0;
	}
	if (has_no_thread(c))
		return ended(look->in, c, sink);
	if (!t || t->pid != c->pid || inside_was_seen(look, c->tid))
		return gone(look->in, c, sink);
	if (inside_read_call(t, &now)) {
		c->ran = now.ran;
		if (now.row == c->row && now.sp == c->sp && now.returns_to == c->returns_to)
			return still_inside(look, c, sink);
		return gone(look->in, c, sink);
	}
	/* A stack that could not be read to its end says nothing; one that could, has no call. */
	if (t->to_top)
		return gone(look->in, c, sink);
	c->due_ns = look->start_ns + (c->looks < LOOKS_SOON ? TICK_NS : LOOK_NS);
	c->looks += c->looks < LOOKS_SOON;
	return 0;
}

static int look_at_due(struct inside *in, const struct event_sink *sink, bool last)
{
	uint64_t now_ns = time_now_ns();
	struct inside_pids pids = { 0 };
	struct inside_look look = { 0 };
	int err = 0;

	for (size_t i = 0; i < in->calls.n && !err; i++)
		if (is_due(&in->calls.v[i], now_ns, last))
			err = inside_add_pid(&pids, in->calls.v[i].pid);
	if (!err && pids.all.n)
		err = inside_look_at(&look, in, &pids);
	for (size_t i = 0; i < in->calls.n && pids.all.n && !err; i++)
		if (is_due(&in->calls.v[i], now_ns, last))
			err = look_again(&look, &in->calls.v[i], sink);
	inside_look_end(&look);
	VEC_FREE(&pids.all);
	return err == -ENOTSUP ? 0 : err;
}

/* ---- the course of it ----------------------------------------------------------------------- */

static void arm_found(struct inside *in)
{
	uint64_t now_ns;

	for (size_t i = 0; i < in->calls.n; i++)
		if (in->calls.v[i].state == CALL_FOUND && !in->calls.v[i].tried)
			inside_link_process(in, in->calls.v[i].pid);
	now_ns = time_now_ns();
	for (size_t i = 0; i < in->calls.n; i++) {
		struct inside_call *c = &in->calls.v[i];

		if (c->state != CALL_FOUND)
			continue;
		c->state = c->link == INSIDE_NO_LINK ? CALL_UNPROBED : CALL_ARMED;
		c->due_ns = c->ran ? now_ns + TICK_NS : now_ns;
		if (c->state == CALL_ARMED)
			inside_mark(in, c, c->sp);
	}
}

/* Forgets what is over, then closes links that nobody needs. */
static void drop_over(struct inside *in)
{
	size_t kept = 0;

	for (size_t i = 0; i < in->calls.n; i++) {
		struct inside_call *c = &in->calls.v[i];

		if (c->state == CALL_WATCHED && has_ended(in, c))
			c->state = CALL_OVER;
		if (c->state == CALL_OVER) {
			map_del(&in->known, (uint64_t)c->tid);
			inside_unlink(in, c);
		} else {
			in->calls.v[kept++] = *c;
		}
	}
	in->calls.n = kept;
	inside_close_links(in, true);
}

int inside_work(struct inside *in, const struct event_sink *sink)
{
	int err;

	arm_found(in);
	err = look_at_due(in, sink, false);
	drop_over(in);
	return err;
}

int inside_timeout_ms(const struct inside *in)
{
	uint64_t now_ns = time_now_ns(), due_ns = UINT64_MAX;

	for (size_t i = 0; i < in->calls.n; i++) {
		const struct inside_call *c = &in->calls.v[i];
		uint64_t at = c->due_ns;

		if (c->state == CALL_FOUND)
			return 0;
		if (c->state == CALL_WATCHED)
			at = now_ns + ENDED_NS;
		due_ns = at < due_ns ? at : due_ns;
	}
	if (due_ns == UINT64_MAX)
		return -1;
	return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

int inside_stop(struct inside *in, const struct event_sink *sink)
{
	int err = look_at_due(in, sink, true);

	inside_leave_links(in);
	return err;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Which threads are in a call that began before its probes, by snapshots of their stacks. A call is
 * the same one as long as its function, the place it returns to and the stack pointer there are.
 */
#include "stack/inflight.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/map.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/proc.h"
#include "probe/loader_read.h"
#include "stack/snapshot.h"

/* A thread on a CPU was where its registers show at the last timer tick: at most so long ago. */
#define TICK_NS (20 * NS_PER_MS)
#define LOOK_NS NS_PER_SEC		/* at most, between looks */
/* checks of a thread in an unknown state, before it is checked once a second */
#define LOOKS_SOON 5u

struct pids {
	uint32_t *v;
	size_t n, cap;
};

struct call {
	pid_t pid, tid;
	uint16_t row;
	bool over;
	uint8_t looks;		/* that found out nothing, one after the other */
	bool ran;		/* at the last check: the state is that of its last tick */
	bool is_stopped;	/* as well */
	uint64_t since_ns;
	uint64_t due_ns;	/* of the next look */
	uint64_t returns_to;	/* address */
	uint64_t sp;		/* stack pointer there */
};

struct inflight {
	struct loader *loader;
	unsigned int tier;
	bool ticks;		/* every CPU that runs a thread has its timer tick */
	struct pids fresh;	/* to be looked at for the first time */
	VEC(struct call) calls;
	struct map known;	/* their threads */
};

struct look {
	struct inflight *in;
	struct map seen;	/* threads that have made a call that was seen */
	struct stack_snapshot *snapshot;
	struct map by_tid;	/* index in the snapshot + 1 */
	uint64_t start_ns;	/* before registers were read */
	loader_regs_fn fn;
	void *fn_ctx;
	bool failed;
};

struct inflight *inflight_new(struct loader *l, unsigned int tier)
{
	struct inflight *in = calloc(1, sizeof(*in));
	char *list;

	if (!in)
		return NULL;
	in->loader = l;
	in->tier = tier;
	/* CPUs of nohz_full have none. */
	list = io_read_file("/sys/devices/system/cpu/nohz_full", 4096, NULL);
	in->ticks = !list || !*list || *list == '\n' || !strncmp(list, "(null)", 6);
	free(list);
	return in;
}

void inflight_free(struct inflight *in)
{
	if (!in)
		return;
	VEC_FREE(&in->calls);
	VEC_FREE(&in->fresh);
	map_free(&in->known);
	free(in);
}

static int add_pid(struct pids *pids, pid_t pid)
{
	uint32_t *slot;

	for (size_t i = 0; i < pids->n; i++)
		if (pids->v[i] == (uint32_t)pid)
			return 0;
	slot = VEC_PUSH(pids);
	if (!slot)
		return -ENOMEM;
	*slot = (uint32_t)pid;
	return 0;
}

int inflight_add(struct inflight *in, pid_t pid)
{
	return add_pid(&in->fresh, pid);
}

/* ---- one look ---------------------------------------------------------------------------- */

static void note_regs(void *ctx, const struct gp_thread_regs *regs)
{
	struct look *look = ctx;

	if (regs->flags & GP_REGS_SEEN)
		look->failed |= !map_put(&look->seen, regs->tid, NULL);
	look->fn(look->fn_ctx, regs);
}

static int read_regs(void *ctx, const uint32_t *pids, size_t n, loader_regs_fn fn, void *fn_ctx)
{
	struct look *look = ctx;

	look->fn = fn;
	look->fn_ctx = fn_ctx;
	return loader_look(look->in->loader, pids, n, note_regs, look);
}

static void look_end(struct look *look)
{
	stack_snapshot_free(look->snapshot);
	map_free(&look->seen);
	map_free(&look->by_tid);
}

static int look_at(struct look *look, struct inflight *in, const struct pids *at)
{
	struct stack_calls calls = { read_regs, look, in->tier };
	const uint32_t *pids = at->v;
	size_t n = at->n;

	*look = (struct look){ .in = in, .start_ns = time_now_ns() };
	look->snapshot = stack_snapshot_new(pids, n, &calls);
	if (!look->snapshot)
		return -ENOMEM;
	if (stack_snapshot_regs_error(look->snapshot))
		return -ENOTSUP;
	for (size_t i = 0; i < n; i++)
		if (stack_snapshot_add(look->snapshot, (pid_t)pids[i]) == -ENOMEM)
			return -ENOMEM;
	for (size_t i = 0; i < stack_snapshot_threads(look->snapshot); i++) {
		const struct stack_thread *t = stack_snapshot_thread(look->snapshot, i);
		struct map_slot *slot = map_put(&look->by_tid, (uint64_t)t->tid, NULL);

		if (!slot)
			return -ENOMEM;
		slot->value = i + 1;
	}
	return look->failed ? -ENOMEM : 0;
}

static bool read_call(const struct stack_thread *t, struct call *c)
{
	const struct stack_frame *caller;

	if (!t->call || t->call_frame + 1 >= t->n_frames)
		return false;
	caller = &t->frames[t->call_frame + 1];
	if (!caller->sp)
		return false;
	if (t->quality == STACK_IS_RUNNING && !t->to_top)
		return false;		/* its stack changed while it was read */
	*c = (struct call){ .pid = t->pid, .tid = t->tid, .row = (uint16_t)t->row,
			    .returns_to = caller->address, .sp = caller->sp,
			    .ran = t->quality == STACK_IS_RUNNING,
			    .is_stopped = proc_is_stopped(t->state) };
	return true;
}

static bool was_seen(const struct look *look, pid_t tid)
{
	return map_find(&look->seen, (uint64_t)tid);
}

/* ---- sending ------------------------------------------------------------------------------ */

static int push(const struct event_sink *sink, const struct call *c, uint8_t kind, uint64_t end_ns)
{
	struct event ev = { .kind = kind, .pid = (uint32_t)c->pid, .tid = (uint32_t)c->tid,
			    .func = c->row, .start_ns = c->since_ns,
			    .end_ns = num_max(end_ns, c->since_ns),
			    .call.late_why = c->is_stopped ? OFF_STOPPED : 0 };

	return sink->push(sink->ctx, &ev);
}

/* The state of a thread that ran is as old as its last tick; without ticks its age is unknown. */
static uint64_t known_until(const struct call *c, const struct look *look)
{
	if (!c->ran)
		return look->start_ns;
	return look->in->ticks ? look->start_ns - TICK_NS : c->since_ns;
}

/* ---- finding ------------------------------------------------------------------------------- */

static int find_one(struct look *look, const struct stack_thread *t, uint64_t since_ns,
		    const struct event_sink *sink)
{
	struct inflight *in = look->in;
	struct call call, *c;
	bool is_new;
	int err;

	if (was_seen(look, t->tid) || !read_call(t, &call))
		return 0;
	if (!map_put(&in->known, (uint64_t)t->tid, &is_new))
		return -ENOMEM;
	if (!is_new)
		return 0;
	c = VEC_PUSH(&in->calls);
	if (!c)
		return -ENOMEM;
	*c = call;
	c->due_ns = call.ran ? look->start_ns + TICK_NS : look->start_ns;
	c->since_ns = since_ns;
	/* Its end is sent from now on, also if it makes no call that is seen. */
	err = loader_mark_in_flight(in->loader, (uint32_t)c->tid);
	if (err)
		log_debug("thread %d: cannot watch for its end: error %d", c->tid, err);
	err = sink->push(sink->ctx, &(struct event){
		.kind = EVENT_THREAD, .pid = (uint32_t)t->pid, .tid = (uint32_t)t->tid,
		.start_ns = t->birth_ns, .task.comm = *t->comm ? t->comm : NULL });
	return err ? err : push(sink, c, EVENT_INSIDE, known_until(c, look));
}

int inflight_find(struct inflight *in, uint64_t since_ns, const struct event_sink *sink)
{
	const struct pids some = { .v = in->fresh.v, .n = num_min(in->fresh.n, INFLIGHT_MOST) };
	struct look look;
	int err;

	if (!some.n)
		return 0;
	err = look_at(&look, in, &some);
	for (size_t i = 0; !err && i < stack_snapshot_threads(look.snapshot); i++)
		err = find_one(&look, stack_snapshot_thread(look.snapshot, i), since_ns, sink);
	look_end(&look);
	VEC_DROP_FIRST(&in->fresh, some.n);
	if (err == -ENOTSUP)
		log_debug("calls that began before cannot be found: no registers of threads");
	return err == -ENOTSUP ? 0 : err;
}

/* ---- looking again -------------------------------------------------------------------------- */

static bool is_due(const struct call *c, uint64_t now_ns, bool last)
{
	return !c->over && (last || now_ns >= c->due_ns);
}

/* Not inside any more: it returned at an unknown time. From now on only its thread's exit
 * matters. */
static int gone(struct call *c, const struct event_sink *sink)
{
	c->over = true;
	return push(sink, c, EVENT_GONE, time_now_ns());
}

/* Its thread exited before BPF watched for that. */
static int end_thread(struct inflight *in, struct call *c, const struct event_sink *sink)
{
	int err = gone(c, sink);

	loader_forget_in_flight(in->loader, (uint32_t)c->tid);
	return err ? err : sink->push(sink->ctx, &(struct event){
		.kind = EVENT_EXIT, .pid = (uint32_t)c->pid, .tid = (uint32_t)c->tid, .seq = 1,
		.end_ns = time_now_ns() });
}

static int look_again(struct look *look, struct call *c, const struct event_sink *sink)
{
	const struct map_slot *slot = map_find(&look->by_tid, (uint64_t)c->tid);
	const struct stack_thread *t = NULL;
	uint64_t lasted = look->start_ns - c->since_ns;
	struct call now;

	if (slot)
		t = stack_snapshot_thread(look->snapshot, slot->value - 1);
	/* It ended with its thread: BPF has sent that. */
	if (!loader_is_in_flight(look->in->loader, (uint32_t)c->tid)) {
		c->over = true;
		return 0;
	}
	if (syscall(SYS_tgkill, c->pid, c->tid, 0) && errno == ESRCH)
		return end_thread(look->in, c, sink);
	if (!t || t->pid != c->pid || was_seen(look, c->tid))
		return gone(c, sink);
	if (read_call(t, &now)) {
		c->ran = now.ran;
		c->is_stopped = now.is_stopped;
		if (now.row != c->row || now.sp != c->sp || now.returns_to != c->returns_to)
			return gone(c, sink);
		c->looks = 0;
		/* A long call is checked less often. */
		c->due_ns = look->start_ns +
			    (lasted < TICK_NS ? TICK_NS : lasted < LOOK_NS ? lasted : LOOK_NS);
		return push(sink, c, EVENT_INSIDE, known_until(c, look));
	}
	/* A stack that could not be read to its end proves nothing; one that could has no call. */
	if (t->to_top)
		return gone(c, sink);
	c->due_ns = look->start_ns + (c->looks < LOOKS_SOON ? TICK_NS : LOOK_NS);
	c->looks += c->looks < LOOKS_SOON;
	return 0;
}

static int look_at_due(struct inflight *in, const struct event_sink *sink, bool last)
{
	uint64_t now_ns = time_now_ns();
	struct pids pids = { 0 };
	struct look look = { 0 };
	int err = 0;

	for (size_t i = 0; i < in->calls.n && !err; i++)
		if (is_due(&in->calls.v[i], now_ns, last))
			err = add_pid(&pids, in->calls.v[i].pid);
	if (!err && pids.n)
		err = look_at(&look, in, &pids);
	for (size_t i = 0; i < in->calls.n && pids.n && !err; i++)
		if (is_due(&in->calls.v[i], now_ns, last))
			err = look_again(&look, &in->calls.v[i], sink);
	look_end(&look);
	VEC_FREE(&pids);
	return err == -ENOTSUP ? 0 : err;
}

/* ---- the course of it ----------------------------------------------------------------------- */

int inflight_work(struct inflight *in, const struct event_sink *sink)
{
	int err = look_at_due(in, sink, false);
	size_t kept = 0;

	for (size_t i = 0; i < in->calls.n; i++) {
		struct call *c = &in->calls.v[i];

		if (c->over)
			map_del(&in->known, (uint64_t)c->tid);
		else
			in->calls.v[kept++] = *c;
	}
	in->calls.n = kept;
	return err;
}

int inflight_timeout_ms(const struct inflight *in)
{
	uint64_t now_ns = time_now_ns(), due_ns = in->fresh.n ? now_ns : UINT64_MAX;

	for (size_t i = 0; i < in->calls.n; i++)
		due_ns = num_min(due_ns, in->calls.v[i].due_ns);
	if (due_ns == UINT64_MAX)
		return -1;
	return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns + NS_PER_MS - 1) / NS_PER_MS);
}

int inflight_stop(struct inflight *in, const struct event_sink *sink)
{
	return look_at_due(in, sink, true);
}

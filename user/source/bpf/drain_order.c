// SPDX-License-Identifier: BSD-3-Clause
/* Positions noted in the right order are all it takes: no record is looked into but exits, and calls
 * only while a number waits for its next owner. */
#include "source/bpf/drain_order.h"

#include <errno.h>

#include "base/time.h"
#include "base/vec.h"

static bool is_birth(const struct gp_task *task)
{
	return task->kind != GP_TASK_EXIT;
}

/* Delivers what waits under the call's pid and happened before it: whose calls before that were, are
 * through, since they lie before this one in the ring. 0 or put's error. */
static int deliver_due(struct drain_order *o, struct drain_waiting *w, const struct gp_call *call)
{
	size_t kept = 0;
	int err = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct gp_task *task = &w->v[i];

		if (!err && task->pid == call->pid && task->time_ns <= call->start_ns) {
			err = o->put(o->ctx, DRAIN_TASK, task, sizeof(*task));
			if (!err) {
				o->births -= is_birth(task);
				continue;
			}
		}
		w->v[kept++] = *task;
	}
	w->n = kept;
	return err;
}

/* A number's next owner may call before the round in which its birth would be delivered. */
static int on_call(void *ctx, const void *rec, size_t len)
{
	struct drain_order *o = ctx;
	int err = 0;

	if (o->births && len >= sizeof(struct gp_call)) {
		err = deliver_due(o, &o->held, rec);
		if (!err)
			err = deliver_due(o, &o->fresh, rec);
	}
	return err ? err : o->put(o->ctx, DRAIN_CALL, rec, len);
}

/* Another process, by its birth, had the pid before. */
static bool is_heir(const struct gp_task *task, const struct gp_task *before)
{
	return before->process_ns && task->process_ns && before->process_ns != task->process_ns;
}

static bool leaves(const struct drain_waiting *w, const struct gp_task *task)
{
	for (size_t i = 0; i < w->n; i++) {
		const struct gp_task *before = &w->v[i];
		bool same = task->kind == GP_TASK_NEW && task->tid == task->pid &&
			    before->tid == task->tid;

		if (before->pid == task->pid && (same || is_heir(task, before)))
			return true;
	}
	return false;
}

/* Of a thread whose number another one has just left (by exec in a thread that is not the first one,
 * so that only a first thread can be meant), or of a process whose pid another one had. */
static bool follows_exit(const struct drain_order *o, const struct gp_task *task)
{
	return (task->kind == GP_TASK_NEW || task->kind == GP_TASK_EXEC) &&
	       (leaves(&o->held, task) || leaves(&o->fresh, task));
}

static int on_task(void *ctx, const void *rec, size_t len)
{
	struct drain_order *o = ctx;
	const struct gp_task *task = rec;
	struct gp_task *fresh;

	if (len != sizeof(*task) || (task->kind != GP_TASK_EXIT && !follows_exit(o, task)))
		return o->put(o->ctx, DRAIN_TASK, rec, len);
	fresh = VEC_PUSH(&o->fresh);
	if (!fresh)
		return -ENOMEM;
	*fresh = *task;
	o->births += is_birth(task);
	return 0;
}

static bool deliver_exits(struct drain_order *o)
{
	size_t i = 0;

	while (i < o->held.n &&
	       !o->put(o->ctx, DRAIN_TASK, &o->held.v[i], sizeof(o->held.v[i]))) {
		o->births -= is_birth(&o->held.v[i]);
		i++;
	}
	VEC_DROP_FIRST(&o->held, i);
	return !o->held.n;
}

/* What was found becomes what is held; held is empty, its memory is used again. */
static void turn(struct drain_order *o)
{
	struct drain_waiting empty = o->held;

	o->held = o->fresh;
	o->fresh = empty;
}

/*
 * The position in the calls ring is noted first: every call before it has its thread's NEW in the
 * tasks ring already, so no call may pass while a record there is still being written. Every exit
 * found now has all its calls before the *next* round's position, so exits are delivered one round
 * later, and the mark, too, is the time of the round before.
 */
bool drain_order_round(struct drain_order *o)
{
	uint64_t now_ns = time_now_ns(), limit = ring_produced(o->calls);

	if (ring_consume(o->tasks, ring_produced(o->tasks), on_task, o) != 1 ||
	    ring_consume(o->calls, limit, on_call, o) != 1 || !deliver_exits(o))
		return false;
	if (o->mark_ns && o->put(o->ctx, DRAIN_MARK, &o->mark_ns, sizeof(o->mark_ns)))
		return false;
	o->mark_ns = now_ns;
	turn(o);
	return true;
}

void drain_order_free(struct drain_order *o)
{
	VEC_FREE(&o->held);
	VEC_FREE(&o->fresh);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Positions noted in the right order are all it takes: no record is looked into but exits. */
#include "event/drain_order.h"

#include <errno.h>

#include "base/time.h"

static int on_call(void *ctx, const void *rec, size_t len)
{
	struct drain_order *o = ctx;

	return o->put(o->ctx, DRAIN_CALL, rec, len);
}

static bool leaves(const struct gp_task *v, size_t n, const struct gp_task *task)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].tid == task->tid && v[i].pid == task->pid)
			return true;
	return false;
}

/* The birth of a thread whose number another one has just left: by exec in a thread that is not
 * the first one, so that only a first thread can be meant. */
static bool follows_exit(const struct drain_order *o, const struct gp_task *task)
{
	return task->kind == GP_TASK_NEW && task->tid == task->pid &&
	       (leaves(o->held.v, o->held.n, task) || leaves(o->fresh.v, o->fresh.n, task));
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
	return 0;
}

static bool deliver_exits(struct drain_order *o)
{
	size_t i = 0;

	while (i < o->held.n &&
	       !o->put(o->ctx, DRAIN_TASK, &o->held.v[i], sizeof(o->held.v[i])))
		i++;
	o->held.n -= i;
	if (o->held.n)
		memmove(o->held.v, o->held.v + i, o->held.n * sizeof(*o->held.v));
	return !o->held.n;
}

/* What was found becomes what is held; held is empty, its memory is used again. */
static void turn(struct drain_order *o)
{
	__typeof__(o->held) empty = o->held;

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

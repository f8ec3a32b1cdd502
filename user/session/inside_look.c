// SPDX-License-Identifier: BSD-3-Clause
/* What threads are in, now: one snapshot of their stacks, and who of them has made a call that was seen. */
#include <errno.h>

#include "base/time.h"
#include "session/inside_internal.h"

int inside_add_pid(struct inside_pids *pids, pid_t pid)
{
	uint32_t *slot;

	for (size_t i = 0; i < pids->all.n; i++)
		if (pids->all.v[i] == (uint32_t)pid)
			return 0;
	slot = VEC_PUSH(&pids->all);
	if (!slot)
		return -ENOMEM;
	*slot = (uint32_t)pid;
	return 0;
}

static void note_regs(void *ctx, const struct gp_thread_regs *regs)
{
	struct inside_look *look = ctx;

	if (regs->flags & GP_REGS_SEEN)
		look->failed |= !map_put(&look->seen, regs->tid, NULL);
	look->fn(look->fn_ctx, regs);
}

static int read_regs(void *ctx, const uint32_t *pids, size_t n, loader_regs_fn fn, void *fn_ctx)
{
	struct inside_look *look = ctx;

	look->fn = fn;
	look->fn_ctx = fn_ctx;
	return loader_look(look->in->loader, pids, n, note_regs, look);
}

void inside_look_end(struct inside_look *look)
{
	stack_snapshot_free(look->snapshot);
	map_free(&look->seen);
	map_free(&look->by_tid);
}

int inside_look_at(struct inside_look *look, struct inside *in, const struct inside_pids *at)
{
	struct stack_source from = { read_regs, look };
	const uint32_t *pids = at->all.v;
	size_t n = at->all.n;

	*look = (struct inside_look){ .in = in, .start_ns = time_now_ns() };
	look->snapshot = stack_snapshot_of_calls(pids, n, &from, in->tier);
	if (!look->snapshot)
		return -ENOMEM;
	if (!stack_snapshot_has_regs(look->snapshot))
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

bool inside_read_call(const struct stack_thread *t, struct inside_call *c)
{
	const struct stack_frame *caller;

	if (!t->call || t->call_frame + 1 >= t->n_frames)
		return false;
	caller = &t->frames[t->call_frame + 1];
	if (!caller->sp)
		return false;
	if (t->quality == STACK_IS_RUNNING && !t->to_top)
		return false;		/* its stack changed while it was read */
	*c = (struct inside_call){ .pid = t->pid, .tid = t->tid, .row = (uint16_t)t->row,
				   .returns_to = caller->address, .sp = caller->sp,
				   .ran = t->quality == STACK_IS_RUNNING };
	return true;
}

bool inside_was_seen(const struct inside_look *look, pid_t tid)
{
	return map_find(&look->seen, (uint64_t)tid);
}

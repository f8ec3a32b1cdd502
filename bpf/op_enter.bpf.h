/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* When a thread enters an operator and returns from it. */
#ifndef GPUPROF_OP_ENTER_BPF_H
#define GPUPROF_OP_ENTER_BPF_H

#include "op_inside.bpf.h"
#include "shape.bpf.h"

/* One has been entered, of the shape that op has (plain: none). False: it is too deep. */
static __noinline int enter_op(struct op_stack *s, __u64 sp, __u64 op, __u64 plain,
			       __u64 returns_to)
{
	__u64 now = bpf_ktime_get_ns(), n;

	leave_returned(s, sp, now);
	n = s->n;
	if (n >= GP_OPS_DEPTH) {
		count(deep);
		return 0;
	}
	s->v[n].sp = sp;
	s->v[n].start_ns = now;
	s->v[n].op = op;
	s->v[n].plain = plain;
	s->v[n].shaped = 0;
	s->v[n].inner_ns = 0;
	s->v[n].returns_to = returns_to;
	s->v[n].idle = 0;
	s->n = n + 1;
	return 1;
}

static __noinline int mark_idle(struct op_stack *s)
{
	__u64 top = s->n - 1;

	if (top < GP_OPS_DEPTH)
		s->v[top].idle = 1;
	return 0;
}

/* The one that was entered at sp returns. */
static __noinline int return_op(struct op_stack *s, __u64 sp)
{
	__u64 now = bpf_ktime_get_ns(), top;

	leave_returned(s, sp - 1, now);
	top = s->n - 1;
	if (top >= GP_OPS_DEPTH || s->v[top].sp != sp)
		return 0;
	return leave_op(s, now, 0);
}

/* Made if the process is followed; else NULL. */
static __noinline struct thread_ops *ops_of_thread(void)
{
	struct thread_ops *t;

	if (!follow_ops)
		return NULL;
	if (!is_followed(bpf_get_current_pid_tgid() >> 32)) {
		count(foreign);
		return NULL;
	}
	t = bpf_task_storage_get(&ops, bpf_get_current_task_btf(), 0,
				 BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!t)
		count(deep);
	return t;
}

/* Of an operator whose return is not followed; a node of the backward pass is over when the next
 * one begins (user/model/op_events.c). On arm64 it is in a register, and then somewhere. */
static __noinline __u64 returns_to(struct pt_regs *ctx, __u64 cookie)
{
	__u64 address = 0;

#if defined(__TARGET_ARCH_x86)
	if (cookie & GP_COOKIE_OP_ENTRY && !(cookie & GP_COOKIE_OP_NODE))
		bpf_probe_read_user(&address, sizeof(address), (void *)PT_REGS_SP(ctx));
#endif
	return address;
}

static __noinline int op_enter(struct pt_regs *ctx, __u64 cookie)
{
	struct thread_ops *t = ops_of_thread();
	__u64 plain = cookie & GP_COOKIE_OP_BITS, op = plain;

	if (!t)
		return 0;
	if (follow_shapes && cookie & GP_COOKIE_SHAPE_BITS && read_shape(ctx, t, cookie)) {
		op = with_shape(&t->shape, plain);
		shape_modules(t, PT_REGS_SP(ctx));
	}
	if (!enter_op(&t->ops, PT_REGS_SP(ctx), op, plain, returns_to(ctx, cookie)))
		return 0;
	if (cookie & GP_COOKIE_OP_IDLE)
		mark_idle(&t->ops);
	return 1;
}

static __noinline int op_return(struct pt_regs *ctx)
{
	struct thread_ops *t;

	if (!follow_ops)
		return 0;
	t = bpf_task_storage_get(&ops, bpf_get_current_task_btf(), 0, 0);
	return t ? return_op(&t->ops, PT_REGS_SP(ctx) - RET_POPS) : 0;
}

#endif

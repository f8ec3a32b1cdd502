/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The operators of frameworks that a thread is in, and PyTorch's modules, each the innermost last:
 * noted at their entry, and taken off and sent at their return. Where that is not followed (C++
 * may throw through it), one has returned when the thread is seen at or above the place on the
 * stack where it was entered, or when its return address is no longer there: what its caller calls
 * next has another one in its place.
 */
#ifndef GPUPROF_OP_BPF_H
#define GPUPROF_OP_BPF_H

#include "abi.bpf.h"
#include "operands.bpf.h"
#include "threads.bpf.h"

struct op_frame {
	__u64 sp;		/* at its entry */
	__u64 start_ns;
	__u64 op;		/* with its shape, when that is known */
	__u64 plain;		/* without */
	__u64 shaped;		/* of a module: one of its operators had a shape */
	__u64 inner_ns;		/* in others inside it that have returned */
	__u64 returns_to;	/* 0: not known, or its return will be seen */
	__u64 idle;		/* not 0: it launches nothing itself */
};

struct op_stack {
	__u64 n;
	struct op_frame v[GP_OPS_DEPTH];
};

struct thread_ops {
	struct op_stack ops, modules, gemms;
	/* room for one that is looked at */
	struct tensor tensor;
	struct gp_shape shape;
	struct product product;
};

struct ops_t {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread_ops);
};
extern struct ops_t ops SEC(".maps");

/* Those that were sent. */
struct named_t {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);	/* a module, a product, or an operator with a shape */
	__type(value, __u8);
};
extern struct named_t named SEC(".maps");

extern const volatile __u8 follow_ops;	/* 0: there are no probes of operators, and no map */

static __noinline int send_op(const struct op_frame *f, __u64 end_ns, __u32 flags)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct gp_op *rec = bpf_ringbuf_reserve(&calls, sizeof(*rec), 0);

	count(hits[GP_OP]);
	if (!rec) {
		count(lost[GP_OP]);
		return 0;
	}
	__builtin_memset(rec, 0, sizeof(*rec));
	rec->kind = GP_OP;
	rec->flags = flags;
	rec->op = f->op;
	rec->inner_ns = f->inner_ns;
	rec->start_ns = f->start_ns;
	rec->end_ns = end_ns;
	rec->pid = id >> 32;
	rec->tid = (__u32)id;
	bpf_ringbuf_submit(rec, wake_flags());
	return 0;
}

/* The innermost one has returned, by now_ns. */
static __noinline int leave_op(struct op_stack *s, __u64 now_ns, __u32 flags)
{
	__u64 top = s->n - 1, around = s->n - 2;

	if (top >= GP_OPS_DEPTH)
		return 0;
	send_op(&s->v[top], now_ns, flags);
	if (around < GP_OPS_DEPTH)
		s->v[around].inner_ns += now_ns - s->v[top].start_ns;
	s->n = top;
	return 0;
}

static __noinline int has_returned(const struct op_frame *f, __u64 sp)
{
	__u64 there = 0;

	if (f->sp <= sp)
		return 1;
	return f->returns_to &&
	       !bpf_probe_read_user(&there, sizeof(there), (void *)f->sp) &&
	       there != f->returns_to;
}

/*
 * Those that have returned by now_ns, since the thread is at sp. Global, as what else loops over a
 * stack: the verifier looks at such a function once, not at each call of it.
 */
__weak int leave_returned(struct op_stack *s, __u64 sp, __u64 now_ns)
{
	if (!s)
		return 0;
	for (__u32 i = 0; i < GP_OPS_DEPTH; i++) {
		__u64 top = s->n - 1;

		if (top >= GP_OPS_DEPTH || !has_returned(&s->v[top], sp))
			break;
		leave_op(s, now_ns, GP_OP_BOUND);
	}
	return 0;
}

#endif

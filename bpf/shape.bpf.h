/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The shape of an operator's first tensor: its sizes and the type of its elements, as PyTorch's
 * c10::TensorImpl has them. What cannot be one (undefined, of symbolic sizes, nested, with more
 * dimensions) leaves the operator without a shape. A module has that of the first in it that has
 * one.
 */
#ifndef GPUPROF_SHAPE_BPF_H
#define GPUPROF_SHAPE_BPF_H

#include "op.bpf.h"

#define TYPE_BEHIND (13 * 8)	/* of struct tensor */
#define INLINE_DIMS 5
#define CUSTOM_SIZES 2	/* of c10::TensorImpl::SizesStridesPolicy */

extern const volatile __u8 follow_shapes;
extern volatile struct gp_layout layouts[GP_LAYOUTS];

/* The argument of this number, from 1. All are loaded: else it is one load from one of six offsets,
 * and the verifier wants constant ones in the context. */
static __noinline __u64 argument(struct pt_regs *ctx, __u32 number)
{
	__u64 value[6] = { PT_REGS_PARM1(ctx), PT_REGS_PARM2(ctx), PT_REGS_PARM3(ctx),
			   PT_REGS_PARM4(ctx), PT_REGS_PARM5(ctx), PT_REGS_PARM6(ctx) };
	__u64 found = 0;

#pragma unroll
	for (__u32 i = 0; i < 6; i++) {
		asm volatile("" : "+r"(value[i]));
		if (number == i + 1)
			found = value[i];
	}
	return found;
}

/* The tensor that a const at::Tensor & refers to. False: it cannot be one. */
static __noinline int read_tensor(struct tensor *out, __u64 reference, __u64 cookie)
{
	volatile struct gp_layout *l =
		&layouts[cookie >> GP_COOKIE_LAYOUT_SHIFT & (GP_LAYOUTS - 1)];
	__u64 at = 0;

	if (bpf_probe_read_user(&at, sizeof(at), (void *)reference))
		return 0;
	at += l->type_at - TYPE_BEHIND;
	if (bpf_probe_read_user(out, sizeof(*out), (void *)at))
		return 0;
	return out->dims <= GP_DIMS_MAX && out->type < l->types &&
	       (out->policy >> 2 & 3) < CUSTOM_SIZES;
}

/* False: the sizes do not multiply to its number of elements. */
static __noinline int read_sizes(struct gp_shape *shape, const struct tensor *tensor)
{
	__u64 dims = tensor->dims, elements = 1;

	if (dims > INLINE_DIMS) {
		if (bpf_probe_read_user(shape->size, sizeof(shape->size), (void *)tensor->sizes[0]))
			return 0;
	} else {
		__builtin_memcpy(shape->size, tensor->sizes, sizeof(tensor->sizes));
	}
	for (__u32 i = 0; i < GP_DIMS_MAX; i++) {
		if (i < dims)
			elements *= shape->size[i];
		else
			shape->size[i] = 0;
	}
	return elements == tensor->elements;
}

static __noinline __u64 hash_shape(const struct gp_shape *shape)
{
	__u64 h = mix(shape->op, (__u64)shape->type << 8 | shape->dims);

	for (__u32 i = 0; i < GP_DIMS_MAX; i++)
		h = mix(h, shape->size[i]);
	return h | GP_OPS_FIRST;
}

/* The first time. False: the ring is full. */
static __noinline int send_shape(struct gp_shape *shape)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct gp_shape *rec;
	__u8 yes = 1;

	if (bpf_map_lookup_elem(&named, &shape->id))
		return 1;
	count(hits[GP_SHAPE]);
	rec = bpf_ringbuf_reserve(&calls, sizeof(*rec), 0);
	if (!rec) {
		count(lost[GP_SHAPE]);
		return 0;
	}
	__builtin_memcpy(rec, shape, sizeof(*rec));
	rec->kind = GP_SHAPE;
	rec->start_ns = bpf_ktime_get_ns();
	rec->pid = id >> 32;
	rec->tid = (__u32)id;
	bpf_ringbuf_submit(rec, BPF_RB_NO_WAKEUP);
	bpf_map_update_elem(&named, &shape->id, &yes, BPF_ANY);
	return 1;
}

/* The shape of an operator's tensor, into t->shape. False: it has none. */
static __noinline int read_shape(struct pt_regs *ctx, struct thread_ops *t, __u64 cookie)
{
	__u64 reference = argument(ctx, cookie >> GP_COOKIE_TENSOR_SHIFT & 7);

	if (!read_tensor(&t->tensor, reference, cookie))
		return 0;
	t->shape.dims = t->tensor.dims;
	t->shape.type = t->tensor.type;
	return read_sizes(&t->shape, &t->tensor);
}

/* The operator or module with this shape, if that can be sent. */
static __noinline __u64 with_shape(struct gp_shape *shape, __u64 plain)
{
	shape->op = plain;
	shape->id = hash_shape(shape);
	return send_shape(shape) ? shape->id : plain;
}

/* To the modules that the thread at sp is in, and that have none yet. */
static __noinline int shape_modules(struct thread_ops *t, __u64 sp)
{
	__u64 at = t->modules.n - 1;

	for (__u32 i = 0; i < GP_OPS_DEPTH; i++, at--) {
		asm volatile("" : "+r"(at));
		if (at >= GP_OPS_DEPTH || t->modules.v[at].shaped)
			break;
		if (t->modules.v[at].sp <= sp)
			continue;
		t->modules.v[at].shaped = 1;
		t->modules.v[at].op = with_shape(&t->shape, t->modules.v[at].plain);
	}
	return 0;
}

#endif

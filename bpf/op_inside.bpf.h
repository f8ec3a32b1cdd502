/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* In which operator a thread is. */
#ifndef GPUPROF_OP_INSIDE_BPF_H
#define GPUPROF_OP_INSIDE_BPF_H

#include "op.bpf.h"

/* Its number in the stack; GP_OPS_DEPTH: there is none. */
#define NO_OP GP_OPS_DEPTH

static __always_inline const struct op_frame *op_at(const struct op_stack *s, __u64 at)
{
	/* the verifier sees its bound where it is used */
	asm volatile("" : "+r"(at));
	if (at >= GP_OPS_DEPTH)
		return NULL;
	asm volatile("" : "+r"(at));
	return &s->v[at];
}

/* The innermost that the thread is in, which is at sp, and that may launch. */
__weak int innermost_op(struct op_stack *s, __u64 sp)
{
	__u64 at = s ? s->n - 1 : NO_OP;

	for (__u32 i = 0; i < GP_OPS_DEPTH; i++, at--) {
		const struct op_frame *f = s ? op_at(s, at) : NULL;

		if (!f)
			break;
		if (!f->idle && !has_returned(f, sp))
			return at;
	}
	return NO_OP;
}

#define FRAMES_WALKED 64

/*
 * The one in whose frame this chain of frame pointers comes to. What returned and left its place on
 * the stack as it was is in none, and PyTorch's libraries keep them.
 */
__weak int op_of_frames(struct op_stack *s, __u64 frame)
{
	__u64 at = s ? s->n - 1 : NO_OP, next = 0, passed;

	for (__u32 i = 0; i < FRAMES_WALKED; i++) {
		const struct op_frame *f = s ? op_at(s, at) : NULL;

		if (!f)
			break;
		/* its function has pushed its caller's there */
		if (f->sp - 8 == frame && !f->idle)
			return at;
		if (bpf_probe_read_user(&next, sizeof(next), (void *)frame) || next <= frame)
			break;
		/* The next operator or the next frame: without a branch, of which each would double
		 * what the verifier has to look at. */
		passed = (f->sp - frame) >> 63;
		asm volatile("" : "+r"(passed));
		at -= passed;
		frame ^= (frame ^ next) & (passed - 1);
	}
	return NO_OP;
}

/* The one that a function at sp is called in: where others broke the chain (of cuBLAS, for
 * example), the innermost that may be there. NULL: none. */
static __noinline const struct op_frame *calling_op(struct pt_regs *ctx, struct op_stack *s,
						    __u64 sp)
{
	const struct op_frame *guess = op_at(s, innermost_op(s, sp)), *sure = NULL;

	if (guess && guess->returns_to)
		sure = op_at(s, op_of_frames(s, PT_REGS_FP(ctx)));
	return sure ? sure : guess;
}

#endif

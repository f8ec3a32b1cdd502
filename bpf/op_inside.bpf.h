/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* In which operator a thread is. */
#ifndef GPUPROF_OP_INSIDE_BPF_H
#define GPUPROF_OP_INSIDE_BPF_H

#include "op.bpf.h"

/* The innermost that the thread is in, which is at sp, and that may launch; NULL: none. */
static __noinline const struct op_frame *innermost_op(const struct op_stack *s, __u64 sp)
{
	__u64 at = s->n - 1;

	for (__u32 i = 0; i < GP_OPS_DEPTH; i++, at--) {
		asm volatile("" : "+r"(at));	/* the verifier sees its bound where it is used */
		if (at >= GP_OPS_DEPTH)
			break;
		if (!s->v[at].idle && !has_returned(&s->v[at], sp))
			return &s->v[at];
	}
	return NULL;
}

#define FRAMES_WALKED 64

/*
 * The one that a function at sp is called in. What returned and left its place on the stack as it
 * was is in no chain of frame pointers, which PyTorch's libraries keep; where others broke it (of
 * cuBLAS, for example), it is the innermost that may be there.
 */
static __noinline const struct op_frame *calling_op(struct pt_regs *ctx, const struct op_stack *s,
						    __u64 sp)
{
	const struct op_frame *guess = innermost_op(s, sp);
	__u64 at = s->n - 1, frame = PT_REGS_FP(ctx), next = 0, passed;

	if (!guess || !guess->returns_to)
		return guess;
	for (__u32 i = 0; i < FRAMES_WALKED; i++) {
		asm volatile("" : "+r"(at));
		if (at >= GP_OPS_DEPTH)
			break;
		/* its function has pushed its caller's there */
		if (s->v[at].sp - 8 == frame && !s->v[at].idle)
			return &s->v[at];
		if (bpf_probe_read_user(&next, sizeof(next), (void *)frame) || next <= frame)
			break;
		/* The next operator or the next frame: without a branch, of which each would double
		 * what the verifier has to look at. */
		passed = (s->v[at].sp - frame) >> 63;
		asm volatile("" : "+r"(passed));
		at -= passed;
		frame ^= (frame ^ next) & (passed - 1);
	}
	return guess;
}

#endif

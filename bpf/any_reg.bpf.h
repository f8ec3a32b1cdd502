/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Any register of a thread that is at a probe, by DWARF's numbers. */
#ifndef GPUPROF_ANY_REG_BPF_H
#define GPUPROF_ANY_REG_BPF_H

#include "abi.bpf.h"

/* Each is loaded before one is chosen: else it is one load from one of several offsets, and the
 * verifier wants constant ones in the context. */
#define REGISTER_IS(n, value)                          \
	do {                                           \
		__u64 v = (value);                     \
                                                       \
		asm volatile("" : "+r"(v));            \
		if (number == (n))                     \
			found = v;                     \
	} while (0)

#if defined(__TARGET_ARCH_x86)

static __noinline __u64 any_reg(struct pt_regs *ctx, __u32 number)
{
	__u64 found = 0;

	REGISTER_IS(0, ctx->ax);
	REGISTER_IS(1, ctx->dx);
	REGISTER_IS(2, ctx->cx);
	REGISTER_IS(3, ctx->bx);
	REGISTER_IS(4, ctx->si);
	REGISTER_IS(5, ctx->di);
	REGISTER_IS(6, ctx->bp);
	REGISTER_IS(7, ctx->sp);
	REGISTER_IS(8, ctx->r8);
	REGISTER_IS(9, ctx->r9);
	REGISTER_IS(10, ctx->r10);
	REGISTER_IS(11, ctx->r11);
	REGISTER_IS(12, ctx->r12);
	REGISTER_IS(13, ctx->r13);
	REGISTER_IS(14, ctx->r14);
	REGISTER_IS(15, ctx->r15);
	return found;
}

#else

static __noinline __u64 any_reg(struct pt_regs *ctx, __u32 number)
{
	const struct user_pt_regs *user = (const struct user_pt_regs *)ctx;
	__u64 found = 0;

#pragma unroll
	for (__u32 i = 0; i < 31; i++)
		REGISTER_IS(i, user->regs[i]);
	return found;
}

#endif

#endif

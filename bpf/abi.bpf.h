/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * The differences of architectures for BPF, one block each: where arguments are and the effect
 * of a return on the stack pointer. Words of a record have the same numbers everywhere:
 * arguments that x86-64 has on the stack are numbered as there, also where they are in
 * registers. (A struct of more than two words by value is another matter:
 * user/catalog/catalog_abi.h.)
 */
#ifndef GPUPROF_ABI_BPF_H
#define GPUPROF_ABI_BPF_H

#include "maps.bpf.h"
#include "gpuprof/regs.h"

#if defined(__TARGET_ARCH_x86)

/* On entry the stack pointer is at the return address, which the return has popped. */
#define RET_POPS 8
#define STACK_ARGS_OFFSET 8
#define MORE_REGS 0	/* integer arguments in registers beyond the six that every record has */

static __always_inline __u64 more_reg(struct pt_regs *ctx, __u32 i)
{
	return 0;
}

/* The return address, where it is in a register. */
static __always_inline __u64 return_reg(struct pt_regs *ctx)
{
	return 0;
}

/* Of a thread in the kernel: the system call that it is in (-1: in none), and its first
 * argument. */
static __always_inline __s32 syscall_number(const struct pt_regs *r)
{
	return (__s32)r->orig_ax;
}

static __always_inline __u64 syscall_argument(const struct pt_regs *r)
{
	return r->di;
}

static __always_inline void copy_regs(struct gp_thread_regs *rec, const struct pt_regs *r)
{
	rec->pc = r->ip;
	rec->reg[0] = r->ax;
	rec->reg[1] = r->dx;
	rec->reg[2] = r->cx;
	rec->reg[3] = r->bx;
	rec->reg[4] = r->si;
	rec->reg[5] = r->di;
	rec->reg[6] = r->bp;
	rec->reg[7] = r->sp;
	rec->reg[8] = r->r8;
	rec->reg[9] = r->r9;
	rec->reg[10] = r->r10;
	rec->reg[11] = r->r11;
	rec->reg[12] = r->r12;
	rec->reg[13] = r->r13;
	rec->reg[14] = r->r14;
	rec->reg[15] = r->r15;
	rec->known = 0xffff;
}

#elif defined(__TARGET_ARCH_arm64)

/* The return address is in a register. */
#define RET_POPS 0
#define STACK_ARGS_OFFSET 0
#define MORE_REGS 2

static __always_inline __u64 more_reg(struct pt_regs *ctx, __u32 i)
{
	__u64 seventh = PT_REGS_PARM7(ctx), eighth = PT_REGS_PARM8(ctx);

	/* Else one load from either offset, and the verifier wants constant ones in the context. */
	asm volatile("" : "+r"(seventh), "+r"(eighth));
	return i ? eighth : seventh;
}

static __always_inline __u64 return_reg(struct pt_regs *ctx)
{
	return PT_REGS_RET(ctx);
}

static __always_inline __s32 syscall_number(const struct pt_regs *r)
{
	return r->syscallno;
}

static __always_inline __u64 syscall_argument(const struct pt_regs *r)
{
	return ((const struct user_pt_regs *)r)->regs[0];
}

static __always_inline void copy_regs(struct gp_thread_regs *rec, const struct pt_regs *r)
{
	const struct user_pt_regs *user = (const struct user_pt_regs *)r;

	rec->pc = user->pc;
#pragma unroll		/* the verifier wants constant offsets into the kernel's structs */
	for (int i = 0; i < 31; i++)
		rec->reg[i] = user->regs[i];
	rec->reg[31] = user->sp;
	rec->known = 0xffffffff;
}

#else
#error "gpuprof knows the ABI of x86-64 and arm64 only"
#endif

#endif

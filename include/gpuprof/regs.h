/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Written by the iterator of bpf/regs.bpf.c, one per thread: the user-mode registers that its
 * kernel stack holds. Only fixed-width members; compiles for BPF too. Knows nothing of
 * unwinding.
 */
#ifndef GPUPROF_REGS_H
#define GPUPROF_REGS_H

#include "types.h"

#define GP_THREAD_REGS 32

/* The thread was on a CPU: its kernel stack is as old as its last entry into the kernel (a
 * system call, or the last timer tick). */
#define GP_REGS_ON_CPU 1u
/* It has made a call that this session's probes saw, or is in one. */
#define GP_REGS_SEEN 2u

struct gp_thread_regs {
	gp_u32 pid;	/* the host's */
	gp_u32 tid;
	gp_u32 flags;	/* GP_REGS_* */
	gp_u32 known;	/* bit n: reg[n] was filled */
	gp_u64 pc;
	gp_u64 reg[GP_THREAD_REGS];	/* by DWARF number (x86-64: 0-15, arm64: 0-31) */
};

_Static_assert(sizeof(struct gp_thread_regs) == 24 + 8 * GP_THREAD_REGS, "regs size");

#endif

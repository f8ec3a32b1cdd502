/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * When a thread's outermost call begins and ends, for every family that follows calls: nesting,
 * and calls left without a return.
 */
#ifndef GPUPROF_NEST_BPF_H
#define GPUPROF_NEST_BPF_H

#include "abi.bpf.h"
#include "threads.bpf.h"
#include "offcpu.bpf.h"

/* A session program's result at entry. */
enum { RETURN_LEG = 0, NO_RETURN_LEG = 1 };

/* A process under a strict filter may not make the system call that some kernels return by. */
static __always_inline bool skips_return(void)
{
	struct task_struct *task;

	if (returns != GP_RETURNS_NO_SECCOMP)
		return returns == GP_RETURNS_NONE;
	task = bpf_get_current_task_btf();
	return bpf_core_field_exists(task->seccomp.mode) && task->seccomp.mode;
}

/* These and others are functions of their own for the sake of their callers' frames. */
static __noinline void count_nested(struct thread_state *st, __u64 row)
{
	const __u8 both = GP_ROW_LAUNCH | GP_ROW_DRIVER;

	count(nested);
	if ((row_at(row)->flags & both) == both &&
	    (row_at(st->rec.head.row)->flags & both) == GP_ROW_LAUNCH)
		count(reached);
}

/* A launch whose return could not be seen: its links were taken off while it was open. */
static __always_inline bool is_left_behind(const struct thread_state *st)
{
	__u8 flags = row_at(st->rec.head.row)->flags;
	__u32 group = flags & GP_ROW_DRIVER ? GP_GROUP_DRIVER_LAUNCHES : GP_GROUP_RUNTIME_LAUNCHES;

	return flags & GP_ROW_LAUNCH && st->rec.head.start_ns < gone_ns[group];
}

/* Where the function that was entered will return to. */
static __noinline __u64 return_address(struct pt_regs *ctx)
{
#if defined(__TARGET_ARCH_x86)
	__u64 address = 0;

	bpf_probe_read_user(&address, sizeof(address), (void *)PT_REGS_SP(ctx));
	return address;
#else
	return PT_REGS_RET(ctx);
#endif
}

/* Of calls that are seen at entry only, no nesting is known; but one that the other jumped to (CUDA
 * 13's __cudaLaunchKernel to cudaLaunchKernel) is entered with its stack and return address. */
static __always_inline bool is_jumped_to(struct thread_state *st, struct pt_regs *ctx)
{
	__u64 from = st->jumps_with;

	if (!from)
		return false;
	st->jumps_with = 0;
	return st->sp == PT_REGS_SP(ctx) && return_address(ctx) == from;
}

/* The state of a thread that enters its outermost call now; NULL: nested, or not followed. The
 * caller sets `open` when it wants the return. */
static __always_inline struct thread_state *call_enter(struct pt_regs *ctx, __u64 row)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_state *st = bpf_task_storage_get(&threads, task, 0, 0);
	__u64 sp = PT_REGS_SP(ctx);

	if (!st) {
		st = register_thread(task);
		if (!st)
			return NULL;
	}
	if (st->open && is_left_behind(st))
		st->open = 0;
	if (st->open) {
		/* Equal: a tail call, as CUDA 13's __cudaLaunchKernel into cudaLaunchKernel. */
		if (sp < st->sp || (sp == st->sp && row != st->rec.head.row)) {
			count_nested(st, row);
			return NULL;
		}
		count(abandoned);	/* unwound past the open call, or its return was missed */
		st->open = 0;
	}
	if (is_jumped_to(st, ctx)) {
		count(nested);
		return NULL;
	}
	st->sp = sp;
	st->rec.head.row = row;
	return st;
}

/* The state of a thread whose outermost call of this row returns now; NULL: another's return,
 * which multi links deliver too. sp: as at the return. The caller sends the record, then calls
 * recording_end. */
static __always_inline struct thread_state *call_exit(__u64 row, __u64 sp)
{
	struct thread_state *st = bpf_task_storage_get(&threads, bpf_get_current_task_btf(), 0, 0);

	if (!st || !st->open || st->rec.head.row != row || st->sp + RET_POPS != sp)
		return NULL;
	recording_begin(st);
	st->open = 0;
	return st;
}

#endif

/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/*
 * arm64: the registers of user mode, as the kernel saves them. Made as ../types.h says. pt_regs
 * begins with them, under another name; that one is for user space and never changes.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include "../types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};

struct pt_regs {
	__s32 syscallno;
};

struct thread_info {
	__u64 preempt_count;	/* the lower half: the count */
};

struct task_struct___arm64 {
	struct thread_info thread_info;
};

#pragma clang attribute pop

#endif

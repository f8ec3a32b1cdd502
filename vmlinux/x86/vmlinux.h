/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* x86-64: the registers of user mode, as the kernel saves them. Made as ../types.h says. */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

#include "../types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip;
	unsigned long cs, flags, sp, ss;
};

#pragma clang attribute pop

#endif

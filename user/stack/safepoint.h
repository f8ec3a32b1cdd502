/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is a stopped thread where it holds no lock of the C library's and has none of its data half
 * changed, so that it may make a call into it? Only a thread that waits is looked for, whose stack
 * is known as a whole: below the function of the C library in which it waits, and above where
 * threads begin, none of its frames may be of the C library, the dynamic linker or an allocator, or
 * of a signal handler.
 */
#ifndef STACK_SAFEPOINT_H
#define STACK_SAFEPOINT_H

#include <stddef.h>
#include <sys/types.h>

#include "stack/unwind.h"

#define STACK_WHY_BYTES 160

/* 0: it may; -EAGAIN: not here, see why (STACK_WHY_BYTES); else -errno. */
int stack_is_quiet(pid_t pid, const struct stack_regs *regs, char *why);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is an address found on a stack really one that a call returns to? A probe on anything else may
 * fall inside an instruction and would break the target; so bytes are looked at first.
 */
#ifndef STACK_CALLSITE_H
#define STACK_CALLSITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CALLSITE_BEFORE 8u	/* bytes: no call instruction is longer */

/* Do these bytes end with a call instruction of this machine? at: the address behind them. */
bool callsite_ends(const uint8_t before[CALLSITE_BEFORE], uint64_t at);

/*
 * Does a call return to `at` in process pid, and is what the process has there what the file has
 * at offset (other uprobes excepted), so that the kernel, which reads the file, steps over the
 * same instruction? 0, -ENOTSUP, or -errno of reading.
 */
int callsite_check(pid_t pid, uint64_t at, int fd, uint64_t offset);

#endif

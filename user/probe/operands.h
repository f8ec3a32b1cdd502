/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the arguments of a marked place in code are (elf/usdt.h), for its cookie:
 * BPF takes three, from registers.
 *
 *   "-8@%rax -1@%dl -8@%r14 -8@56(%rsp)"	rax, rdx, r14
 *   "-8@%rdi"					rdi, none, none
 *   "8@x19 1@w2"				x19, x2, none (arm64)
 */
#ifndef PROBE_OPERANDS_H
#define PROBE_OPERANDS_H

#include <stdint.h>

/* In GP_COOKIE_OPERANDS; 0: the first is in none. */
uint64_t operands_cookie(const char *arguments);

#endif

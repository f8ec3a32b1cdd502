/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a seccomp filter (classic BPF) may answer to a system call of which some arguments are not
 * known: each answer that some value of them leads to. Pure. The program is hostile: it is checked
 * as it runs.
 */
#ifndef INJECT_CBPF_H
#define INJECT_CBPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cbpf_input {
	struct seccomp_data data;
	uint8_t any;		/* bit i: argument i may have any value */
	bool any_ip;		/* the same of instruction_pointer */
};

/* Calls `answer` with each answer, some more than once; known false: it may answer anything. 0;
 * -EINVAL: the kernel would not have taken that program; -E2BIG: there are too many ways through
 * it. */
int cbpf_run(const struct sock_filter *code, size_t n, const struct cbpf_input *in,
	     void (*answer)(void *ctx, uint32_t value, bool known), void *ctx);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Would the seccomp filters of a thread let through all system calls that bringing the helper in
 * requires, and those that the helper and CUPTI make then? The filters are read from the kernel
 * and run here; a call that may be denied is not risked.
 */
#ifndef INJECT_FILTER_H
#define INJECT_FILTER_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * What a seccomp filter (classic BPF) may return for a system call some of whose arguments are
 * unknown: each result that some value of them leads to. Pure. The program is hostile: it is
 * checked as it runs.
 */

struct cbpf_input {
	struct seccomp_data data;
	uint8_t any;		/* bit i: argument i may have any value */
	bool any_ip;		/* the same of instruction_pointer */
};

/* A call that is made. */
struct filter_call {
	const char *name;	/* NULL ends a table */
	int32_t nr;
	bool may_fail;		/* the caller goes on when the call returns an error */
	uint8_t any;		/* bit i: argument i is unknown */
	uint64_t arg[6];
};
extern const struct filter_call filter_calls[];

/* From good to bad. KILLS: or anything else; UNKNOWN: there are too many ways through it. */
enum filter_answer { FILTER_ALLOWS, FILTER_FAILS, FILTER_UNKNOWN, FILTER_KILLS };

/* Of a thread that is stopped by the calling one: 0; -ENOTSUP: see why; -ESRCH: it has ended; or
 * another -errno. *begins_anew: the call that it waited in must not go on by restart_syscall,
 * which a filter may not let pass. */
int filter_check(pid_t pid, pid_t tid, bool *begins_anew, char *why, size_t size);

/* Has the thread one, or may it? Not stopped. */
bool filter_is_there(pid_t pid, pid_t tid);

#endif

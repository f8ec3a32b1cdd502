/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Would the seccomp filters of a thread let through all that bringing the helper in makes it call,
 * and what the helper and CUPTI call then? The filters are read from the kernel and run here
 * (cbpf.h); what is not allowed for sure is not risked.
 */
#ifndef INJECT_FILTER_H
#define INJECT_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inject/cbpf.h"

/* A call that is made. */
struct filter_call {
	const char *name;	/* NULL ends a table */
	int32_t nr;
	bool may_fail;		/* who makes it goes on when it is answered with an error */
	uint8_t any;		/* bit i: argument i is not known */
	uint64_t arg[6];
};
extern const struct filter_call filter_calls[];

/* From good to bad. KILLS: or anything else; UNKNOWN: there are too many ways through it. */
enum filter_answer { FILTER_ALLOWS, FILTER_FAILS, FILTER_UNKNOWN, FILTER_KILLS };

/* The worst that one program may answer to the call (enum filter_answer), or -ENOMEM; pure. */
int filter_judge(const struct sock_filter *code, size_t n, const struct filter_call *call);

/* What `call` names, of the table; NULL: none. */
const struct filter_call *filter_find(const char *name);

/* Of a thread that is stopped by the calling one: 0; -ENOTSUP: see why; -ESRCH: it has ended; or another -errno.
 * *begins_anew: the call that it waited in must not go on by restart_syscall, which a filter may not let pass. */
int filter_check(pid_t pid, pid_t tid, bool *begins_anew, char *why, size_t size);

/* Has the thread one, or may it? Not stopped. */
bool filter_is_there(pid_t pid, pid_t tid);

#endif

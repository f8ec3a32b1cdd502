/* SPDX-License-Identifier: BSD-3-Clause */
/* Why the kernel lets us not trace a process, in words, with what to do. */
#ifndef INJECT_PTRACE_DENIED_H
#define INJECT_PTRACE_DENIED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What to say of a process that procfs does not show. */
#define DENIED_HIDDEN "hidden from you (hidepid); run gpuprof as root or with sudo"

struct denied {
	uid_t uid, own;		/* whose the process is; ours */
	int scope;		/* kernel.yama.ptrace_scope; -1: this kernel has none */
	bool can;		/* we have CAP_SYS_PTRACE */
};

void denied_read(struct denied *d, pid_t pid);
void denied_say(const struct denied *d, char *out, size_t size);	/* "it ...; do ..." */

/* The same of what only reads: of that kernel.yama.ptrace_scope says nothing. */
const char *denied_reading(void);

#endif

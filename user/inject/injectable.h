/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process into which the helper is to be brought while it runs: whether that is possible, and
 * the addresses it takes. Only reads. A process that could be harmed is refused, with the
 * reason.
 */
#ifndef INJECT_INJECTABLE_H
#define INJECT_INJECTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Why the kernel lets us not trace a process, in words, with what to do. */

/* The reason given for a process that procfs does not show. */
#define DENIED_HIDDEN "hidden from you (hidepid); run gpuprof as root or with sudo"

struct denied {
	uid_t uid, own;		/* whose the process is; ours */
	int scope;		/* kernel.yama.ptrace_scope; -1: this kernel has none */
	bool can;		/* we have CAP_SYS_PTRACE */
};

void denied_read(struct denied *d, pid_t pid);
void denied_say(const struct denied *d, char *out, size_t size);	/* "it ...; do ..." */

/* The same for access that only reads: kernel.yama.ptrace_scope does not restrict that. */
const char *denied_reading(void);

#define SUBJECT_WHY_BYTES 256

enum subject_function { SUBJECT_DLOPEN, SUBJECT_DLSYM, SUBJECT_DLERROR, SUBJECT_CLOSE, SUBJECT_SELF,
			SUBJECT_DETACH, SUBJECT_CREATE, SUBJECT_FUNCTIONS };

struct subject {
	pid_t pid;
	uint64_t function[SUBJECT_FUNCTIONS];	/* addresses there */
	uint64_t syscall_at, return_at;		/* of machine_find_* */
	bool c_library, loader, musl, cuda, helper;	/* found among its mappings */
	/* by seccomp; the filters can be read only when a thread is stopped */
	bool filtered;
	bool stopped;		/* by a signal: kill -CONT lets it go on */
	bool denied;		/* its files could not be read */
	char why[SUBJECT_WHY_BYTES];	/* "it ...; do ..." */
};

/* 0; -ESRCH; -EPERM; -ENOTSUP: see why. */
int subject_read(struct subject *s, pid_t pid);

/* Has the thread pointer's stack room for `bytes` below sp, and is it the stack of that thread?
 * Coroutines and signal stacks are not. */
bool subject_has_stack(pid_t pid, uint64_t sp, uint64_t thread_pointer, bool is_main,
		       uint64_t bytes);

#endif

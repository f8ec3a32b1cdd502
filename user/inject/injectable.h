/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process into which the helper is to be brought while it runs: may it be, and what of it is
 * needed. Only reads. What could harm it is refused, with the reason.
 */
#ifndef INJECT_INJECTABLE_H
#define INJECT_INJECTABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define SUBJECT_WHY_BYTES 256

enum subject_function { SUBJECT_DLOPEN, SUBJECT_DLSYM, SUBJECT_DLERROR, SUBJECT_CLOSE, SUBJECT_SELF,
			SUBJECT_DETACH, SUBJECT_CREATE, SUBJECT_FUNCTIONS };

struct subject {
	pid_t pid;
	uint64_t function[SUBJECT_FUNCTIONS];	/* addresses there */
	uint64_t syscall_at, return_at;		/* of machine_find_* */
	bool c_library, loader, musl, cuda, helper;	/* what it maps */
	bool filtered;		/* by seccomp; what that allows is seen when a thread is stopped */
	bool stopped;		/* by a signal: kill -CONT lets it go on */
	bool denied;		/* its files could not be read */
	char why[SUBJECT_WHY_BYTES];	/* "it ...; do ..." */
};

/* 0; -ESRCH; -EPERM; -ENOTSUP: see why. */
int subject_read(struct subject *s, pid_t pid);

bool subject_has_shadow_stack(const char *status);	/* of a thread's file `status`; pure */

/* Has the thread pointer's stack room for `bytes` below sp, and is it the stack of that thread?
 * Coroutines and signal stacks are not. */
bool subject_has_stack(pid_t pid, uint64_t sp, uint64_t thread_pointer, bool is_main, uint64_t bytes);

#endif

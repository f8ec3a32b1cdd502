/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process into which the helper is to be brought while it runs: whether that is possible, and
 * the addresses it takes. Only reads. A process that could be harmed is refused, with the
 * reason, or may be, if the user does not insist.
 */
#ifndef INJECT_INJECTABLE_H
#define INJECT_INJECTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The reason given for a process that procfs does not show. */
#define DENIED_HIDDEN "hidden from you (hidepid); run gpuprof as root or with sudo"

/* Why the kernel denies access that only reads a process, with what to do;
 * kernel.yama.ptrace_scope does not restrict that. */
const char *denied_reading(void);

/* ... and why it denies to trace it: "it ...; do ...". */
void denied_tracing(pid_t pid, char *out, size_t size);

#define SUBJECT_WHY_BYTES 256

enum subject_function { SUBJECT_DLOPEN, SUBJECT_DLSYM, SUBJECT_DLERROR, SUBJECT_CLOSE, SUBJECT_SELF,
			SUBJECT_DETACH, SUBJECT_CREATE, SUBJECT_FUNCTIONS };

struct subject {
	pid_t pid;
	bool is_searched;	/* its C library, for the addresses below */
	uint64_t function[SUBJECT_FUNCTIONS];
	uint64_t syscall_at, return_at;		/* of machine_find_* */
	bool c_library, musl, cuda, helper;	/* found among its mappings */
	/* by seccomp; the filters can be read only when a thread is stopped */
	bool filtered;
	bool stopped;		/* by a signal: kill -CONT lets it go on */
	bool denied;		/* its files could not be read */
	char why[SUBJECT_WHY_BYTES];	/* "it ...; do ..." */
	char risk[SUBJECT_WHY_BYTES];	/* the same, of what may harm it; empty: nothing known */
};

/* 0; -ESRCH; -EPERM; -ENOTSUP: see why. */
int subject_read(struct subject *s, pid_t pid);
/* The same without addresses, in a quarter of the time: a C library that has not all of them is not
 * noticed. */
int subject_read_reasons(struct subject *s, pid_t pid);

#endif

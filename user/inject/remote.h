/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread of another process, stopped by ptrace, made to call functions, and released
 * unchanged. Killed at any moment, gpuprof leaves it where it continues by itself (machine.h).
 * Its registers, signal mask, pending signals, the call it waits in and the 128 bytes below its
 * stack are afterwards what they were; its signals wait meanwhile.
 */
#ifndef INJECT_REMOTE_H
#define INJECT_REMOTE_H

#include "inject/machine.h"
#include "stack/safepoint.h"

enum remote_place { REMOTE_GONE, REMOTE_TRAPPED, REMOTE_ENTERED, REMOTE_SIGNALLED, REMOTE_AWAY };

struct remote {
	pid_t pid, tid;
	int memory;			/* of the program that was stopped; -1: it is released */
	enum remote_place place;	/* of a stop; AWAY: it runs, and comes back by itself */
	bool used;			/* it was sent off at least once; then: */
	uint64_t return_sp, back;	/* of the frame that brings it back */
	struct machine_state original;
	uint64_t mask;			/* of signals */
	uint64_t since_ns;		/* when it was stopped */
};

struct remote_call {
	uint64_t at, back;	/* as of struct machine_call */
	long syscall;		/* -1: `at` is a function */
	uint64_t arg[6];
	uint64_t below;		/* memory for a frame and the function's stack */
	long result_of[2];	/* of a function: system calls whose last result is wanted */
};

/* Makes the call. *result: that of the system call. 0, or -errno: ETIMEDOUT, ESRCH, EFAULT (it
 * crashed, and was brought back), EIO. */
int remote_do(struct remote *r, const struct remote_call *call, long *result);

/* As it was before. */
void remote_release(struct remote *r);

/* The memory of the program that was stopped, and of no other that its process executes meanwhile.
 * 0 or -errno. */
int remote_write(const struct remote *r, uint64_t at, const void *data, size_t len);
int remote_read(const struct remote *r, uint64_t at, void *data, size_t len);

/*
 * Which thread of a process brings the helper in: one that waits, or runs, at a place where its
 * whole stack shows that it holds no lock. The first thread most likely drives the devices: it
 * is tried last.
 */

#define PICK_WHY_BYTES 256
#define PICK_HELD 16

struct pick {
	pid_t pid;
	uint64_t end_ns;	/* until then it is tried again */
	pid_t held[PICK_HELD];	/* threads that did not stop; in this round they are left alone */
	unsigned int n_held;
	pid_t why_tid;		/* of the last thread that was not in its place: ... */
	char quiet_why[STACK_WHY_BYTES];	/* ... why; empty: it was nowhere safe */
	int final;		/* -EPERM, -ENOTSUP: trying other threads is pointless; else 0 */
	bool may;		/* no seccomp filter of its speaks against it */
	char why[PICK_WHY_BYTES];
};

void pick_begin(struct pick *p, pid_t pid);

/* 0: r is stopped where it may make calls. -ETIMEDOUT: a thread does not stop, and is let go
 * when the one that called this has ended: call it again on another. -ENOTSUP: see why; -EPERM,
 * -ESRCH, -ENOMEM. */
int pick_thread(struct pick *p, struct remote *r);

#endif

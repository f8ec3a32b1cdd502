/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One thread of another process, stopped by ptrace, made to call something, and let go as if
 * nothing had been. Killed at any moment, gpuprof leaves it where it goes on by itself (machine.h).
 * Its registers, signal mask and pending signals, the call it waits in and the 128 bytes below its
 * stack are afterwards what they were; signals for it wait meanwhile.
 */
#ifndef INJECT_REMOTE_H
#define INJECT_REMOTE_H

#include "inject/machine.h"

enum remote_place { REMOTE_GONE, REMOTE_TRAPPED, REMOTE_ENTERED, REMOTE_SIGNALLED, REMOTE_AWAY };

struct remote {
	pid_t pid, tid;
	enum remote_place place;	/* of a stop; AWAY: it runs, and comes back by itself */
	bool used;			/* it was sent off at least once; then: */
	uint64_t return_sp, back;	/* of the frame that brings it back */
	struct machine_state original;
	uint64_t mask;			/* of signals */
	uint64_t since_ns;		/* when it was stopped */
};

/* Stops it. 0, or -errno: EPERM (another tracer, too), ESRCH; EAGAIN: a signal has stopped it,
 * and it is released; ETIMEDOUT: it does not stop. What does not stop cannot be released by
 * asking: the kernel does it, and forgets that it was to stop, when the thread that called this
 * has ended. */
int remote_stop(struct remote *r, pid_t pid, pid_t tid);

/* Lets it run until it enters a system call, of which `is_quiet` likes one; 0, or as remote_stop. */
int remote_to_call(struct remote *r, uint64_t end_ns, bool (*is_quiet)(struct remote *r));

/* May it be within a restartable sequence, which would not be begun again if we came in between? */
bool remote_in_sequence(const struct remote *r);

struct remote_call {
	uint64_t at, back;	/* as of struct machine_call */
	long syscall;		/* -1: `at` is a function */
	uint64_t arg[6];
	uint64_t below;		/* where there is memory for a frame and what the function needs */
	long result_of[2];	/* of a function: system calls whose last result is wanted */
};

/* Makes the call. *result: what the system call answered. 0, or -errno: ETIMEDOUT, ESRCH, EFAULT
 * (it crashed, and was brought back), EIO. */
int remote_do(struct remote *r, const struct remote_call *call, long *result);

/* As it was before. */
void remote_release(struct remote *r);

/* The same of one that has made no call, where machine_can_begin_anew: a wait for a time begins
 * anew. */
void remote_release_anew(struct remote *r);

int remote_write(pid_t pid, uint64_t at, const void *data, size_t len);	/* 0 or -errno */
int remote_read(pid_t pid, uint64_t at, void *data, size_t len);

#endif

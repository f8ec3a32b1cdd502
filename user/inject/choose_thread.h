/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which thread of a process is asked to bring the helper in: one that waits, or runs, at a place
 * where its whole stack says that it holds nothing. The first one is most likely who drives the
 * devices: it is asked last.
 */
#ifndef INJECT_CHOOSE_THREAD_H
#define INJECT_CHOOSE_THREAD_H

#include "inject/remote.h"
#include "stack/safepoint.h"

#define PICK_WHY_BYTES 256
#define PICK_HELD 16

struct pick {
	pid_t pid;
	uint64_t end_ns;	/* until then it is tried again */
	pid_t held[PICK_HELD];	/* threads that did not stop; in this round they are left alone */
	unsigned int n_held;
	pid_t why_tid;		/* of the last thread that was not in its place: ... */
	char quiet_why[STACK_WHY_BYTES];	/* ... why; empty: it was nowhere to be asked */
	int final;		/* -EPERM, -ENOTSUP: there is no point in asking others; else 0 */
	bool may;		/* no seccomp filter of its speaks against it */
	char why[PICK_WHY_BYTES];
};

void pick_begin(struct pick *p, pid_t pid);

/* 0: r is stopped where it may make calls. -ETIMEDOUT: a thread does not stop, and is let go
 * when the one that called this has ended: call it again on another. -ENOTSUP: see why; -EPERM,
 * -ESRCH, -ENOMEM. */
int pick_thread(struct pick *p, struct remote *r);

#endif

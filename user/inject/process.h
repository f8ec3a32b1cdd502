/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Brings the helper into a process that runs already, by ptrace (include/gpuprof/load.h): one
 * thread that waits is stopped for some milliseconds, makes memory and a new thread, and goes on;
 * the new thread loads the helper by the process's own C library. No code of the process is
 * changed. The helper stays there, asleep, when gpuprof has gone.
 */
#ifndef INJECT_PROCESS_H
#define INJECT_PROCESS_H

#include "base/log.h"
#include "inject/injectable.h"

struct inject_outcome {
	pid_t tid;		/* which thread was stopped */
	uint64_t stopped_ns;	/* how long */
};

/* insists: also where that may harm it. 0; 1: it has a helper already; -errno, logged at that
 * level: EPERM, ESRCH, ENOTSUP (refused), EIO. */
int inject_process(pid_t pid, bool insists, enum log_level level, struct inject_outcome *out);

/* The same for a process that was read, whether or not it has a helper; the failure is in
 * s->why. */
int inject_subject(struct subject *s, struct inject_outcome *out);

#endif

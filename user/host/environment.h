/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of a process as /proc/PID/environ holds it: NAME=VALUE, each with a NUL behind
 * it. Only variables requested by name leave this file: ranks, jobs, pods, devices.
 */
#ifndef HOST_ENVIRONMENT_H
#define HOST_ENVIRONMENT_H

#include <stddef.h>

#include "host/proc.h"

struct environment {
	const char *block;	/* with a NUL behind its last byte; NULL: could not be read */
	size_t len;
};

struct environment environment_read(struct proc *p);

/* The value of the variable, perhaps ""; NULL: it is not set. */
const char *environment_find(const struct environment *env, const char *name);

struct environment_finding {
	const char *value;	/* "" and NULL: none */
	const char *name;	/* of the variable, or (jobs) of the scheduler that sets it */
};

enum environment_kind {
	ENVIRONMENT_RANK,	/* its number among the processes of its job: digits only */
	ENVIRONMENT_JOB,
	ENVIRONMENT_POD,	/* its name */
};

struct environment_finding environment_get(const struct environment *env,
					   enum environment_kind kind);

#endif

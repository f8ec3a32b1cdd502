/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of a process as /proc/PID/environ holds it: NAME=VALUE, each with a NUL behind
 * it. Only variables requested by name leave this file: ranks, jobs, pods, devices. Pure.
 */
#ifndef HOST_ENVIRONMENT_H
#define HOST_ENVIRONMENT_H

#include <stddef.h>

struct environment {
	const char *block;	/* with a NUL behind its last byte; NULL: could not be read */
	size_t len;
};

/* The value of the variable, perhaps ""; NULL: it is not set. */
const char *environment_find(const struct environment *env, const char *name);

struct environment_finding {
	const char *value;	/* "" and NULL: none */
	const char *name;	/* of the variable, or (jobs) of the scheduler that sets it */
};

/* Its number among the processes of its job: digits only. */
struct environment_finding environment_rank(const struct environment *env);
struct environment_finding environment_job(const struct environment *env);
struct environment_finding environment_pod(const struct environment *env);	/* its name */

#endif

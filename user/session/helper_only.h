/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions without probes: when one is possible, and what replaces them. */
#ifndef SESSION_HELPER_ONLY_H
#define SESSION_HELPER_ONLY_H

#include "session/session_internal.h"

/* Sets `blind` if the session runs without probes. 0 or -EINVAL, logged. */
int helper_only_choose(struct session *s);
/* Probes failed with err. 0: `blind` is set, else err. */
int helper_only_after(struct session *s, int err);
void helper_only_facts(struct session *s);
/* The command executed its program at exec_ns. 0 or an error. */
int helper_only_exec(struct session *s, uint64_t exec_ns);
/* Advances the watermark; looks for new child processes. */
void helper_only_scan(struct session *s, uint64_t now_ns);

/* A known child of a process that uses CUDA: counts it if it was forked and has not executed a
 * program. 0 or -ENOMEM. */
int forked_add(struct session *s, const struct helpers_status *parent, pid_t pid);
void forked_warn(const struct session *s);	/* at the end */

/* Could this process load the helper? Asked when it makes a call; without probes while it runs.
 * 0 or -ENOMEM. */
int helper_load_on_call(struct session *s, pid_t pid);
int helper_load_check(struct session *s, pid_t pid);
/* Why it could not; NULL: it could, or was not checked. */
const char *helper_load_reason(const struct session *s, pid_t pid);
void helper_load_warn(const struct session *s, pid_t pid, const char *comm);
void helper_load_warn_helper_only(const struct session *s);

void drop_probes(struct session *s);	/* frees worker, attach, loader and what serves them */

/* The fact `sources`: which calls come from CUPTI; with probes too. */
void helper_only_sources(struct session *s);

#endif

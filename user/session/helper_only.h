/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions without probes, for the files of a session; session_blind.c. */
#ifndef SESSION_HELPER_ONLY_H
#define SESSION_HELPER_ONLY_H

#include "session/session_internal.h"

/* sets `blind` if it is to be; 0 or -EINVAL, logged */
int helper_only_choose(struct session *s);
int helper_only_after(struct session *s, int err); /* of probes: 0: `blind` is set, else err */
void helper_only_facts(struct session *s);
/* it was let go then; 0 or an error */
int helper_only_exec(struct session *s, uint64_t exec_ns);
void helper_only_scan(struct session *s, uint64_t now_ns); /* watermark, processes that came */
/* A child that was met before. 0 or -ENOMEM. And what is said of such at the end; session_forked.c
 * */
int forked_add(struct session *s, const struct helpers_status *parent, pid_t pid);
void forked_warn(const struct session *s);

/* Processes that could not load the helper; session_closed.c. One that makes calls; one that may,
 * without probes: 0 or -ENOMEM. */
int helper_load_on_call(struct session *s, pid_t pid);
int helper_load_check(struct session *s, pid_t pid);
/* NULL: it could, or it was not looked at */
const char *helper_load_reason(const struct session *s, pid_t pid);
void helper_load_warn(const struct session *s, pid_t pid, const char *comm);
void helper_load_warn_helper_only(const struct session *s);

/* What was made for them until then; session_stop.c */
void drop_probes(struct session *s);

void helper_only_sources(struct session *s);	/* with probes too: what calls are known by */

#endif

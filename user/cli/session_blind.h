/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions without probes, for the files of a session; session_blind.c. */
#ifndef CLI_SESSION_BLIND_H
#define CLI_SESSION_BLIND_H

#include "cli/session_internal.h"

int blind_choose(struct session *s);	/* sets `blind` if it is to be; 0 or -EINVAL, logged */
int blind_after(struct session *s, int err);	/* of the loader: 0: `blind` is set, else err */
void blind_facts(struct session *s);
int blind_command(struct session *s, uint64_t exec_ns);	/* it was let go then; 0 or an error */
void blind_begin(struct session *s);	/* of -p: how long it had no CPU so far; and at the end, of all */
void blind_end(struct session *s);
void blind_look(struct session *s, uint64_t now_ns);	/* watermark, processes that came */
/* A child that was met before. 0 or -ENOMEM. And what is said of such at the end; session_forked.c */
int forked_note(struct session *s, const struct helpers_status *parent, pid_t pid);
void forked_say(const struct session *s);
void blind_sources(struct session *s);	/* with probes too: what calls are known by */

#endif

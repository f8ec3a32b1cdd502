/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions without probes, for the files of a session; session_blind.c. */
#ifndef SESSION_SESSION_BLIND_H
#define SESSION_SESSION_BLIND_H

#include "session/session_internal.h"

int blind_choose(struct session *s);	/* sets `blind` if it is to be; 0 or -EINVAL, logged */
int blind_after(struct session *s, int err);	/* of probes: 0: `blind` is set, else err */
void blind_facts(struct session *s);
int blind_command(struct session *s, uint64_t exec_ns);	/* it was let go then; 0 or an error */
void blind_look(struct session *s, uint64_t now_ns);	/* watermark, processes that came */
/* A child that was met before. 0 or -ENOMEM. And what is said of such at the end; session_forked.c */
int forked_note(struct session *s, const struct helpers_status *parent, pid_t pid);
void forked_say(const struct session *s);

/* Processes that could not load the helper; session_closed.c. One that makes calls; one that may, without
 * probes: 0 or -ENOMEM. */
int closed_note_call(struct session *s, pid_t pid);
int closed_look(struct session *s, pid_t pid);
const char *closed_why(const struct session *s, pid_t pid);	/* NULL: it could, or it was not looked at */
void closed_say(const struct session *s, pid_t pid, const char *comm);
void closed_say_blind(const struct session *s);

/* What was made for them until then; session_stop.c */
void session_drop_probes(struct session *s);

void blind_sources(struct session *s);	/* with probes too: what calls are known by */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes a session measures and what is attached to them, for the files of a session. */
#ifndef SESSION_TARGETS_H
#define SESSION_TARGETS_H

#include "session/session_internal.h"

int targets_check(struct session *s);	/* do they exist? opens pidfds; 0 or -errno, logged */
int targets_attach(struct session *s);	/* probes on all that is mapped or expected now */
int targets_attach_selected(struct session *s);	/* the same for selectors */

struct scan {			/* over processes that are attached to */
	struct session *s;
	pid_t filter;		/* of the probes that are made; 0: none */
	unsigned int denied;	/* processes that could not be read */
	bool uses;		/* the process that is being read has something to probe */
	int err;		/* of attaching, logged; ends the scan */
};
/* 0 or -errno: ESRCH, an error of attaching */
int targets_attach_pid(struct scan *scan, pid_t pid);
/* does it map what can be probed? */
bool targets_use_library(const struct session *s, pid_t pid);
int targets_follow(const struct session *s, pid_t pid); /* loader_follow; 0 or -errno, logged */

void targets_facts(struct session *s);	/* host, versions, targets, what is attached */
void targets_processes(struct session *s);

#endif

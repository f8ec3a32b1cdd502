/* SPDX-License-Identifier: BSD-3-Clause */
/* Which processes the options of a verb name, choose or start, and those below them. */
#ifndef SESSION_TARGETS_H
#define SESSION_TARGETS_H

#include "base/map.h"
#include "base/vec.h"
#include "session/command.h"
#include "session/session_options.h"

/* ---- for verbs that look once, now ---- */

struct target_list {
	const uint32_t *pids;
	size_t n, n_named;	/* behind the first n_named: found, and may have ended since */
	uint32_t *own;		/* NULL: pids are the options' */
};

/* With selectors also those below (unless --isolate). 0, or an exit code, logged: no match. */
int target_list_find(struct target_list *c, const struct session_options *o);

/* Appends all processes that are now below those of -p. 0, or an exit code, logged. */
int target_list_add_children(struct target_list *c);

static inline void target_list_free(struct target_list *c)
{
	free(c->own);
	c->own = NULL;
}

/* ---- for a session ---- */

struct targets {
	const struct session_options *o;
	struct command command;
	VEC(int) pidfds;		/* of -p */
	VEC(pid_t) chosen;		/* by selectors; used a library at the start */
	VEC(pid_t) users;		/* all that used a library at the start */
};

/* With --inject: confirms before the helper is loaded into running processes. EXIT_OK, or an
 * exit code, logged. */
int targets_ask_inject(const struct session_options *o);
/* Then loads it where it is missing; reports helpers that start for the first time. 0 or -errno,
 * logged. */
int targets_inject(const struct session_options *o);

/* No process of that number lives any more, to the last thread. */
bool targets_has_ended(pid_t pid);

/* ---- processes and all that is below them ---- */

struct family_member {
	pid_t pid;
	pid_t named;		/* which of the named processes it is, or is below */
};

struct family {			/* start zeroed; named ones first */
	VEC(struct family_member) members;
	struct map known;	/* pid -> index */
	int (*on_new)(void *ctx, pid_t pid);	/* NULL: nothing to do */
	void *ctx;
};

/* Adds the named processes and, if below, one walk over those below them. 0, -errno, or on_new's
 * value. */
int family_add(struct family *f, const uint32_t *named, size_t n, bool below);

static inline void family_free(struct family *f)
{
	VEC_FREE(&f->members);
	map_free(&f->known);
}

#endif

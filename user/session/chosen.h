/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that the options of a verb name or choose, for verbs that look once, now. */
#ifndef SESSION_CHOSEN_H
#define SESSION_CHOSEN_H

#include "session/session_options.h"

struct chosen {
	const uint32_t *pids;
	size_t n, n_named;	/* behind the first n_named: found, and may have ended since */
	uint32_t *own;		/* NULL: pids are the options' */
};

/* With selectors also what is below (unless --isolate). 0, or an exit code, logged: none matches. */
int chosen_find(struct chosen *c, const struct session_options *o);

/* Behind those of -p whatever is below them now. 0, or an exit code, logged. */
int chosen_add_below(struct chosen *c);
void chosen_free(struct chosen *c);

#endif

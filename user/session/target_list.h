/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes that the options of a verb name or choose, for verbs that look once, now. */
#ifndef SESSION_TARGET_LIST_H
#define SESSION_TARGET_LIST_H

#include "session/session_options.h"

struct target_list {
	const uint32_t *pids;
	size_t n, n_named;	/* behind the first n_named: found, and may have ended since */
	uint32_t *own;		/* NULL: pids are the options' */
};

/* With selectors also what is below (unless --isolate). 0, or an exit code, logged: none matches.
 */
int target_list_find(struct target_list *c, const struct session_options *o);

/* Behind those of -p whatever is below them now. 0, or an exit code, logged. */
int target_list_add_children(struct target_list *c);
void target_list_free(struct target_list *c);

#endif

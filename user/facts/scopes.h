/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scopes of one thread: its open ones, nested, and those open at a time that events may
 * still refer to. Applications' ranges are scopes. The stack is a list, innermost scope first,
 * whose members never change place once it is made (a persistent stack): opening a scope puts a
 * new head before the list, closing one that others are nested in makes new heads. Each change
 * is remembered with its time until scopes_forget, bounded by SCOPES_HISTORY_MAX and a budget
 * that threads share. Knows nothing of the meaning of a scope.
 *
 * Example:
 *
 * 	open a 10, open b 20, close a 30, close b 40
 *
 * 	scopes_at 15: a    25: b in a    35: b    45: nothing
 */
#ifndef FACTS_SCOPES_H
#define FACTS_SCOPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"

#define SCOPES_DEPTH_MAX 256		/* open on a thread at a time */
#define SCOPES_HISTORY_MAX 65536	/* changes of a thread */

struct scope {
	struct scope *below;		/* the enclosing scope; NULL: none */
	uint64_t start_ns;
	uint64_t id;			/* of a scope that another thread may close; else 0 */
	uint32_t row;			/* its kind: the owner's number */
	uint32_t refs;			/* lists that begin with it or go on by it */
	uint8_t kind;			/* the owner's */
	bool inner;			/* an outer scope of the same row has the time of both */
	uint64_t own_ns;		/* else: its own time is since then */
};

struct scope_change {
	uint64_t ns;
	struct scope *top;		/* since then; NULL: nothing is open */
};

struct scopes {
	struct scope *top;		/* the innermost; NULL: nothing is open */
	uint32_t depth;			/* at most SCOPES_DEPTH_MAX; the owner checks */
	RING(struct scope_change) changes;
	uint64_t forgotten_ns;		/* scopes open before are not known any more */
};

/* budget: changes that all threads may still remember. 0 or -ENOMEM: nothing has changed. */
int scopes_open(struct scopes *s, const struct scope *scope, size_t *budget);
int scopes_close(struct scopes *s, const struct scope *scope, uint64_t ns, size_t *budget);

/* The innermost scope that was open at ns, NULL: none; *forgotten: it is not known any more. */
const struct scope *scopes_at(const struct scopes *s, uint64_t ns, bool *forgotten);

/* No event will refer to times before ns. */
void scopes_forget(struct scopes *s, uint64_t ns, size_t *budget);
void scopes_free(struct scopes *s, size_t *budget);

#endif

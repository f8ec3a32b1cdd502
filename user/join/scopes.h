/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scopes of one process: named spans of a thread's time, to which the launches in them belong.
 * Applications' ranges are scopes (facts/ranges.h). A scope's kind names its owner, which alone
 * knows what the scope means.
 *
 * All kinds of a thread share one stack. It is a list, innermost scope first, whose members never
 * change place once it is made (a persistent stack): opening a scope puts a new head before the
 * list, closing one that others are nested in makes new heads. So the head at a launch's
 * launch_moment() leads by `below` to all that was open, whatever opens and closes later: the
 * join looks it up when a launch meets its first work, and all works of a graph's launch have it.
 * CUPTI's records come later than scopes, so each change of a stack is remembered with its time
 * until scopes_settle, bounded by SCOPES_HISTORY_MAX and by SCOPES_BUDGET.
 *
 * Examples; one thread, L a launch:
 *
 *   open a 10, open b 20, close a 30, close b 40     at 15: a    25: b, a    35: b    45: nothing
 *   open a 10, open b 20, L 25, close b, close a     L: b, a; a graph: also after settling
 *   open a 10, close a 20, scopes_settle(50)         at 15: SCOPE_FORGOTTEN and no other
 *   open a 10, exit 30, open b 40                    a is left (scope_owner), as of 30; at 45: b
 *
 * Of kinds that are nested properly, the end closes the innermost one of the kind. Others (a
 * started range ends on any thread) are open on the thread that began them, where the owner finds
 * them by scope.id.
 */
#ifndef JOIN_SCOPES_H
#define JOIN_SCOPES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/ring.h"
#include "base/vec.h"

#define SCOPES_DEPTH_MAX 256		/* open on a thread at a time */
#define SCOPES_HISTORY_MAX 65536	/* changes of a thread */
#define SCOPES_BUDGET (4u * SCOPES_HISTORY_MAX)	/* ... of all threads of a process */
#define SCOPES_THREADS_MAX 65536

enum scope_kind {
	SCOPE_FORGOTTEN,		/* stands for scopes of a time too long ago */
	SCOPE_PUSHED_RANGE, SCOPE_STARTED_RANGE, SCOPE_KINDS
};

struct scope {
	struct scope *below;		/* the enclosing scope; NULL: none */
	uint64_t start_ns;
	uint32_t refs;			/* lists and launches that begin with it; 0: not counted */
	uint8_t kind;			/* enum scope_kind */
	/* the owner's: */
	bool inner;			/* an outer scope of the same row has the time of both */
	uint32_t row;
	uint64_t id;			/* of a scope that another thread may close; else 0 */
	uint64_t own_ns;		/* not inner: its own time is since then */
};

struct scope_change {
	uint64_t ns;
	struct scope *top;		/* since then; NULL: nothing is open */
};

struct scope_stack {			/* of one thread; others only read it */
	struct scope *top;		/* the innermost; NULL: nothing is open */
	uint32_t tid, depth;
	uint32_t deep[SCOPE_KINDS];	/* the owner's: opened beyond SCOPES_DEPTH_MAX */
	uint64_t exit_ns;		/* when the thread ended; 0: it lives */
	RING(struct scope_change) changes;
	uint64_t forgotten_ns;		/* scopes open before are not known any more */
};

struct scope_owner {			/* of a kind */
	/* The thread ended before the scope did: closes it. 0 or -ENOMEM. */
	int (*left)(void *ctx, struct scope_stack *of, const struct scope *scope);
	void *ctx;
};

/* Start zeroed; an owner sets its kinds' places. */
struct scopes {
	struct scope_owner owner[SCOPE_KINDS];
	VEC(struct scope_stack *) stacks;
	struct map by_tid;		/* -> struct scope_stack */
	size_t remembered;		/* changes that there is memory for */
};

/* Launches keep the scopes that they hold. */
void scopes_free(struct scopes *s);

/* The stack of a thread of which an event is at ns, made when first named. A number that is used
 * again is another thread's: the first one leaves its scopes. NULL + errno: EINVAL (tid is 0, or
 * there are SCOPES_THREADS_MAX), ENOMEM. */
struct scope_stack *scopes_of(struct scopes *s, uint32_t tid, uint64_t ns);

/* A copy of scope, whose kind, start and owner's part are set, is the innermost now. 0, -ENOSPC
 * (SCOPES_DEPTH_MAX are open) or -ENOMEM: nothing has changed. */
int scopes_open(struct scopes *s, struct scope_stack *of, const struct scope *scope);
/* Any that is open. 0 or -ENOMEM: nothing has changed. */
int scopes_close(struct scopes *s, struct scope_stack *of, const struct scope *scope, uint64_t ns);

/* The innermost scope that the thread had open at ns; NULL: none. */
const struct scope *scopes_at(const struct scopes *s, uint32_t tid, uint64_t ns);

/* The thread (0: each) has ended, and will have left its scopes; its earlier events may follow. */
void scopes_exit(struct scopes *s, uint32_t tid, uint64_t end_ns);
/* No event will be of times before ns, no launch of them meet its first work; UINT64_MAX: nothing
 * will come. */
void scopes_settle(struct scopes *s, uint64_t ns);

void scope_release(struct scope *s);	/* NULL is fine */
static inline struct scope *scope_hold(const struct scope *scope)
{
	struct scope *s = (struct scope *)(uintptr_t)scope;

	if (s && s->refs)
		s->refs++;
	return s;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What takes events, and keeps a state of its own. A const description; the model owns the state,
 * passes it events in the order in which they arrive, and snapshots have a copy of it.
 * A table whose rows no other part makes has its consumer beside its columns (struct view).
 *
 * Functions that are NULL are not called. They return 0 or -ENOMEM, which ends the session;
 * on_event also -EINVAL: the event contradicts itself and is counted as invalid.
 */
#ifndef FACTS_CONSUMER_H
#define FACTS_CONSUMER_H

#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define CONSUMERS_MAX 32	/* of a model */

struct consumer {
	uint64_t kinds;		/* 1 << enum event_kind: those that on_event takes */
	size_t size;		/* of the state, which starts zeroed */
	int (*on_event)(void *state, const struct event *ev);
	void (*cut)(void *state);	/* an interval ends: forgets what was counted in it */
	int (*copy)(void *to, const void *from);	/* to is zeroed; an error: free is called */
	void (*free)(void *state);	/* what the state owns; it may be zeroed */
};

struct consumers {
	const struct consumer *v[CONSUMERS_MAX];
	size_t n;
};

/* Consumers and their states. Start zeroed. */
struct consumer_states {
	struct consumers of;
	void *v[CONSUMERS_MAX];
	uint32_t takers[EVENT_KIND_END];	/* of a kind, as bits */
};

int consumers_add(struct consumer_states *to, const struct consumers *list);	/* 0 or -ENOMEM */
int consumers_push(struct consumer_states *s, const struct event *ev);	/* as on_event */
void consumers_cut(struct consumer_states *s);
int consumers_copy(struct consumer_states *to, const struct consumer_states *from);
void consumers_free(struct consumer_states *s);

/* NULL: it is none of these. */
const void *consumer_state(const struct consumer_states *s, const struct consumer *c);

_Static_assert(EVENT_KIND_END <= 64, "kinds are bits");

#endif

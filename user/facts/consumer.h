/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A consumer of events with a state of its own. A const description; the model owns the state,
 * passes it events in the order in which they arrive, and snapshots have a copy of it. A table
 * whose rows no other part makes has its consumer beside its columns (struct view).
 *
 * Functions that are NULL are not called. They return 0 or -ENOMEM, which ends the session;
 * on_event also -EINVAL: the event contradicts itself, is counted as invalid and is for no other.
 */
#ifndef FACTS_CONSUMER_H
#define FACTS_CONSUMER_H

#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

#define CONSUMERS_MAX 32	/* of a model */

struct model;
struct process;
struct launch;

#define CONSUMER_ENDS 1		/* on_event: the event is for no consumer after this one */

struct consumer {
	uint64_t kinds;		/* 1 << enum event_kind: those that on_event takes */
	size_t size;		/* of the state, which starts zeroed. 0: the model is the state */
	int (*init)(void *state, struct model *m);
	int (*on_event)(void *state, const struct event *ev);
	/* A work, and its launch (NULL: unknown). */
	int (*on_work)(void *state, const struct event *work, const struct launch *launch);
	/* The call of a launch came after works of it were passed on without: of launch->works. */
	int (*on_called)(void *state, uint32_t process, uint32_t correlation,
			 const struct launch *launch);
	/* Works of a process that start before horizon_ns have all come. */
	int (*on_horizon)(void *state, uint32_t process, uint64_t horizon_ns);
	int (*finish)(void *state);	/* nothing more will come */
	/* Nothing more of p will come: waits for nothing and takes no more memory than it needs.
	 * *done becomes false if that must wait for other processes. */
	int (*settle)(void *state, struct process *p, bool *done);
	/* Adds the rows of p, which is settled, to those of into. */
	int (*fold)(void *state, struct process *p, struct process *into);
	/* For snapshots; to is zeroed, and is freed also after an error. NULL: they have none. */
	int (*copy)(void *to, const void *from);
	void (*subtract)(void *from, const void *earlier);	/* of two copies */
	void (*free)(void *state);	/* frees memory that the state owns; it may be zeroed */
};

struct consumers {
	const struct consumer *v[CONSUMERS_MAX];
	size_t n;
};

/* Consumers and their states. Start zeroed. */
struct consumer_states {
	struct consumers of;
	void *v[CONSUMERS_MAX];
	int (*on_event[CONSUMERS_MAX])(void *state, const struct event *ev);
	uint32_t takers[EVENT_KIND_END];	/* of a kind, as bits */
	uint32_t workers;			/* those with on_work, as bits */
};

/* 0 or -ENOMEM. */
int consumers_add(struct consumer_states *to, const struct consumers *list, struct model *m);

/* As on_event. Inline: every event comes here. */
static inline int consumers_push(struct consumer_states *s, const struct event *ev)
{
	int err = 0;

	for (uint32_t left = s->takers[ev->kind]; left && !err; left &= left - 1) {
		const int i = __builtin_ctz(left);

		err = s->on_event[i](s->v[i], ev);
	}
	return err;
}

/* The others for all that have them. */
int consumers_work(struct consumer_states *s, const struct event *work,
		   const struct launch *launch);
int consumers_called(struct consumer_states *s, uint32_t process, uint32_t correlation,
		     const struct launch *launch);
int consumers_horizon(struct consumer_states *s, uint32_t process, uint64_t horizon_ns);
int consumers_finish(struct consumer_states *s);
int consumers_settle(struct consumer_states *s, struct process *p, bool *done);
int consumers_fold(struct consumer_states *s, struct process *p, struct process *into);
int consumers_copy(struct consumer_states *to, const struct consumer_states *from);

static inline void consumers_subtract(struct consumer_states *from,
				      const struct consumer_states *earlier)
{
	for (size_t i = 0; i < from->of.n && i < earlier->of.n; i++)
		if (from->of.v[i]->subtract)
			from->of.v[i]->subtract(from->v[i], earlier->v[i]);
}

void consumers_free(struct consumer_states *s);

/* NULL: it is none of these. */
static inline const void *consumer_state(const struct consumer_states *s, const struct consumer *c)
{
	for (size_t i = 0; i < s->of.n; i++)
		if (s->of.v[i] == c)
			return s->v[i];
	return NULL;
}

_Static_assert(EVENT_KIND_END <= 64, "kinds are bits");

#endif

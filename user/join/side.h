/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one process has waiting on each side of the join: launches and works, first come first gone,
 * found by correlation. Each grows as needed up to its bound, and while there is room in what all processes
 * share; who has much can be made smaller for others. For join.c only.
 */
#ifndef JOIN_SIDE_H
#define JOIN_SIDE_H

#include <stdbool.h>

#include "join/chains.h"
#include "join/join.h"
#include "join/join_room.h"

struct side_launch {
	struct launch launch;
	uint64_t used_ns;	/* end of it, or of the last work that it met */
	uint64_t began_ns;	/* of the first work that it met; 0: it met none */
	bool awaited;		/* it is of a kind that launches, and met nothing yet */
	bool is_kernel;		/* ... which always gives work */
	bool lost;		/* it met nothing, and its work is over */
};

struct side_work {
	struct work work;	/* its name is its own */
	uint64_t start_ns, end_ns;
	uint32_t tid;
	uint8_t has;
	bool gone;
};

/* Numbers count from 1 and never come again; [first, next) are here. */
struct launches {
	struct side_launch *v;
	size_t cap;
	uint64_t first, next;
	struct chains by_correlation;
};

struct works {
	struct side_work *v;
	size_t cap;
	uint64_t first, next, waiting;
	size_t text_bytes;		/* their names' */
	struct chains by_correlation;	/* those that wait */
};

static inline struct side_launch *launches_at(const struct launches *l, uint64_t number)
{
	return &l->v[number & (l->cap - 1)];
}

static inline struct side_work *works_at(const struct works *w, uint64_t number)
{
	return &w->v[number & (w->cap - 1)];
}

static inline uint32_t launches_correlation(const struct launches *l, uint64_t number)
{
	return l->by_correlation.link[number & (l->cap - 1)].key;
}

/* The newest launch of a correlation, or NULL. */
static inline struct side_launch *launches_find(const struct launches *l, uint32_t correlation)
{
	uint32_t place = chains_find(&l->by_correlation, correlation);

	return place == CHAINS_NONE ? NULL : &l->v[place];
}

/* A new one, where the oldest has to go if there is no room. NULL: out of memory. */
struct side_launch *launches_add(struct launches *l, struct join_room *room, uint32_t correlation);
void launches_drop_first(struct launches *l);
void launches_free(struct launches *l, struct join_room *room);

/* A copy of ev waits; there is room (works_full). 0 or -ENOMEM. */
int works_add(struct works *w, struct join_room *room, const struct event *ev);
bool works_full(const struct works *w, const struct join_room *room, const struct event *ev);

size_t launches_bytes(const struct launches *l);	/* of the room */
size_t works_bytes(const struct works *w);
/* What one more would take of the room: 0 if there is a place, or if there may not be more. */
size_t launches_want(const struct launches *l);
size_t works_want(const struct works *w);
/* Half of the places, but never fewer than it began with. Launches: the oldest go that have none then;
 * works: they have been given up (works_fit). */
void launches_halve(struct launches *l, struct join_room *room);
void works_halve(struct works *w, struct join_room *room);
bool works_fit(const struct works *w);

/* The newest that waits for a correlation, or NULL; and the event of it, valid while it waits. */
struct side_work *works_find(const struct works *w, uint32_t correlation);
struct event works_event(const struct side_work *work, uint32_t pid);

/* It waits no longer. Those that are gone leave at the front. */
void works_gone(struct works *w, struct join_room *room, struct side_work *work);
void works_free(struct works *w, struct join_room *room);

#endif

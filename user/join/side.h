/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one process has waiting on each side of the join: launches and works, first come first gone,
 * found by correlation. Grows as needed up to JOIN_WAITING_MAX of each. For join.c only.
 */
#ifndef JOIN_SIDE_H
#define JOIN_SIDE_H

#include <stdbool.h>

#include "base/map.h"
#include "join/join.h"

struct side_launch {
	struct launch launch;
	uint64_t used_ns;	/* end of it, or of the last work that it met */
	uint32_t correlation;
	bool awaited;		/* it is of a kind that launches, and met nothing yet */
};

struct side_work {
	struct event ev;	/* work points into this; text is its own */
	struct work work;
	uint64_t before;	/* number of the one of the same correlation that came before; 0: none */
	bool gone;
};

/* Numbers count from 1 and never come again; [first, next) are here. */
struct launches {
	struct side_launch *v;
	size_t cap;
	uint64_t first, next;
	struct map by_correlation;	/* -> number */
};

struct works {
	struct side_work *v;
	size_t cap;
	uint64_t first, next, waiting;
	struct map by_correlation;	/* -> number of the newest */
};

static inline struct side_launch *launches_at(const struct launches *l, uint64_t number)
{
	return &l->v[number & (l->cap - 1)];
}

static inline struct side_work *works_at(const struct works *w, uint64_t number)
{
	return &w->v[number & (w->cap - 1)];
}

/* The launch of a correlation, or NULL. */
struct side_launch *launches_find(const struct launches *l, uint32_t correlation);

/* A new one, where the oldest has to go if there is no room. NULL: out of memory. */
struct side_launch *launches_add(struct launches *l, uint32_t correlation);
void launches_drop_first(struct launches *l);
void launches_free(struct launches *l);

/* A copy of ev waits; there is room (works_full). 0 or -ENOMEM. */
int works_add(struct works *w, const struct event *ev);
bool works_full(const struct works *w);

/* Takes the numbers of the works of a correlation out of the map: the newest's; 0: none. */
uint64_t works_take(struct works *w, uint32_t correlation);

/* It waits no longer. Those that are gone leave at the front. */
void works_gone(struct works *w, struct side_work *work);
void works_free(struct works *w);

#endif

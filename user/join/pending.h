/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The pending launches and works of one process, first come first gone, found by correlation.
 * Each grows as needed up to its bound and while the budget of all processes lasts; a few it has
 * even without. Knows nothing of matching. For join.c.
 */
#ifndef JOIN_PENDING_H
#define JOIN_PENDING_H

#include <stdbool.h>

#include "join/join.h"

struct join_budget {		/* of all processes */
	int64_t left_bytes;		/* below 0: more have begun than there is room for */
	int64_t text_left_bytes;	/* for names of works that wait */
};

struct pending_link {
	uint32_t key, next, before;	/* correlation; places of the same hash */
};

/* Elements keep their number: they count from 1 and never come again; [first, next) are here,
 * number n at place n & (cap - 1). */
struct pending_ring {
	uint32_t cap;			/* places and heads; a power of two */
	uint64_t first, next;
	uint32_t *head;
	struct pending_link *link;
};

struct pending_launch {
	struct launch launch;
	uint64_t used_ns;	/* end of it, or of the last work that it met */
	uint64_t began_ns;	/* of the first work that it met; 0: it met none */
	bool awaited;		/* it is of a kind that launches, and met nothing yet */
	bool is_kernel;		/* ... which always gives work */
	bool lost;		/* it met nothing, and its work is over */
};

struct launches {
	struct pending_launch *v;
	struct pending_ring ring;
};

struct pending_work {
	struct work work;	/* its name is its own */
	uint64_t start_ns, end_ns;
	uint32_t tid;
	uint8_t has;
};

struct works {
	struct pending_work *v;
	/* also of some that wait no longer, until they are the first */
	struct pending_ring ring;
	uint64_t waiting;
};

static inline struct pending_launch *launches_at(const struct launches *l, uint64_t number)
{
	return &l->v[number & (l->ring.cap - 1)];
}

static inline uint32_t launches_correlation(const struct launches *l,
					    const struct pending_launch *launch)
{
	return l->ring.link[launch - l->v].key;
}

/* The newest launch of a correlation, or NULL. */
struct pending_launch *launches_find(const struct launches *l, uint32_t correlation);

/* A new one, where the oldest has to go if there is no room. NULL: out of memory. */
struct pending_launch *launches_add(struct launches *l, struct join_budget *budget,
				    uint32_t correlation);
void launches_drop_first(struct launches *l);
void launches_free(struct launches *l, struct join_budget *budget);

/* A copy of ev waits; there is room (works_full). 0 or -ENOMEM. */
int works_add(struct works *w, struct join_budget *budget, const struct event *ev);
bool works_full(const struct works *w, const struct join_budget *budget, const struct event *ev);

/* The newest that waits for a correlation, or NULL; the oldest that waits (there is one); the
 * event of one, valid while it waits; when the earliest began, or UINT64_MAX. */
struct pending_work *works_find(const struct works *w, uint32_t correlation);
struct pending_work *works_first(const struct works *w);
struct event works_event(const struct pending_work *work, uint32_t process, uint32_t pid);
uint64_t works_began_ns(const struct works *w);

void works_remove(struct works *w, struct join_budget *budget, struct pending_work *work);
void works_free(struct works *w, struct join_budget *budget);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Works of one book by a total order: when they start, then whose they are. A heap for any order; a
 * queue for the order in which devices tell of them, which is nearly that one. For device_book.c
 * only; knows nothing of time but how to compare it.
 */
#ifndef LEDGER_DEVICE_QUEUE_H
#define LEDGER_DEVICE_QUEUE_H

#include "ledger/device_book.h"

/* A total order: whatever came first, the same work owns. */
static inline bool device_work_is_before(const struct device_work *a, const struct device_work *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->state != b->state)
		return a->state < b->state;
	if (a->lane != b->lane)
		return a->lane < b->lane;
	if (a->id != b->id)
		return a->id < b->id;
	return a->bucket < b->bucket;
}

struct device_heap {
	struct device_work *v;
	size_t n, cap;
	size_t prune_at;	/* for who prunes it */
};

int device_heap_push(struct device_heap *h, const struct device_work *work);	/* 0 or -ENOMEM */
void device_heap_pop(struct device_heap *h);
int device_heap_copy(struct device_heap *to, const struct device_heap *from);	/* 0 or -ENOMEM */
/* Forgets what has ended by now, wherever it lies. */
void device_heap_prune(struct device_heap *h, uint64_t now);

/* A ring in order, and a heap of what came too late for it. */
struct device_queue {
	struct device_work *v;
	size_t cap;		/* a power of two, or 0 */
	size_t first, n;	/* first: any number, & (cap - 1) */
	struct device_heap strays;
};

static inline struct device_work *device_queue_at(const struct device_queue *q, size_t i)
{
	return &q->v[(q->first + i) & (q->cap - 1)];
}

static inline size_t device_queue_count(const struct device_queue *q)
{
	return q->n + q->strays.n;
}

/* The first, or NULL. */
static inline const struct device_work *device_queue_first(const struct device_queue *q)
{
	const struct device_work *w = q->n ? device_queue_at(q, 0) : NULL;

	if (__builtin_expect(!q->strays.n, 1))
		return w;
	return w && device_work_is_before(w, &q->strays.v[0]) ? w : &q->strays.v[0];
}

/* Is there no room for one more? */
bool device_queue_full(const struct device_queue *q, const struct device_room *room);
/* room: may be NULL everywhere; it is not full. 0 or -ENOMEM. */
int device_queue_push(struct device_queue *q, struct device_room *room,
		      const struct device_work *work);
void device_queue_pop(struct device_queue *q, struct device_room *room);

/* To read it by popping (without a room): the works are not copied, only what came too late. 0 or
 * -ENOMEM; free `strays` of the copy alone. */
int device_queue_share(struct device_queue *to, const struct device_queue *from);
void device_queue_free(struct device_queue *q, struct device_room *room);

#endif

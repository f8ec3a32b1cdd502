// SPDX-License-Identifier: BSD-3-Clause
/* A binary heap, and a ring whose last few elements move to let one in. */
#include "ledger/device_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define CAP_FIRST 64u
#define MOVES_MAX 64u		/* elements that make way for one; else it is a stray */

/* ---- the heap ------------------------------------------------------------------------------- */

static void sift_up(struct device_heap *h, size_t at)
{
	struct device_work work = h->v[at];

	while (at && device_work_is_before(&work, &h->v[(at - 1) / 2])) {
		h->v[at] = h->v[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	h->v[at] = work;
}

static void sift_down(struct device_heap *h, size_t at)
{
	struct device_work work = h->v[at];
	size_t child;

	while ((child = 2 * at + 1) < h->n) {
		if (child + 1 < h->n && device_work_is_before(&h->v[child + 1], &h->v[child]))
			child++;
		if (!device_work_is_before(&h->v[child], &work))
			break;
		h->v[at] = h->v[child];
		at = child;
	}
	h->v[at] = work;
}

int device_heap_push(struct device_heap *h, const struct device_work *work)
{
	struct device_work *slot = VEC_PUSH(h);

	if (!slot)
		return -ENOMEM;
	*slot = *work;
	sift_up(h, h->n - 1);
	return 0;
}

void device_heap_pop(struct device_heap *h)
{
	h->v[0] = h->v[--h->n];
	if (h->n)
		sift_down(h, 0);
}

void device_heap_prune(struct device_heap *h, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->n; i++)
		if (h->v[i].end_ns > now)
			h->v[kept++] = h->v[i];
	h->n = kept;
	for (size_t i = kept / 2; i-- > 0;)
		sift_down(h, i);
}

int device_heap_copy(struct device_heap *to, const struct device_heap *from)
{
	*to = (struct device_heap){ .n = from->n, .cap = from->n, .prune_at = from->prune_at };
	if (!from->n)
		return 0;
	to->v = malloc(from->n * sizeof(*to->v));
	if (!to->v)
		return -ENOMEM;
	memcpy(to->v, from->v, from->n * sizeof(*to->v));
	return 0;
}

/* ---- the queue ------------------------------------------------------------------------------ */

/* The first few strays are not counted, as the first few of the ring are not. */
static void note_stray(const struct device_queue *q, struct device_room *room, int more)
{
	if (room && q->strays.n > CAP_FIRST)
		room->left -= (size_t)more;
}

bool device_queue_full(const struct device_queue *q, const struct device_room *room)
{
	if (!room)
		return false;
	if (q->strays.n >= CAP_FIRST && !room->left)
		return true;
	return q->n && q->n == q->cap && q->cap > room->left;
}

static int push_stray(struct device_queue *q, struct device_room *room,
		      const struct device_work *work)
{
	int err = device_heap_push(&q->strays, work);

	if (!err)
		note_stray(q, room, 1);
	return err;
}

static int grow(struct device_queue *q, struct device_room *room)
{
	size_t cap = q->cap ? 2 * q->cap : CAP_FIRST;
	struct device_work *v = malloc(cap * sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < q->n; i++)
		v[i] = *device_queue_at(q, i);
	if (room)
		room->left -= q->cap;
	free(q->v);
	q->v = v;
	q->cap = cap;
	q->first = 0;
	return 0;
}

int device_queue_push(struct device_queue *q, struct device_room *room,
		      const struct device_work *work)
{
	size_t at = q->n, least = q->n > MOVES_MAX ? q->n - MOVES_MAX : 0;

	while (at > least && device_work_is_before(work, device_queue_at(q, at - 1)))
		at--;
	if (at && at == least && device_work_is_before(work, device_queue_at(q, at - 1)))
		return push_stray(q, room, work);
	if (q->n == q->cap && grow(q, room))
		return -ENOMEM;
	for (size_t i = q->n; i > at; i--)
		*device_queue_at(q, i) = *device_queue_at(q, i - 1);
	*device_queue_at(q, at) = *work;
	q->n++;
	return 0;
}

void device_queue_pop(struct device_queue *q, struct device_room *room)
{
	if (q->strays.n && device_queue_first(q) == &q->strays.v[0]) {
		note_stray(q, room, -1);
		device_heap_pop(&q->strays);
		return;
	}
	q->first++;
	q->n--;
}

int device_queue_share(struct device_queue *to, const struct device_queue *from)
{
	*to = *from;
	return device_heap_copy(&to->strays, &from->strays);
}

void device_queue_free(struct device_queue *q, struct device_room *room)
{
	if (room && q->strays.n > CAP_FIRST)
		room->left += q->strays.n - CAP_FIRST;
	if (room && q->cap)
		room->left += q->cap - CAP_FIRST;
	free(q->v);
	VEC_FREE(&q->strays);
	*q = (struct device_queue){ 0 };
}

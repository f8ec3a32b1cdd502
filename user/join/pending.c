// SPDX-License-Identifier: BSD-3-Clause
/*
 * Two rings, and hash chains through the places of each: doubly linked, so that taking one out of a
 * long chain (a graph's works) walks nothing. Correlations that follow each other lie beside each
 * other, because CUPTI counts them up.
 */
#include "join/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"

#define CAP_FIRST 64
#define NEIGHBOURS 64u		/* correlations beside each other */
#define NONE UINT32_MAX		/* the first of a chain, the last */
#define UNLINKED (UINT32_MAX - 1)	/* before: it is in no chain */

#define LINK_BYTES (sizeof(struct pending_link) + sizeof(uint32_t))
/* of a launch that is awaited, and that waits for its call (join.c) */
#define LISTED_BYTES (2 * sizeof(uint32_t) + 2 * sizeof(uint64_t))
#define LAUNCH_BYTES (sizeof(struct pending_launch) + LISTED_BYTES + LINK_BYTES)
#define WORK_BYTES (sizeof(struct pending_work) + LINK_BYTES)

/* ---- rings ----------------------------------------------------------------------------------- */

static uint32_t place_of(const struct pending_ring *r, uint64_t number)
{
	return (uint32_t)(number & (r->cap - 1));
}

static uint32_t *head_of(const struct pending_ring *r, uint32_t key)
{
	uint64_t far = map_hash(key / NEIGHBOURS) * NEIGHBOURS;

	return &r->head[(far | key % NEIGHBOURS) & (r->cap - 1)];
}

/* The newest of its key from now on. */
static void link_place(struct pending_ring *r, uint32_t place, uint32_t key)
{
	uint32_t *head = head_of(r, key);

	r->link[place] = (struct pending_link){ key, *head, NONE };
	if (*head != NONE)
		r->link[*head].before = place;
	*head = place;
}

static void unlink_place(struct pending_ring *r, uint32_t place)
{
	struct pending_link *l = &r->link[place];

	if (l->before != NONE)
		r->link[l->before].next = l->next;
	else
		*head_of(r, l->key) = l->next;
	if (l->next != NONE)
		r->link[l->next].before = l->before;
	l->before = UNLINKED;
}

static uint32_t find(const struct pending_ring *r, uint32_t key)
{
	uint32_t place = r->cap ? *head_of(r, key) : NONE;

	while (place != NONE && r->link[place].key != key)
		place = r->link[place].next;
	return place;
}

/* A place more in each of three arrays; v may have moved when this fails, too. */
static int reserve(struct pending_ring *r, void **v, size_t size, uint32_t cap)
{
	void *head = realloc(r->head, cap * sizeof(*r->head)), *link, *elements;

	if (!head)
		return -ENOMEM;
	r->head = head;
	link = realloc(r->link, cap * sizeof(*r->link));
	if (!link)
		return -ENOMEM;
	r->link = link;
	elements = realloc(*v, cap * size);
	if (!elements)
		return -ENOMEM;
	*v = elements;
	return 0;
}

/* Twice as large: elements go to where they are among so many places, and are chained anew. */
static int grow(struct pending_ring *r, void **v, size_t size)
{
	const uint32_t cap = r->cap ? 2 * r->cap : CAP_FIRST;

	if (reserve(r, v, size, cap)) {
		/* Chains hang on r->cap alone: they are as they were. */
		return -ENOMEM;
	}
	for (uint64_t i = r->first; i < r->next; i++) {
		uint32_t from = place_of(r, i), to = (uint32_t)(i & (cap - 1));

		if (from == to)
			continue;
		memcpy((char *)*v + to * size, (char *)*v + from * size, size);
		r->link[to] = r->link[from];
	}
	r->cap = cap;
	memset(r->head, 0xff, cap * sizeof(*r->head));
	for (uint64_t i = r->first; i < r->next; i++) {
		uint32_t at = place_of(r, i);

		if (r->link[at].before != UNLINKED)
			link_place(r, at, r->link[at].key);
	}
	if (!r->next)
		r->first = r->next = 1;
	return 0;
}

static bool is_full(const struct pending_ring *r)
{
	return r->next - r->first == r->cap;
}

static bool may_grow(const struct pending_ring *r, size_t max, size_t bytes,
		     const struct join_budget *budget)
{
	return !r->cap || (r->cap < max && budget->left_bytes >= (int64_t)(r->cap * bytes));
}

/* Grows a ring that is full. 0 or -ENOMEM. */
static int make_room(struct pending_ring *r, void **v, size_t size, size_t bytes,
		     struct join_budget *budget)
{
	const uint32_t before = r->cap;

	if (grow(r, v, size))
		return -ENOMEM;
	budget->left_bytes -= (int64_t)((r->cap - before) * bytes);
	return 0;
}

static void ring_free(struct pending_ring *r, size_t bytes, struct join_budget *budget)
{
	budget->left_bytes += (int64_t)(r->cap * bytes);
	free(r->head);
	free(r->link);
}

/* ---- launches -------------------------------------------------------------------------------- */

struct pending_launch *launches_find(const struct launches *l, uint32_t correlation)
{
	uint32_t place = find(&l->ring, correlation);

	return place == NONE ? NULL : &l->v[place];
}

void launches_drop_first(struct launches *l)
{
	unlink_place(&l->ring, place_of(&l->ring, l->ring.first++));
}

struct pending_launch *launches_add(struct launches *l, struct join_budget *budget,
				    uint32_t correlation)
{
	void *v = l->v;
	int err = 0;

	if (is_full(&l->ring)) {
		if (may_grow(&l->ring, JOIN_LAUNCHES_MAX, LAUNCH_BYTES, budget))
			err = make_room(&l->ring, &v, sizeof(*l->v), LAUNCH_BYTES, budget);
		else
			launches_drop_first(l);
	}
	l->v = v;
	if (err)
		return NULL;
	link_place(&l->ring, place_of(&l->ring, l->ring.next), correlation);
	return launches_at(l, l->ring.next++);
}

void launches_free(struct launches *l, struct join_budget *budget)
{
	ring_free(&l->ring, LAUNCH_BYTES, budget);
	free(l->v);
}

/* ---- works ----------------------------------------------------------------------------------- */

static struct pending_work *works_at(const struct works *w, uint64_t number)
{
	return &w->v[place_of(&w->ring, number)];
}

static bool is_waiting(const struct works *w, uint64_t number)
{
	return w->ring.link[place_of(&w->ring, number)].before != UNLINKED;
}

bool works_full(const struct works *w, const struct join_budget *budget, const struct event *ev)
{
	if (!w->waiting)
		return false;
	if (ev->work.name && (int64_t)strlen(ev->work.name) >= budget->text_left_bytes)
		return true;
	return is_full(&w->ring) && !may_grow(&w->ring, JOIN_WORKS_MAX, WORK_BYTES, budget);
}

/* A name more, or (sign -1) one less. */
static void count_text(struct join_budget *budget, const char *text, int sign)
{
	budget->text_left_bytes -= text ? sign * ((int64_t)strlen(text) + 1) : 0;
}

int works_add(struct works *w, struct join_budget *budget, const struct event *ev)
{
	char *name = ev->work.name ? strdup(ev->work.name) : NULL;
	void *v = w->v;
	int err = ev->work.name && !name ? -ENOMEM : 0;

	if (!err && is_full(&w->ring))
		err = make_room(&w->ring, &v, sizeof(*w->v), WORK_BYTES, budget);
	w->v = v;
	if (err) {
		free(name);
		return err;
	}
	count_text(budget, name, 1);
	link_place(&w->ring, place_of(&w->ring, w->ring.next), ev->work.correlation);
	*works_at(w, w->ring.next++) = (struct pending_work){
		.work = ev->work, .start_ns = ev->start_ns, .end_ns = ev->end_ns, .tid = ev->tid,
		.has = ev->has };
	works_at(w, w->ring.next - 1)->work.name = name;
	w->waiting++;
	return 0;
}

struct pending_work *works_find(const struct works *w, uint32_t correlation)
{
	uint32_t place = find(&w->ring, correlation);

	return place == NONE ? NULL : &w->v[place];
}

struct pending_work *works_first(const struct works *w)
{
	return works_at(w, w->ring.first);
}

struct event works_event(const struct pending_work *work, uint32_t process, uint32_t pid)
{
	return (struct event){ .kind = EVENT_WORK, .has = work->has, .process = process, .pid = pid,
			       .tid = work->tid, .start_ns = work->start_ns, .end_ns = work->end_ns,
			       .work = work->work };
}

uint64_t works_began_ns(const struct works *w)
{
	uint64_t first_ns = UINT64_MAX;

	for (uint64_t i = w->ring.first; i < w->ring.next; i++)
		if (is_waiting(w, i))
			first_ns = num_min(first_ns, works_at(w, i)->start_ns);
	return first_ns;
}

static void free_text(struct join_budget *budget, struct pending_work *work)
{
	count_text(budget, work->work.name, -1);
	free((char *)(uintptr_t)work->work.name);
	work->work.name = NULL;
}

void works_remove(struct works *w, struct join_budget *budget, struct pending_work *work)
{
	free_text(budget, work);
	unlink_place(&w->ring, (uint32_t)(work - w->v));
	w->waiting--;
	while (w->ring.first < w->ring.next && !is_waiting(w, w->ring.first))
		w->ring.first++;
}

void works_free(struct works *w, struct join_budget *budget)
{
	for (uint64_t i = w->ring.first; i < w->ring.next; i++)
		free_text(budget, works_at(w, i));
	ring_free(&w->ring, WORK_BYTES, budget);
	free(w->v);
}

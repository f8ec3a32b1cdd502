// SPDX-License-Identifier: BSD-3-Clause
/* Two rings whose elements keep their number; chains by correlation beside each. */
#include "join/side.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define CAP_FIRST 64
#define LISTED_BYTES (2 * sizeof(uint32_t))	/* of a launch that is awaited (join/fates.h) */
#define LINK_BYTES (sizeof(struct chain_link) + sizeof(uint32_t))
#define LAUNCH_BYTES (sizeof(struct side_launch) + LISTED_BYTES + LINK_BYTES)
#define WORK_BYTES (sizeof(struct side_work) + LINK_BYTES)

#define NONE_GOES (-1)

struct ring {			/* of either side */
	char *v;
	size_t cap, size;
	uint64_t first, next;
	struct chains *chains;
	ptrdiff_t gone_at;	/* a bool in each; NONE_GOES: none is */
};

static bool is_gone(const struct ring *r, size_t at)
{
	return r->gone_at != NONE_GOES && *(const bool *)(r->v + at * r->size + r->gone_at);
}

/* To where they are among so many places. Of two that would be in one place there is one: they are at most
 * as many as the fewer places. */
static void move_all(const struct ring *r, size_t cap)
{
	for (uint64_t i = r->first; i < r->next; i++) {
		size_t from = i & (r->cap - 1), to = i & (cap - 1);

		if (from == to)
			continue;
		memcpy(r->v + to * r->size, r->v + from * r->size, r->size);
		r->chains->link[to].key = r->chains->link[from].key;
	}
	chains_clear(r->chains, (uint32_t)cap);
	for (uint64_t i = r->first; i < r->next; i++) {
		size_t at = i & (cap - 1);

		if (!is_gone(r, at))
			chains_add(r->chains, (uint32_t)at, r->chains->link[at].key);
	}
}

/* Twice as large; its elements, or NULL, and the old ones are where they were. */
static void *grow(struct ring *r)
{
	size_t cap = r->cap ? 2 * r->cap : CAP_FIRST;
	char *v = chains_reserve(r->chains, (uint32_t)cap) ? NULL : realloc(r->v, cap * r->size);

	if (!v)
		return NULL;
	r->v = v;
	move_all(r, cap);
	return v;
}

/* Half as large, in place where memory does not move for less of it. */
static void *halve(struct ring *r)
{
	size_t cap = r->cap / 2;
	char *v;

	move_all(r, cap);
	(void)chains_reserve(r->chains, (uint32_t)cap);
	v = realloc(r->v, cap * r->size);
	return v ? v : r->v;
}

/* One more of so many bytes each, in a ring that has no place for it. */
static size_t want(size_t cap, size_t most, size_t bytes)
{
	return cap >= most ? 0 : (cap ? cap : CAP_FIRST) * bytes;
}

static bool may_grow(size_t cap, size_t most, size_t bytes, const struct join_room *room)
{
	return !cap || (cap < most && join_room_has(room, want(cap, most, bytes)));
}

/* ---- launches ------------------------------------------------------------------------------- */

void launches_drop_first(struct launches *l)
{
	chains_del(&l->by_correlation, (uint32_t)(l->first & (l->cap - 1)));
	l->first++;
}

static struct ring launches_ring(struct launches *l)
{
	return (struct ring){ (char *)l->v, l->cap, sizeof(*l->v), l->first, l->next,
			      &l->by_correlation, NONE_GOES };
}

size_t launches_bytes(const struct launches *l)
{
	return l->cap * LAUNCH_BYTES;
}

size_t launches_want(const struct launches *l)
{
	return l->next - l->first < l->cap ? 0 : want(l->cap, JOIN_LAUNCHES_MAX, LAUNCH_BYTES);
}

static int launches_make_room(struct launches *l, struct join_room *room)
{
	struct ring ring = launches_ring(l);
	struct side_launch *v;

	if (!l->cap)
		l->first = l->next = 1;
	if (l->next - l->first < l->cap)
		return 0;
	if (!may_grow(l->cap, JOIN_LAUNCHES_MAX, LAUNCH_BYTES, room)) {
		launches_drop_first(l);
		return 0;
	}
	v = grow(&ring);
	if (!v)
		return -ENOMEM;
	join_room_take(room, launches_want(l));
	l->v = v;
	l->cap = l->cap ? 2 * l->cap : CAP_FIRST;
	return 0;
}

void launches_halve(struct launches *l, struct join_room *room)
{
	struct ring ring;

	if (l->cap <= CAP_FIRST)
		return;
	while (l->next - l->first > l->cap / 2)
		launches_drop_first(l);
	ring = launches_ring(l);
	l->v = halve(&ring);
	l->cap /= 2;
	join_room_give(room, launches_bytes(l));
}

struct side_launch *launches_add(struct launches *l, struct join_room *room, uint32_t correlation)
{
	if (launches_make_room(l, room))
		return NULL;
	chains_add(&l->by_correlation, (uint32_t)(l->next & (l->cap - 1)), correlation);
	return launches_at(l, l->next++);
}

void launches_free(struct launches *l, struct join_room *room)
{
	join_room_give(room, launches_bytes(l));
	free(l->v);
	chains_free(&l->by_correlation);
}

/* ---- works ---------------------------------------------------------------------------------- */

static struct ring works_ring(struct works *w)
{
	return (struct ring){ (char *)w->v, w->cap, sizeof(*w->v), w->first, w->next,
			      &w->by_correlation, offsetof(struct side_work, gone) };
}

size_t works_bytes(const struct works *w)
{
	return w->cap * WORK_BYTES;
}

size_t works_want(const struct works *w)
{
	return w->next - w->first < w->cap ? 0 : want(w->cap, JOIN_WORKS_MAX, WORK_BYTES);
}

bool works_full(const struct works *w, const struct join_room *room, const struct event *ev)
{
	if (!w->waiting)
		return false;
	if (ev->work.name && (int64_t)strlen(ev->work.name) >= room->text_left_bytes)
		return true;
	return w->next - w->first == w->cap && !may_grow(w->cap, JOIN_WORKS_MAX, WORK_BYTES, room);
}

static int works_make_room(struct works *w, struct join_room *room)
{
	struct ring ring = works_ring(w);
	struct side_work *v;

	if (!w->cap)
		w->first = w->next = 1;
	if (w->next - w->first < w->cap)
		return 0;
	v = grow(&ring);
	if (!v)
		return -ENOMEM;
	join_room_take(room, works_want(w));
	w->v = v;
	w->cap = w->cap ? 2 * w->cap : CAP_FIRST;
	return 0;
}

bool works_fit(const struct works *w)
{
	return w->next - w->first <= w->cap / 2;
}

void works_halve(struct works *w, struct join_room *room)
{
	struct ring ring = works_ring(w);

	if (w->cap <= CAP_FIRST)
		return;
	w->v = halve(&ring);
	w->cap /= 2;
	join_room_give(room, works_bytes(w));
}

/* A name more, or (sign -1) one less. */
static void count_text(struct works *w, struct join_room *room, const char *text, int sign)
{
	int64_t bytes = text ? sign * ((int64_t)strlen(text) + 1) : 0;

	room->text_left_bytes -= bytes;
	w->text_bytes += (size_t)bytes;
}

int works_add(struct works *w, struct join_room *room, const struct event *ev)
{
	char *text = ev->work.name ? strdup(ev->work.name) : NULL;

	if ((ev->work.name && !text) || works_make_room(w, room)) {
		free(text);
		return -ENOMEM;
	}
	count_text(w, room, text, 1);
	chains_add(&w->by_correlation, (uint32_t)(w->next & (w->cap - 1)), ev->work.correlation);
	*works_at(w, w->next++) = (struct side_work){
		.work = ev->work, .start_ns = ev->start_ns, .end_ns = ev->end_ns,
		.tid = ev->tid, .has = ev->has };
	works_at(w, w->next - 1)->work.name = text;
	w->waiting++;
	return 0;
}

struct side_work *works_find(const struct works *w, uint32_t correlation)
{
	uint32_t place = chains_find(&w->by_correlation, correlation);

	return place == CHAINS_NONE ? NULL : &w->v[place];
}

struct event works_event(const struct side_work *work, uint32_t pid)
{
	return (struct event){ .kind = EVENT_WORK, .has = work->has, .pid = pid, .tid = work->tid,
			       .start_ns = work->start_ns, .end_ns = work->end_ns,
			       .work = work->work };
}

static void free_text(struct works *w, struct join_room *room, struct side_work *work)
{
	count_text(w, room, work->work.name, -1);
	free((char *)(uintptr_t)work->work.name);
	work->work.name = NULL;
}

void works_gone(struct works *w, struct join_room *room, struct side_work *work)
{
	free_text(w, room, work);
	chains_del(&w->by_correlation, (uint32_t)(work - w->v));
	work->gone = true;
	w->waiting--;
	while (w->first < w->next && works_at(w, w->first)->gone)
		w->first++;
}

void works_free(struct works *w, struct join_room *room)
{
	for (uint64_t i = w->first; i < w->next; i++)
		free_text(w, room, works_at(w, i));
	join_room_give(room, works_bytes(w));
	free(w->v);
	chains_free(&w->by_correlation);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Two rings whose elements keep their number; chains by correlation beside each. */
#include "join/side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAP_FIRST 64

struct ring {			/* of either side */
	void *v;
	size_t cap, size;
	uint64_t first, next;
	struct chains *chains;
	const bool *gone;	/* of the first element, in each; NULL: none is */
};

static size_t bytes_of(size_t cap, size_t size)
{
	return cap * (size + sizeof(struct chain_link) + sizeof(uint32_t));
}

static bool may_grow(size_t cap, size_t size, const struct side_room *room)
{
	return !cap || (cap < JOIN_WAITING_MAX && bytes_of(cap, size) <= room->left_bytes);
}

/* What outlives the old places: their elements and the chains of those that are not gone. */
static void move_all(const struct ring *old, char *v, size_t cap, struct chains *chains)
{
	for (uint64_t i = old->first; old->v && i < old->next; i++) {
		size_t from = i & (old->cap - 1), to = i & (cap - 1);

		memcpy(v + to * old->size, (char *)old->v + from * old->size, old->size);
		if (!old->gone || !*(const bool *)((const char *)old->gone + from * old->size))
			chains_add(chains, (uint32_t)to, old->chains->link[from].key);
	}
}

/* Twice as large, or NULL; the room is there. */
static void *grow(const struct ring *old, struct side_room *room)
{
	size_t cap = old->cap ? 2 * old->cap : CAP_FIRST;
	char *v = malloc(cap * old->size);
	struct chains chains;

	if (!v || chains_init(&chains, (uint32_t)cap)) {
		free(v);
		return NULL;
	}
	move_all(old, v, cap, &chains);
	room->left_bytes -= old->cap ? bytes_of(old->cap, old->size) : 0;
	chains_free(old->chains);
	*old->chains = chains;
	free(old->v);
	return v;
}

static void give_back(size_t cap, size_t size, struct side_room *room)
{
	room->left_bytes += cap ? bytes_of(cap - CAP_FIRST, size) : 0;
}

/* ---- launches ------------------------------------------------------------------------------- */

void launches_drop_first(struct launches *l)
{
	chains_del(&l->by_correlation, (uint32_t)(l->first & (l->cap - 1)));
	l->first++;
}

static int launches_make_room(struct launches *l, struct side_room *room)
{
	const struct ring old = { l->v, l->cap, sizeof(*l->v), l->first, l->next,
				  &l->by_correlation, NULL };
	struct side_launch *v;

	if (!l->cap)
		l->first = l->next = 1;
	if (l->next - l->first < l->cap)
		return 0;
	if (!may_grow(l->cap, sizeof(*l->v), room)) {
		launches_drop_first(l);
		return 0;
	}
	v = grow(&old, room);
	if (!v)
		return -ENOMEM;
	l->v = v;
	l->cap = l->cap ? 2 * l->cap : CAP_FIRST;
	return 0;
}

struct side_launch *launches_add(struct launches *l, struct side_room *room, uint32_t correlation)
{
	if (launches_make_room(l, room))
		return NULL;
	chains_add(&l->by_correlation, (uint32_t)(l->next & (l->cap - 1)), correlation);
	return launches_at(l, l->next++);
}

void launches_free(struct launches *l, struct side_room *room)
{
	give_back(l->cap, sizeof(*l->v), room);
	free(l->v);
	chains_free(&l->by_correlation);
}

/* ---- works ---------------------------------------------------------------------------------- */

bool works_full(const struct works *w, const struct side_room *room, const struct event *ev)
{
	if (!w->waiting)
		return false;
	if (ev->text && strlen(ev->text) >= room->text_left_bytes)
		return true;
	return w->next - w->first == w->cap && !may_grow(w->cap, sizeof(*w->v), room);
}

static int works_make_room(struct works *w, struct side_room *room)
{
	const struct ring old = { w->v, w->cap, sizeof(*w->v), w->first, w->next,
				  &w->by_correlation, w->v ? &w->v->gone : NULL };
	struct side_work *v;

	if (!w->cap)
		w->first = w->next = 1;
	if (w->next - w->first < w->cap)
		return 0;
	v = grow(&old, room);
	if (!v)
		return -ENOMEM;
	w->v = v;
	w->cap = w->cap ? 2 * w->cap : CAP_FIRST;
	return 0;
}

int works_add(struct works *w, struct side_room *room, const struct event *ev)
{
	char *text = ev->text ? strdup(ev->text) : NULL;

	if ((ev->text && !text) || works_make_room(w, room)) {
		free(text);
		return -ENOMEM;
	}
	if (text)
		room->text_left_bytes -= strlen(text) + 1;
	chains_add(&w->by_correlation, (uint32_t)(w->next & (w->cap - 1)), ev->work->correlation);
	*works_at(w, w->next++) = (struct side_work){
		.work = *ev->work, .start_ns = ev->start_ns, .end_ns = ev->end_ns, .text = text,
		.tid = ev->tid, .has = ev->has };
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
			       .text = work->text, .work = &work->work };
}

static void free_text(struct side_work *work, struct side_room *room)
{
	if (work->text)
		room->text_left_bytes += strlen(work->text) + 1;
	free(work->text);
	work->text = NULL;
}

void works_gone(struct works *w, struct side_room *room, struct side_work *work)
{
	free_text(work, room);
	chains_del(&w->by_correlation, (uint32_t)(work - w->v));
	work->gone = true;
	w->waiting--;
	while (w->first < w->next && works_at(w, w->first)->gone)
		w->first++;
}

void works_free(struct works *w, struct side_room *room)
{
	for (uint64_t i = w->first; i < w->next; i++)
		free_text(works_at(w, i), room);
	give_back(w->cap, sizeof(*w->v), room);
	free(w->v);
	chains_free(&w->by_correlation);
}

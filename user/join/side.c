// SPDX-License-Identifier: BSD-3-Clause
/* Two rings whose elements keep their number; a map from correlation to number beside each. */
#include "join/side.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAP_FIRST 64

/* The elements [first, next) of a ring of `cap` in one twice as large, or NULL. */
static void *grow(const void *old, size_t cap, size_t size, uint64_t first, uint64_t next)
{
	size_t twice = cap ? 2 * cap : CAP_FIRST;
	char *v = calloc(twice, size);

	for (uint64_t i = first; v && i < next; i++)
		memcpy(v + (i & (twice - 1)) * size,
		       (const char *)old + (i & (cap - 1)) * size, size);
	return v;
}

/* ---- launches ------------------------------------------------------------------------------- */

struct side_launch *launches_find(const struct launches *l, uint32_t correlation)
{
	const struct map_slot *slot = map_find(&l->by_correlation, correlation);

	return slot ? launches_at(l, slot->value) : NULL;
}

void launches_drop_first(struct launches *l)
{
	uint32_t correlation = launches_at(l, l->first)->correlation;
	const struct map_slot *slot = map_find(&l->by_correlation, correlation);

	if (slot && slot->value == l->first)
		map_del(&l->by_correlation, correlation);
	l->first++;
}

static int launches_make_room(struct launches *l)
{
	struct side_launch *v;

	if (!l->cap)
		l->first = l->next = 1;
	if (l->next - l->first < l->cap)
		return 0;
	if (l->cap == JOIN_WAITING_MAX) {
		launches_drop_first(l);
		return 0;
	}
	v = grow(l->v, l->cap, sizeof(*v), l->first, l->next);
	if (!v)
		return -ENOMEM;
	free(l->v);
	l->v = v;
	l->cap = l->cap ? 2 * l->cap : CAP_FIRST;
	return 0;
}

struct side_launch *launches_add(struct launches *l, uint32_t correlation)
{
	struct map_slot *slot;
	struct side_launch *made;

	if (launches_make_room(l))
		return NULL;
	slot = map_put(&l->by_correlation, correlation, NULL);
	if (!slot)
		return NULL;
	slot->value = l->next;
	made = launches_at(l, l->next++);
	*made = (struct side_launch){ .correlation = correlation };
	return made;
}

void launches_free(struct launches *l)
{
	free(l->v);
	map_free(&l->by_correlation);
}

/* ---- works ---------------------------------------------------------------------------------- */

bool works_full(const struct works *w)
{
	return w->next - w->first == JOIN_WAITING_MAX;
}

static int works_make_room(struct works *w)
{
	struct side_work *v;

	if (!w->cap)
		w->first = w->next = 1;
	if (w->next - w->first < w->cap)
		return 0;
	v = grow(w->v, w->cap, sizeof(*v), w->first, w->next);
	if (!v)
		return -ENOMEM;
	free(w->v);
	w->v = v;
	w->cap = w->cap ? 2 * w->cap : CAP_FIRST;
	for (uint64_t i = w->first; i < w->next; i++)
		works_at(w, i)->ev.work = &works_at(w, i)->work;
	return 0;
}

int works_add(struct works *w, const struct event *ev)
{
	char *text = ev->text ? strdup(ev->text) : NULL;
	struct map_slot *slot = NULL;
	struct side_work *made;

	if ((text || !ev->text) && !works_make_room(w))
		slot = map_put(&w->by_correlation, ev->work->correlation, NULL);
	if (!slot) {
		free(text);
		return -ENOMEM;
	}
	made = works_at(w, w->next);
	*made = (struct side_work){ .ev = *ev, .work = *ev->work, .before = slot->value };
	made->ev.text = text;
	made->ev.text2 = NULL;
	made->ev.work = &made->work;
	slot->value = w->next++;
	w->waiting++;
	return 0;
}

uint64_t works_take(struct works *w, uint32_t correlation)
{
	const struct map_slot *slot = map_find(&w->by_correlation, correlation);
	uint64_t newest = slot ? slot->value : 0;

	if (newest)
		map_del(&w->by_correlation, correlation);
	return newest;
}

void works_gone(struct works *w, struct side_work *work)
{
	free((char *)(uintptr_t)work->ev.text);
	work->ev.text = NULL;
	work->gone = true;
	w->waiting--;
	while (w->first < w->next && works_at(w, w->first)->gone) {
		uint32_t correlation = works_at(w, w->first)->work.correlation;
		const struct map_slot *slot = map_find(&w->by_correlation, correlation);

		if (slot && slot->value == w->first)
			map_del(&w->by_correlation, correlation);
		w->first++;
	}
}

void works_free(struct works *w)
{
	for (uint64_t i = w->first; i < w->next; i++)
		free((char *)(uintptr_t)works_at(w, i)->ev.text);
	free(w->v);
	map_free(&w->by_correlation);
}

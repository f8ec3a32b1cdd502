// SPDX-License-Identifier: BSD-3-Clause
/* Lists that share their tails, counted by who begins with them. */
#include "facts/ranges_open.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"
#include "facts/ranges.h"

#define CAP_FIRST 16

static struct ranges_open *hold(struct ranges_open *o)
{
	if (o)
		o->refs++;
	return o;
}

static void let_go(struct ranges_open *o)
{
	while (o && !--o->refs) {
		struct ranges_open *below = o->below;

		free(o);
		o = below;
	}
}

/* One reference, which is the caller's; takes none of below. */
static struct ranges_open *before(const struct ranges_open *range, struct ranges_open *below)
{
	struct ranges_open *o = malloc(sizeof(*o));

	if (!o)
		return NULL;
	*o = *range;
	o->refs = 1;
	o->below = hold(below);
	return o;
}

/* ---- the history ---------------------------------------------------------------------------- */

static struct ranges_change *at(const struct ranges_thread *t, uint32_t i)
{
	return &t->v[(t->first + i) & (t->cap - 1)];
}

static void drop_first(struct ranges_thread *t)
{
	let_go(at(t, 0)->top);
	t->first++;
	t->n--;
}

static int grow(struct ranges_thread *t, size_t *room)
{
	uint32_t cap = t->cap ? 2 * t->cap : CAP_FIRST;
	struct ranges_change *v;

	if (cap > RANGES_HISTORY_MAX || cap - t->cap > *room)
		return -ENOSPC;
	v = malloc(cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		v[i] = *at(t, i);
	free(t->v);
	*room -= cap - t->cap;
	t->v = v;
	t->cap = cap;
	t->first = 0;
	return 0;
}

/* The list is another since ns. What has no room is forgotten, oldest first. */
static void note(struct ranges_thread *t, uint64_t ns, size_t *room)
{
	if (t->n)
		ns = num_max(ns, at(t, t->n - 1)->ns);
	if (t->n == t->cap && grow(t, room)) {
		if (!t->cap) {
			t->forgotten_ns = UINT64_MAX;
			return;
		}
		drop_first(t);
		t->forgotten_ns = t->n ? at(t, 0)->ns : ns;
	}
	if (t->forgotten_ns == UINT64_MAX)
		t->forgotten_ns = ns;	/* there is room again */
	*at(t, t->n++) = (struct ranges_change){ ns, hold(t->top) };
}

static void become(struct ranges_thread *t, struct ranges_open *top, uint64_t ns, size_t *room)
{
	let_go(t->top);
	t->top = top;
	note(t, ns, room);
}

int ranges_thread_add(struct ranges_thread *t, const struct ranges_open *range, size_t *room)
{
	struct ranges_open *top = before(range, t->top);

	if (!top)
		return -ENOMEM;
	t->depth++;
	become(t, top, range->start_ns, room);
	return 0;
}

/* The list without one of its members. */
static int without(struct ranges_open *top, const struct ranges_open *gone, struct ranges_open **out)
{
	const struct ranges_open *above[RANGES_DEPTH_MAX] = { NULL };
	struct ranges_open *list;
	int n = 0;

	for (; top != gone && n < RANGES_DEPTH_MAX; top = top->below)
		above[n++] = top;
	list = hold(gone->below);
	while (n--) {
		struct ranges_open range = *above[n], *longer;

		longer = before(&range, list);
		let_go(list);
		if (!longer)
			return -ENOMEM;
		list = longer;
	}
	*out = list;
	return 0;
}

int ranges_thread_remove(struct ranges_thread *t, const struct ranges_open *range, uint64_t ns,
			 size_t *room)
{
	struct ranges_open *top;
	int err = 0;

	if (range == t->top)
		top = hold(range->below);
	else
		err = without(t->top, range, &top);
	if (err)
		return err;
	t->depth--;
	become(t, top, ns, room);
	return 0;
}

const struct ranges_open *ranges_thread_at(const struct ranges_thread *t, uint64_t ns, bool *forgotten)
{
	uint32_t low = 0, high = t->n;

	*forgotten = ns < t->forgotten_ns;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (at(t, middle)->ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && !*forgotten ? at(t, low - 1)->top : NULL;
}

void ranges_thread_forget(struct ranges_thread *t, uint64_t ns, size_t *room)
{
	bool any = false;

	while (t->n > 1 && at(t, 1)->ns <= ns) {
		drop_first(t);
		any = true;
	}
	if (any)
		t->forgotten_ns = num_max(t->forgotten_ns, at(t, 0)->ns);
	if (t->n == 1 && !at(t, 0)->top && at(t, 0)->ns <= ns) {
		t->forgotten_ns = num_max(t->forgotten_ns, at(t, 0)->ns);
		drop_first(t);
	}
	if (t->n || !t->cap)
		return;
	*room += t->cap;
	free(t->v);
	t->v = NULL;
	t->cap = t->first = 0;
}

void ranges_thread_clear(struct ranges_thread *t, size_t *room)
{
	let_go(t->top);
	t->top = NULL;
	while (t->n)
		drop_first(t);
	*room += t->cap;
	free(t->v);
	t->v = NULL;
	t->cap = 0;
}

// SPDX-License-Identifier: BSD-3-Clause
/* Lists that share their tails; a scope counts the lists that begin with it or go on by it. */
#include "facts/scopes.h"

#include "base/num.h"

#define CAP_FIRST 16

static struct scope *hold(struct scope *s)
{
	if (s)
		s->refs++;
	return s;
}

static void release(struct scope *s)
{
	while (s && !--s->refs) {
		struct scope *below = s->below;

		free(s);
		s = below;
	}
}

/* A list that begins with a copy of scope; the caller's reference. Takes none of below. */
static struct scope *prepend(const struct scope *scope, struct scope *below)
{
	struct scope *s = malloc(sizeof(*s));

	if (!s)
		return NULL;
	*s = *scope;
	s->refs = 1;
	s->below = hold(below);
	return s;
}

/* ---- the history ---------------------------------------------------------------------------- */

static void drop_first(struct scopes *s)
{
	release(RING_AT(&s->changes, 0)->top);
	RING_DROP(&s->changes);
}

static int grow(struct scopes *s, size_t *budget)
{
	size_t more = RING_NEXT_CAP(&s->changes, CAP_FIRST) - s->changes.cap;

	if (s->changes.cap + more > SCOPES_HISTORY_MAX || more > *budget)
		return -ENOSPC;
	if (RING_GROW(&s->changes, CAP_FIRST))
		return -ENOMEM;
	*budget -= more;
	return 0;
}

/* The list is another since ns. Without memory for it, the oldest change is forgotten. */
static void note_change(struct scopes *s, uint64_t ns, size_t *budget)
{
	if (s->changes.n)
		ns = num_max(ns, RING_AT(&s->changes, s->changes.n - 1)->ns);
	if (s->changes.n == s->changes.cap && grow(s, budget)) {
		if (!s->changes.cap) {
			s->forgotten_ns = UINT64_MAX;
			return;
		}
		drop_first(s);
		s->forgotten_ns = s->changes.n ? RING_AT(&s->changes, 0)->ns : ns;
	}
	if (s->forgotten_ns == UINT64_MAX)
		s->forgotten_ns = ns;	/* there is memory again */
	*RING_AT(&s->changes, s->changes.n++) = (struct scope_change){ ns, hold(s->top) };
}

static void set_top(struct scopes *s, struct scope *top, uint64_t ns, size_t *budget)
{
	release(s->top);
	s->top = top;
	note_change(s, ns, budget);
}

/* ---- the stack ------------------------------------------------------------------------------ */

int scopes_open(struct scopes *s, const struct scope *scope, size_t *budget)
{
	struct scope *top = prepend(scope, s->top);

	if (!top)
		return -ENOMEM;
	s->depth++;
	set_top(s, top, scope->start_ns, budget);
	return 0;
}

/* The list from top without one of its members; the caller's reference. */
static int without(struct scope *top, const struct scope *gone, struct scope **out)
{
	const struct scope *above[SCOPES_DEPTH_MAX] = { NULL };
	struct scope *list;
	int n = 0;

	for (; top != gone && n < SCOPES_DEPTH_MAX; top = top->below)
		above[n++] = top;
	list = hold(gone->below);
	while (n--) {
		struct scope *longer = prepend(above[n], list);

		release(list);
		if (!longer)
			return -ENOMEM;
		list = longer;
	}
	*out = list;
	return 0;
}

int scopes_close(struct scopes *s, const struct scope *scope, uint64_t ns, size_t *budget)
{
	struct scope *top;
	int err = without(s->top, scope, &top);

	if (err)
		return err;
	s->depth--;
	set_top(s, top, ns, budget);
	return 0;
}

const struct scope *scopes_at(const struct scopes *s, uint64_t ns, bool *forgotten)
{
	size_t low = 0, high = s->changes.n;

	*forgotten = ns < s->forgotten_ns;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (RING_AT(&s->changes, middle)->ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low && !*forgotten ? RING_AT(&s->changes, low - 1)->top : NULL;
}

static void free_changes(struct scopes *s, size_t *budget)
{
	*budget += s->changes.cap;
	RING_FREE(&s->changes);
}

void scopes_forget(struct scopes *s, uint64_t ns, size_t *budget)
{
	bool any = false;

	while (s->changes.n > 1 && RING_AT(&s->changes, 1)->ns <= ns) {
		drop_first(s);
		any = true;
	}
	if (any)
		s->forgotten_ns = num_max(s->forgotten_ns, RING_AT(&s->changes, 0)->ns);
	if (s->changes.n == 1 && !RING_AT(&s->changes, 0)->top &&
	    RING_AT(&s->changes, 0)->ns <= ns) {
		s->forgotten_ns = num_max(s->forgotten_ns, RING_AT(&s->changes, 0)->ns);
		drop_first(s);
	}
	if (!s->changes.n)
		free_changes(s, budget);
}

void scopes_free(struct scopes *s, size_t *budget)
{
	release(s->top);
	s->top = NULL;
	while (s->changes.n)
		drop_first(s);
	free_changes(s, budget);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Lists that share their tails; a scope counts the lists that begin with it or go on by it. */
#include "join/scopes.h"

#include <errno.h>

#include "base/num.h"

#define CAP_FIRST 16

void scope_release(struct scope *s)
{
	while (s && s->refs && !--s->refs) {
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
	s->below = scope_hold(below);
	return s;
}

/* ---- the history ---------------------------------------------------------------------------- */

static void drop_first(struct scope_stack *t)
{
	scope_release(RING_AT(&t->changes, 0)->top);
	RING_DROP(&t->changes);
}

static int grow(struct scopes *s, struct scope_stack *t)
{
	size_t more = RING_NEXT_CAP(&t->changes, CAP_FIRST) - t->changes.cap;

	if (t->changes.cap + more > SCOPES_HISTORY_MAX || more > SCOPES_BUDGET - s->remembered)
		return -ENOSPC;
	if (RING_GROW(&t->changes, CAP_FIRST))
		return -ENOMEM;
	s->remembered += more;
	return 0;
}

/* The list is another since ns. Without memory for it, the oldest change is forgotten. */
static void note_change(struct scopes *s, struct scope_stack *t, uint64_t ns)
{
	if (t->changes.n)
		ns = num_max(ns, RING_AT(&t->changes, t->changes.n - 1)->ns);
	if (t->changes.n == t->changes.cap && grow(s, t)) {
		if (!t->changes.cap) {
			t->forgotten_ns = UINT64_MAX;
			return;
		}
		drop_first(t);
		t->forgotten_ns = t->changes.n ? RING_AT(&t->changes, 0)->ns : ns;
	}
	if (t->forgotten_ns == UINT64_MAX)
		t->forgotten_ns = ns;	/* there is memory again */
	*RING_AT(&t->changes, t->changes.n++) = (struct scope_change){ ns, scope_hold(t->top) };
}

static void set_top(struct scopes *s, struct scope_stack *t, struct scope *top, uint64_t ns)
{
	scope_release(t->top);
	t->top = top;
	note_change(s, t, ns);
}

/* ---- the stack ------------------------------------------------------------------------------ */

int scopes_open(struct scopes *s, struct scope_stack *t, const struct scope *scope)
{
	struct scope *top = t->depth < SCOPES_DEPTH_MAX ? prepend(scope, t->top) : NULL;

	if (!top)
		return t->depth < SCOPES_DEPTH_MAX ? -ENOMEM : -ENOSPC;
	t->depth++;
	set_top(s, t, top, scope->start_ns);
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
	list = scope_hold(gone->below);
	while (n--) {
		struct scope *longer = prepend(above[n], list);

		scope_release(list);
		if (!longer)
			return -ENOMEM;
		list = longer;
	}
	*out = list;
	return 0;
}

int scopes_close(struct scopes *s, struct scope_stack *t, const struct scope *scope, uint64_t ns)
{
	struct scope *top;
	int err = without(t->top, scope, &top);

	if (err)
		return err;
	t->depth--;
	set_top(s, t, top, ns);
	return 0;
}

const struct scope *scopes_at(const struct scopes *s, uint32_t tid, uint64_t ns)
{
	static const struct scope forgotten = { .kind = SCOPE_FORGOTTEN };
	const struct scope_stack *t = map_pointer(&s->by_tid, tid);
	size_t low = 0, high = t ? t->changes.n : 0;

	if (t && ns < t->forgotten_ns)
		return &forgotten;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (RING_AT(&t->changes, middle)->ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? RING_AT(&t->changes, low - 1)->top : NULL;
}

static void free_changes(struct scopes *s, struct scope_stack *t)
{
	s->remembered -= t->changes.cap;
	RING_FREE(&t->changes);
}

static void forget(struct scopes *s, struct scope_stack *t, uint64_t ns)
{
	bool any = false;

	while (t->changes.n > 1 && RING_AT(&t->changes, 1)->ns <= ns) {
		drop_first(t);
		any = true;
	}
	if (any)
		t->forgotten_ns = num_max(t->forgotten_ns, RING_AT(&t->changes, 0)->ns);
	if (t->changes.n == 1 && !RING_AT(&t->changes, 0)->top &&
	    RING_AT(&t->changes, 0)->ns <= ns) {
		t->forgotten_ns = num_max(t->forgotten_ns, RING_AT(&t->changes, 0)->ns);
		drop_first(t);
	}
	if (!t->changes.n)
		free_changes(s, t);
}

/* ---- threads -------------------------------------------------------------------------------- */

static void leave_all(struct scopes *s, struct scope_stack *t)
{
	while (t->top) {
		const struct scope_owner *o = &s->owner[t->top->kind];

		if (o->left(o->ctx, t, t->top))
			break;
	}
	memset(t->deep, 0, sizeof(t->deep));
	t->exit_ns = 0;
}

struct scope_stack *scopes_of(struct scopes *s, uint32_t tid, uint64_t ns)
{
	struct scope_stack *t = map_pointer(&s->by_tid, tid);
	struct map_slot *slot;

	if (t && t->exit_ns && ns > t->exit_ns)
		leave_all(s, t);
	if (t)
		return t;
	errno = tid && s->stacks.n < SCOPES_THREADS_MAX ? ENOMEM : EINVAL;
	slot = errno == ENOMEM ? map_put(&s->by_tid, tid, NULL) : NULL;
	t = slot ? VEC_NEW(&s->stacks) : NULL;
	if (!t) {
		if (slot)
			map_del(&s->by_tid, tid);
		return NULL;
	}
	t->tid = tid;
	slot->value = (uintptr_t)t;
	return t;
}

void scopes_exit(struct scopes *s, uint32_t tid, uint64_t end_ns)
{
	for (size_t i = 0; i < s->stacks.n; i++) {
		struct scope_stack *t = s->stacks.v[i];

		if (!t->exit_ns && (!tid || t->tid == tid))
			t->exit_ns = num_max(end_ns, 1);
	}
}

static void free_stack(struct scopes *s, struct scope_stack *t)
{
	scope_release(t->top);
	while (t->changes.n)
		drop_first(t);
	free_changes(s, t);
	free(t);
}

void scopes_settle(struct scopes *s, uint64_t ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < s->stacks.n; i++) {
		struct scope_stack *t = s->stacks.v[i];
		bool ended = t->exit_ns && t->exit_ns <= ns;

		if (ended)
			leave_all(s, t);
		if (ns != UINT64_MAX)
			forget(s, t, ns);
		if (!ended || t->top || t->changes.n) {
			s->stacks.v[kept++] = t;
			continue;
		}
		map_del(&s->by_tid, t->tid);
		free_stack(s, t);
	}
	s->stacks.n = kept;
}

void scopes_free(struct scopes *s)
{
	for (size_t i = 0; i < s->stacks.n; i++)
		free_stack(s, s->stacks.v[i]);
	VEC_FREE(&s->stacks);
	map_free(&s->by_tid);
}

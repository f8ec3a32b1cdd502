// SPDX-License-Identifier: BSD-3-Clause
/* One set after the other: the rest of `lost` is cut by `unknown`, and that by `missing`. */
#include "ledger/unseen.h"

#include <errno.h>

#include "event/event.h"

/* Where there are too many the last one becomes longer. */
static int add(struct intervals *s, uint64_t start_ns, uint64_t end_ns)
{
	int err = intervals_add(s, start_ns, end_ns);

	if (err != -ENOSPC)
		return err;
	if (start_ns > s->v[s->n - 1].end)
		return intervals_add(s, s->v[s->n - 1].end, end_ns);
	return intervals_add(s, start_ns, s->v[s->n - 1].end);
}

int unseen_add(struct unseen *u, unsigned int why, uint64_t start_ns, uint64_t end_ns)
{
	if (!why || why >= UNSEEN_END)
		return -EINVAL;
	return add(why == UNSEEN_LOST ? &u->lost : &u->unknown, start_ns, end_ns);
}

int unseen_add_missing(struct unseen *u, uint64_t start_ns, uint64_t end_ns)
{
	return add(&u->missing, start_ns, end_ns);
}

int unseen_remove_missing(struct unseen *u, uint64_t start_ns, uint64_t end_ns)
{
	return intervals_remove(&u->missing, start_ns, end_ns);
}

enum { SETS = 3 };

static const struct intervals *set_of(const struct unseen *u, unsigned int set)
{
	const struct intervals *const sets[SETS] = { &u->lost, &u->unknown, &u->missing };

	return sets[set];
}

struct cut {
	const struct unseen *unseen;
	uint64_t *ns;
	int (*fn)(void *ctx, const struct device_gap *part);
	void *ctx;
};

/* The part of the gap has been looked at for the sets before. */
static int cut_by(const struct cut *c, unsigned int set, struct device_gap part)
{
	const uint64_t end_ns = part.end_ns;
	struct interval hit;
	int err = 0;

	if (part.start_ns >= part.end_ns)
		return 0;
	if (set == SETS)
		return c->fn(c->ctx, &part);
	while (!err && intervals_next(set_of(c->unseen, set), part.start_ns, end_ns, &hit)) {
		c->ns[set ? IDLE_UNKNOWN : IDLE_LOST] += hit.end - hit.start;
		part.end_ns = hit.start;
		err = cut_by(c, set + 1, part);
		part.start_ns = hit.end;
	}
	part.end_ns = end_ns;
	return err ? err : cut_by(c, set + 1, part);
}

int unseen_divide(const struct unseen *u, const struct device_gap *gap, uint64_t ns[IDLE_CAUSES],
		  int (*fn)(void *ctx, const struct device_gap *part), void *ctx)
{
	const struct cut cut = { u, ns, fn, ctx };

	return cut_by(&cut, 0, *gap);
}

bool unseen_next(const struct unseen *u, uint64_t start_ns, uint64_t end_ns, struct interval *out)
{
	struct interval hit;
	bool any = false;

	for (unsigned int set = 0; u && set < SETS; set++) {
		if (!intervals_next(set_of(u, set), start_ns, end_ns,
				    &hit) || (any && hit.start >= out->start))
			continue;
		*out = hit;
		any = true;
	}
	return any;
}

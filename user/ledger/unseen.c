// SPDX-License-Identifier: BSD-3-Clause
/* One set after the other: what `lost` leaves is cut by `unknown`. */
#include "ledger/unseen.h"

#include <errno.h>

#include "event/event.h"

int unseen_add(struct unseen *u, unsigned int why, uint64_t start_ns, uint64_t end_ns)
{
	struct spans *s = why == UNSEEN_LOST ? &u->lost : &u->unknown;
	int err = !why || why >= UNSEEN_END ? -EINVAL : spans_add(s, start_ns, end_ns);

	if (err != -ENOSPC)
		return err;
	if (start_ns > s->v[s->n - 1].end)
		return spans_add(s, s->v[s->n - 1].end, end_ns);
	return spans_add(s, start_ns, s->v[s->n - 1].end);
}

struct cut {
	const struct unseen *unseen;
	uint64_t *ns;
	int (*fn)(void *ctx, const struct device_gap *part);
	void *ctx;
};

/* [start, end) of the gap has been looked at for `lost`. */
static int cut_unknown(const struct cut *c, struct device_gap part)
{
	const struct device_gap whole = part;
	struct span hit;
	int err = 0;

	while (!err && spans_next(&c->unseen->unknown, part.start_ns, whole.end_ns, &hit)) {
		c->ns[IDLE_UNKNOWN] += hit.end - hit.start;
		part.end_ns = hit.start;
		if (part.start_ns < part.end_ns)
			err = c->fn(c->ctx, &part);
		part.start_ns = hit.end;
	}
	part.end_ns = whole.end_ns;
	return err || part.start_ns >= part.end_ns ? err : c->fn(c->ctx, &part);
}

int unseen_divide(const struct unseen *u, const struct device_gap *gap, uint64_t ns[IDLE_CAUSES],
		  int (*fn)(void *ctx, const struct device_gap *part), void *ctx)
{
	const struct cut cut = { u, ns, fn, ctx };
	struct device_gap part = *gap;
	struct span hit;
	int err = 0;

	while (!err && spans_next(&u->lost, part.start_ns, gap->end_ns, &hit)) {
		ns[IDLE_LOST] += hit.end - hit.start;
		part.end_ns = hit.start;
		if (part.start_ns < part.end_ns)
			err = cut_unknown(&cut, part);
		part.start_ns = hit.end;
	}
	part.end_ns = gap->end_ns;
	return err || part.start_ns >= part.end_ns ? err : cut_unknown(&cut, part);
}

bool unseen_next(const struct unseen *u, uint64_t start_ns, uint64_t end_ns, struct span *out)
{
	struct span unknown;

	if (!u)
		return false;
	if (!spans_next(&u->lost, start_ns, end_ns, out))
		return spans_next(&u->unknown, start_ns, end_ns, out);
	if (spans_next(&u->unknown, start_ns, end_ns, &unknown) && unknown.start < out->start)
		*out = unknown;
	return true;
}

void unseen_drop_before(struct unseen *u, uint64_t ns)
{
	spans_drop_before(&u->lost, ns);
	spans_drop_before(&u->unknown, ns);
}

void unseen_free(struct unseen *u)
{
	spans_free(&u->lost);
	spans_free(&u->unknown);
}

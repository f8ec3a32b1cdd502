// SPDX-License-Identifier: BSD-3-Clause
/* A snapshot of the window is one of all time, less the one with which the window begins. */
#include "view/tui/history.h"

#include <errno.h>

static void drop(struct snapshot **v, size_t *n, size_t drop)
{
	if (!drop)
		return;
	for (size_t i = 0; i < drop; i++)
		snapshot_free(v[i]);
	memmove(v, v + drop, (*n - drop) * sizeof(*v));
	*n -= drop;
}

void history_free(struct history *h)
{
	drop(h->all.v, &h->all.n, h->all.n);
	drop(h->ends.v, &h->ends.n, h->ends.n);
	VEC_FREE(&h->all);
	VEC_FREE(&h->ends);
	snapshot_free(h->mark);
	snapshot_free(h->since);
	h->mark = h->since = NULL;
}

static size_t rows_of(const struct snapshot *s)
{
	return 1 + s->processes.n + s->threads.n + 4 * s->devices.n;
}

static void drop_old(struct history *h)
{
	size_t rows = 0, keep = 0;

	while (keep < h->all.n && keep < HISTORY_MAX) {
		rows += rows_of(h->all.v[h->all.n - 1 - keep]);
		if (keep && rows > HISTORY_ROWS)
			break;
		keep++;
	}
	drop(h->all.v, &h->all.n, h->all.n - keep);
}

/* What the model has at now_ns, less an earlier snapshot of it, if there is one. NULL + errno. */
static struct snapshot *take_since(const struct model *m, uint64_t now_ns,
				   const struct snapshot *earlier)
{
	struct snapshot *s = snapshot_take(m, now_ns);

	if (s && earlier)
		snapshot_subtract(s, earlier);
	return s;
}

/* What came since the mark; or the mark, if it is to be set. */
static int read_mark(struct history *h, const struct model *m, uint64_t now_ns)
{
	struct snapshot *s = take_since(m, now_ns, h->wants_mark ? NULL : h->mark);

	if (!s)
		return -ENOMEM;
	snapshot_free(h->since);
	h->since = h->wants_mark ? NULL : s;
	if (h->wants_mark) {
		snapshot_free(h->mark);
		h->mark = s;
		h->wants_mark = false;
	}
	return 0;
}

int history_add(struct history *h, const struct model *m, uint64_t now_ns)
{
	struct snapshot *begin = h->window && h->ends.n == h->window ? h->ends.v[0] : NULL;
	struct snapshot *now = take_since(m, now_ns, begin);
	struct snapshot *end = h->window ? snapshot_take(m, now_ns) : NULL;
	struct snapshot **all = now ? VEC_PUSH(&h->all) : NULL;
	struct snapshot **ends = end && all ? VEC_PUSH(&h->ends) : NULL;

	if (!all || (h->window && !ends)) {
		h->all.n -= all != NULL;
		snapshot_free(now);
		snapshot_free(end);
		return -ENOMEM;
	}
	*all = now;
	if (ends)
		*ends = end;
	if (h->ends.n > h->window)
		drop(h->ends.v, &h->ends.n, h->ends.n - h->window);
	drop_old(h);
	h->seen++;
	return h->mark || h->wants_mark ? read_mark(h, m, now_ns) : 0;
}

void history_mark(struct history *h, bool on)
{
	h->wants_mark = on;
	if (on)
		return;
	snapshot_free(h->mark);
	snapshot_free(h->since);
	h->mark = h->since = NULL;
}

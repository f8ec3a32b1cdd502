/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last minutes of a session: a snapshot for each refresh, of the time window before it, as one
 * sees them when the view is paused or scrolled back; and what came since a marked point. Bounded:
 * the oldest leave when there are too many, or they are too large (hundreds of processes).
 *
 * Example; a window of 5, a refresh each second from 1 s on: at 7 s the newest is of 2 s to 7 s,
 * the one before of 1 s to 6 s, and the first one of 0 s to 1 s.
 */
#ifndef VIEW_TUI_HISTORY_H
#define VIEW_TUI_HISTORY_H

#include "base/vec.h"
#include "model/snapshot.h"

#define HISTORY_MAX 240		/* refreshes */
#define HISTORY_ROWS 200000	/* rows of all their snapshots: some 100 bytes each */

struct history {		/* start zeroed, but for window */
	size_t window;		/* refreshes that a snapshot spans; 0: all since the beginning */
	VEC(struct snapshot *) all;	/* the oldest first */
	VEC(struct snapshot *) ends;	/* as the last `window` refreshes ended: since the
					 * beginning */
	bool wants_mark;	/* the next refresh is to be marked */
	struct snapshot *mark;	/* the same, as it was marked; NULL: it is not */
	struct snapshot *since;	/* what came since then */
	uint64_t seen;		/* refreshes, also those that have left */
};

void history_free(struct history *h);

/* A refresh of the model at now_ns (as snapshot_take has it). 0 or -ENOMEM: nothing was added. */
int history_add(struct history *h, const struct model *m, uint64_t now_ns);

/* The next refresh is a point from which on `since` is; on false: there is no point any more. */
void history_mark(struct history *h, bool on);

/* The newest one (back 0), or so many refreshes before; the oldest if that has left. NULL: there is
 * none. */
static inline const struct snapshot *history_at(const struct history *h, size_t back)
{
	return !h->all.n ? NULL : h->all.v[back < h->all.n ? h->all.n - 1 - back : 0];
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a process's device activity is not completely known: idle time there may not have been
 * idle. A gap of a book is cut where it overlaps: those parts are `lost` (records were made and
 * lost) or `unknown` (no helper recorded, or a launch may run still), the rest goes to the
 * division by causes. Start zeroed. Knows nothing of works, threads or calls.
 *
 * Examples; a gap [0, 100):
 *
 *   lost [20,40)                    lost 20, the rest is [0,20) and [40,100)
 *   lost [20,40)  unknown [30,60)   lost 20, unknown 20, the rest is [0,20) and [60,100)
 *   unknown [90,200)                unknown 10, the rest is [0,90)
 */
#ifndef LEDGER_UNSEEN_H
#define LEDGER_UNSEEN_H

#include "ledger/device_book.h"
#include "ledger/idle.h"
#include "base/intervals.h"

struct unseen {
	struct intervals lost, unknown;
	struct intervals missing;	/* unknown, since launches had no records */
};

/* why: enum unseen_why. 0, -EINVAL or -ENOMEM. Where there are too many intervals two become
 * one. */
int unseen_add(struct unseen *u, unsigned int why, uint64_t start_ns, uint64_t end_ns);

/* Launches since start_ns have no records, up to end_ns. As above. */
int unseen_add_missing(struct unseen *u, uint64_t start_ns, uint64_t end_ns);

/* They had records after all. As above. */
int unseen_remove_missing(struct unseen *u, uint64_t start_ns, uint64_t end_ns);

/* Adds the unseen parts of the gap to ns; fn gets the others, in order of time. 0 or fn's error. */
int unseen_divide(const struct unseen *u, const struct device_gap *gap, uint64_t ns[IDLE_CAUSES],
		  int (*fn)(void *ctx, const struct device_gap *part), void *ctx);

/* The first part of [start, end) of which something is not seen. False: there is none. u may be
 * NULL. */
bool unseen_next(const struct unseen *u, uint64_t start_ns, uint64_t end_ns, struct interval *out);

/* it is not needed any more */
static inline void unseen_drop_before(struct unseen *u, uint64_t ns)
{
	intervals_drop_before(&u->lost, ns);
	intervals_drop_before(&u->unknown, ns);
	intervals_drop_before(&u->missing, ns);
}

static inline void unseen_free(struct unseen *u)
{
	intervals_free(&u->lost);
	intervals_free(&u->unknown);
	intervals_free(&u->missing);
}

#endif

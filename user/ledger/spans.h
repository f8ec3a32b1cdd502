/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of nanoseconds as sorted, disjoint, half-open intervals; bounded. Start zeroed. Knows
 * nothing of what the intervals mean.
 */
#ifndef LEDGER_SPANS_H
#define LEDGER_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPANS_MAX 4096

struct span {
	uint64_t start, end;
};

struct spans {
	struct span *v;
	size_t n, cap;
};

/* Adds [start, end). 0, -EINVAL (end < start), -ENOSPC (SPANS_MAX intervals) or -ENOMEM. */
int spans_add(struct spans *s, uint64_t start, uint64_t end);

/* How many nanoseconds of [start, end) are in the set. s may be NULL: none. */
uint64_t spans_overlap(const struct spans *s, uint64_t start, uint64_t end);

/* The first part of [start, end) that is in the set. False: none is. */
bool spans_next(const struct spans *s, uint64_t start, uint64_t end, struct span *out);

void spans_drop_before(struct spans *s, uint64_t ns);	/* forgets intervals that end by ns */
void spans_free(struct spans *s);

#endif

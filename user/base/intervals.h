/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of nanoseconds as sorted, disjoint, half-open intervals; bounded. Start zeroed. Knows
 * nothing of their meaning.
 */
#ifndef BASE_INTERVALS_H
#define BASE_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define INTERVALS_MAX 4096

struct interval {
	uint64_t start, end;
};

struct intervals {
	struct interval *v;
	size_t n, cap;
};

/* Adds [start, end). 0, -EINVAL (end < start), -ENOSPC (INTERVALS_MAX intervals) or -ENOMEM. */
int intervals_add(struct intervals *s, uint64_t start, uint64_t end);

/* Takes [start, end) out. 0, or as above where one becomes two. */
int intervals_remove(struct intervals *s, uint64_t start, uint64_t end);

/* How many nanoseconds of [start, end) are in the set. s may be NULL: none. */
uint64_t intervals_overlap(const struct intervals *s, uint64_t start, uint64_t end);

/* The first part of [start, end) that is in the set. False: none is. */
bool intervals_next(const struct intervals *s, uint64_t start, uint64_t end, struct interval *out);

/* forgets intervals that end by ns */
void intervals_drop_before(struct intervals *s, uint64_t ns);

static inline void intervals_free(struct intervals *s)
{
	free(s->v);
	*s = (struct intervals){ 0 };
}

#endif

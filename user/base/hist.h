/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log-linear histogram of u64 nanoseconds: 64 counters an octave, so a reported quantile is
 * within 0.8 % of an observed value; count, total, min and max are exact. Counters are allocated
 * from the lowest octave that was hit to the highest, of 2 bytes that become 4 and 8 when they must
 * (128, 256, 512 bytes an octave). There are thousands, each of another kernel: so that they stay
 * in the cache they are small. Start zeroed; hist_free when done. Knows nothing of calls.
 */
#ifndef BASE_HIST_H
#define BASE_HIST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/num.h"

#define HIST_OCTAVE 64		/* counters of one */

struct hist {
	uint64_t count;
	uint64_t total;		/* saturates at UINT64_MAX */
	uint64_t min;		/* meaningful when count > 0 */
	uint64_t max;
	void *counters;
	uint16_t first, n;	/* counters that there are: whole octaves */
	uint8_t width;		/* bytes of a counter: 2, 4, 8; 0: there are none */
};

/* n values that have this counter. 0 or -ENOMEM */
int hist_add_slowly(struct hist *h, unsigned int counter, uint64_t n);
/* 0, or -ENOMEM: dst is of no use */
int hist_merge(struct hist *dst, const struct hist *src);
/* Subtracts an earlier copy of h. A smallest or largest value that was not among the later ones
 * becomes the bound of theirs: min at most, max at least 1/64 too far out. */
void hist_subtract(struct hist *h, const struct hist *earlier);
/* h is a copy of the bytes of another one: it gets counters of its own. 0, or -ENOMEM: it is
 * empty. */
int hist_own(struct hist *h);

static inline void hist_free(struct hist *h)
{
	free(h->counters);
	*h = (struct hist){ 0 };
}

static inline size_t hist_bytes(const struct hist *h)	/* allocated */
{
	return (size_t)h->n * h->width;
}

static inline bool hist_has(const struct hist *h, unsigned int counter)
{
	return counter - h->first < h->n;
}

/* The value that a share q (0..1) of all values does not exceed; 0 when empty. */
uint64_t hist_quantile(const struct hist *h, double q);

/* The counter of a value: below 128 each has one, then 64 have the values of an octave. */
static inline unsigned int hist_counter(uint64_t v)
{
	unsigned int shift = 57 - (unsigned int)__builtin_clzll(v | HIST_OCTAVE);

	return shift * HIST_OCTAVE + (unsigned int)(v >> shift);
}

static inline int hist_add(struct hist *h, uint64_t v)
{
	const unsigned int counter = hist_counter(v), at = counter - h->first;
	const unsigned int width = hist_has(h, counter) ? h->width : 0;

	if (__builtin_expect(width == 2 && ((uint16_t *)h->counters)[at] != UINT16_MAX, 1))
		((uint16_t *)h->counters)[at]++;
	else if (__builtin_expect(width == 4 && ((uint32_t *)h->counters)[at] != UINT32_MAX, 1))
		((uint32_t *)h->counters)[at]++;
	else if (hist_add_slowly(h, counter, 1))
		return -ENOMEM;
	if (v < h->min || !h->count)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->count++;
	h->total = num_add(h->total, v);
	return 0;
}

#endif

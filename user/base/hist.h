/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A log-linear histogram of u64 nanoseconds: 64 sub-buckets per octave, so a reported quantile is
 * within 0.8 % of an observed value; count, total, min and max are exact. Octaves are allocated
 * when first hit, all in one block, with counters of 2 bytes that become 4 and 8 when they must
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

#define HIST_SUB 64
#define HIST_OCTAVES 59		/* 0: values below 64, one each; o: [64 << (o - 1), 64 << o) */

struct hist {
	uint64_t count;
	uint64_t total;		/* saturates at UINT64_MAX */
	uint64_t min;		/* meaningful when count > 0 */
	uint64_t max;
	void *counters;		/* HIST_SUB of each octave that was hit, by octave */
	uint64_t hit;		/* a bit for each octave that has counters */
	uint8_t width;		/* bytes of a counter: 2, 4, 8; 0: there are none */
	uint8_t n;		/* octaves that have some */
};

/* 0 or -ENOMEM */
int hist_add_slowly(struct hist *h, unsigned int octave, unsigned int sub, uint64_t n);
/* 0, or -ENOMEM: dst is of no use */
int hist_merge(struct hist *dst, const struct hist *src);
/* h is a copy of the bytes of another one: it gets counters of its own. 0, or -ENOMEM: it is
 * empty. */
int hist_own(struct hist *h);
void hist_reset(struct hist *h);	/* empty again; keeps the memory */

static inline void hist_free(struct hist *h)
{
	free(h->counters);
	*h = (struct hist){ 0 };
}

static inline size_t hist_bytes(const struct hist *h)	/* allocated */
{
	return (size_t)h->n * HIST_SUB * h->width;
}

static inline bool hist_has(const struct hist *h, unsigned int octave)
{
	return h->hit >> octave & 1;
}

/* Where the counter is, or would be first of a new octave. */
static inline size_t hist_place(const struct hist *h, unsigned int octave, unsigned int sub)
{
	return (size_t)num_bits(h->hit & ((1ull << octave) - 1)) * HIST_SUB + sub;
}

/* The value that a share q (0..1) of all values does not exceed; 0 when empty. */
uint64_t hist_quantile(const struct hist *h, double q);

static inline unsigned int hist_octave(uint64_t v)
{
	return v < HIST_SUB ? 0 : 58 - (unsigned int)__builtin_clzll(v);
}

static inline unsigned int hist_sub(uint64_t v, unsigned int octave)
{
	return (unsigned int)(v >> (octave ? octave - 1 : 0)) & (HIST_SUB - 1);
}

static inline int hist_add(struct hist *h, uint64_t v)
{
	unsigned int octave = hist_octave(v), sub = hist_sub(v, octave);
	const size_t place = hist_place(h, octave, sub);
	const bool has = hist_has(h, octave);

	if (__builtin_expect(has && h->width == 2 && ((uint16_t *)h->counters)[place] != UINT16_MAX,
			     1))
		((uint16_t *)h->counters)[place]++;
	else if (__builtin_expect(
			 has && h->width == 4 && ((uint32_t *)h->counters)[place] != UINT32_MAX, 1))
		((uint32_t *)h->counters)[place]++;
	else if (hist_add_slowly(h, octave, sub, 1))
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

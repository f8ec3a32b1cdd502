// SPDX-License-Identifier: BSD-3-Clause
/* Growth, merging and quantiles of the histogram; adding is inline in the header. */
#include "ledger/hist.h"

#include <stdlib.h>
#include <string.h>

int hist_grow(struct hist *h, unsigned int octave)
{
	uint64_t (*v)[HIST_SUB] = reallocarray(h->octave, h->n + 1u, sizeof(*v));

	if (!v)
		return -ENOMEM;
	memset(v[h->n], 0, sizeof(*v));
	h->octave = v;
	h->at[octave] = ++h->n;
	return 0;
}

int hist_merge(struct hist *dst, const struct hist *src)
{
	if (!src->count)
		return 0;
	for (unsigned int o = 0; o < HIST_OCTAVES; o++)
		if (src->at[o] && !dst->at[o] && hist_grow(dst, o))
			return -ENOMEM;
	for (unsigned int o = 0; o < HIST_OCTAVES; o++)
		for (unsigned int s = 0; src->at[o] && s < HIST_SUB; s++)
			dst->octave[dst->at[o] - 1][s] += src->octave[src->at[o] - 1][s];
	if (!dst->count || src->min < dst->min)
		dst->min = src->min;
	if (src->max > dst->max)
		dst->max = src->max;
	dst->count += src->count;
	dst->total = num_add(dst->total, src->total);
	return 0;
}

void hist_reset(struct hist *h)
{
	if (h->n)
		memset(h->octave, 0, hist_bytes(h));
	h->count = h->total = h->min = h->max = 0;
}

void hist_free(struct hist *h)
{
	free(h->octave);
	*h = (struct hist){ 0 };
}

/* The middle of a sub-bucket: half a width, 1/128 of the value, from everything in it. */
static uint64_t middle(unsigned int octave, unsigned int sub)
{
	unsigned int shift = octave ? octave - 1 : 0;
	uint64_t low = (uint64_t)(octave ? HIST_SUB + sub : sub) << shift;

	return low + (((1ull << shift) - 1) >> 1);
}

static uint64_t at_rank(const struct hist *h, uint64_t rank)
{
	uint64_t seen = 0;

	for (unsigned int o = 0; o < HIST_OCTAVES; o++)
		for (unsigned int s = 0; h->at[o] && s < HIST_SUB; s++) {
			seen += h->octave[h->at[o] - 1][s];
			if (seen >= rank)
				return middle(o, s);
		}
	return h->max;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t rank, v;
	double want;

	if (!h->count)
		return 0;
	want = q * (double)h->count;
	/* The smallest whole rank >= want; the ends are known exactly. Also where q is no number. */
	if (!(want > 1))
		return h->min;
	if (want > (double)(h->count - 1))
		return h->max;
	rank = (uint64_t)want;
	rank += (double)rank < want;
	v = at_rank(h, rank);
	return v < h->min ? h->min : v > h->max ? h->max : v;
}

int hist_add_bin(struct hist *h, uint64_t v, uint64_t n)
{
	unsigned int octave = hist_octave(v);

	if (!n)
		return 0;
	if (!h->at[octave] && hist_grow(h, octave))
		return -ENOMEM;
	h->octave[h->at[octave] - 1][hist_sub(v, octave)] += n;
	if (v < h->min || !h->count)
		h->min = v;
	h->count = num_add(h->count, n);
	return 0;
}

void hist_add_sum(struct hist *h, uint64_t total, uint64_t max)
{
	h->total = num_add(h->total, total);
	if (max > h->max)
		h->max = max;
}

// SPDX-License-Identifier: BSD-3-Clause
/* Growth, merging and quantiles of the histogram; adding is inline in the header. */
#include "base/hist.h"

#include <stdlib.h>
#include <string.h>

static uint64_t counter(const struct hist *h, unsigned int octave, unsigned int sub)
{
	size_t place = hist_place(h, octave, sub);

	if (!hist_has(h, octave))
		return 0;
	switch (h->width) {
	case 2: return ((const uint16_t *)h->counters)[place];
	case 4: return ((const uint32_t *)h->counters)[place];
	default: return ((const uint64_t *)h->counters)[place];
	}
}

static void set_counter(void *counters, unsigned int width, size_t place, uint64_t value)
{
	switch (width) {
	case 2: ((uint16_t *)counters)[place] = (uint16_t)value; break;
	case 4: ((uint32_t *)counters)[place] = (uint32_t)value; break;
	default: ((uint64_t *)counters)[place] = value; break;
	}
}

static int grow(struct hist *h, unsigned int octave)
{
	const unsigned int width = h->width ? h->width : 2;
	const size_t bytes = hist_bytes(h), more = (size_t)HIST_SUB * width;
	const size_t at = hist_place(h, octave, 0) * width;
	char *v = realloc(h->counters, bytes + more);

	if (!v)
		return -ENOMEM;
	memmove(v + at + more, v + at, bytes - at);
	memset(v + at, 0, more);
	h->counters = v;
	h->width = (uint8_t)width;
	h->hit |= 1ull << octave;
	h->n++;
	return 0;
}

/* Twice as many bytes for each counter. */
static int widen(struct hist *h)
{
	const unsigned int width = 2u * h->width;
	void *v = h->n ? malloc(2 * hist_bytes(h)) : NULL;

	if (!v)
		return -ENOMEM;
	for (unsigned int o = 0; o < HIST_OCTAVES; o++)
		for (unsigned int s = 0; hist_has(h, o) && s < HIST_SUB; s++)
			set_counter(v, width, hist_place(h, o, s), counter(h, o, s));
	free(h->counters);
	h->counters = v;
	h->width = (uint8_t)width;
	return 0;
}

int hist_add_slowly(struct hist *h, unsigned int octave, unsigned int sub, uint64_t n)
{
	uint64_t sum;

	if (!hist_has(h, octave) && grow(h, octave))
		return -ENOMEM;
	sum = num_add(counter(h, octave, sub), n);
	while (h->width < 8 && sum >> 8 * h->width)
		if (widen(h))
			return -ENOMEM;
	set_counter(h->counters, h->width, hist_place(h, octave, sub), sum);
	return 0;
}

int hist_merge(struct hist *dst, const struct hist *src)
{
	if (!src->count)
		return 0;
	for (unsigned int o = 0; o < HIST_OCTAVES; o++)
		if (hist_has(src, o) && !hist_has(dst, o) && grow(dst, o))
			return -ENOMEM;
	while (dst->width < src->width)
		if (widen(dst))
			return -ENOMEM;
	for (unsigned int o = 0; o < HIST_OCTAVES; o++)
		for (unsigned int s = 0; hist_has(src, o) && s < HIST_SUB; s++)
			if (hist_add_slowly(dst, o, s, counter(src, o, s)))
				return -ENOMEM;
	if (!dst->count || src->min < dst->min)
		dst->min = src->min;
	if (src->max > dst->max)
		dst->max = src->max;
	dst->count += src->count;
	dst->total = num_add(dst->total, src->total);
	return 0;
}

int hist_own(struct hist *h)
{
	void *v = h->n ? malloc(hist_bytes(h)) : NULL;

	if (h->n && !v) {
		*h = (struct hist){ 0 };
		return -ENOMEM;
	}
	if (v)
		memcpy(v, h->counters, hist_bytes(h));
	h->counters = v;
	return 0;
}

void hist_reset(struct hist *h)
{
	if (h->n)
		memset(h->counters, 0, hist_bytes(h));
	h->count = h->total = h->min = h->max = 0;
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
		for (unsigned int s = 0; hist_has(h, o) && s < HIST_SUB; s++) {
			seen += counter(h, o, s);
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
	/* The smallest whole rank >= want; the ends are known exactly. Also where q is no
	 * number. */
	if (!(want > 1))
		return h->min;
	if (want > (double)(h->count - 1))
		return h->max;
	rank = (uint64_t)want;
	rank += (double)rank < want;
	v = at_rank(h, rank);
	return v < h->min ? h->min : v > h->max ? h->max : v;
}

// SPDX-License-Identifier: BSD-3-Clause
/* Growth, merging and quantiles of the histogram; adding is inline in the header. */
#include "base/hist.h"

#include <stdlib.h>
#include <string.h>

static uint64_t get_counter(const struct hist *h, unsigned int counter)
{
	const unsigned int at = counter - h->first;

	if (!hist_has(h, counter))
		return 0;
	switch (h->width) {
	case 2: return ((const uint16_t *)h->counters)[at];
	case 4: return ((const uint32_t *)h->counters)[at];
	default: return ((const uint64_t *)h->counters)[at];
	}
}

static void set_counter(void *counters, unsigned int width, unsigned int at, uint64_t value)
{
	switch (width) {
	case 2: ((uint16_t *)counters)[at] = (uint16_t)value; break;
	case 4: ((uint32_t *)counters)[at] = (uint32_t)value; break;
	default: ((uint64_t *)counters)[at] = value; break;
	}
}

/* From the octave of `first` to that of `last`, too. */
static int grow(struct hist *h, unsigned int first, unsigned int last)
{
	const unsigned int width = h->width ? h->width : 2;
	uint64_t end = last + 1;
	unsigned int n;
	char *v;

	if (h->n) {
		first = (unsigned int)num_min(first, h->first);
		end = num_max(end, h->first + h->n);
	}
	first = first / HIST_OCTAVE * HIST_OCTAVE;
	n = (unsigned int)(end + HIST_OCTAVE - 1) / HIST_OCTAVE * HIST_OCTAVE - first;
	v = calloc(n, width);
	if (!v)
		return -ENOMEM;
	if (h->n)
		memcpy(v + (size_t)(h->first - first) * width, h->counters, hist_bytes(h));
	free(h->counters);
	h->counters = v;
	h->first = (uint16_t)first;
	h->n = (uint16_t)n;
	h->width = (uint8_t)width;
	return 0;
}

/* Twice as many bytes for each counter. */
static int widen(struct hist *h)
{
	const unsigned int width = 2u * h->width;
	void *v = h->n ? malloc(2 * hist_bytes(h)) : NULL;

	if (!v)
		return -ENOMEM;
	for (unsigned int i = 0; i < h->n; i++)
		set_counter(v, width, i, get_counter(h, h->first + i));
	free(h->counters);
	h->counters = v;
	h->width = (uint8_t)width;
	return 0;
}

int hist_add_slowly(struct hist *h, unsigned int counter, uint64_t n)
{
	uint64_t sum;

	if (!hist_has(h, counter) && grow(h, counter, counter))
		return -ENOMEM;
	sum = num_add(get_counter(h, counter), n);
	while (h->width < 8 && sum >> 8 * h->width)
		if (widen(h))
			return -ENOMEM;
	set_counter(h->counters, h->width, counter - h->first, sum);
	return 0;
}

int hist_merge(struct hist *dst, const struct hist *src)
{
	const unsigned int end = src->first + src->n;

	if (!src->count)
		return 0;
	if ((!hist_has(dst, src->first) || !hist_has(dst, end - 1)) &&
	    grow(dst, src->first, end - 1))
		return -ENOMEM;
	while (dst->width < src->width)
		if (widen(dst))
			return -ENOMEM;
	for (unsigned int i = src->first; i < end; i++)
		if (hist_add_slowly(dst, i, get_counter(src, i)))
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

/* Bits that the values of a counter do not have alike. */
static unsigned int shift_of(unsigned int counter)
{
	return counter < HIST_OCTAVE ? 0 : counter / HIST_OCTAVE - 1;
}

/* The values of a counter: from the one on, so many after it. */
static uint64_t lowest(unsigned int counter)
{
	return (uint64_t)(counter - shift_of(counter) * HIST_OCTAVE) << shift_of(counter);
}

static uint64_t more_values(unsigned int counter)
{
	return (1ull << shift_of(counter)) - 1;
}

void hist_subtract(struct hist *h, const struct hist *earlier)
{
	uint64_t least = 0, most = UINT64_MAX;		/* of the values that are left */
	bool any = false;

	if (!earlier->count)
		return;
	for (unsigned int i = h->first; i < h->first + h->n; i++) {
		uint64_t left = num_sub(get_counter(h, i), get_counter(earlier, i));

		set_counter(h->counters, h->width, i - h->first, left);
		if (!left)
			continue;
		least = any ? least : lowest(i);
		most = lowest(i) + more_values(i);
		any = true;
	}
	h->count = num_sub(h->count, earlier->count);
	h->total = num_sub(h->total, earlier->total);
	if (h->min >= earlier->min)
		h->min = num_max(h->min, least);
	if (h->max <= earlier->max)
		h->max = num_min(h->max, most);
	if (!h->count)
		h->total = h->min = h->max = 0;
}

static uint64_t at_rank(const struct hist *h, uint64_t rank)
{
	uint64_t seen = 0;

	for (unsigned int i = h->first; i < h->first + h->n; i++) {
		seen += get_counter(h, i);
		/* Its middle: half a width, 1/128 of the value, from everything in it. */
		if (seen >= rank)
			return lowest(i) + (more_values(i) >> 1);
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
	return num_min(num_max(v, h->min), h->max);
}

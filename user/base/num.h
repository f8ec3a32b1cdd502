/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsigned numbers: the smaller, the larger, the order of two, the middle; sums that stop at the
 * top; bits. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdint.h>

static inline uint64_t num_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t num_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* For qsort: below, at or above 0. */
static inline int num_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* UINT64_MAX where the result has no room. */
static inline uint64_t num_add(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t num_mul(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* Of [start, end]. CUPTI's record of a call and the call as a probe saw it begin and end at
 * other times: they are one where the middle of the record lies in the call. */
static inline uint64_t num_middle(uint64_t start, uint64_t end)
{
	return start + (end - start) / 2;
}

/* How many bits are set; inline, where the processor's own instruction may not be counted on. */
static inline unsigned int num_bits(uint64_t v)
{
	v -= v >> 1 & 0x5555555555555555ull;
	v = (v & 0x3333333333333333ull) + (v >> 2 & 0x3333333333333333ull);
	v = (v + (v >> 4)) & 0x0f0f0f0f0f0f0f0full;
	return (unsigned int)(v * 0x0101010101010101ull >> 56);
}

#endif

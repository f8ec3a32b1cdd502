/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsigned numbers: the smaller, the larger, the order of two, and sums that stop at the top. */
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

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsigned numbers: the smaller, the larger, the order of two, the middle; sums that stop at the
 * top, differences that stop at 0; parts of a whole. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stddef.h>
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

/* 0 where the result would be less. */
static inline uint64_t num_sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Each of n numbers: adds, subtracts the other's, as above. */
static inline void num_add_each(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] = num_add(to[i], from[i]);
}

static inline void num_sub_each(uint64_t *from, const uint64_t *less, size_t n)
{
	for (size_t i = 0; i < n; i++)
		from[i] = num_sub(from[i], less[i]);
}

/* A part of a whole; 0 of nothing. */
static inline double num_ratio(uint64_t part, uint64_t of)
{
	return of ? (double)part / (double)of : 0;
}

/* ns * part / of, rounded down; ns where part is all of it, or it is 0. */
static inline uint64_t num_scale(uint64_t ns, uint64_t part, uint64_t of)
{
	if (!of || part >= of)
		return ns;
	return (uint64_t)((unsigned __int128)ns * part / of);
}

/* Of [start, end]. CUPTI's record of a call and the call as a probe saw it begin and end at
 * other times: they are one where the middle of the record lies in the call. */
static inline uint64_t num_middle(uint64_t start, uint64_t end)
{
	return start + (end - start) / 2;
}

/*
 * Two readings of the parts of one growing whole: parts becomes how much each grew, none less than
 * 0. A part may have shrunk, since what was added to it is now known to be another's: so much is
 * taken from those that grew most, so that the sum is by how much the whole grew. Returns that
 * much.
 *
 *   now 10 30 60, earlier 0 40 20		10 0 30, returns 10
 */
uint64_t num_subtract_parts(uint64_t *parts, const uint64_t *earlier, size_t n);

/* Takes ns from the largest parts; what there is not is left out. */
void num_reduce_parts(uint64_t *parts, size_t n, uint64_t by);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of each bucket of a book by bins of time, streaming and of bounded size, for pages that
 * draw a ledger over time. All books of a session have bins that begin with it and are powers of
 * two wide, and bins become twice as wide when time passes behind the last one: those of two books
 * meet, and the sum of a bucket's bins is the bucket, to the nanosecond. Knows no buckets.
 *
 * Time is placed where it was, but for what is only known as a sum: bins_settle moves evenly what a
 * closed book has moved from one bucket to another.
 *
 * Examples; bins of 4 ns:
 *
 *   bucket 1 [2,9)                  bins 2 4 1
 *   ..., settled to 0: 3, 1: 4      0: 0 2 1 (of each bin about three sevenths)  1: 2 2 0
 */
#ifndef LEDGER_BINS_H
#define LEDGER_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define BINS 2048
#define BINS_BUCKETS 96
#define BINS_BOOKS 512 /* of a session: of devices, and as many of threads */

struct bins {
	uint64_t start_ns; /* where the first bin begins: never later than what is added */
	unsigned int shift; /* a bin has 1 << shift nanoseconds */
	bool failed; /* out of memory: it lacks time, and must not be shown */
	uint64_t *row[BINS_BUCKETS]; /* of BINS numbers; NULL: no time in this bucket */
};

/* NULL: out of memory. */
struct bins *bins_new(uint64_t start_ns);
struct bins *bins_copy(const struct bins *from);
void bins_free(struct bins *b); /* NULL is fine */

/* [from, to) was all bucket's. */
void bins_add(struct bins *b, unsigned int bucket, uint64_t from, uint64_t to);

/* Up to ns of [start, end) turns out to be another bucket's. */
void bins_move(struct bins *b, unsigned int from, unsigned int to, uint64_t ns, uint64_t start_ns,
	       uint64_t end_ns);

/* Bins become as wide as 1 << shift. */
void bins_widen(struct bins *b, unsigned int shift);

/* Or so wide that there is one for the time before ns. */
static inline void bins_reach(struct bins *b, uint64_t ns)
{
	while (ns > b->start_ns && (ns - b->start_ns - 1) >> b->shift >= BINS)
		bins_widen(b, b->shift + 1);
}

/* Where the bin ends that ns lies in; never later than time can. */
static inline uint64_t bins_end(const struct bins *b, uint64_t ns)
{
	const uint64_t last = (ns - b->start_ns) | ((UINT64_C(1) << b->shift) - 1);

	return last < UINT64_MAX - b->start_ns ? b->start_ns + last + 1 : UINT64_MAX;
}

static inline uint64_t bins_sum(const struct bins *b, unsigned int bucket)
{
	uint64_t ns = 0;

	for (size_t i = 0; b->row[bucket] && i < BINS; i++)
		ns += b->row[bucket][i];
	return ns;
}

/* Buckets that have more than sum_ns give of all their bins alike, those with less take. The sums
 * of all, n of them, are equal before and after. */
void bins_settle(struct bins *b, const uint64_t *sum_ns, size_t n);

#endif

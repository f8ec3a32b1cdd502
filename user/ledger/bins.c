// SPDX-License-Identifier: BSD-3-Clause
/* Times here are since the first bin began. */
#include "ledger/bins.h"

#include <string.h>

#include "base/num.h"

#define SHIFT_FIRST 12

struct bins *bins_new(uint64_t start_ns)
{
	struct bins *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->start_ns = start_ns;
	b->shift = SHIFT_FIRST;
	return b;
}

void bins_free(struct bins *b)
{
	for (size_t i = 0; b && i < BINS_BUCKETS; i++)
		free(b->row[i]);
	free(b);
}

static uint64_t *row_of(struct bins *b, unsigned int bucket)
{
	if (!b->row[bucket])
		b->row[bucket] = calloc(BINS, sizeof(*b->row[bucket]));
	b->failed |= !b->row[bucket];
	return b->row[bucket];
}

struct bins *bins_copy(const struct bins *from)
{
	struct bins *b = bins_new(from->start_ns);

	if (!b)
		return NULL;
	b->shift = from->shift;
	b->failed = from->failed;
	for (unsigned int i = 0; i < BINS_BUCKETS; i++)
		if (from->row[i] && row_of(b, i))
			memcpy(b->row[i], from->row[i], BINS * sizeof(*b->row[i]));
	return b;
}

/* Two bins become one. */
static void fold_row(uint64_t *row)
{
	for (size_t i = 0; i < BINS / 2; i++)
		row[i] = row[2 * i] + row[2 * i + 1];
	memset(&row[BINS / 2], 0, BINS / 2 * sizeof(*row));
}

void bins_widen(struct bins *b, unsigned int shift)
{
	for (; b->shift < shift; b->shift++)
		for (size_t i = 0; i < BINS_BUCKETS; i++)
			if (b->row[i])
				fold_row(b->row[i]);
}

static uint64_t last_of_bin(const struct bins *b, uint64_t at)
{
	return at | ((UINT64_C(1) << b->shift) - 1);
}

void bins_add(struct bins *b, unsigned int bucket, uint64_t from, uint64_t to)
{
	uint64_t *row = from < to ? row_of(b, bucket) : NULL, at = num_sub(from, b->start_ns);
	const uint64_t end = at + num_min(to - from, UINT64_MAX - b->start_ns - at);

	if (!row)
		return;
	bins_reach(b, b->start_ns + end);
	while (at < end) {
		const uint64_t last = num_min(last_of_bin(b, at), end - 1);

		row[at >> b->shift] += last - at + 1;
		at = last + 1;
	}
}

void bins_move(struct bins *b, unsigned int from, unsigned int to, uint64_t ns, uint64_t start_ns,
	       uint64_t end_ns)
{
	uint64_t *give = b->row[from], *take = give ? row_of(b, to) : NULL;
	uint64_t at = num_sub(start_ns, b->start_ns);
	const uint64_t end = num_sub(end_ns, b->start_ns);

	while (take && ns && at < end && at >> b->shift < BINS) {
		const uint64_t last = num_min(last_of_bin(b, at), end - 1);
		const uint64_t part = num_min(num_min(ns, last - at + 1), give[at >> b->shift]);

		give[at >> b->shift] -= part;
		take[at >> b->shift] += part;
		ns -= part;
		at = last + 1;
	}
}

/* ns, of each number as much as it is of the sum. */
static void move_evenly(uint64_t *to, uint64_t *from, uint64_t ns, uint64_t sum)
{
	for (size_t i = 0; ns && i < BINS; i++) {
		const uint64_t part = num_scale(ns, from[i], sum);

		sum -= from[i];
		ns -= part;
		from[i] -= part;
		to[i] += part;
	}
}

void bins_settle(struct bins *b, const uint64_t *sum_ns, size_t n)
{
	uint64_t pool[BINS] = { 0 }, left = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint64_t sum = bins_sum(b, i), more = num_sub(sum, sum_ns[i]);

		if (more)
			move_evenly(pool, b->row[i], more, sum);
		left += more;
	}
	for (unsigned int i = 0; left && i < n; i++) {
		const uint64_t less = num_min(num_sub(sum_ns[i], bins_sum(b, i)), left);

		if (!less || !row_of(b, i))
			continue;
		move_evenly(b->row[i], pool, less, left);
		left -= less;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Searches in n elements that are sorted by one of their members, a uint64_t: how many have it
 * below a key, which is where the first other one is, or n. Nothing is read of v where n is 0.
 */
#ifndef BASE_SORTED_H
#define BASE_SORTED_H

#include <stddef.h>
#include <stdint.h>

static inline size_t sorted_below(const uint64_t *first, size_t n, size_t stride, uint64_t key)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (*(const uint64_t *)((const char *)first + middle * stride) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static inline size_t sorted_up_to(const uint64_t *first, size_t n, size_t stride, uint64_t key)
{
	return key == UINT64_MAX ? n : sorted_below(first, n, stride, key + 1);
}

#define SORTED_BELOW(v, n, member, key) \
	sorted_below((n) ? &(v)->member : NULL, (n), sizeof(*(v)), (key))

/* Those that have it at the key are counted, too. */
#define SORTED_UP_TO(v, n, member, key) \
	sorted_up_to((n) ? &(v)->member : NULL, (n), sizeof(*(v)), (key))

#endif

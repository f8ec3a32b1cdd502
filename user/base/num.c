// SPDX-License-Identifier: BSD-3-Clause
/* The growth of the parts of a whole; the rest is inline in the header. */
#include "base/num.h"

void num_reduce_parts(uint64_t *parts, size_t n, uint64_t by)
{
	while (by) {
		uint64_t *largest = parts, take;

		for (size_t i = 1; i < n; i++)
			if (parts[i] > *largest)
				largest = &parts[i];
		take = num_min(by, *largest);
		if (!take)
			return;
		*largest -= take;
		by -= take;
	}
}

uint64_t num_subtract_parts(uint64_t *parts, const uint64_t *earlier, size_t n)
{
	uint64_t shrunk = 0;

	for (size_t i = 0; i < n; i++) {
		shrunk += num_sub(earlier[i], parts[i]);
		parts[i] = num_sub(parts[i], earlier[i]);
	}
	num_reduce_parts(parts, n, shrunk);
	return shrunk;
}

// SPDX-License-Identifier: BSD-3-Clause
/* Times here are since the book opened. */
#include "ledger/strip.h"

#include <string.h>

#include "base/num.h"

/* Two bins become one. */
static void fold(struct strip *s)
{
	const unsigned int half = STRIP_BINS / 2;

	for (unsigned int i = 0; i < half; i++) {
		const struct strip_bin *a = &s->bins[2 * i], *b = &s->bins[2 * i + 1];

		s->bins[i] = (struct strip_bin){ a->idle_ns + b->idle_ns,
						 a->unknown_ns + b->unknown_ns };
	}
	memset(&s->bins[half], 0, half * sizeof(s->bins[0]));
	s->shift++;
}

/* The last nanosecond of its bin. */
static uint64_t last_of_bin(const struct strip *s, uint64_t at)
{
	return at | (((uint64_t)1 << s->shift) - 1);
}

void strip_add(struct strip *s, uint64_t start_ns, uint64_t end_ns, uint64_t unknown_ns)
{
	uint64_t at = num_sub(start_ns, s->open_ns);
	const uint64_t end = num_sub(end_ns, s->open_ns);

	if (at >= end)
		return;
	unknown_ns = num_min(unknown_ns, end - at);
	while ((end - 1) >> s->shift >= STRIP_BINS)
		fold(s);
	while (at < end) {
		const uint64_t ns = num_min(last_of_bin(s, at), end - 1) - at + 1;
		const uint64_t unknown = num_scale(unknown_ns, ns, end - at);
		struct strip_bin *bin = &s->bins[at >> s->shift];

		bin->unknown_ns += unknown;
		bin->idle_ns += ns - unknown;
		unknown_ns -= unknown;
		at += ns;
	}
}

/* How much ns, which lies evenly in so many nanoseconds, is in [from, to) of these. */
static uint64_t between(uint64_t ns, uint64_t from, uint64_t to, uint64_t of)
{
	return num_scale(ns, to, of) - num_scale(ns, from, of);
}

struct strip_time strip_read(const struct strip *s, uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t close = num_sub(s->close_ns, s->open_ns);
	const uint64_t end = num_min(num_sub(end_ns, s->open_ns), close);
	uint64_t at = num_min(num_sub(start_ns, s->open_ns), end), gaps_ns = 0, unknown_ns = 0;
	const uint64_t ns = end - at;

	while (at < end && at >> s->shift < STRIP_BINS) {
		const struct strip_bin *bin = &s->bins[at >> s->shift];
		const uint64_t first = at >> s->shift << s->shift;
		const uint64_t of = num_min(last_of_bin(s, at), close - 1) - first + 1;
		const uint64_t to = num_min(first + of, end);

		gaps_ns += between(bin->idle_ns + bin->unknown_ns, at - first, to - first, of);
		unknown_ns += between(bin->unknown_ns, at - first, to - first, of);
		at = to;
	}
	unknown_ns = num_min(unknown_ns, gaps_ns);	/* they are rounded */
	return (struct strip_time){ ns - gaps_ns, gaps_ns - unknown_ns, unknown_ns };
}

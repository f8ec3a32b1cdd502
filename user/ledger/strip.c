// SPDX-License-Identifier: BSD-3-Clause
/* Times here are since the book opened. */
#include "ledger/strip.h"

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

static void add_to_bins(struct strip *s, const struct strip_gap *gap)
{
	uint64_t left_ns = gap->unknown_ns, at = gap->start_ns;

	while ((gap->end_ns - 1) >> s->shift >= STRIP_BINS)
		fold(s);
	while (at < gap->end_ns) {
		const uint64_t ns = num_min(last_of_bin(s, at), gap->end_ns - 1) - at + 1;
		const uint64_t unknown_ns = num_scale(left_ns, ns, gap->end_ns - at);
		struct strip_bin *bin = &s->bins[at >> s->shift];

		bin->unknown_ns += unknown_ns;
		bin->idle_ns += ns - unknown_ns;
		left_ns -= unknown_ns;
		at += ns;
	}
}

static int add_bins(struct strip *s)
{
	s->bins = calloc(STRIP_BINS, sizeof(*s->bins));
	if (!s->bins)
		return -ENOMEM;
	for (unsigned int i = 0; i < s->n_few; i++)
		add_to_bins(s, &s->few[i]);
	s->n_few = 0;
	return 0;
}

int strip_add(struct strip *s, uint64_t start_ns, uint64_t end_ns, uint64_t unknown_ns)
{
	struct strip_gap gap = { num_sub(start_ns, s->open_ns), num_sub(end_ns, s->open_ns), 0 };

	if (gap.start_ns >= gap.end_ns)
		return 0;
	gap.unknown_ns = num_min(unknown_ns, gap.end_ns - gap.start_ns);
	if (!s->bins && s->n_few < STRIP_FEW) {
		s->few[s->n_few++] = gap;
		return 0;
	}
	if (!s->bins && add_bins(s))
		return -ENOMEM;
	add_to_bins(s, &gap);
	return 0;
}

/* A stretch of time, and what of it is in gaps. */
struct stretch {
	uint64_t start_ns, end_ns;
	uint64_t gaps_ns, unknown_ns;
};

/* How much of ns, which lies evenly in so many nanoseconds, is in [from, to) of these. */
static uint64_t between(uint64_t ns, uint64_t from, uint64_t to, uint64_t of)
{
	return num_scale(ns, to, of) - num_scale(ns, from, of);
}

/* As much of the other one, which overlaps it, as is in it. */
static void add_stretch(struct stretch *to, const struct stretch *from)
{
	const uint64_t start = num_max(to->start_ns, from->start_ns) - from->start_ns;
	const uint64_t end = num_min(to->end_ns, from->end_ns) - from->start_ns;
	const uint64_t of = from->end_ns - from->start_ns;

	to->gaps_ns += between(from->gaps_ns, start, end, of);
	to->unknown_ns += between(from->unknown_ns, start, end, of);
}

static void read_bins(const struct strip *s, struct stretch *to, uint64_t close_ns)
{
	uint64_t at = to->start_ns;

	while (at < to->end_ns && at >> s->shift < STRIP_BINS) {
		const struct strip_bin *bin = &s->bins[at >> s->shift];
		const uint64_t last = num_min(last_of_bin(s, at), close_ns - 1);

		add_stretch(to, &(struct stretch){ at >> s->shift << s->shift, last + 1,
						   bin->idle_ns + bin->unknown_ns,
						   bin->unknown_ns });
		at = last + 1;
	}
}

static void read_few(const struct strip *s, struct stretch *to)
{
	for (unsigned int i = 0; i < s->n_few; i++) {
		const struct strip_gap *g = &s->few[i];

		if (g->start_ns < to->end_ns && to->start_ns < g->end_ns)
			add_stretch(to, &(struct stretch){ g->start_ns, g->end_ns,
							   g->end_ns - g->start_ns,
							   g->unknown_ns });
	}
}

struct strip_time strip_read(const struct strip *s, uint64_t start_ns, uint64_t end_ns)
{
	const uint64_t close_ns = num_sub(s->close_ns, s->open_ns);
	struct stretch of = { .end_ns = num_min(num_sub(end_ns, s->open_ns), close_ns) };

	of.start_ns = num_min(num_sub(start_ns, s->open_ns), of.end_ns);
	if (s->bins)
		read_bins(s, &of, close_ns);
	else
		read_few(s, &of);
	of.unknown_ns = num_min(of.unknown_ns, of.gaps_ns);	/* they are rounded */
	return (struct strip_time){ of.end_ns - of.start_ns - of.gaps_ns,
				    of.gaps_ns - of.unknown_ns, of.unknown_ns };
}

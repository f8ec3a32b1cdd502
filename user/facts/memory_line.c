// SPDX-License-Identifier: BSD-3-Clause
#include "facts/memory_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define SHIFT_FIRST 12

struct memory_line *memory_line_new(uint64_t start_ns)
{
	struct memory_line *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->start_ns = start_ns;
	l->shift = SHIFT_FIRST;
	return l;
}

static void widen(struct memory_line *l)
{
	const size_t half = MEMORY_LINE_BINS / 2;

	for (size_t kind = 0; kind < MEMORY_KIND_END; kind++) {
		uint64_t *most = l->most[kind];

		for (size_t i = 0; i < half; i++)
			most[i] = num_max(most[2 * i], most[2 * i + 1]);
		memset(&most[half], 0, half * sizeof(*most));
	}
	l->last /= 2;
	l->shift++;
}

/* As it was, up to ns. */
static void go_on(struct memory_line *l, uint64_t ns)
{
	const uint64_t at = num_sub(ns, l->start_ns);
	size_t to, until;

	while (at >> l->shift >= MEMORY_LINE_BINS)
		widen(l);
	to = num_max(at >> l->shift, l->last);
	until = to + (at > (uint64_t)to << l->shift);
	for (size_t kind = 0; kind < MEMORY_KIND_END; kind++)
		for (size_t i = l->last + 1; i < until; i++)
			l->most[kind][i] = l->now[kind];
	l->last = to;
}

void memory_line_set(struct memory_line *l, uint64_t ns, const uint64_t bytes[MEMORY_KIND_END])
{
	go_on(l, ns);
	for (size_t kind = 0; kind < MEMORY_KIND_END; kind++) {
		l->now[kind] = bytes[kind];
		l->most[kind][l->last] = num_max(l->most[kind][l->last], bytes[kind]);
	}
}

struct memory_line *memory_line_read(const struct memory_line *l, uint64_t close_ns)
{
	struct memory_line *copy = malloc(sizeof(*copy));

	if (!copy)
		return NULL;
	*copy = *l;
	memory_line_set(copy, num_max(close_ns, l->start_ns + 1) - 1, l->now);
	return copy;
}

// SPDX-License-Identifier: BSD-3-Clause
/* Sorted disjoint intervals: insertion merges whatever touches. */
#include "base/intervals.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "base/vec.h"

/* The first interval that ends at or after ns. */
static size_t first_reaching(const struct intervals *s, uint64_t ns)
{
	return SORTED_BELOW(s->v, s->n, end, ns);
}

static int make_room(struct intervals *s)
{
	size_t cap = s->cap ? s->cap * 2 : 4;
	struct interval *v;

	if (s->n < s->cap)
		return 0;
	if (s->n >= INTERVALS_MAX)
		return -ENOSPC;
	v = reallocarray(s->v, cap, sizeof(*v));
	if (!v)
		return -ENOMEM;
	s->v = v;
	s->cap = cap;
	return 0;
}

int intervals_add(struct intervals *s, uint64_t start, uint64_t end)
{
	size_t at, past;
	int err;

	if (end < start)
		return -EINVAL;
	if (end == start)
		return 0;
	at = past = first_reaching(s, start);
	for (; past < s->n && s->v[past].start <= end; past++) {
		start = s->v[past].start < start ? s->v[past].start : start;
		end = s->v[past].end > end ? s->v[past].end : end;
	}
	if (past == at) {
		err = make_room(s);
		if (err)
			return err;
		memmove(&s->v[at + 1], &s->v[at], (s->n - at) * sizeof(*s->v));
		s->n++;
	} else {
		memmove(&s->v[at + 1], &s->v[past], (s->n - past) * sizeof(*s->v));
		s->n -= past - at - 1;
	}
	s->v[at] = (struct interval){ start, end };
	return 0;
}

uint64_t intervals_overlap(const struct intervals *s, uint64_t start, uint64_t end)
{
	uint64_t sum = 0;

	if (!s || !s->n || start >= end)
		return 0;
	for (size_t i = first_reaching(s, start); i < s->n && s->v[i].start < end; i++) {
		uint64_t from = s->v[i].start > start ? s->v[i].start : start;
		uint64_t to = s->v[i].end < end ? s->v[i].end : end;

		sum += to - from;
	}
	return sum;
}

bool intervals_next(const struct intervals *s, uint64_t start, uint64_t end, struct interval *out)
{
	size_t i = start < UINT64_MAX ? first_reaching(s, start + 1) : s->n;

	if (i == s->n || s->v[i].start >= end || start >= end)
		return false;
	out->start = s->v[i].start > start ? s->v[i].start : start;
	out->end = s->v[i].end < end ? s->v[i].end : end;
	return true;
}

void intervals_drop_before(struct intervals *s, uint64_t ns)
{
	size_t n = 0;

	while (n < s->n && s->v[n].end <= ns)
		n++;
	VEC_DROP_FIRST(s, n);
}

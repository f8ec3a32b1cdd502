// SPDX-License-Identifier: BSD-3-Clause
/* Sorted disjoint intervals: insertion merges whatever touches. */
#include "base/intervals.h"

#include <errno.h>
#include <string.h>

#include "base/num.h"
#include "base/sorted.h"
#include "base/vec.h"

/* The first interval that ends at or after ns. */
static size_t first_reaching(const struct intervals *s, uint64_t ns)
{
	return SORTED_BELOW(s->v, s->n, end, ns);
}

int intervals_add(struct intervals *s, uint64_t start, uint64_t end)
{
	size_t at, past;

	if (end < start)
		return -EINVAL;
	if (end == start)
		return 0;
	at = past = first_reaching(s, start);
	for (; past < s->n && s->v[past].start <= end; past++) {
		start = num_min(start, s->v[past].start);
		end = num_max(end, s->v[past].end);
	}
	if (past == at) {
		if (s->n >= INTERVALS_MAX)
			return -ENOSPC;
		if (!VEC_INSERT(s, at))
			return -ENOMEM;
	} else {
		memmove(&s->v[at + 1], &s->v[past], (s->n - past) * sizeof(*s->v));
		s->n -= past - at - 1;
	}
	s->v[at] = (struct interval){ start, end };
	return 0;
}

int intervals_remove(struct intervals *s, uint64_t start, uint64_t end)
{
	size_t kept = 0;
	uint64_t rest_end = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct interval v = s->v[i];

		if (v.start < start && v.end > end) {	/* alone: the two parts do not touch */
			rest_end = v.end;
			v.end = start;
		} else if (v.start < end && v.end > start) {
			v = v.start < start ? (struct interval){ v.start, start } :
					      (struct interval){ end, v.end };
		}
		if (v.start < v.end)
			s->v[kept++] = v;
	}
	s->n = kept;
	return rest_end ? intervals_add(s, end, rest_end) : 0;
}

uint64_t intervals_overlap(const struct intervals *s, uint64_t start, uint64_t end)
{
	uint64_t sum = 0;

	if (!s || !s->n || start >= end)
		return 0;
	for (size_t i = first_reaching(s, start); i < s->n && s->v[i].start < end; i++)
		sum += num_min(s->v[i].end, end) - num_max(s->v[i].start, start);
	return sum;
}

bool intervals_next(const struct intervals *s, uint64_t start, uint64_t end, struct interval *out)
{
	size_t i = start < UINT64_MAX ? first_reaching(s, start + 1) : s->n;

	if (i == s->n || s->v[i].start >= end || start >= end)
		return false;
	out->start = num_max(s->v[i].start, start);
	out->end = num_min(s->v[i].end, end);
	return true;
}

void intervals_drop_before(struct intervals *s, uint64_t ns)
{
	size_t n = 0;

	while (n < s->n && s->v[n].end <= ns)
		n++;
	VEC_DROP_FIRST(s, n);
}

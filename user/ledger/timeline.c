// SPDX-License-Identifier: BSD-3-Clause
/* A ring of spans in order of time, searched by halves. */
#include "ledger/timeline.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"

#define CAP_FIRST 16

static struct timeline_span *at(const struct timeline *t, uint32_t i)
{
	return &t->v[(t->first + i) & (t->cap - 1)];
}

static int grow(struct timeline *t, struct timeline_room *room)
{
	uint32_t cap = t->cap ? 2 * t->cap : CAP_FIRST;
	struct timeline_span *v;

	if (cap > TIMELINE_MAX || cap - t->cap > room->left)
		return -ENOSPC;
	v = malloc(cap * sizeof(*v));
	if (!v)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n; i++)
		v[i] = *at(t, i);
	free(t->v);
	room->left -= cap - t->cap;
	t->v = v;
	t->cap = cap;
	t->first = 0;
	return 0;
}

void timeline_add(struct timeline *t, struct timeline_room *room, const struct timeline_span *span)
{
	if (span->start_ns >= span->end_ns)
		return;
	if (t->n == t->cap && grow(t, room)) {
		if (!t->cap) {
			t->forgotten_ns = span->end_ns;
			return;
		}
		t->forgotten_ns = at(t, 0)->end_ns;
		t->first++;
		t->n--;
	}
	*at(t, t->n++) = *span;
}

uint64_t timeline_late(const struct timeline_span *span, uint64_t from, uint64_t to)
{
	uint64_t late_end = span->end_ns - span->after_late_ns, late = late_end - span->late_ns;

	from = num_max(from, late);
	to = num_min(to, late_end);
	return span->late_ns && from < to ? to - from : 0;
}

/* How many spans end at or before ns. */
static uint32_t ended_by(const struct timeline *t, uint64_t ns)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (at(t, middle)->end_ns <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void add_other(uint64_t from, uint64_t to, const struct spans *unarmed, uint64_t *ns)
{
	uint64_t blind = from < to ? spans_overlap(unarmed, from, to) : 0;

	if (from >= to)
		return;
	ns[CLASS_OTHER] += to - from - blind;
	ns[BUCKET_UNARMED] += blind;
}

void timeline_sum(const struct timeline *t, uint64_t from, uint64_t to, const struct spans *unarmed,
		  uint64_t ns[BUCKET_END])
{
	uint64_t known = num_max(from, num_min(t->forgotten_ns, to));

	if (from >= to)
		return;
	ns[BUCKET_UNKNOWN] += known - from;
	for (uint32_t i = ended_by(t, known); i < t->n && at(t, i)->start_ns < to; i++) {
		uint64_t start = num_max(at(t, i)->start_ns, known);
		uint64_t end = num_min(at(t, i)->end_ns, to);
		uint64_t late = timeline_late(at(t, i), start, end);

		add_other(known, start, unarmed, ns);
		ns[at(t, i)->bucket] += end - start - late;
		ns[bucket_of_off(at(t, i)->late_why)] += late;
		known = end;
	}
	add_other(known, to, unarmed, ns);
}

uint64_t timeline_count(const struct timeline *t, uint64_t from, uint64_t to, uint32_t buckets)
{
	uint64_t count = 0;

	for (uint32_t i = ended_by(t, from); i < t->n && at(t, i)->start_ns < to; i++)
		count += at(t, i)->start_ns >= from && at(t, i)->func != TIMELINE_NO_FUNC &&
			 buckets >> at(t, i)->bucket & 1;
	return count;
}

void timeline_each_call(const struct timeline *t, uint64_t ns, uint32_t buckets,
			void (*fn)(void *ctx, const struct timeline_span *call), void *ctx)
{
	for (uint32_t i = ended_by(t, ns); i < t->n; i++)
		if (at(t, i)->func != TIMELINE_NO_FUNC && buckets >> at(t, i)->bucket & 1)
			fn(ctx, at(t, i));
}

const struct timeline_span *timeline_find(const struct timeline *t, uint64_t at_ns)
{
	uint32_t i = ended_by(t, at_ns);

	return i < t->n && at(t, i)->start_ns <= at_ns ? at(t, i) : NULL;
}

const struct timeline_span *timeline_longest(const struct timeline *t, uint64_t from, uint64_t to,
					     uint8_t bucket)
{
	const struct timeline_span *longest = NULL;
	uint64_t most = 0;

	for (uint32_t i = ended_by(t, from); i < t->n && at(t, i)->start_ns < to; i++) {
		const struct timeline_span *s = at(t, i);
		uint64_t ns = num_min(s->end_ns, to) - num_max(s->start_ns, from);

		if (s->bucket != bucket || ns <= most)
			continue;
		longest = s;
		most = ns;
	}
	return longest;
}

const struct timeline_span *timeline_call(const struct timeline *t, uint64_t from, uint64_t to)
{
	for (uint32_t i = ended_by(t, from); i < t->n && at(t, i)->start_ns < to; i++) {
		const struct timeline_span *s = at(t, i);
		uint64_t middle = s->start_ns + (s->end_ns - s->start_ns) / 2;

		if (s->func != TIMELINE_NO_FUNC && middle >= from && middle < to)
			return s;
	}
	return NULL;
}

void timeline_free(struct timeline *t, struct timeline_room *room)
{
	room->left += t->cap;
	free(t->v);
	*t = (struct timeline){ 0 };
}

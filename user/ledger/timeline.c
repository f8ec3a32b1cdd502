// SPDX-License-Identifier: BSD-3-Clause
/*
 * A ring of chunks in order of time, searched by halves; in each its spans by their differences, read from the
 * first on.
 */
#include "ledger/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "event/varint.h"

#define CAP_FIRST 4
#define PACKED_MAX (4 * VARINT_MAX + (int)sizeof(struct what))

/* What is mostly the same for many in a row. */
struct what {
	uint16_t func;
	uint8_t bucket, late_why;
	bool large;
	uint8_t unused;
};

/* Reading touches VARINT_SLACK bytes behind a number: they are of this struct. */
struct timeline_chunk {
	uint8_t packed[104];
	uint64_t start_ns, end_ns;	/* of all that are in it */
	struct what last;
	uint8_t n, used;		/* spans, bytes */
};
_Static_assert(sizeof(struct timeline_chunk) == TIMELINE_CHUNK_BYTES, "as the header says");
_Static_assert(sizeof(struct timeline_chunk) - 104 >= VARINT_SLACK, "for reading");

enum { HAS_WHAT = 1, HAS_LATE = 2, HAS_BITS = 2 };

static struct timeline_chunk *at(const struct timeline *t, uint32_t i)
{
	return &t->v[(t->first + i) & (t->cap - 1)];
}

/* ---- one chunk ------------------------------------------------------------------------------- */

/* As [time since the end before << HAS_BITS | HAS_*, length, struct what?, late and after?]. */
static bool pack(struct timeline_chunk *c, const struct timeline_span *span)
{
	const struct what what = { .func = span->func, .bucket = span->bucket, .late_why = span->late_why,
				   .large = span->large };
	const bool has_what = !c->n || memcmp(&what, &c->last, sizeof(what)) != 0;
	uint8_t packed[PACKED_MAX + VARINT_SLACK], *p = packed;

	p = varint_put(p, (span->start_ns - c->end_ns) << HAS_BITS | (has_what ? HAS_WHAT : 0) |
			  (span->late_ns ? HAS_LATE : 0));
	p = varint_put(p, span->end_ns - span->start_ns);
	if (has_what) {
		memcpy(p, &what, sizeof(what));
		p += sizeof(what);
	}
	if (span->late_ns)
		p = varint_put(varint_put(p, span->late_ns), span->after_late_ns);
	if ((size_t)(p - packed) > sizeof(c->packed) - c->used)
		return false;
	memcpy(c->packed + c->used, packed, (size_t)(p - packed));
	c->used += (uint8_t)(p - packed);
	c->n++;
	c->last = what;
	c->end_ns = span->end_ns;
	return true;
}

/* Where somebody reads: at span, which is one of `chunk`, of which so many are left. */
struct reader {
	const struct timeline *t;
	uint32_t chunk;		/* t->n: all have been read */
	unsigned int left;
	const uint8_t *next;
	struct timeline_span span;
};

static void unpack(struct reader *r)
{
	struct timeline_span *s = &r->span;
	uint64_t head, length;
	struct what what;

	r->next = varint_get(varint_get(r->next, &head), &length);
	if (head & HAS_WHAT) {
		memcpy(&what, r->next, sizeof(what));
		r->next += sizeof(what);
		s->func = what.func;
		s->bucket = what.bucket;
		s->late_why = what.late_why;
		s->large = what.large;
	}
	s->late_ns = s->after_late_ns = 0;
	if (head & HAS_LATE)
		r->next = varint_get(varint_get(r->next, &s->late_ns), &s->after_late_ns);
	s->start_ns = s->end_ns + (head >> HAS_BITS);
	s->end_ns = s->start_ns + length;
}

static void enter_chunk(struct reader *r)
{
	const struct timeline_chunk *c = at(r->t, r->chunk);

	r->left = c->n;
	r->next = c->packed;
	r->span.end_ns = c->start_ns;
}

static void read_next(struct reader *r)
{
	if (!r->left && ++r->chunk < r->t->n)
		enter_chunk(r);
	if (r->chunk >= r->t->n)
		return;
	r->left--;
	unpack(r);
}

/* There is one, and it begins before `to`. */
static bool is_at(const struct reader *r, uint64_t to)
{
	return r->chunk < r->t->n && r->span.start_ns < to;
}

/* At the first that ends after ns. */
static struct reader read_from(const struct timeline *t, uint64_t ns)
{
	struct reader r = { .t = t };
	uint32_t high = t->n;

	while (r.chunk < high) {
		uint32_t middle = r.chunk + (high - r.chunk) / 2;

		if (at(t, middle)->end_ns <= ns)
			r.chunk = middle + 1;
		else
			high = middle;
	}
	if (r.chunk == t->n)
		return r;
	enter_chunk(&r);
	do {
		read_next(&r);
	} while (r.span.end_ns <= ns);
	return r;
}

/* ---- the ring -------------------------------------------------------------------------------- */

static int grow(struct timeline *t, struct timeline_room *room)
{
	uint32_t cap = t->cap ? 2 * t->cap : CAP_FIRST;
	struct timeline_chunk *v;

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
	struct timeline_chunk *c;

	if (span->start_ns >= span->end_ns || (t->n && pack(at(t, t->n - 1), span)))
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
	c = at(t, t->n++);
	*c = (struct timeline_chunk){ .start_ns = span->start_ns, .end_ns = span->start_ns };
	(void)pack(c, span);	/* there is room for some */
}

void timeline_free(struct timeline *t, struct timeline_room *room)
{
	room->left += t->cap;
	free(t->v);
	*t = (struct timeline){ 0 };
}

/* ---- what is asked --------------------------------------------------------------------------- */

uint64_t timeline_late(const struct timeline_span *span, uint64_t from, uint64_t to)
{
	uint64_t late_end = span->end_ns - span->after_late_ns, late = late_end - span->late_ns;

	from = num_max(from, late);
	to = num_min(to, late_end);
	return span->late_ns && from < to ? to - from : 0;
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
	for (struct reader r = read_from(t, known); is_at(&r, to); read_next(&r)) {
		uint64_t start = num_max(r.span.start_ns, known);
		uint64_t end = num_min(r.span.end_ns, to);
		uint64_t late = timeline_late(&r.span, start, end);

		add_other(known, start, unarmed, ns);
		ns[r.span.bucket] += end - start - late;
		ns[bucket_of_off(r.span.late_why)] += late;
		known = end;
	}
	add_other(known, to, unarmed, ns);
}

static bool is_call_of(const struct timeline_span *span, uint32_t buckets)
{
	return span->func != TIMELINE_NO_FUNC && buckets >> span->bucket & 1;
}

uint64_t timeline_count(const struct timeline *t, uint64_t from, uint64_t to, uint32_t buckets)
{
	uint64_t count = 0;

	for (struct reader r = read_from(t, from); is_at(&r, to); read_next(&r))
		count += r.span.start_ns >= from && is_call_of(&r.span, buckets);
	return count;
}

void timeline_each_call(const struct timeline *t, uint64_t ns, uint32_t buckets,
			void (*fn)(void *ctx, const struct timeline_span *call), void *ctx)
{
	for (struct reader r = read_from(t, ns); is_at(&r, UINT64_MAX); read_next(&r))
		if (is_call_of(&r.span, buckets))
			fn(ctx, &r.span);
}

bool timeline_find(const struct timeline *t, uint64_t at_ns, struct timeline_span *out)
{
	const struct reader r = read_from(t, at_ns);
	const bool found = is_at(&r, num_add(at_ns, 1));

	if (found)
		*out = r.span;
	return found;
}

bool timeline_longest(const struct timeline *t, uint64_t from, uint64_t to, uint8_t bucket,
		      struct timeline_span *out)
{
	uint64_t most = 0;

	for (struct reader r = read_from(t, from); is_at(&r, to); read_next(&r)) {
		uint64_t ns = num_min(r.span.end_ns, to) - num_max(r.span.start_ns, from);

		if (r.span.bucket != bucket || ns <= most)
			continue;
		*out = r.span;
		most = ns;
	}
	return most;
}

bool timeline_call(const struct timeline *t, uint64_t from, uint64_t to, struct timeline_span *out)
{
	for (struct reader r = read_from(t, from); is_at(&r, to); read_next(&r)) {
		uint64_t middle = r.span.start_ns + (r.span.end_ns - r.span.start_ns) / 2;

		if (r.span.func == TIMELINE_NO_FUNC || middle < from || middle >= to)
			continue;
		*out = r.span;
		return true;
	}
	return false;
}

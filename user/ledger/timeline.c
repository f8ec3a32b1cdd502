// SPDX-License-Identifier: BSD-3-Clause
/*
 * A ring of chunks in order of time, searched by halves; in each its spans by their differences,
 * read from the first on.
 */
#include "ledger/timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/varint.h"

#define CAP_FIRST 4

/* Fields that are mostly as in one of the two spans before: many in a row are alike, or two take
 * turns. */
struct what {
	uint16_t func, stream, stack;
	uint8_t bucket;
	uint8_t late_why : 6, captured : 1, large : 1;
};

/* Reading and writing a number touch VARINT_SLACK bytes behind it: of this struct, and the bytes
 * written there come after. */
struct timeline_chunk {
	uint8_t packed[94];
	uint8_t n, used;		/* spans, bytes */
	uint64_t end_ns, start_ns;	/* of all that are in it */
	struct what last, before;	/* the newest one's, and the newest other */
};
_Static_assert(sizeof(struct timeline_chunk) == TIMELINE_CHUNK_BYTES, "as the header says");
_Static_assert(offsetof(struct timeline_chunk, start_ns) - offsetof(struct timeline_chunk, n) >=
		       VARINT_SLACK,
	       "what comes after");

/* The previous span with the same fields; a late one has its own. */
enum { WHAT_LAST, WHAT_BEFORE, WHAT_NEW, WHAT_LATE, WHAT_BITS = 2 };

static struct timeline_chunk *at(const struct timeline *t, size_t i)
{
	return RING_AT(&t->ring, i);
}

/* ---- one chunk ------------------------------------------------------------------------------- */

static bool is_same(const struct what *a, const struct what *b)
{
	return !memcmp(a, b, sizeof(*a));
}

/* The part behind the two numbers of every span: struct what, and for a late one how late. */
static __attribute__((cold)) unsigned int rest_size(const struct timeline_span *span)
{
	return sizeof(struct what) +
	       (span->late_ns ? varint_size(span->late_ns) + varint_size(span->after_late_ns) : 0);
}

static __attribute__((cold)) void put_rest(uint8_t *p, const struct what *what,
					   const struct timeline_span *span)
{
	memcpy(p, what, sizeof(*what));
	if (span->late_ns)
		varint_put(varint_put(p + sizeof(*what), span->late_ns), span->after_late_ns);
}

/* As [time since the end before << WHAT_BITS | WHAT_*, length, NEW and LATE: struct what, LATE:
 * late, after]. */
static bool pack(struct timeline_chunk *c, const struct timeline_span *span)
{
	const struct what what = { .func = span->func, .stream = span->stream,
				   .stack = span->stack, .bucket = span->bucket,
				   .late_why = span->late_why & 0x3f,
				   .captured = span->captured, .large = span->large };
	const uint64_t kind = span->late_ns ? WHAT_LATE : is_same(&what, &c->last) ? WHAT_LAST :
			      is_same(&what, &c->before) ? WHAT_BEFORE : WHAT_NEW;
	const uint64_t gap = (span->start_ns - c->end_ns) << WHAT_BITS | kind,
		       length = span->end_ns - span->start_ns;
	const struct what last = c->last;
	const uint8_t n = c->n, used = c->used;
	unsigned int size = varint_size(gap) + varint_size(length);
	uint8_t *p = (uint8_t *)c + used;

	if (kind >= WHAT_NEW)
		size += rest_size(span);
	if (used + size > sizeof(c->packed))
		return false;
	p = varint_put(varint_put(p, gap), length);
	if (kind >= WHAT_NEW)
		put_rest(p, &what, span);
	if (kind == WHAT_BEFORE || kind == WHAT_NEW) {
		c->before = last;
		c->last = what;
	}
	c->n = n + 1;
	c->used = (uint8_t)(used + size);
	c->end_ns = span->end_ns;
	return true;
}

/* A position: at span, the latest of so many of `chunk` that were read. */
struct reader {
	const struct timeline *t;
	size_t chunk;			/* t->ring.n: all have been read */
	unsigned int read;
	const uint8_t *next;
	struct what last, before;
	struct timeline_span span;
};

static void unpack(struct reader *r)
{
	uint64_t gap, start, length, late = 0, after = 0;
	unsigned int kind;
	struct what what;

	r->next = varint_get(varint_get(r->next, &gap), &length);
	kind = gap & ((1u << WHAT_BITS) - 1);
	what = kind == WHAT_BEFORE ? r->before : r->last;
	if (kind >= WHAT_NEW) {
		memcpy(&what, r->next, sizeof(what));
		r->next += sizeof(what);
	}
	if (kind == WHAT_BEFORE || kind == WHAT_NEW) {
		r->before = r->last;
		r->last = what;
	}
	if (kind == WHAT_LATE)
		r->next = varint_get(varint_get(r->next, &late), &after);
	start = r->span.end_ns + (gap >> WHAT_BITS);
	r->span = (struct timeline_span){
		.start_ns = start, .end_ns = start + length, .bucket = what.bucket,
		.func = what.func, .stream = what.stream, .stack = what.stack, .large = what.large,
		.captured = what.captured, .late_why = what.late_why, .late_ns = late,
		.after_late_ns = after };
}

static void enter_chunk(struct reader *r)
{
	const struct timeline_chunk *c = at(r->t, r->chunk);

	r->read = 0;
	r->next = c->packed;
	r->last = r->before = (struct what){ 0 };
	r->span.end_ns = c->start_ns;
}

static void read_next(struct reader *r)
{
	if (r->read == at(r->t, r->chunk)->n && ++r->chunk < r->t->ring.n)
		enter_chunk(r);
	if (r->chunk >= r->t->ring.n)
		return;
	r->read++;
	unpack(r);
}

/* There is one, and it begins before `to`. */
static bool is_at(const struct reader *r, uint64_t to)
{
	return r->chunk < r->t->ring.n && r->span.start_ns < to;
}

/* At the first that ends after ns. */
static struct reader read_from(const struct timeline *t, uint64_t ns)
{
	struct reader r = { .t = t };
	size_t high = t->ring.n;

	while (r.chunk < high) {
		size_t middle = r.chunk + (high - r.chunk) / 2;

		if (at(t, middle)->end_ns <= ns)
			r.chunk = middle + 1;
		else
			high = middle;
	}
	if (r.chunk == t->ring.n)
		return r;
	enter_chunk(&r);
	do {
		read_next(&r);
	} while (r.span.end_ns <= ns);
	return r;
}

/* ---- the ring -------------------------------------------------------------------------------- */

static void forget_reached(struct timeline *t)
{
	free(t->reached);
	t->reached = NULL;
}

static int grow(struct timeline *t, struct timeline_room *room)
{
	size_t more = RING_NEXT_CAP(&t->ring, CAP_FIRST) - t->ring.cap;

	if (t->ring.cap + more > TIMELINE_MAX || more > room->left)
		return -ENOSPC;
	if (RING_GROW(&t->ring, CAP_FIRST))
		return -ENOMEM;
	forget_reached(t);	/* the chunks have moved */
	room->left -= more;
	return 0;
}

void timeline_add(struct timeline *t, struct timeline_room *room, const struct timeline_span *span)
{
	struct timeline_chunk *c;

	if (span->start_ns >= span->end_ns || (t->ring.n && pack(at(t, t->ring.n - 1), span)))
		return;
	if (t->ring.n == t->ring.cap && grow(t, room)) {
		if (!t->ring.cap) {
			t->forgotten_ns = span->end_ns;
			return;
		}
		t->forgotten_ns = at(t, 0)->end_ns;
		RING_DROP(&t->ring);
		if (t->reached && t->reached->chunk)
			t->reached->chunk--;
		else
			forget_reached(t);
	}
	c = at(t, t->ring.n++);
	c->n = c->used = 0;
	c->start_ns = c->end_ns = span->start_ns;
	c->last = c->before = (struct what){ 0 };
	(void)pack(c, span);	/* there is room for some */
}

void timeline_free(struct timeline *t, struct timeline_room *room)
{
	room->left += t->ring.cap;
	forget_reached(t);
	free(t->ring.v);
	*t = (struct timeline){ 0 };
}

/* ---- reading -------------------------------------------------------------------------------- */

/* How much of [from, to), which lies in it, it was late. */
static uint64_t timeline_late(const struct timeline_span *span, uint64_t from, uint64_t to)
{
	uint64_t late_end = span->end_ns - span->after_late_ns, late = late_end - span->late_ns;

	from = num_max(from, late);
	to = num_min(to, late_end);
	return span->late_ns && from < to ? to - from : 0;
}

static void add_other(uint64_t from, uint64_t to, const struct intervals *unarmed, uint64_t *ns)
{
	uint64_t blind = from < to ? intervals_overlap(unarmed, from, to) : 0;

	if (from >= to)
		return;
	ns[CLASS_OTHER] += to - from - blind;
	ns[BUCKET_UNARMED] += blind;
}

void timeline_sum(const struct timeline *t, uint64_t from, uint64_t to,
		  const struct intervals *unarmed, uint64_t ns[BUCKET_END])
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

void timeline_each_call(const struct timeline *t, uint64_t ns, uint32_t buckets,
			void (*fn)(void *ctx, const struct timeline_span *call), void *ctx)
{
	for (struct reader r = read_from(t, ns); is_at(&r, UINT64_MAX); read_next(&r))
		if (is_call_of(&r.span, buckets))
			fn(ctx, &r.span);
}

void timeline_each(const struct timeline *t, uint64_t from, uint64_t to,
		   void (*fn)(void *ctx, const struct timeline_span *span), void *ctx)
{
	for (struct reader r = read_from(t, from); is_at(&r, to); read_next(&r))
		fn(ctx, &r.span);
}

uint64_t timeline_count(const struct timeline *t, uint64_t from, uint64_t to, uint32_t buckets,
			const struct intervals *except)
{
	uint64_t count = 0;

	for (struct reader r = read_from(t, from); is_at(&r, to); read_next(&r)) {
		uint64_t start = r.span.start_ns;

		count += start >= from && is_call_of(&r.span, buckets) &&
			 !intervals_overlap(except, start, start + 1);
	}
	return count;
}

bool timeline_reach(struct timeline *t, uint64_t ns, struct timeline_span *out)
{
	struct reader *r = t->reached;
	bool is_near;

	if (!t->ring.n || at(t, t->ring.n - 1)->end_ns <= ns)
		return false;
	/* A step is enough, or two: else looking for it is not slower. */
	is_near = r && r->span.start_ns <= ns &&
		  (r->chunk + 1 >= t->ring.n || at(t, r->chunk + 1)->end_ns > ns);
	if (!r)
		r = t->reached = malloc(sizeof(*r));
	if (!r) {
		*out = read_from(t, ns).span;
		return true;
	}
	if (!is_near)
		*r = read_from(t, ns);
	while (r->span.end_ns <= ns)
		read_next(r);
	*out = r->span;
	return true;
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
		uint64_t middle = num_middle(r.span.start_ns, r.span.end_ns);

		if (r.span.func == TIMELINE_NO_FUNC || middle < from || middle >= to)
			continue;
		*out = r.span;
		return true;
	}
	return false;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * One sweep over time. Works wait in a heap by start; those that have started lie in a heap for
 * each state, whose top owns the moment if no earlier state has one. A work that ended below the
 * top of its heap stays there until it surfaces, or until half of the heap is such.
 */
#include "ledger/device_book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"

struct heap {
	struct device_work *v;
	size_t n, cap;
	size_t prune_at;
};

struct sweep {
	uint64_t cursor;	/* settled up to here */
	uint64_t gap_start;	/* of the gap that the cursor is in */
	struct heap waiting;	/* not begun at the cursor */
	struct heap running[WORK_STATES];
	uint64_t owned_ns[DEVICE_BUCKETS];
	uint64_t idle_ns;	/* gaps that have ended */
};

struct device_book {
	uint64_t open_ns;
	struct sweep sweep;
	uint64_t busy_ns[DEVICE_BUCKETS];	/* of whole works, from where they are booked */
	uint64_t works[DEVICE_BUCKETS];
	struct device_counts counts;
};

/* ---- heaps ---------------------------------------------------------------------------------- */

/* A total order: whatever came first, the same work owns. */
static bool is_before(const struct device_work *a, const struct device_work *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->state != b->state)
		return a->state < b->state;
	if (a->lane != b->lane)
		return a->lane < b->lane;
	if (a->id != b->id)
		return a->id < b->id;
	return a->bucket < b->bucket;
}

static void sift_up(struct heap *h, size_t at)
{
	struct device_work work = h->v[at];

	while (at && is_before(&work, &h->v[(at - 1) / 2])) {
		h->v[at] = h->v[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	h->v[at] = work;
}

static void sift_down(struct heap *h, size_t at)
{
	struct device_work work = h->v[at];
	size_t child;

	while ((child = 2 * at + 1) < h->n) {
		if (child + 1 < h->n && is_before(&h->v[child + 1], &h->v[child]))
			child++;
		if (!is_before(&h->v[child], &work))
			break;
		h->v[at] = h->v[child];
		at = child;
	}
	h->v[at] = work;
}

static int heap_push(struct heap *h, const struct device_work *work)
{
	struct device_work *slot = VEC_PUSH(h);

	if (!slot)
		return -ENOMEM;
	*slot = *work;
	sift_up(h, h->n - 1);
	return 0;
}

static void heap_pop(struct heap *h)
{
	h->v[0] = h->v[--h->n];
	if (h->n)
		sift_down(h, 0);
}

/* Forgets what has ended by now wherever it lies; each time at least half of it must be new. */
static void heap_prune(struct heap *h, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->n; i++)
		if (h->v[i].end_ns > now)
			h->v[kept++] = h->v[i];
	h->n = kept;
	for (size_t i = kept / 2; i-- > 0;)
		sift_down(h, i);
	h->prune_at = 2 * kept + 64;
}

static int heap_copy(struct heap *to, const struct heap *from)
{
	*to = (struct heap){ .n = from->n, .cap = from->n, .prune_at = from->prune_at };
	if (!from->n)
		return 0;
	to->v = malloc(from->n * sizeof(*to->v));
	if (!to->v)
		return -ENOMEM;
	memcpy(to->v, from->v, from->n * sizeof(*to->v));
	return 0;
}

/* ---- the sweep ------------------------------------------------------------------------------ */

/* Who owns the moment at the cursor, or NULL. */
static const struct device_work *owner(struct sweep *s)
{
	for (int state = 0; state < WORK_STATES; state++) {
		struct heap *h = &s->running[state];

		while (h->n && h->v[0].end_ns <= s->cursor)
			heap_pop(h);
		if (h->n)
			return &h->v[0];
	}
	return NULL;
}

/* The works that start at the cursor, or should have before, run from now on. */
static int start_waiting(struct sweep *s)
{
	while (s->waiting.n && s->waiting.v[0].start_ns <= s->cursor) {
		struct heap *h = &s->running[s->waiting.v[0].state];
		int err;

		if (h->n >= h->prune_at)
			heap_prune(h, s->cursor);
		err = heap_push(h, &s->waiting.v[0]);
		if (err)
			return err;
		heap_pop(&s->waiting);
	}
	return 0;
}

static void end_gap(struct sweep *s, const struct device_work *by, device_gap_fn fn, void *ctx)
{
	const struct device_gap gap = { s->gap_start, s->cursor, by };

	s->gap_start = s->cursor;
	if (gap.start_ns == gap.end_ns)
		return;
	s->idle_ns += gap.end_ns - gap.start_ns;
	if (fn)
		fn(ctx, &gap);
}

static int sweep_to(struct sweep *s, uint64_t horizon, device_gap_fn fn, void *ctx)
{
	while (s->cursor < horizon) {
		int err = start_waiting(s);
		const struct device_work *own = owner(s);
		uint64_t until = s->waiting.n ? num_min(s->waiting.v[0].start_ns, horizon) : horizon;

		if (err)
			return err;
		if (own) {
			end_gap(s, own, fn, ctx);
			until = num_min(own->end_ns, until);
			s->owned_ns[own->bucket] += until - s->cursor;
			s->gap_start = until;
		}
		s->cursor = until;
	}
	return 0;
}

static void sweep_free(struct sweep *s)
{
	VEC_FREE(&s->waiting);
	for (int i = 0; i < WORK_STATES; i++)
		VEC_FREE(&s->running[i]);
}

static int sweep_copy(struct sweep *to, const struct sweep *from)
{
	int err;

	*to = *from;
	memset(to->running, 0, sizeof(to->running));
	err = heap_copy(&to->waiting, &from->waiting);
	for (int i = 0; i < WORK_STATES && !err; i++)
		err = heap_copy(&to->running[i], &from->running[i]);
	if (err)
		sweep_free(to);
	return err;
}

/* ---- the book ------------------------------------------------------------------------------- */

struct device_book *device_book_new(uint64_t open_ns)
{
	struct device_book *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->open_ns = b->sweep.cursor = b->sweep.gap_start = open_ns;
	for (int i = 0; i < WORK_STATES; i++)
		b->sweep.running[i].prune_at = 64;
	return b;
}

void device_book_free(struct device_book *b)
{
	if (!b)
		return;
	sweep_free(&b->sweep);
	free(b);
}

int device_book_push(struct device_book *b, const struct device_work *work)
{
	uint64_t from = num_max(work->start_ns, b->open_ns), cursor = b->sweep.cursor;
	int err;

	if (work->end_ns < work->start_ns || work->state >= WORK_STATES ||
	    work->bucket >= DEVICE_BUCKETS) {
		b->counts.invalid++;
		return 0;
	}
	if (work->end_ns > num_max(from, cursor)) {
		err = heap_push(&b->sweep.waiting, work);
		if (err)
			return err;
		b->busy_ns[work->bucket] += work->end_ns - num_max(from, cursor);
	}
	if (from < cursor && from < work->end_ns) {
		b->counts.late++;
		b->counts.late_ns += num_min(work->end_ns, cursor) - from;
	}
	b->works[work->bucket]++;
	return 0;
}

int device_book_settle(struct device_book *b, uint64_t horizon_ns, device_gap_fn fn, void *ctx)
{
	return sweep_to(&b->sweep, horizon_ns, fn, ctx);
}

/* What of the heap's works lies beyond now is not busy yet. */
static void cut_busy(uint64_t *busy_ns, const struct heap *h, uint64_t now)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->v[i].end_ns > now)
			busy_ns[h->v[i].bucket] -= h->v[i].end_ns - num_max(h->v[i].start_ns, now);
}

int device_book_read(const struct device_book *b, uint64_t now_ns, struct device_sum *sum,
		     device_gap_fn fn, void *ctx)
{
	struct sweep s;
	int err = sweep_copy(&s, &b->sweep);

	if (err)
		return err;
	err = sweep_to(&s, now_ns, fn, ctx);
	*sum = (struct device_sum){ .open_ns = b->open_ns, .close_ns = s.cursor };
	memcpy(sum->owned_ns, s.owned_ns, sizeof(s.owned_ns));
	memcpy(sum->busy_ns, b->busy_ns, sizeof(b->busy_ns));
	memcpy(sum->works, b->works, sizeof(b->works));
	cut_busy(sum->busy_ns, &b->sweep.waiting, s.cursor);
	for (int i = 0; i < WORK_STATES; i++)
		cut_busy(sum->busy_ns, &b->sweep.running[i], s.cursor);
	sum->idle_ns = s.idle_ns + (owner(&s) ? 0 : s.cursor - s.gap_start);
	if (fn && !owner(&s) && s.cursor > s.gap_start)
		fn(ctx, &(struct device_gap){ s.gap_start, s.cursor, NULL });
	sweep_free(&s);
	return err;
}

void device_book_counts(const struct device_book *b, struct device_counts *out)
{
	*out = b->counts;
}

size_t device_book_waiting(const struct device_book *b)
{
	return b->sweep.waiting.n;
}

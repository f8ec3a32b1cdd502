// SPDX-License-Identifier: BSD-3-Clause
/*
 * One sweep over time. Works wait in a queue by start; those that have started lie in a heap for
 * each state, whose top owns the moment if no earlier state has one. A work that ended below the
 * top of its heap stays there until it surfaces, or until half of the heap is such.
 */
#include "ledger/device_book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/ring.h"
#include "base/vec.h"

#define PRUNE_AT 64
#define QUEUE_FIRST 64u
#define MOVES_MAX 64u		/* waiting works that make way for one; else it is a stray */
#define RUNNING_MAX 65536	/* of a state, at one moment: no device can do that */

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

/* Running works of a state; the first in the order above is on top. */
struct heap {
	struct device_work *v;
	size_t n, cap;
	size_t prune_at;
};

/* Waiting works: a ring in their order, because devices report them nearly in it, and a heap of
 * those that came too late for the ring. */
struct queue {
	RING(struct device_work) ring;
	struct heap strays;
};

struct sweep {
	uint64_t cursor;	/* settled up to here */
	uint64_t gap_start;	/* of the gap that the cursor is in */
	struct queue waiting;	/* not begun at the cursor */
	struct heap running[WORK_STATES];
	uint64_t owned_ns[DEVICE_BUCKETS];
	uint64_t idle_ns;	/* gaps that have ended */
	struct device_room *room;	/* of those that wait; NULL: as much as there is memory */
	struct device_watch watch;	/* NULL: none; a copy has none */
};

struct device_book {
	uint64_t open_ns;
	uint64_t since_ns;	/* of the interval: open_ns, or the last cut */
	uint64_t last_ns;	/* the end of the last work */
	struct sweep sweep;
	uint64_t busy_ns[DEVICE_BUCKETS];	/* of whole works, from where they are booked */
	uint64_t works[DEVICE_BUCKETS];
	struct device_counts counts;
};

/* ---- the heap ------------------------------------------------------------------------------- */

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

static void heap_prune(struct heap *h, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->n; i++)
		if (h->v[i].end_ns > now)
			h->v[kept++] = h->v[i];
	h->n = kept;
	for (size_t i = kept / 2; i-- > 0;)
		sift_down(h, i);
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

/* ---- the queue ------------------------------------------------------------------------------ */

static size_t queue_count(const struct queue *q)
{
	return q->ring.n + q->strays.n;
}

/* The first, or NULL. */
static inline const struct device_work *queue_first(const struct queue *q)
{
	const struct device_work *w = q->ring.n ? RING_AT(&q->ring, 0) : NULL;

	if (__builtin_expect(!q->strays.n, 1))
		return w;
	return w && is_before(w, &q->strays.v[0]) ? w : &q->strays.v[0];
}

/* The first few strays are not counted, as the first few of the ring are not. */
static void note_stray(const struct queue *q, struct device_room *room, int more)
{
	if (room && q->strays.n > QUEUE_FIRST)
		room->left -= (size_t)more;
}

static bool queue_is_full(const struct queue *q, const struct device_room *room)
{
	if (!room)
		return false;
	if (q->strays.n >= QUEUE_FIRST && !room->left)
		return true;
	return q->ring.n && q->ring.n == q->ring.cap && q->ring.cap > room->left;
}

static int push_stray(struct queue *q, struct device_room *room,
		      const struct device_work *work)
{
	int err = heap_push(&q->strays, work);

	if (!err)
		note_stray(q, room, 1);
	return err;
}

static int grow(struct queue *q, struct device_room *room)
{
	const size_t cap = q->ring.cap;
	int err = RING_GROW(&q->ring, QUEUE_FIRST);

	if (!err && room)
		room->left -= cap;
	return err;
}

static int queue_push(struct queue *q, struct device_room *room,
		      const struct device_work *work)
{
	size_t at = q->ring.n, least = q->ring.n > MOVES_MAX ? q->ring.n - MOVES_MAX : 0;

	while (at > least && is_before(work, RING_AT(&q->ring, at - 1)))
		at--;
	if (at && at == least && is_before(work, RING_AT(&q->ring, at - 1)))
		return push_stray(q, room, work);
	if (q->ring.n == q->ring.cap && grow(q, room))
		return -ENOMEM;
	for (size_t i = q->ring.n; i > at; i--)
		*RING_AT(&q->ring, i) = *RING_AT(&q->ring, i - 1);
	*RING_AT(&q->ring, at) = *work;
	q->ring.n++;
	return 0;
}

static void queue_pop(struct queue *q, struct device_room *room)
{
	if (q->strays.n && queue_first(q) == &q->strays.v[0]) {
		note_stray(q, room, -1);
		heap_pop(&q->strays);
		return;
	}
	RING_DROP(&q->ring);
}

static void set_call(struct device_work *w, const struct device_work *of)
{
	if (w->id != of->id || w->launch_tid != of->launch_tid || !w->has_launch)
		return;
	w->call_class = of->call_class;
	w->call_before_ns = of->call_before_ns;
	w->call_after_ns = of->call_after_ns;
}

static int queue_share(struct queue *to, const struct queue *from)
{
	*to = *from;
	return heap_copy(&to->strays, &from->strays);
}

static void queue_free(struct queue *q, struct device_room *room)
{
	if (room && q->strays.n > QUEUE_FIRST)
		room->left += q->strays.n - QUEUE_FIRST;
	if (room && q->ring.cap)
		room->left += q->ring.cap - QUEUE_FIRST;
	free(q->ring.v);
	VEC_FREE(&q->strays);
	*q = (struct queue){ 0 };
}

/* ---- the sweep ------------------------------------------------------------------------------ */

/* The owner of the moment at the cursor, or NULL. */
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

/* The works that start at the cursor, or should have before, run from now on. Each time that a heap
 * is pruned at least half of it is new. */
static int start_waiting(struct sweep *s)
{
	const struct device_work *w;

	while ((w = queue_first(&s->waiting)) && w->start_ns <= s->cursor) {
		struct heap *h = &s->running[w->state];
		int err;

		if (h->n >= h->prune_at) {
			heap_prune(h, s->cursor);
			h->prune_at = 2 * h->n + PRUNE_AT;
		}
		err = s->watch.begun ? s->watch.begun(s->watch.ctx, w) : 0;
		if (!err)
			err = heap_push(h, w);
		if (err)
			return err;
		queue_pop(&s->waiting, s->room);
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
		const struct device_work *next = queue_first(&s->waiting);
		uint64_t until = next ? num_min(next->start_ns, horizon) : horizon;

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

/* A copy to sweep on, which shares the works that wait. */
static int sweep_copy(struct sweep *to, const struct sweep *from)
{
	int err;

	*to = *from;
	to->room = NULL;
	memset(&to->watch, 0, sizeof(to->watch));
	memset(to->running, 0, sizeof(to->running));
	err = queue_share(&to->waiting, &from->waiting);
	for (int i = 0; i < WORK_STATES && !err; i++)
		err = heap_copy(&to->running[i], &from->running[i]);
	return err;
}

static void sweep_free_copy(struct sweep *s)
{
	VEC_FREE(&s->waiting.strays);
	for (int i = 0; i < WORK_STATES; i++)
		VEC_FREE(&s->running[i]);
}

/* ---- the book ------------------------------------------------------------------------------- */

struct device_book *device_book_new(uint64_t open_ns, struct device_room *room)
{
	struct device_book *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->open_ns = b->since_ns = b->sweep.cursor = b->sweep.gap_start = open_ns;
	for (int i = 0; i < WORK_STATES; i++)
		b->sweep.running[i].prune_at = PRUNE_AT;
	b->sweep.room = room;
	return b;
}

void device_book_watch(struct device_book *b, const struct device_watch *watch)
{
	b->sweep.watch = *watch;
}

void device_book_free(struct device_book *b)
{
	if (!b)
		return;
	queue_free(&b->sweep.waiting, b->sweep.room);
	for (int i = 0; i < WORK_STATES; i++)
		VEC_FREE(&b->sweep.running[i]);
	free(b);
}

void device_book_trim(struct device_book *b)
{
	if (!queue_count(&b->sweep.waiting))
		queue_free(&b->sweep.waiting, b->sweep.room);
	for (int i = 0; i < WORK_STATES; i++)
		VEC_TRIM(&b->sweep.running[i]);
}

/* A gap that has not ended was not reported: its settling is taken back from where the work
 * begins. */
static void reopen_gap(struct sweep *s, uint64_t start_ns)
{
	s->cursor = num_min(s->cursor, num_max(start_ns, s->gap_start));
}

int device_book_push(struct device_book *b, const struct device_work *work)
{
	uint64_t from = num_max(work->start_ns, b->open_ns), reported = b->sweep.gap_start;
	int err;

	if (work->end_ns < work->start_ns || work->state >= WORK_STATES ||
	    work->bucket >= DEVICE_BUCKETS || b->sweep.running[work->state].n >= RUNNING_MAX) {
		b->counts.invalid++;
		return 0;
	}
	if (work->end_ns > num_max(from, reported)) {
		err = queue_push(&b->sweep.waiting, b->sweep.room, work);
		if (!err && b->sweep.watch.pushed)
			err = b->sweep.watch.pushed(b->sweep.watch.ctx, work);
		if (err)
			return err;
		b->busy_ns[work->bucket] += work->end_ns - num_max(from, reported);
		reopen_gap(&b->sweep, from);
	}
	if (from < reported && from < work->end_ns) {
		b->counts.late++;
		b->counts.late_ns += num_min(work->end_ns, reported) - from;
	}
	b->works[work->bucket]++;
	b->last_ns = num_max(b->last_ns, work->end_ns);
	return 0;
}

void device_book_call(struct device_book *b, const struct device_work *of, uint64_t since_ns)
{
	const struct queue *q = &b->sweep.waiting;

	for (size_t i = q->ring.n; i-- > 0 && RING_AT(&q->ring, i)->start_ns >= since_ns;)
		set_call(RING_AT(&q->ring, i), of);
	for (size_t i = 0; i < q->strays.n; i++)
		set_call(&q->strays.v[i], of);
}

int device_book_settle(struct device_book *b, uint64_t horizon_ns, device_gap_fn fn, void *ctx)
{
	return sweep_to(&b->sweep, horizon_ns, fn, ctx);
}

/* A work's part beyond now is not busy yet. */
static void cut_work(uint64_t *busy_ns, const struct device_work *w, uint64_t now)
{
	if (w->end_ns > now)
		busy_ns[w->bucket] -= w->end_ns - num_max(w->start_ns, now);
}

static void cut_heap(uint64_t *busy_ns, const struct heap *h, uint64_t now)
{
	for (size_t i = 0; i < h->n; i++)
		cut_work(busy_ns, &h->v[i], now);
}

static void cut_busy(uint64_t *busy_ns, const struct sweep *s, uint64_t now)
{
	for (size_t i = 0; i < s->waiting.ring.n; i++)
		cut_work(busy_ns, RING_AT(&s->waiting.ring, i), now);
	cut_heap(busy_ns, &s->waiting.strays, now);
	for (int i = 0; i < WORK_STATES; i++)
		cut_heap(busy_ns, &s->running[i], now);
}

int device_book_read(const struct device_book *b, uint64_t now_ns, struct device_sum *sum,
		     device_gap_fn fn, void *ctx)
{
	struct sweep s;
	int err = sweep_copy(&s, &b->sweep);

	if (!err)
		err = sweep_to(&s, now_ns, fn, ctx);
	*sum = (struct device_sum){ .open_ns = b->since_ns, .close_ns = s.cursor };
	memcpy(sum->owned_ns, s.owned_ns, sizeof(s.owned_ns));
	memcpy(sum->busy_ns, b->busy_ns, sizeof(b->busy_ns));
	memcpy(sum->works, b->works, sizeof(b->works));
	cut_busy(sum->busy_ns, &b->sweep, s.cursor);
	sum->idle_ns = s.idle_ns + (owner(&s) ? 0 : s.cursor - s.gap_start);
	if (fn && !owner(&s) && s.cursor > s.gap_start)
		fn(ctx, &(struct device_gap){ s.gap_start, s.cursor, NULL });
	sweep_free_copy(&s);
	return err;
}

/* Up to where an interval goes that ends now. */
static uint64_t settled_until(const struct device_book *b)
{
	return b->sweep.gap_start > b->since_ns ? b->sweep.gap_start : b->sweep.cursor;
}

void device_book_read_settled(const struct device_book *b, struct device_sum *sum,
			      device_gap_fn fn, void *ctx)
{
	const struct sweep *s = &b->sweep;

	*sum = (struct device_sum){ .open_ns = b->since_ns, .close_ns = settled_until(b) };
	memcpy(sum->owned_ns, s->owned_ns, sizeof(s->owned_ns));
	memcpy(sum->busy_ns, b->busy_ns, sizeof(b->busy_ns));
	memcpy(sum->works, b->works, sizeof(b->works));
	cut_busy(sum->busy_ns, s, s->cursor);
	sum->idle_ns = s->idle_ns + sum->close_ns - s->gap_start;
	if (fn && sum->close_ns > s->gap_start)
		fn(ctx, &(struct device_gap){ s->gap_start, sum->close_ns, NULL });
}

void device_book_cut(struct device_book *b)
{
	struct sweep *s = &b->sweep;
	struct device_sum sum;

	device_book_read_settled(b, &sum, NULL, NULL);
	for (int i = 0; i < DEVICE_BUCKETS; i++)
		b->busy_ns[i] -= sum.busy_ns[i];
	memset(s->owned_ns, 0, sizeof(s->owned_ns));
	memset(b->works, 0, sizeof(b->works));
	s->idle_ns = 0;
	s->gap_start = b->since_ns = sum.close_ns;
}

uint64_t device_book_last(const struct device_book *b)
{
	return b->last_ns;
}

bool device_book_full(const struct device_book *b)
{
	return queue_is_full(&b->sweep.waiting, b->sweep.room);
}

uint64_t device_book_crowded(const struct device_book *b)
{
	const struct queue *q = &b->sweep.waiting;
	uint64_t until = q->ring.n ? RING_AT(&q->ring, q->ring.n / 8)->start_ns : 0;

	return num_max(until, queue_first(q)->start_ns) + 1;
}

uint64_t device_book_settled(const struct device_book *b)
{
	return b->sweep.cursor;
}

uint64_t device_book_idle_since(const struct device_book *b)
{
	return b->sweep.gap_start;
}

void device_book_counts(const struct device_book *b, struct device_counts *out)
{
	*out = b->counts;
}

size_t device_book_waiting(const struct device_book *b)
{
	return queue_count(&b->sweep.waiting);
}

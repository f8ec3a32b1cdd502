// SPDX-License-Identifier: BSD-3-Clause
/*
 * One sweep over time. Works wait in a queue by start; those that have started lie in a heap for
 * each state, whose top owns the moment if no earlier state has one. A work that ended below the
 * top of its heap stays there until it surfaces, or until half of the heap is such. The sweep
 * passes each work to the lanes when it is pushed and when it begins.
 */
#include "ledger/device_book.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/ring.h"
#include "base/vec.h"
#include "ledger/lanes.h"

#define PRUNE_AT 64
#define QUEUE_FIRST 4u
#define QUEUE_LEAST 64u		/* each book has so many, whatever is left for all */
#define LANE_FIRST 16
#define MOVES_MAX 64u		/* waiting works, or submissions, that make way for one */
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
	struct lanes *lanes;	/* NULL: none, as in a copy */
};

struct device_book {
	uint64_t open_ns;
	uint64_t last_ns;	/* the end of the last work */
	struct sweep sweep;
	uint64_t busy_ns[DEVICE_BUCKETS];	/* of whole works */
	uint64_t works[DEVICE_BUCKETS];
	struct device_counts counts;
};

/* ---- lanes ---------------------------------------------------------------------------------- */

/* Just before a work begins at t, its lane is as deep as there are submissions before t that have
 * not begun before t; no moment since the last begin was deeper. Works come in the order in which
 * they begin, their submissions nearly in order. */

static bool waits(const struct device_work *w)
{
	return w->has_launch && w->launch_end_ns < w->start_ns;
}

static void other_key(void *key)
{
	*(struct lane_key *)key = (struct lane_key){ .other = 1 };
}

/* Depths of lanes at different times: the deepest. */
static int add_lane(void *to, const void *from)
{
	struct lane_stats *lane = to;
	const struct lane_stats *more = from;

	lane->depth_max = num_max(lane->depth_max, more->depth_max);
	return 0;
}

static uint64_t depth_of(const struct lane_stats *lane)
{
	return num_sub(lane->due, lane->begun);
}

static void subtract_lane(void *from, const void *earlier)
{
	struct lane_stats *lane = from;
	const struct lane_stats *less = earlier;

	if (lane->depth_max <= less->depth_max)
		lane->depth_max = num_max(num_max(depth_of(lane), depth_of(less)),
					  lane->waited_ns > 0);
}

static void release_lane(void *row)
{
	RING_FREE(&((struct lane_stats *)row)->submitted);
}

/* A copy is read only: it needs no submissions. */
static void own_lane(void *row)
{
	struct lane_stats *lane = row;

	memset(&lane->submitted, 0, sizeof(lane->submitted));
}

static const struct rows_type lanes_type = {
	ROWS_OF(struct lane_stats), ROWS_SUMS(struct lane_stats, works, waited_ns),
	ROWS_HISTS(struct lane_stats, latency, latency),
	.max = LANES_MAX, .other = other_key, .add = add_lane,
	.subtract = subtract_lane, .own = own_lane, .release = release_lane,
};

static struct lane_stats *find_lane(struct lanes *l, uint64_t lane)
{
	struct lane_stats **recent = &l->recent[lane & (LANES_RECENT - 1)];

	if (!*recent || (*recent)->key.lane != lane || (*recent)->key.other)
		*recent = rows_get(&l->rows, &lanes_type, &(struct lane_key){ .lane = lane }, NULL);
	return *recent;
}

static uint64_t *submitted_at(const struct lane_stats *lane, size_t i)
{
	return RING_AT(&lane->submitted, i);
}

/* A work that will begin is known. 0 or -ENOMEM. */
static int lanes_submit(struct lanes *l, const struct device_work *work)
{
	struct lane_stats *lane = waits(work) ? find_lane(l, work->lane) : NULL;
	size_t i;

	if (!waits(work))
		return 0;
	if (!lane)
		return -ENOMEM;
	if (lane->submitted.n == lane->submitted.cap && RING_GROW(&lane->submitted, LANE_FIRST))
		return -ENOMEM;
	i = lane->submitted.n++;
	for (; i && i + MOVES_MAX > lane->submitted.n &&
	       *submitted_at(lane, i - 1) > work->launch_end_ns; i--)
		*submitted_at(lane, i) = *submitted_at(lane, i - 1);
	*submitted_at(lane, i) = work->launch_end_ns;
	return 0;
}

/* The first submission of a lane is due. */
static void lane_deepens(struct lanes *l, struct lane_stats *lane)
{
	RING_DROP(&lane->submitted);
	l->depth += ++lane->due > lane->begun;
	lane->depth_max = num_max(lane->depth_max, depth_of(lane));
}

/* All that begins before ns has begun, and all that was submitted before is known. Of a new work,
 * ns is when it begins: nothing was deeper since the one before. */
static void lanes_settle(struct lanes *l, uint64_t ns)
{
	for (size_t i = 0; i < l->rows.n; i++) {
		struct lane_stats *lane = l->rows.v[i];

		while (lane->submitted.n && *submitted_at(lane, 0) < ns)
			lane_deepens(l, lane);
	}
	l->depth_max = num_max(l->depth_max, l->depth);
}

/* It begins; works come in order of time. 0 or -ENOMEM. */
static int lanes_begin(struct lanes *l, const struct device_work *work)
{
	struct lane_stats *lane = find_lane(l, work->lane);

	if (!lane)
		return -ENOMEM;
	lane->works++;
	lane->busy_ns += work->end_ns - work->start_ns;
	if (waits(work)) {
		lanes_settle(l, work->start_ns);
		lane->waited_ns += work->start_ns - work->launch_end_ns;
		l->depth -= lane->due > lane->begun++;
	}
	if (!work->has_launch)
		return 0;
	return hist_add(&lane->latency, num_sub(work->start_ns, work->launch_start_ns));
}

int lanes_merge(struct lanes *l, const struct lanes *from)
{
	struct lane_stats *to;
	int err = 0;

	if (!from->rows.n)
		return 0;
	to = rows_get(&l->rows, &lanes_type, &(struct lane_key){ .other = 1 }, NULL);
	if (!to)
		return -ENOMEM;
	l->depth_max = num_max(l->depth_max, from->depth_max);
	for (size_t i = 0; i < from->rows.n && !err; i++)
		err = rows_add(&lanes_type, to, from->rows.v[i]);
	return err;
}

void lanes_subtract(struct lanes *from, const struct lanes *earlier)
{
	rows_subtract(&from->rows, &earlier->rows);
	if (from->depth_max > earlier->depth_max)
		return;
	from->depth_max = 0;
	for (size_t i = 0; i < from->rows.n; i++)
		from->depth_max = num_max(from->depth_max, lanes_at(from, i)->depth_max);
}

static void lanes_trim(struct lanes *l)
{
	for (size_t i = 0; i < l->rows.n; i++) {
		struct lane_stats *lane = l->rows.v[i];

		if (!lane->submitted.n)
			RING_FREE(&lane->submitted);
	}
	rows_trim(&l->rows);
}

/* ---- the heap ------------------------------------------------------------------------------- */

/* The place at takes the work, or the first one below it does. */
static void sift_down(struct heap *h, size_t at, const struct device_work *work)
{
	size_t child;

	while ((child = 2 * at + 1) < h->n) {
		if (child + 1 < h->n && is_before(&h->v[child + 1], &h->v[child]))
			child++;
		if (!is_before(&h->v[child], work))
			break;
		h->v[at] = h->v[child];
		at = child;
	}
	h->v[at] = *work;
}

static int heap_push(struct heap *h, const struct device_work *work)
{
	size_t at = h->n, above;

	if (!VEC_PUSH(h))
		return -ENOMEM;
	for (; at && is_before(work, &h->v[above = (at - 1) / 2]); at = above)
		h->v[at] = h->v[above];
	h->v[at] = *work;
	return 0;
}

static void heap_pop(struct heap *h)
{
	h->n--;
	if (h->n)
		sift_down(h, 0, &h->v[h->n]);
}

static void heap_prune(struct heap *h, uint64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < h->n; i++)
		if (h->v[i].end_ns > now)
			h->v[kept++] = h->v[i];
	h->n = kept;
	for (size_t i = kept / 2; i-- > 0;) {
		const struct device_work work = h->v[i];

		sift_down(h, i, &work);
	}
}

static int heap_copy(struct heap *to, const struct heap *from)
{
	to->prune_at = from->prune_at;
	return VEC_COPY(to, from) ? 0 : -ENOMEM;
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

/* Of so many, those that are taken from the room of all. */
static size_t beyond_least(size_t works)
{
	return num_sub(works, QUEUE_LEAST);
}

static void note_stray(const struct queue *q, struct device_room *room, int more)
{
	if (room && q->strays.n > QUEUE_LEAST)
		room->left -= (size_t)more;
}

static int queue_push(struct queue *q, struct device_room *room,
		      const struct device_work *work)
{
	const size_t cap = q->ring.cap, least = num_sub(q->ring.n, MOVES_MAX);
	size_t at = q->ring.n;
	int err;

	while (at > least && is_before(work, RING_AT(&q->ring, at - 1)))
		at--;
	if (at && at == least && is_before(work, RING_AT(&q->ring, at - 1))) {
		err = heap_push(&q->strays, work);
		if (!err)
			note_stray(q, room, 1);
		return err;
	}
	if (q->ring.n == cap) {
		if (RING_GROW(&q->ring, QUEUE_FIRST))
			return -ENOMEM;
		if (room)
			room->left -= beyond_least(q->ring.cap) - beyond_least(cap);
	}
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
	} else {
		RING_DROP(&q->ring);
	}
}

static void queue_free(struct queue *q, struct device_room *room)
{
	if (room)
		room->left += beyond_least(q->strays.n) + beyond_least(q->ring.cap);
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

/* The works that start at the cursor, or should have before, run from now on; *next: the first that
 * does not, or NULL. Each time that a heap is pruned at least half of it is new. */
static int start_waiting(struct sweep *s, const struct device_work **next)
{
	const struct device_work *w;

	while ((w = *next = queue_first(&s->waiting)) && w->start_ns <= s->cursor) {
		struct heap *h = &s->running[w->state];
		int err;

		if (h->n >= h->prune_at) {
			heap_prune(h, s->cursor);
			h->prune_at = 2 * h->n + PRUNE_AT;
		}
		err = s->lanes ? lanes_begin(s->lanes, w) : 0;
		if (!err)
			err = heap_push(h, w);
		if (err)
			return err;
		queue_pop(&s->waiting, s->room);
	}
	return 0;
}

static void end_gap(struct sweep *s, const struct device_work *by, const struct device_sink *to)
{
	const struct device_gap gap = { s->gap_start, s->cursor, by };

	s->gap_start = s->cursor;
	if (gap.start_ns == gap.end_ns)
		return;
	s->idle_ns += gap.end_ns - gap.start_ns;
	if (to->gap)
		to->gap(to->ctx, &gap);
}

static int sweep_to(struct sweep *s, uint64_t horizon, const struct device_sink *to)
{
	while (s->cursor < horizon) {
		const struct device_work *next;
		int err = start_waiting(s, &next);
		const struct device_work *own = owner(s);
		uint64_t until = next ? num_min(next->start_ns, horizon) : horizon;

		if (err)
			return err;
		if (own) {
			end_gap(s, own, to);
			until = num_min(own->end_ns, until);
			s->owned_ns[own->bucket] += until - s->cursor;
			if (to->owned)
				to->owned(to->ctx, own->bucket, s->cursor, until);
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
	to->lanes = NULL;
	memset(to->running, 0, sizeof(to->running));
	memset(&to->waiting.strays, 0, sizeof(to->waiting.strays));
	err = heap_copy(&to->waiting.strays, &from->waiting.strays);
	for (int i = 0; i < WORK_STATES && !err; i++)
		err = heap_copy(&to->running[i], &from->running[i]);
	return err;
}

/* ---- the book ------------------------------------------------------------------------------- */

struct device_book *device_book_new(uint64_t open_ns, struct device_room *room,
				    struct lanes *lanes)
{
	struct device_book *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->open_ns = b->sweep.cursor = b->sweep.gap_start = open_ns;
	for (int i = 0; i < WORK_STATES; i++)
		b->sweep.running[i].prune_at = PRUNE_AT;
	b->sweep.room = room;
	b->sweep.lanes = lanes;
	return b;
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
	if (b->sweep.lanes)
		lanes_trim(b->sweep.lanes);
}

int device_book_push(struct device_book *b, const struct device_work *work)
{
	uint64_t from = num_max(work->start_ns, b->open_ns), reported = b->sweep.gap_start;
	struct sweep *s = &b->sweep;
	int err;

	if (work->end_ns < work->start_ns || work->state >= WORK_STATES ||
	    work->bucket >= DEVICE_BUCKETS || s->running[work->state].n >= RUNNING_MAX) {
		b->counts.invalid++;
		return 0;
	}
	if (work->end_ns > num_max(from, reported)) {
		err = queue_push(&s->waiting, s->room, work);
		if (!err && s->lanes)
			err = lanes_submit(s->lanes, work);
		if (err)
			return err;
		/* A gap that has not ended was not reported: its settling is taken back. */
		s->cursor = num_min(s->cursor, num_max(from, reported));
	}
	if (from < reported && from < work->end_ns) {
		b->counts.late++;
		b->counts.late_ns += num_min(work->end_ns, reported) - from;
	}
	b->busy_ns[work->bucket] += num_sub(work->end_ns, from);
	b->works[work->bucket]++;
	b->last_ns = num_max(b->last_ns, work->end_ns);
	return 0;
}

static void set_call(struct device_work *w, const struct device_work *of)
{
	if (w->id != of->id || w->launch_tid != of->launch_tid || !w->has_launch)
		return;
	w->call_class = of->call_class;
	w->call_before_ns = of->call_before_ns;
	w->call_after_ns = of->call_after_ns;
}

void device_book_call(struct device_book *b, const struct device_work *of, uint64_t since_ns)
{
	const struct queue *q = &b->sweep.waiting;

	for (size_t i = q->ring.n; i-- > 0 && RING_AT(&q->ring, i)->start_ns >= since_ns;)
		set_call(RING_AT(&q->ring, i), of);
	for (size_t i = 0; i < q->strays.n; i++)
		set_call(&q->strays.v[i], of);
}

int device_book_settle_to(struct device_book *b, uint64_t horizon_ns,
			  const struct device_sink *sink)
{
	int err = sweep_to(&b->sweep, horizon_ns, sink);

	if (!err && b->sweep.lanes)
		lanes_settle(b->sweep.lanes, b->sweep.cursor);
	return err;
}

/* A work's part beyond now is not busy yet. */
static void cut_work(uint64_t *busy_ns, const struct device_work *w, uint64_t now)
{
	if (w->end_ns > now)
		busy_ns[w->bucket] -= w->end_ns - num_max(w->start_ns, now);
}

static void cut_busy(uint64_t *busy_ns, const struct sweep *s, uint64_t now)
{
	const struct heap *strays = &s->waiting.strays;

	for (size_t i = 0; i < s->waiting.ring.n; i++)
		cut_work(busy_ns, RING_AT(&s->waiting.ring, i), now);
	for (size_t i = 0; i < strays->n; i++)
		cut_work(busy_ns, &strays->v[i], now);
	for (int state = 0; state < WORK_STATES; state++)
		for (size_t i = 0; i < s->running[state].n; i++)
			cut_work(busy_ns, &s->running[state].v[i], now);
}

static uint64_t read_until(const struct sweep *s)
{
	return s->cursor - s->gap_start < DEVICE_GAP_NS ? s->gap_start : s->cursor;
}

int device_book_read_to(const struct device_book *b, uint64_t now_ns, struct device_sum *sum,
			const struct device_sink *sink)
{
	const bool settled = now_ns == DEVICE_BOOK_SETTLED;
	struct sweep copy = { .cursor = 0 };
	const struct sweep *s = settled ? &b->sweep : &copy;
	int err = settled ? 0 : sweep_copy(&copy, &b->sweep);
	uint64_t gap_ns;

	if (!settled && !err)
		err = sweep_to(&copy, now_ns, sink);
	*sum = (struct device_sum){ .open_ns = b->open_ns,
				    .close_ns = settled ? read_until(s) : s->cursor };
	gap_ns = !settled && owner(&copy) ? 0 : sum->close_ns - s->gap_start;
	memcpy(sum->owned_ns, s->owned_ns, sizeof(s->owned_ns));
	memcpy(sum->busy_ns, b->busy_ns, sizeof(b->busy_ns));
	memcpy(sum->works, b->works, sizeof(b->works));
	cut_busy(sum->busy_ns, &b->sweep, s->cursor);
	sum->idle_ns = s->idle_ns + gap_ns;
	if (sink->gap && gap_ns)
		sink->gap(sink->ctx, &(struct device_gap){ s->gap_start, sum->close_ns, NULL });
	VEC_FREE(&copy.waiting.strays);
	for (int i = 0; i < WORK_STATES; i++)
		VEC_FREE(&copy.running[i]);
	return err;
}

uint64_t device_book_crowded(const struct device_book *b)
{
	const struct device_room *room = b->sweep.room;
	const struct queue *q = &b->sweep.waiting;
	bool strays_full = room && q->strays.n >= QUEUE_LEAST && !room->left;
	bool ring_full = room && q->ring.n >= QUEUE_LEAST && q->ring.n == q->ring.cap &&
			 q->ring.cap > room->left;
	uint64_t until = q->ring.n ? RING_AT(&q->ring, q->ring.n / 8)->start_ns : 0;

	return strays_full || ring_full ? num_max(until, queue_first(q)->start_ns) + 1 : 0;
}

struct device_progress device_book_progress(const struct device_book *b)
{
	return (struct device_progress){
		.settled_ns = b->sweep.cursor, .idle_since_ns = b->sweep.gap_start,
		.read_until_ns = read_until(&b->sweep), .last_ns = b->last_ns,
		.waiting = queue_count(&b->sweep.waiting), .counts = b->counts,
	};
}

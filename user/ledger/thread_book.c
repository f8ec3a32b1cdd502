// SPDX-License-Identifier: BSD-3-Clause
/*
 * The streaming thread book. Known time ends at `cursor`; time after it is booked when the next
 * record shows its bucket, time before the first call only when the book is read (the thread's
 * birth and unarmed intervals may come late). Knows one thread and nothing else.
 */
#include "ledger/thread_book.h"

#include <string.h>

#include "base/num.h"

/* Where time goes: a book's own, or a reading's. */
struct booking {
	uint64_t *ns;
	struct bins *bins;		/* NULL: none */
	const struct intervals *unarmed;	/* may be NULL */
};

static inline struct booking booking_of(struct book *b)
{
	return (struct booking){ b->ns, b->bins, b->unarmed };
}

/* The same as in ns, where it was. */
static void bin(const struct booking *to, unsigned int bucket, uint64_t from, uint64_t until)
{
	struct interval blind;

	while (bucket == CLASS_OTHER && intervals_next(to->unarmed, from, until, &blind)) {
		bins_add(to->bins, bucket, from, blind.start);
		bins_add(to->bins, BUCKET_UNARMED, blind.start, blind.end);
		from = blind.end;
	}
	bins_add(to->bins, bucket, from, until);
}

/* Adds [from, until) to buckets; the part for `other` is split by the unarmed intervals. */
static inline void book_add(const struct booking *to, unsigned int bucket, uint64_t from,
			    uint64_t until)
{
	uint64_t blind;

	if (from >= until)
		return;
	blind = bucket == CLASS_OTHER ? intervals_overlap(to->unarmed, from, until) : 0;
	to->ns[bucket] += until - from - blind;
	to->ns[BUCKET_UNARMED] += blind;
	if (__builtin_expect(to->bins != NULL, 0))
		bin(to, bucket, from, until);
}

/* Calls that are seen at their entry only take no time: whatever they cost is outside of them. */
static inline void book_count(struct book *b, unsigned int class, const struct event *ev)
{
	if (ev->start_ns >= b->stop || ev->end_ns < b->base)
		return;
	b->calls[ev->end_ns > ev->start_ns ? class : (unsigned int)CLASS_OTHER]++;
}

/* A call was blocked for so long in [from, to), and late as in its event: but a stop is not
 * that. */
static inline void book_add_blocked(struct book *b, unsigned int class, const struct event *ev,
				    uint64_t blocked_ns, uint64_t from, uint64_t to)
{
	b->blocked[class] += blocked_ns;
	if (blocked_ns && ev->call.late_why == OFF_RUNQUEUE && event_late(ev, &from, &to))
		b->late[class] += to - from < blocked_ns ? to - from : blocked_ns;
}

/* The open call's time off the CPU, up to end. */
static uint64_t book_blocked(const struct book *b, uint64_t end)
{
	return b->open_class == CLASS_OTHER ? 0 : num_min(b->open_blocked, num_sub(end, b->cursor));
}

void book_init(struct book *b, uint64_t session_start_ns, const struct intervals *unarmed)
{
	*b = (struct book){ .base = session_start_ns, .stop = UINT64_MAX, .exit = UINT64_MAX,
			    .unarmed = unarmed };
}

static uint64_t clip(const struct book *b, uint64_t ns)
{
	return num_min(num_max(ns, b->base), b->stop);
}

/* The open call began before, and its return will not be seen. */
static bool may_be_over(const struct book *b)
{
	return b->has_open && b->inside && !b->watched;
}

unsigned int book_now(const struct book *b)
{
	if (b->hole)
		return BUCKET_LOST;
	if (!b->has_open)
		return CLASS_OTHER;
	return may_be_over(b) ? BUCKET_UNKNOWN : b->open_class;
}

/* ---- records ----------------------------------------------------------------------------- */

/* [cursor, end) was bucket, whether probes were attached or not. */
static void book_until(struct book *b, uint64_t end, unsigned int bucket)
{
	book_add(&(struct booking){ b->ns, b->bins, NULL }, bucket, b->cursor, end);
	b->cursor = num_max(b->cursor, end);
}

/* Books [cursor, start), or remembers where the head ends. */
static void book_gap(struct book *b, uint64_t start, unsigned int bucket)
{
	if (b->has_head) {
		const struct booking to = booking_of(b);

		book_add(&to, bucket, b->cursor, start);
		return;
	}
	b->has_head = true;
	b->head_lost = bucket == BUCKET_LOST;
	b->head_end = start;
}

static unsigned int overlap(const struct book *b, uint64_t start_ns)
{
	uint64_t known = b->has_head ? b->cursor : b->birth;

	return num_max(start_ns, b->base) < known ? BOOK_SKEW : 0;
}

/* The numbers between the last one and this one are a hole. false: out of order. */
static bool take_seq(struct book *b, const struct event *ev, uint32_t *missing)
{
	int32_t ahead = (int32_t)(ev->seq - b->seq);

	/* A call read from the thread's state has no number of its own. */
	if (ahead < 0 || (!ahead && ev->kind != EVENT_OPEN))
		return false;
	*missing = ahead ? (uint32_t)ahead - 1 : 0;
	b->hole += *missing;
	b->counts.lost += *missing;
	b->seq = ev->seq;
	return true;
}

/* Something starts that was not open yet: books the time before it, `unknown` records and all. */
static unsigned int begin_call(struct book *b, const struct event *ev, uint64_t unknown)
{
	uint64_t start = num_max(clip(b, ev->start_ns), b->cursor);
	unsigned int found = overlap(b, ev->start_ns), gap = CLASS_OTHER;

	if (unknown || b->has_open)
		gap = !unknown && may_be_over(b) ? BUCKET_UNKNOWN : BUCKET_LOST;
	b->counts.abandoned += b->has_open && !b->is_off && !unknown && gap == BUCKET_LOST;
	book_gap(b, start, gap);
	b->last_gap = (uint8_t)gap;
	b->cursor = start;
	return found;
}

/* CALL, ENTER, OPEN, LEFT: something that starts, or has before. */
static unsigned int push_call(struct book *b, const struct event *ev, const struct func *fn)
{
	bool returned = ev->kind == EVENT_CALL || ev->kind == EVENT_LEFT, enter_missing;
	bool has_enter = fn && fn->two && ev->kind != EVENT_ENTER && ev->kind != EVENT_LEFT;
	bool was_open = b->has_open && !b->is_off && ev->kind != EVENT_ENTER &&
			b->open_start == ev->start_ns && b->open_func == ev->func;
	unsigned int found = 0;
	uint32_t missing;

	if (!take_seq(b, ev, &missing))
		return BOOK_INVALID;
	enter_missing = (missing || b->seq_missing) && has_enter;
	b->seq_missing = false;
	if (!fn || fn->class >= CLASS_END || (returned && ev->end_ns < ev->start_ns)) {
		/* It came, but its time is unknown: as good as lost, but not counted so. */
		b->hole++;
		return BOOK_INVALID;
	}
	if (!was_open) {
		found = begin_call(b, ev, b->hole - enter_missing);
		b->before = false;
		b->open_blocked = 0;
	}
	b->hole = 0;
	b->inside = b->is_off = false;
	b->has_open = !returned;
	b->before &= b->has_open;
	b->open_start = ev->start_ns;
	b->open_func = ev->func;
	b->open_class = fn->class;
	b->open_blocked = num_max(b->open_blocked, ev->call.blocked_ns);
	if (returned) {
		uint64_t end = num_max(clip(b, ev->end_ns), b->cursor);

		book_add_blocked(b, fn->class, ev, book_blocked(b, end), b->cursor, end);
		book_until(b, end, fn->class);
		book_count(b, fn->class, ev);
	}
	return found;
}

/* ---- a call that began before ------------------------------------------------------------ */

static bool is_inside(const struct book *b, const struct event *ev)
{
	return b->inside && !b->hole && !b->has_exit && b->open_start == ev->start_ns &&
	       b->open_func == ev->func;
}

static unsigned int push_inside(struct book *b, const struct event *ev, const struct func *fn)
{
	bool goes_on = is_inside(b, ev);
	unsigned int found = 0;
	uint64_t start, end;

	if (!fn || fn->class >= CLASS_END || ev->end_ns < ev->start_ns)
		return BOOK_INVALID;
	if (!goes_on && (b->has_head || b->seq || b->hole || b->has_exit))
		return BOOK_LATE;
	start = goes_on ? b->cursor : clip(b, ev->start_ns);
	end = num_max(clip(b, ev->end_ns), start);
	if (!goes_on) {
		found = overlap(b, ev->start_ns);
		book_gap(b, start, CLASS_OTHER);
	}
	b->last_gap = CLASS_OTHER;
	b->cursor = start;
	book_until(b, end, fn->class);
	b->unseen |= 1u << fn->class;
	b->has_open = b->before = b->inside = true;
	b->watched = ev->has & HAS_END;
	b->open_start = ev->start_ns;
	b->open_func = ev->func;
	b->open_class = fn->class;
	return found;
}

static unsigned int push_gone(struct book *b, const struct event *ev)
{
	uint64_t end = num_max(clip(b, ev->end_ns), b->cursor);

	if (!is_inside(b, ev))
		return BOOK_LATE;
	book_gap(b, end, BUCKET_UNKNOWN);
	b->last_gap = BUCKET_UNKNOWN;
	b->cursor = end;
	b->has_open = b->before = b->inside = false;
	return 0;
}

/* ---- off the CPU ------------------------------------------------------------------------- */

/* A reading of a state that lasts; takes no number. */
static bool is_reading(const struct event *ev)
{
	return ev->kind == EVENT_OFF && !(ev->has & HAS_END);
}

static unsigned int push_off(struct book *b, const struct event *ev)
{
	unsigned int reason = bucket_of_off(ev->off.reason), found = 0;
	bool over = !is_reading(ev);
	bool is_wrong = (ev->off.reason >= OFF_REASON_END &&
			 (ev->off.reason != OFF_NO_END || !over)) || ev->end_ns < ev->start_ns ||
			ev->off.woken_ns > ev->end_ns - ev->start_ns;
	uint32_t missing;

	/* How much of the open call has been off the CPU: a reading between its records. */
	if (!over && off_is_in_call(ev->off.reason)) {
		if (b->has_open && !b->is_off && !b->inside && b->open_start == ev->start_ns)
			b->open_blocked = num_max(b->open_blocked, ev->off.blocked_ns);
		return 0;
	}
	if (over ? !take_seq(b, ev, &missing) : ev->seq != b->seq)
		return over ? BOOK_INVALID : 0;		/* 0: its thread's records are on their
							 * way */
	b->seq_missing = false;
	if (is_wrong) {		/* as good as lost, if it took a number */
		b->hole += over;
		return BOOK_INVALID;
	}
	if (!b->has_open || !b->is_off || b->open_start != ev->start_ns)
		found = begin_call(b, ev, b->hole);
	book_until(b, clip(b, ev->end_ns - ev->off.woken_ns), reason);
	book_until(b, clip(b, ev->end_ns), BUCKET_OFF_0 + OFF_RUNQUEUE);
	b->hole = 0;
	b->before = b->inside = false;
	b->has_open = b->is_off = !over;
	b->open_start = ev->start_ns;
	b->open_class = (uint8_t)(ev->off.woken_ns ? BUCKET_OFF_0 + OFF_RUNQUEUE : reason);
	return found;
}

/* ---- the end ------------------------------------------------------------------------------ */

static unsigned int push_tail(struct book *b, const struct event *ev)
{
	int32_t ahead = (int32_t)(ev->seq - b->seq);

	if (ahead <= 0)
		return 0;
	b->hole += (uint32_t)ahead;
	b->counts.lost += (uint32_t)ahead;
	b->seq = ev->seq;
	b->seq_missing = true;
	return 0;
}

static void close_at(struct book *b, uint64_t end_ns)
{
	b->has_exit = true;
	b->exit = num_max(end_ns, num_max(b->cursor, b->base));
}

static unsigned int push_exit(struct book *b, const struct event *ev)
{
	unsigned int skew;
	uint32_t missing;

	if (!take_seq(b, ev, &missing))
		return BOOK_INVALID;
	skew = b->has_head && num_max(ev->end_ns, b->base) < b->cursor ? BOOK_SKEW : 0;
	close_at(b, ev->end_ns);
	return skew;
}

static unsigned int push_any(struct book *b, const struct event *ev, const struct func *fn)
{
	if (ev->kind == EVENT_INSIDE)
		return push_inside(b, ev, fn);
	if (ev->kind == EVENT_GONE)
		return push_gone(b, ev);
	if (is_reading(ev))
		return b->has_exit ? 0 : push_off(b, ev);
	if (b->has_exit)
		return ev->kind == EVENT_TAIL ? 0 : BOOK_INVALID;
	if (ev->kind == EVENT_TAIL)
		return push_tail(b, ev);
	if (ev->kind == EVENT_OFF)
		return push_off(b, ev);
	return ev->kind == EVENT_EXIT ? push_exit(b, ev) : push_call(b, ev, fn);
}

/* Nothing to clip, to match or to doubt: nearly every event of a session. */
static inline bool is_plain(const struct book *b, const struct event *ev, const struct func *fn)
{
	return ev->kind == EVENT_CALL && ev->seq == b->seq + 1 && b->has_head && !b->has_open &&
	       !b->has_exit && !b->hole && fn && fn->class < CLASS_END &&
	       ev->start_ns >= b->cursor && ev->end_ns >= ev->start_ns && ev->end_ns <= b->stop;
}

unsigned int book_push(struct book *b, const struct event *ev, const struct func *fn)
{
	unsigned int found;

	if (__builtin_expect(is_plain(b, ev, fn), 1)) {
		const struct booking to = booking_of(b);

		book_add(&to, CLASS_OTHER, b->cursor, ev->start_ns);
		b->ns[fn->class] += ev->end_ns - ev->start_ns;
		if (__builtin_expect(b->bins != NULL, 0))
			bins_add(b->bins, fn->class, ev->start_ns, ev->end_ns);
		book_count(b, fn->class, ev);
		if (ev->call.blocked_ns && fn->class != CLASS_OTHER)
			book_add_blocked(b, fn->class, ev,
					 num_min(ev->call.blocked_ns, ev->end_ns - ev->start_ns),
					 ev->start_ns, ev->end_ns);
		b->cursor = ev->end_ns;
		b->seq = ev->seq;
		b->last_gap = CLASS_OTHER;
		b->seq_missing = false;
		return 0;
	}
	found = push_any(b, ev, fn);
	b->counts.invalid += !!(found & BOOK_INVALID);
	b->counts.skew += !!(found & BOOK_SKEW);
	b->counts.late += !!(found & BOOK_LATE);
	return found;
}

/* ---- facts about the thread and the session ---------------------------------------------- */

void book_birth(struct book *b, uint64_t start_ns)
{
	/* Two readings of one birth differ by a clock tick, the coarser one is earlier. */
	b->birth = num_max(b->birth, start_ns);
}

void book_stop(struct book *b, uint64_t end_ns)
{
	if (b->stop == UINT64_MAX)
		b->stop = num_max(end_ns, num_max(b->cursor, b->base));
}

void book_replace(struct book *b, uint64_t end_ns)
{
	if (b->has_exit)
		return;
	b->hole++;
	b->counts.lost++;
	close_at(b, end_ns);
}

unsigned int book_unarmed(struct book *b, uint64_t start_ns, uint64_t end_ns)
{
	uint64_t from = num_max(start_ns, b->head_end), to = num_min(end_ns, b->cursor);

	if (!b->has_head || from >= to)
		return 0;
	b->counts.late_ns += to - from;
	b->counts.late++;
	return BOOK_LATE;
}

/* ---- reading ------------------------------------------------------------------------------ */

bool book_has(const struct book *b, uint64_t start_ns, uint64_t end_ns)
{
	return b->has_head && start_ns >= b->head_end && end_ns <= b->cursor;
}

void book_call(struct book *b, unsigned int class, uint64_t ns, uint64_t start_ns, uint64_t end_ns)
{
	ns = num_min(ns, b->ns[CLASS_OTHER]);
	if (b->bins)
		bins_move(b->bins, CLASS_OTHER, class, ns, start_ns, end_ns);
	b->ns[CLASS_OTHER] -= ns;
	b->ns[class] += ns;
}

void book_read_bins(const struct book *b, uint64_t now_ns, struct book_sum *sum, struct bins *bins)
{
	const struct booking to = { sum->ns, bins, b->unarmed };
	uint64_t close = num_min(b->stop, b->exit), open;

	if (b->stop == UINT64_MAX && !b->has_exit)
		close = now_ns;
	close = num_max(close, num_max(b->cursor, b->base));
	/* A thread is not born after its first call, whatever its reported birth. */
	open = num_max(b->base, num_min(b->birth, b->has_head ? b->head_end : close));
	*sum = (struct book_sum){ .open_ns = open, .close_ns = close, .unseen = b->unseen };
	memcpy(sum->ns, b->ns, sizeof(b->ns));
	memcpy(sum->blocked_ns, b->blocked, sizeof(b->blocked));
	memcpy(sum->late_ns, b->late, sizeof(b->late));
	memcpy(sum->calls, b->calls, sizeof(b->calls));
	if (book_now(b) < CLASS_END && book_now(b) != CLASS_OTHER)
		sum->blocked_ns[b->open_class] += book_blocked(b, close);
	if (b->has_head)
		book_add(&to, b->head_lost ? BUCKET_LOST : CLASS_OTHER, open, b->head_end);
	book_add(&to, book_now(b), b->has_head ? b->cursor : open, close);
}

const char *bucket_name(unsigned int bucket)
{
	static const char *const unseen[] = {
		[0] = "lost", [BUCKET_UNARMED - BUCKET_LOST] = "unarmed",
		[BUCKET_UNKNOWN - BUCKET_LOST] = "unknown",
	};

	if (bucket_is_off(bucket))
		return off_reason_name(bucket - BUCKET_OFF_0);
	if (bucket == BUCKET_GPUPROF)
		return "gpuprof";
	return bucket < CLASS_END || bucket >= BUCKET_END ? class_name(bucket) :
							    unseen[bucket - BUCKET_LOST];
}

void book_sum_add(struct book_sum *to, const struct book_sum *from)
{
	to->close_ns += from->close_ns - from->open_ns;
	to->unseen |= from->unseen;
	num_add_each(to->ns, from->ns, BUCKET_SUM_END);
	num_add_each(to->blocked_ns, from->blocked_ns, CLASS_END);
	num_add_each(to->late_ns, from->late_ns, CLASS_END);
	num_add_each(to->calls, from->calls, CLASS_END);
	num_add_each(to->own_ns, from->own_ns, CLASS_END);
}

uint64_t book_sum_subtract(struct book_sum *from, const struct book_sum *earlier)
{
	uint64_t late_ns = num_subtract_parts(from->ns, earlier->ns, BUCKET_SUM_END), wall_ns = 0;

	for (unsigned int i = 0; i < BUCKET_SUM_END; i++)
		wall_ns += from->ns[i];
	for (unsigned int i = 0; i < CLASS_END; i++) {
		from->blocked_ns[i] = num_min(num_sub(from->blocked_ns[i], earlier->blocked_ns[i]),
					      from->ns[i]);
		from->late_ns[i] = num_min(num_sub(from->late_ns[i], earlier->late_ns[i]),
					   from->blocked_ns[i]);
	}
	num_sub_each(from->calls, earlier->calls, CLASS_END);
	if (from->open_ns)
		from->open_ns = from->close_ns - wall_ns;
	else
		from->close_ns = wall_ns;
	return late_ns;
}

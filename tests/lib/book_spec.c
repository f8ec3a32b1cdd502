// SPDX-License-Identifier: BSD-3-Clause
/* The rules of book_spec.h, each asked of the whole list, with no state carried along. */
#include "lib/book_spec.h"

#include <assert.h>

#include "base/num.h"

#define NONE ((size_t)-1)

/* ---- rule 1: numbers ---------------------------------------------------------------------- */

static bool is_off(const struct event *ev)
{
	return ev->kind == EVENT_OFF;
}

/* Rule 10: it shows what goes on. */
static bool is_reading(const struct event *ev)
{
	return is_off(ev) && !(ev->has & HAS_END);
}

static bool is_record(const struct event *ev)
{
	return (is_off(ev) && !is_reading(ev)) || (ev->kind >= EVENT_CALL && ev->kind <= EVENT_OPEN) || ev->kind == EVENT_EXIT ||
	       ev->kind == EVENT_TAIL || ev->kind == EVENT_LEFT;
}

/* Records that start a call. */
static bool names_call(const struct event *ev)
{
	return is_record(ev) && ev->kind != EVENT_EXIT && ev->kind != EVENT_TAIL;
}

static bool is_ended(const struct event *ev)
{
	return ev->kind == EVENT_CALL || ev->kind == EVENT_LEFT || ev->kind == EVENT_GONE ||
	       (is_off(ev) && !is_reading(ev));
}

struct numbers {
	bool accepted[SPEC_EVENTS_MAX];
	uint32_t missing[SPEC_EVENTS_MAX];	/* numbers skipped just before this record */
	bool enter_missing[SPEC_EVENTS_MAX];	/* the number just before it did not come */
	bool wrong[SPEC_EVENTS_MAX];		/* a reading that cannot be */
};

static const struct func *func_of(const struct spec_input *in, const struct event *ev)
{
	return ev->func < in->funcs->n ? &in->funcs->v[ev->func] : NULL;
}

static bool is_timeless(const struct spec_input *in, const struct event *ev)
{
	const struct func *fn = func_of(in, ev);

	if (is_off(ev))
		return (ev->off.reason >= OFF_REASON_END && (ev->off.reason != OFF_NO_END || is_reading(ev))) ||
		       ev->end_ns < ev->start_ns ||
		       ev->off.woken_ns > ev->end_ns - ev->start_ns;
	return !fn || fn->class >= CLASS_END ||
	       ((ev->kind == EVENT_CALL || ev->kind == EVENT_LEFT || ev->kind == EVENT_INSIDE) &&
		ev->end_ns < ev->start_ns);
}

/* Rule 9: `before` is what was accepted last. */
static bool is_accepted_inside(const struct spec_input *in, const struct event *before,
			       const struct event *ev)
{
	bool goes_on = before && before->kind == EVENT_INSIDE && before->func == ev->func &&
		       before->start_ns == ev->start_ns;

	if (ev->kind == EVENT_GONE)
		return goes_on;
	return ev->kind == EVENT_INSIDE && !is_timeless(in, ev) && (!before || goes_on);
}

static void number(const struct spec_input *in, struct numbers *out)
{
	uint32_t last = 0;
	bool last_came = true, exited = false;
	const struct event *before = NULL;

	*out = (struct numbers){ 0 };
	for (size_t i = 0; i < in->n; i++) {
		const struct event *ev = &in->events[i];
		uint32_t ahead = ev->seq - last;
		bool tail = ev->kind == EVENT_TAIL;

		if (is_accepted_inside(in, before, ev)) {
			out->accepted[i] = true;
			before = ev;
		}
		if (is_reading(ev) && !off_is_in_call(ev->off.reason) && !exited && !ahead) {
			out->wrong[i] = is_timeless(in, ev);
			out->accepted[i] = !out->wrong[i];
			before = out->wrong[i] ? before : ev;
			last_came = true;
		}
		if (!is_record(ev) || exited || ahead > INT32_MAX)
			continue;
		if (!ahead && ev->kind != EVENT_OPEN)
			continue;
		out->accepted[i] = true;
		before = ev;
		out->missing[i] = tail ? ahead : ahead ? ahead - 1 : 0;
		out->enter_missing[i] = out->missing[i] || !last_came;
		last = ev->seq;
		last_came = !tail;
		exited = ev->kind == EVENT_EXIT;
	}
}

/* ---- rules 2 and 3: calls that start ------------------------------------------------------- */

/* Or other evidence of one: INSIDE, GONE. */
static bool is_call(const struct spec_input *in, const struct numbers *num, size_t i)
{
	const struct event *ev = &in->events[i];

	return num->accepted[i] && ev->kind != EVENT_EXIT && ev->kind != EVENT_TAIL &&
	       !is_timeless(in, ev);
}

static size_t call_before(const struct spec_input *in, const struct numbers *num, size_t i)
{
	while (i-- > 0)
		if (is_call(in, num, i))
			return i;
	return NONE;
}

static bool continues(const struct spec_input *in, const struct numbers *num, size_t i)
{
	size_t before = call_before(in, num, i);
	const struct event *ev = &in->events[i], *open;

	if (before == NONE)
		return false;
	open = &in->events[before];
	if (is_ended(open) || ev->kind == EVENT_ENTER || ev->kind == EVENT_GONE ||
	    is_off(open) != is_off(ev))
		return false;
	return open->start_ns == ev->start_ns && (is_off(ev) || open->func == ev->func);
}

struct reach {
	uint64_t start[SPEC_EVENTS_MAX], end[SPEC_EVENTS_MAX];	/* of call i, clipped */
	uint64_t before[SPEC_EVENTS_MAX];	/* what had been reached when event i came */
	uint64_t stop;				/* as far as it could still be obeyed */
	uint64_t exit;
	bool exited;
};

static void reach(const struct spec_input *in, const struct numbers *num, struct reach *r)
{
	uint64_t reached = 0;

	*r = (struct reach){ .stop = UINT64_MAX, .exit = UINT64_MAX };
	for (size_t i = 0; i < in->n; i++) {
		const struct event *ev = &in->events[i];
		uint64_t known = num_max(reached, in->base);

		r->before[i] = reached;
		if (ev->kind == EVENT_STOP && r->stop == UINT64_MAX) {
			r->stop = num_max(ev->end_ns, known);
		} else if (ev->kind == EVENT_EXIT && num->accepted[i]) {
			r->exit = num_max(ev->end_ns, known);
			r->exited = true;
		}
		if (!is_call(in, num, i))
			continue;
		r->start[i] = num_max(num_min(num_max(ev->start_ns, in->base), r->stop), reached);
		if (ev->kind == EVENT_GONE)
			r->start[i] = num_max(num_min(num_max(ev->end_ns, in->base), r->stop),
					      reached);
		r->end[i] = r->start[i];
		if (ev->kind == EVENT_CALL || ev->kind == EVENT_LEFT || ev->kind == EVENT_INSIDE ||
		    is_off(ev))
			r->end[i] = num_max(num_min(num_max(ev->end_ns, in->base), r->stop),
					    r->start[i]);
		/* Its ENTER may have been clipped: it goes on from there. */
		if (continues(in, num, i))
			r->start[i] = reached;
		r->end[i] = num_max(r->end[i], r->start[i]);
		reached = r->end[i];
	}
}

/* ---- rules 4 and 5: gaps ------------------------------------------------------------------- */

/* Records that are missing (or timeless) between the call before i and i; i = n: the end. */
static uint64_t missing_before(const struct spec_input *in, const struct numbers *num, size_t i)
{
	size_t from = call_before(in, num, i);
	uint64_t n = 0;

	for (size_t j = from == NONE ? 0 : from + 1; j < in->n && j <= i; j++) {
		const struct event *ev = &in->events[j];

		if (!num->accepted[j])
			continue;
		n += num->missing[j];
		n += j < i && names_call(ev) && is_timeless(in, ev);
	}
	return n;
}

static uint64_t unknown_before(const struct spec_input *in, const struct numbers *num, size_t i)
{
	const struct event *ev = &in->events[i];
	bool no_time = num->enter_missing[i] && ev->kind != EVENT_ENTER &&
		       ev->kind != EVENT_LEFT && !is_off(ev) && func_of(in, ev)->two;

	return missing_before(in, num, i) - no_time;
}

/* What is between call i and the one before it, which it does not go on with. */
static unsigned int gap_before(const struct spec_input *in, const struct numbers *num, size_t i)
{
	size_t before = call_before(in, num, i);
	const struct event *last = before == NONE ? NULL : &in->events[before];

	if (unknown_before(in, num, i))
		return BUCKET_LOST;
	if (!last || is_ended(last))
		return CLASS_OTHER;
	if (in->events[i].kind == EVENT_GONE)
		return BUCKET_UNKNOWN;
	return last->kind == EVENT_INSIDE && !(last->has & HAS_END) ? BUCKET_UNKNOWN : BUCKET_LOST;
}

static void add(struct spec_book *b, uint64_t start, uint64_t end, unsigned int bucket)
{
	if (start < end) {
		assert(b->n < sizeof(b->segment) / sizeof(b->segment[0]));
		b->segment[b->n++] = (struct spec_segment){ start, end, bucket };
	}
}

/* ---- rule 8: unarmed ----------------------------------------------------------------------- */

/* Is ns, in a gap whose end became known with event `known`, unarmed? first: the first gap. */
static bool is_unarmed(const struct spec_input *in, uint64_t ns, size_t known, bool first)
{
	for (size_t i = 0; i < in->n; i++) {
		const struct event *ev = &in->events[i];

		if (ev->kind == EVENT_UNARMED && (first || i < known) && ev->start_ns <= ns &&
		    ns < ev->end_ns)
			return true;
	}
	return false;
}

/* The next time after ns at which an unarmed interval begins or ends. */
static uint64_t next_edge(const struct spec_input *in, uint64_t ns, uint64_t end)
{
	for (size_t i = 0; i < in->n; i++) {
		const struct event *ev = &in->events[i];

		if (ev->kind != EVENT_UNARMED)
			continue;
		if (ev->start_ns > ns)
			end = num_min(end, ev->start_ns);
		if (ev->end_ns > ns)
			end = num_min(end, ev->end_ns);
	}
	return end;
}

static void add_gap(const struct spec_input *in, struct spec_book *b, struct spec_segment gap,
		    size_t known, bool first)
{
	if (gap.bucket != CLASS_OTHER) {
		add(b, gap.start, gap.end, gap.bucket);
		return;
	}
	while (gap.start < gap.end) {
		uint64_t to = next_edge(in, gap.start, gap.end);

		add(b, gap.start, to, is_unarmed(in, gap.start, known, first) ? BUCKET_UNARMED :
			      CLASS_OTHER);
		gap.start = to;
	}
}

/* ---- rules 6 and 7 -------------------------------------------------------------------------- */

static size_t first_call(const struct spec_input *in, const struct numbers *num)
{
	for (size_t i = 0; i < in->n; i++)
		if (is_call(in, num, i))
			return i;
	return NONE;
}

static void open_and_close(const struct spec_input *in, const struct numbers *num,
			   const struct reach *r, struct spec_book *b)
{
	size_t first = first_call(in, num), last = call_before(in, num, in->n);
	uint64_t birth = 0, latest;

	b->close_ns = num_min(r->stop, r->exit);
	if (r->stop == UINT64_MAX && !r->exited)
		b->close_ns = in->now;
	b->close_ns = num_max(b->close_ns, num_max(in->base, last == NONE ? 0 : r->end[last]));
	for (size_t i = 0; i < in->n; i++)
		if (in->events[i].kind == EVENT_THREAD)
			birth = num_max(birth, in->events[i].start_ns);
	latest = first == NONE ? b->close_ns : r->start[first];
	b->open_ns = num_max(in->base, num_min(birth, latest));
}

static void count(const struct spec_input *in, const struct numbers *num, const struct reach *r,
		  struct book_counts *c)
{
	size_t first = first_call(in, num);
	uint64_t birth = 0;

	for (size_t i = 0; i < in->n; i++) {
		const struct event *ev = &in->events[i];
		uint64_t start = num_max(ev->start_ns, in->base), known = r->before[i], from, to;
		size_t before = call_before(in, num, i);

		c->lost += num->missing[i];
		if (is_record(ev) && ev->kind != EVENT_TAIL)
			c->invalid += !num->accepted[i] ||
				      (names_call(ev) && is_timeless(in, ev));
		c->invalid += num->wrong[i];
		if (ev->kind == EVENT_INSIDE && is_timeless(in, ev))
			c->invalid++;
		else if (ev->kind == EVENT_INSIDE || ev->kind == EVENT_GONE)
			c->late += !num->accepted[i];
		if (ev->kind == EVENT_THREAD)
			birth = num_max(birth, ev->start_ns);
		if (ev->kind == EVENT_EXIT && num->accepted[i] && before != NONE)
			c->skew += num_max(ev->end_ns, in->base) < known;
		if (i == first)
			known = birth;
		if (is_call(in, num, i) && !continues(in, num, i) && ev->kind != EVENT_GONE) {
			c->skew += start < known;
			c->abandoned += before != NONE && !is_ended(&in->events[before]) &&
					!is_off(&in->events[before]) &&
					!unknown_before(in, num, i) &&
					gap_before(in, num, i) == BUCKET_LOST;
		}
		if (ev->kind != EVENT_UNARMED || before == NONE)
			continue;
		from = num_max(ev->start_ns, r->start[first]);
		to = num_min(ev->end_ns, r->before[i]);
		c->late += from < to;
		c->late_ns += from < to ? to - from : 0;
	}
}

/* ---- rule 10: off the CPU ------------------------------------------------------------------- */

static unsigned int open_bucket(const struct spec_input *in, const struct event *ev)
{
	if (!is_off(ev))
		return func_of(in, ev)->class;
	return BUCKET_OFF_0 + (ev->off.woken_ns ? (unsigned int)OFF_RUNQUEUE : ev->off.reason);
}

static void add_call(const struct spec_input *in, const struct reach *r, size_t i,
		     struct spec_book *b)
{
	const struct event *ev = &in->events[i];
	uint64_t woken;

	if (!is_off(ev)) {
		add(b, r->start[i], r->end[i], func_of(in, ev)->class);
		return;
	}
	woken = num_min(num_max(num_min(num_max(ev->end_ns - ev->off.woken_ns, in->base), r->stop),
			   r->start[i]), r->end[i]);
	add(b, r->start[i], woken, ev->off.reason == OFF_NO_END ? BUCKET_LOST :
	    (unsigned int)BUCKET_OFF_0 + ev->off.reason);
	add(b, woken, r->end[i], BUCKET_OFF_0 + OFF_RUNQUEUE);
}

/* ---- rule 11: blocked ----------------------------------------------------------------------- */

/* What was said of call i, and by readings up to event `end`. */
static uint64_t said_blocked(const struct spec_input *in, const struct numbers *num, size_t i,
			     size_t end)
{
	bool inside = in->events[i].kind == EVENT_INSIDE;
	uint64_t ns = inside ? 0 : in->events[i].call.blocked_ns, start = in->events[i].start_ns;

	for (size_t j = i; j < end && !inside; j++) {
		const struct event *ev = &in->events[j];

		if (num->accepted[j] && ev->kind == EVENT_EXIT)
			break;
		if (is_reading(ev) && off_is_in_call(ev->off.reason) && ev->start_ns == start)
			ns = num_max(ns, ev->off.blocked_ns);
	}
	if (continues(in, num, i))
		ns = num_max(ns, said_blocked(in, num, call_before(in, num, i), i));
	return ns;
}

/* Of [start, end), as the end of the call says. */
static uint64_t said_late(const struct event *ev, uint64_t start, uint64_t end)
{
	uint64_t to = ev->end_ns - ev->call.after_late_ns, late = ev->call.late_ns;

	if (ev->call.late_why == OFF_STOPPED || ev->end_ns < late + ev->call.after_late_ns || num_max(start, to - late) > num_min(end, to))
		return 0;
	return num_min(end, to) - num_max(start, to - late);
}

static void count_blocked(const struct spec_input *in, const struct numbers *num,
			  const struct reach *r, struct spec_book *b)
{
	size_t last = call_before(in, num, in->n);

	for (size_t i = 0; i < in->n; i++) {
		const struct event *ev = &in->events[i];
		bool open = i == last && !is_ended(ev) && !missing_before(in, num, in->n) &&
			    (ev->kind != EVENT_INSIDE || ev->has & HAS_END);
		uint64_t ns = open ? b->close_ns - r->end[i] : r->end[i] - r->start[i];

		if (!is_call(in, num, i) || is_off(ev) || func_of(in, ev)->class == CLASS_OTHER ||
		    (!open && ev->kind != EVENT_CALL && ev->kind != EVENT_LEFT))
			continue;
		ns = num_min(said_blocked(in, num, i, open ? in->n : i), ns);
		b->blocked_ns[func_of(in, ev)->class] += ns;
		ns = open ? 0 : num_min(said_late(ev, r->start[i], r->end[i]), ns);
		b->late_ns[func_of(in, ev)->class] += ns;
	}
}

/* ---- the whole ------------------------------------------------------------------------------ */

void spec_book(const struct spec_input *in, struct spec_book *out)
{
	static struct numbers num;
	static struct reach r;
	uint64_t reached;
	size_t last;
	unsigned int bucket = CLASS_OTHER;

	assert(in->n <= SPEC_EVENTS_MAX);
	*out = (struct spec_book){ 0 };
	number(in, &num);
	reach(in, &num, &r);
	open_and_close(in, &num, &r, out);
	count(in, &num, &r, &out->counts);
	reached = out->open_ns;
	for (size_t i = 0; i < in->n; i++) {
		size_t before = call_before(in, &num, i);

		if (!is_call(in, &num, i))
			continue;
		if (!continues(in, &num, i))
			add_gap(in, out, (struct spec_segment){ reached, r.start[i],
				gap_before(in, &num, i) }, i, before == NONE);
		add_call(in, &r, i, out);
		reached = num_max(reached, r.end[i]);
	}
	last = call_before(in, &num, in->n);
	if (missing_before(in, &num, in->n))
		bucket = BUCKET_LOST;
	else if (last != NONE && in->events[last].kind == EVENT_INSIDE &&
		 !(in->events[last].has & HAS_END))
		bucket = BUCKET_UNKNOWN;
	else if (last != NONE && !is_ended(&in->events[last]))
		bucket = open_bucket(in, &in->events[last]);
	add_gap(in, out, (struct spec_segment){ reached, out->close_ns, bucket }, in->n,
		last == NONE);
	count_blocked(in, &num, &r, out);
}

void spec_sum(const struct spec_book *b, uint64_t from, uint64_t to, struct book_sum *sum)
{
	from = num_max(from, b->open_ns);
	to = num_max(num_min(to, b->close_ns), from);
	*sum = (struct book_sum){ .open_ns = from, .close_ns = to };
	for (size_t i = 0; i < b->n; i++) {
		uint64_t start = num_max(b->segment[i].start, from);
		uint64_t end = num_min(b->segment[i].end, to);

		if (start < end)
			sum->ns[b->segment[i].bucket] += end - start;
	}
}

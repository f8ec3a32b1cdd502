// SPDX-License-Identifier: BSD-3-Clause
/* What the scheduler tells of threads: into their books, and into their timelines for idle devices. */
#include <errno.h>

#include "base/num.h"
#include "ledger/model_state.h"

static void note_span(struct model *m, struct thread *t, uint64_t from, uint64_t to,
		      unsigned int bucket)
{
	timeline_add(&t->timeline, &m->timelines, &(struct timeline_span){
		.start_ns = from, .end_ns = to, .bucket = (uint8_t)bucket,
		.func = TIMELINE_NO_FUNC });
}

/* What the book made of it is between its cursor before and its cursor now. */
static void note_timeline(struct model *m, struct thread *t, uint64_t cursor_ns,
			  const struct event *ev)
{
	const struct book *b = &t->book;
	uint64_t start = num_min(num_max(ev->start_ns, cursor_ns), b->cursor);
	uint64_t woken = num_min(num_max(ev->end_ns - ev->off.woken_ns, start), b->cursor);

	if (b->last_gap != CLASS_OTHER)
		note_span(m, t, num_max(cursor_ns, b->base), start, b->last_gap);
	note_span(m, t, start, woken, bucket_of_off(ev->off.reason));
	note_span(m, t, woken, b->cursor, BUCKET_OFF_0 + OFF_RUNQUEUE);
}

/* As far as the session goes. */
static int add_row(struct model *m, const struct event *ev)
{
	uint64_t stop = m->session.stop_ns ? m->session.stop_ns : UINT64_MAX;
	uint64_t over = ev->end_ns - num_min(num_max(stop, ev->start_ns), ev->end_ns);
	struct event clipped = *ev;

	clipped.end_ns -= over;
	clipped.off.woken_ns -= num_min(over, ev->off.woken_ns);
	return ev->start_ns < stop ? offcpu_add(&m->offcpu, &clipped, m->session.interval_ns) : 0;
}

/* Has the book taken this reading? Not if records of its thread are still on their way. */
static bool is_told(const struct thread *t, const struct event *ev)
{
	return t->book.has_open && t->book.is_off && t->book.open_start == ev->start_ns;
}

int off_push(struct model *m, const struct event *ev)
{
	bool reading = !(ev->has & HAS_END);
	struct thread *t = reading ? who_known_thread(m, ev->pid, ev->tid) :
				     model_find_thread(m, ev, ev->start_ns);
	uint64_t cursor;
	unsigned int found;

	if (!t && !reading)
		return -ENOMEM;
	if (!t || !t->has_book || t->ended)
		return 0;
	cursor = t->book.cursor;
	found = book_push(&t->book, ev, NULL);
	model_note_found(m, ev->kind, found);
	if (found & BOOK_INVALID)
		return 0;
	if (t->book.cursor > cursor)
		note_timeline(m, t, cursor, ev);
	model_see_time(m, ev->end_ns);
	return reading && !is_told(t, ev) ? 0 : add_row(m, ev);
}

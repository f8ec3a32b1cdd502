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
	uint64_t woken = num_min(num_max(ev->end_ns - OFF_WOKEN_NS(ev), start), b->cursor);

	if (b->last_gap != CLASS_OTHER)
		note_span(m, t, num_max(cursor_ns, b->base), start, b->last_gap);
	note_span(m, t, start, woken, BUCKET_OFF_0 + ev->dir);
	note_span(m, t, woken, b->cursor, BUCKET_OFF_0 + OFF_RUNQUEUE);
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
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What book.c (events) and book_read.c (reading) share; for no other file. */
#ifndef LEDGER_BOOK_STATE_H
#define LEDGER_BOOK_STATE_H

#include "ledger/book.h"

/* Adds [from, to) to buckets; what would be `other` is split by the unarmed intervals (may be NULL). */
static inline void book_add(uint64_t *ns, const struct spans *unarmed, unsigned int bucket, uint64_t from,
			    uint64_t to)
{
	uint64_t blind;

	if (from >= to)
		return;
	blind = bucket == CLASS_OTHER ? spans_overlap(unarmed, from, to) : 0;
	ns[bucket] += to - from - blind;
	ns[BUCKET_UNARMED] += blind;
}

/* Calls that are seen at their entry only take no time: whatever they cost is outside of them. */
static inline void book_count(struct book *b, unsigned int class, const struct event *ev)
{
	b->calls[ev->end_ns > ev->start_ns ? class : (unsigned int)CLASS_OTHER]++;
}

/* What the open call, up to end, was off the CPU in this interval. */
uint64_t book_blocked(const struct book *b, uint64_t end);

/* A call was blocked for so long in [from, to), and as its event says late: but a stop is not that. */
static inline void book_add_blocked(struct book *b, unsigned int class, const struct event *ev,
				    uint64_t blocked_ns, uint64_t from, uint64_t to)
{
	b->blocked[class] += blocked_ns;
	if (blocked_ns && ev->call.late_why == OFF_RUNQUEUE && event_late(ev, &from, &to))
		b->late[class] += to - from < blocked_ns ? to - from : blocked_ns;
}

#endif

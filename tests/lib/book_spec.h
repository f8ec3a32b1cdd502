/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time book of a thread as a pure specification: a function of the complete list of its
 * events, in arrival order, that says for every nanosecond which bucket it is in. Slow and plain;
 * ledger/book is tested against it.
 *
 * The rules. A session begins at `base`.
 *  1. Records are CALL, ENTER, OPEN, LEFT, OFF (but see 10), EXIT and TAIL. A record whose number is not after the last one
 *     (a number may wrap) is out of order: invalid, as if it had not come. An OPEN may repeat
 *     the last number; a TAIL has no number of its own, it only says which was the last. After an
 *     EXIT nothing comes. Numbers that were skipped are lost events.
 *  2. A CALL or LEFT of no known function, or that ends before it starts, is invalid: when it was is not
 *     known, as if it had been lost, but it is not counted as lost.
 *  3. Every other CALL, ENTER, OPEN, LEFT is a call that starts. Times are clipped to the session, and to
 *     what the calls before had reached (counted: skew). A call reaches to its end, or to its
 *     start while it is open.
 *  4. A call that is the same (function, start) as the open call before it goes on with it:
 *     nothing is between them. Otherwise the time between what had been reached and its start
 *     is a gap: `lost` if records are missing there (but the ENTER just before a CALL or OPEN of a
 *     `two` function covers no time), or if the call before was open (counted: abandoned, unless
 *     records are missing; but see 9); else `other`.
 *  5. The last gap ends when the book closes; it belongs to the call that is open, if no record is
 *     missing.
 *  6. The book closes at the stop or the exit, whichever is first, or at `now` without either; but
 *     not before what had been reached when that became known (exit: skew).
 *  7. The book opens at the session's start or the thread's birth (the latest that was said),
 *     whichever is later, but not after the first call starts.
 *  8. `other` is `unarmed` where an unarmed interval is, if the interval came before the end of
 *     that gap was known, or if the gap is the first; else it is counted late.
 *  9. INSIDE and GONE have no number. An INSIDE before which nothing was accepted, or only INSIDEs of
 *     the same call (function, start), is a call that reaches to its end and stays open; one of no
 *     known function, or that ends before it starts, is invalid. A GONE after such INSIDEs ends
 *     the call; what is between them is `unknown`. Any other INSIDE or GONE adds nothing (counted:
 *     late). What follows an INSIDE without HAS_END up to the next call or the close is
 *     `unknown`, unless records are missing, and it is not abandoned.
 * 10. An OFF is a call that starts and ends (rule 3), of no function: of its reason, and from woken on
 *     `runqueue`. One of no known reason, or that ends before it starts or was woken, is invalid as
 *     in 2; OFF_NO_END is `lost`, but not without HAS_END. Without HAS_END it has no number: it counts when its own is the last one, reaches to its
 *     end and stays open there (`runqueue` if it was woken); an OFF that starts when it did goes on
 *     with it; and it is not abandoned.
 * 11. Of a call, so much is blocked as its end, its OPEN or a reading (OFF_CALL, OFF_CALL_STOPPED) of it says, the most
 *     of these, but not more than the call has. So much of that is late as its end says of the time
 *     that it has.
 * Kind 0 is no event.
 */
#ifndef TESTS_BOOK_SPEC_H
#define TESTS_BOOK_SPEC_H

#include "event/event.h"
#include "ledger/thread_book.h"

struct spec_segment {
	uint64_t start, end;
	unsigned int bucket;
};

struct spec_input {
	const struct event *events;	/* of one thread, and THREAD, UNARMED, STOP */
	size_t n;
	const struct funcs *funcs;
	uint64_t base, now;
};

#define SPEC_EVENTS_MAX 256

struct spec_book {
	uint64_t open_ns, close_ns;
	struct spec_segment segment[16 * SPEC_EVENTS_MAX];
	size_t n;
	uint64_t blocked_ns[CLASS_END];
	uint64_t late_ns[CLASS_END];
	struct book_counts counts;	/* late, late_ns: of unarmed intervals */
};

void spec_book(const struct spec_input *in, struct spec_book *out);

/* The part of it in [from, to). */
void spec_sum(const struct spec_book *b, uint64_t from, uint64_t to, struct book_sum *sum);

#endif

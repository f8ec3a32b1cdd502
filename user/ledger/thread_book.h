/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time book of one thread, streaming: every nanosecond between open and close is in exactly
 * one bucket, whatever the events are. Knows nothing of processes, statistics or tables.
 * The same in plain words, over a complete list of events: tests/lib/book_spec.c.
 *
 * Examples; a session of [0, 100), `one` calls L (launch), `two` calls S (sync), times as
 * #seq kind [start, end]:
 *
 *   #1 L [10,15]  #2 L [20,25]                 other 90, launch 10
 *   #1 L [10,15]  #3 L [40,45]                 one lost between 15 and 40: lost 25
 *   #2 enter S 30  #3 S [30,50]                the first event was lost before 30: lost 30
 *   #1 L [10,15]  #3 S [30,50]                 only S's enter is missing: no time is unknown
 *   #1 enter S 30                              sync 70: open until the book closes
 *   #1 enter S 30  #2 L [60,65]                S was left without a return: lost 30, abandoned
 *   #1 L [10,15]  tail #4                      three lost at the end: lost 85
 *   #1 L [10,15]  tail #4  open #4 S since 70  lost 55 up to 70, then sync 30
 *   #1 enter S 30  exit #2 at 80               killed inside: sync 50, wall 80
 *   birth 40, #1 L [50,60]                     wall 60; unarmed [0,45) makes 5 of it unarmed
 *
 * A call that began before the session; `watched`: its return will be seen:
 *
 *   inside S [0,20]                            sync 20, then unknown 80: it may have returned
 *   inside S [0,20], inside S [0,60]           sync 60, unknown 40
 *   inside S [0,20], #1 L [60,65]              sync 20, unknown 40, launch 5, other 35
 *   inside S [0,20], gone by 50                sync 20, unknown 30, other 50
 *   inside S [0,20] watched                    sync 100: until the book closes
 *   inside S [0,20] watched, #1 left S at 50   sync 50, other 50
 *
 * Off the CPU outside calls (ready to run is `runqueue`), and inside:
 *
 *   #1 off lock [10,40] woken 5  #2 L [50,55]  lock 25, runqueue 5, launch 5, other 65
 *   #1 L [0,5]  off still sleep [20,60]        sleep 80: until the book closes
 *   #1 L [0,5]  #3 off lock [40,50]            lost 35, lock 10, other 50
 *   #1 L [0,5]  #2 off no-end [40,50]          lost 10, other 85
 *   #1 enter S 30  #2 S [30,90] blocked 50     sync 60, of which blocked 50
 *   the same, late 20, 5 after it              and of these late 20: [65,85)
 *
 * Order that makes it exact (anything else is survived and counted): STOP before events that
 * reach beyond it; a thread's TAIL before its OPEN; its INSIDE before all that has a number.
 */
#ifndef LEDGER_THREAD_BOOK_H
#define LEDGER_THREAD_BOOK_H

#include <stdbool.h>

#include "event/event.h"
#include "ledger/bins.h"
#include "ledger/thread_bucket.h"
#include "base/intervals.h"

/* The errors of one event. INVALID: out of order, of no known function, or it ends before it
 * starts; not to be counted as a call. */
#define BOOK_INVALID 0x01
#define BOOK_SKEW 0x02		/* overlaps the event before: clipped */
#define BOOK_LATE 0x04		/* its state is over or known better (INSIDE, GONE); unarmed time
				 * that is booked already */

struct book {
	uint64_t ns[BUCKET_END];	/* without the head and the current gap */
	uint64_t blocked[CLASS_END];	/* of these, in calls that returned */
	uint64_t late[CLASS_END];	/* of these, ready without a CPU, the last time in each */
	uint64_t calls[CLASS_END];	/* see struct book_sum */
	uint64_t open_blocked;		/* of the open call: so far */
	uint32_t unseen;	/* classes with calls that began before: blocked is unknown */
	uint64_t base;		/* session start */
	uint64_t birth;		/* 0: unknown */
	uint64_t head_end;	/* start of the first call: time before it is booked last */
	uint64_t cursor;	/* end of the last known thing */
	uint64_t stop, exit;	/* UINT64_MAX: unknown */
	uint64_t hole;		/* records missing after cursor */
	uint64_t open_start;	/* the call that has not returned, as it was reported */
	const struct intervals *unarmed;
	struct bins *bins;	/* get all that goes into ns, by enum bucket; NULL: none */
	struct book_counts counts;
	uint32_t seq;		/* the last number seen */
	uint16_t open_func;
	uint8_t open_class;
	uint8_t last_gap;	/* enum bucket: the time before the last call */
	bool has_head, head_lost, has_open, seq_missing, has_exit;
	bool is_off;		/* the open span is no call: the thread is off the CPU */
	bool before;		/* the open call began before it could be seen (INSIDE) */
	bool inside, watched;	/* nothing came since its INSIDE; its return will be seen */
};

/* unarmed: intervals of the thread's process, read when gaps are booked; may be NULL. */
void book_init(struct book *b, uint64_t session_start_ns, const struct intervals *unarmed);

/* One event with a seq: CALL, ENTER, OPEN, LEFT (fn: its function, NULL: unknown), TAIL, EXIT, OFF
 * (fn unused); or INSIDE, GONE. Returns BOOK_* bits. */
unsigned int book_push(struct book *b, const struct event *ev, const struct func *fn);

/* Is all of [start, end) booked? Later events do not change it. */
bool book_has(const struct book *b, uint64_t start_ns, uint64_t end_ns);

/* Moves ns of booked `other` to class: a late record shows such a call in [start, end). */
void book_call(struct book *b, unsigned int class, uint64_t ns, uint64_t start_ns,
	       uint64_t end_ns);

void book_birth(struct book *b, uint64_t start_ns);	/* 0: still unknown */
void book_stop(struct book *b, uint64_t end_ns);	/* the session has ended */

/* The thread's number went to another thread born at end_ns: its exit was lost. */
void book_replace(struct book *b, uint64_t end_ns);

/* The bucket of the time after the cursor: an open call's class, other, lost, unknown. */
unsigned int book_now(const struct book *b);

/* [start, end) was added to unarmed: its part that is booked already is counted late. */
unsigned int book_unarmed(struct book *b, uint64_t start_ns, uint64_t end_ns);

/* As it stands if it closed at now (without stop or exit before). bins: a copy of the book's, which
 * gets what is not in ns yet; NULL: not wanted. */
void book_read_bins(const struct book *b, uint64_t now_ns, struct book_sum *sum, struct bins *bins);
static inline void book_read(const struct book *b, uint64_t now_ns, struct book_sum *sum)
{
	book_read_bins(b, now_ns, sum, NULL);
}

#endif

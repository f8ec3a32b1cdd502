/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The book of one process on one device, streaming: over the union of its lanes, every nanosecond
 * between open and close is owned by one work or lies in one gap. Knows nothing of kernels' names,
 * of the buckets' meaning, or of why a device idles: gaps go to the caller, with the work that
 * ended them. The same in plain words, over a complete list of works: tests/lib/device_spec.h.
 *
 * Of the works that run at a moment, those of the first state in the order of enum work_state win,
 * and of these the one that started first owns it (ties: the lower lane, then the lower id).
 *
 * Examples; a book of [0, 100), K a kernel, N a communication, C a copy, as bucket lane [start,
 * end):
 *
 *   K 1 [10,30)  K 2 [20,50)         K owns 40, busy 50, overlapped 10; gaps [0,10) [50,100)
 *   K 1 [10,30)  N 2 [0,50)          N owns [0,10) and [30,50), of 50 busy 20 are hidden
 *   C 1 [10,20)  C 2 [10,30)         lane 1 owns [10,20), lane 2 [20,30)
 *   K 1 [10,30)  K 1 [30,40)         no gap between them
 *   K 1 [90,130) at 100              owns 10 and is busy 10 until the book is read again
 *   settled to 90, then K 1 [30,95)  owns 65: the gap had not ended, so it was not reported
 *   K 1 [10,50), settled to 90, then K 1 [30,95)    owns 85, busy 105; late is [30,50)
 */
#ifndef LEDGER_DEVICE_BOOK_H
#define LEDGER_DEVICE_BOOK_H

#include <stddef.h>
#include <stdint.h>

#include "ledger/device_work.h"

struct device_book;

/* Works that all books with it may still keep waiting, beside the first few of each. */
struct device_room {
	size_t left;
};

/* room NULL: as much as there is memory. lanes NULL: none; else they get every work when it is
 * pushed, and when it begins. NULL + errno. */
struct lanes;
struct device_book *device_book_new(uint64_t open_ns, struct device_room *room,
				    struct lanes *lanes);
void device_book_free(struct device_book *b);

/* Gives back the memory that it and its lanes do not need while nothing comes. */
void device_book_trim(struct device_book *b);

/* In any order of starts that are not settled yet, or lie in a gap that has not ended: it is
 * settled up to there again. While it is not full. 0 or -ENOMEM: then it is not booked. */
int device_book_push(struct device_book *b, const struct device_work *work);

/* The call became known of the launch by that thread with that id: works that wait and began
 * after since_ns get the call of `of`. */
void device_book_call(struct device_book *b, const struct device_work *of, uint64_t since_ns);

/* 0: the queue has room. Else settle up to there, though works before that may come yet. */
uint64_t device_book_crowded(const struct device_book *b);

/* Every work that starts before horizon_ns has been pushed: time before it is settled, and goes to
 * the sink, a gap once, when it has ended. 0 or -ENOMEM: it is settled as far as memory allowed. */
int device_book_settle_to(struct device_book *b, uint64_t horizon_ns,
			  const struct device_sink *sink);
static inline int device_book_settle(struct device_book *b, uint64_t horizon_ns, device_gap_fn fn,
				     void *ctx)
{
	return device_book_settle_to(b, horizon_ns, &(struct device_sink){ fn, NULL, ctx });
}

/* As it stands if it closed at now, with all that was pushed. The sink gets the time that it has
 * not got yet, and the last gap; both come again later. 0 or -ENOMEM.
 *
 * DEVICE_BOOK_SETTLED: the settled part, up to read_until_ns (below). A gap that nothing has ended
 * yet is left for later; but if it is longer than DEVICE_GAP_NS it is read as far as it is settled,
 * and goes to fn, ended by nothing: so that a device that does nothing for long is not left out. */
#define DEVICE_BOOK_SETTLED 0
#define DEVICE_GAP_NS 100000000ull
int device_book_read_to(const struct device_book *b, uint64_t now_ns, struct device_sum *sum,
			const struct device_sink *sink);
static inline int device_book_read(const struct device_book *b, uint64_t now_ns,
				   struct device_sum *sum, device_gap_fn fn, void *ctx)
{
	return device_book_read_to(b, now_ns, sum, &(struct device_sink){ fn, NULL, ctx });
}

struct device_progress {
	uint64_t settled_ns;		/* so far */
	uint64_t idle_since_ns;		/* nothing runs there since, or the same; it never sinks */
	uint64_t read_until_ns;		/* where DEVICE_BOOK_SETTLED closes it */
	uint64_t last_ns;		/* when the last of its works ends; 0: there was none */
	size_t waiting;			/* works that are not settled */
	struct device_counts counts;
};
struct device_progress device_book_progress(const struct device_book *b);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The book of one process on one device, streaming: over the union of its lanes, every
 * nanosecond between open and close is owned by one work or lies in one gap. Knows nothing of
 * kernels' names, of the buckets' meaning, or of why a device idles: gaps go to the caller, with
 * the work that ended them. The same in plain words, over a complete list of works:
 * tests/lib/device_spec.h.
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
 *   K 1 [10,50), settled to 90, then K 1 [30,95)    owns 85; late is [30,50)
 */
#ifndef LEDGER_DEVICE_BOOK_H
#define LEDGER_DEVICE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ledger/device_work.h"

struct device_book;

/* Works that all books with it may still keep waiting, beside the first few of each. */
struct device_room {
	size_t left;
};

/* room NULL: as much as there is memory. NULL + errno. */
struct device_book *device_book_new(uint64_t open_ns, struct device_room *room);

/* Called for every booked work: when it is pushed, and in the order in which they begin, when
 * that is settled. They return 0 or an error, which push or settle return. */
struct device_watch {
	int (*pushed)(void *ctx, const struct device_work *work);
	int (*begun)(void *ctx, const struct device_work *work);
	void *ctx;
};
void device_book_watch(struct device_book *b, const struct device_watch *watch);
void device_book_free(struct device_book *b);

/* Gives back the memory that it does not need while nothing comes. */
void device_book_trim(struct device_book *b);

/* In any order of starts that are not settled yet, or lie in a gap that has not ended: it is
 * settled up to there again. While it is not full. 0 or -ENOMEM: then it is not booked. */
int device_book_push(struct device_book *b, const struct device_work *work);

/* The call became known of the launch by that thread with that id: works that wait and began
 * after since_ns get the call of `of`. */
void device_book_call(struct device_book *b, const struct device_work *of, uint64_t since_ns);

/* The queue is full. Then settle up to device_book_crowded, though works before that may come
 * yet. */
bool device_book_full(const struct device_book *b);
uint64_t device_book_crowded(const struct device_book *b);

/* Every work that starts before horizon_ns has been pushed: time before it is settled, its gaps
 * are given to fn (may be NULL) in order of time, each once, when they have ended. 0 or -ENOMEM:
 * it is settled as far as memory allowed. */
int device_book_settle(struct device_book *b, uint64_t horizon_ns, device_gap_fn fn, void *ctx);

/* As it stands if it closed at now, with all that was pushed. fn gets the gaps that were not given
 * out yet, and the last one; they come again later. 0 or -ENOMEM. */
int device_book_read(const struct device_book *b, uint64_t now_ns, struct device_sum *sum,
		     device_gap_fn fn, void *ctx);

/* How far it is settled, and since when nothing runs there (or: the same); only the latter never
 * goes back. */
uint64_t device_book_settled(const struct device_book *b);
uint64_t device_book_idle_since(const struct device_book *b);

/* The same of the settled part, which will not change. A gap that nothing has ended yet is left
 * for later, but if it is older than the interval: then all of the interval lies in it, and it
 * goes to fn, ended by nothing. */
void device_book_read_settled(const struct device_book *b, struct device_sum *sum,
			      device_gap_fn fn, void *ctx);

/* device_book_read_settled's present result was an interval; sums are of the next from now on.
 * So the sums of all intervals and of the last reading are those of a book that was never cut. */
void device_book_cut(struct device_book *b);

/* When the last of its works ends; 0: there was none. */
uint64_t device_book_last(const struct device_book *b);

void device_book_counts(const struct device_book *b, struct device_counts *out);
size_t device_book_waiting(const struct device_book *b);	/* works that are not settled */

#endif

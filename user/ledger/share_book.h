/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The book of one device over all watched processes, streaming: its owner, several at once,
 * others that are not watched, or none. Takes the spans of each process's own book on the
 * device; knows no works, names or causes. In plain words: tests/lib/share_spec.h.
 *
 * A process (a member) runs, or waits (its next work is queued), or is unseen, or none of these.
 * Where one runs it owns the moment; where several do it is shared; where none does, but one is
 * unseen, the moment is unknown; else where another process was on the device it is unwatched;
 * else idle. A member's wait while another ran is summed beside.
 *
 * Examples; a book of [0, 100), A and B members:
 *
 *   A runs [10,30)   B runs [40,60)              A owns 20, B owns 20, idle 60
 *   A runs [10,40)   B runs [30,60)              A owns 20, B owns 20, shared 10, idle 50
 *   A runs [10,40)   B waits [20,40) runs [40,50)    A owns 30, B owns 10 and waited 20 for others
 *   A runs [10,40)   others from 30 to 70        A owns 30, unwatched 30, idle 40
 *   A runs [10,40)   B unseen [30,60)            A owns 30, unknown 20, idle 50
 *
 * It opens when the first of its members did, in whatever order they join:
 *
 *   opened at 50, A runs [60,70), settled to 80;
 *   opened at 0, B runs [10,20)                  A owns 10, B owns 10, idle 80
 */
#ifndef LEDGER_SHARE_BOOK_H
#define LEDGER_SHARE_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum share_state { SHARE_RUNS, SHARE_WAITS, SHARE_UNSEEN, SHARE_STATES };

struct share_span {
	uint64_t start_ns, end_ns;
	uint8_t state;			/* enum share_state */
};

struct share_sum {		/* all of these, and owned summed over members: close - open */
	uint64_t open_ns, close_ns;
	uint64_t shared_ns, unknown_ns, unwatched_ns, idle_ns;
};

struct share_member {
	uint64_t owned_ns;
	uint64_t waited_ns;		/* while at least one other ran */
};

struct share_book;

/* spans of one member; the book goes on without members that are behind */
#define SHARE_WAITING_MAX 65536

struct share_book *share_book_new(uint64_t open_ns);	/* NULL + errno */
struct share_book *share_book_copy(const struct share_book *b);	/* NULL + errno */
void share_book_free(struct share_book *b);

/* A member to come opened before it did: so does it, too, but not before the last cut. 0 or
 * -ENOMEM. */
int share_book_open(struct share_book *b, uint64_t open_ns);

int share_book_join(struct share_book *b);	/* the new member's number: 0, 1, ...; or -ENOMEM */

/* The member is gone, and its number the next one's. Its owned time is forgotten: cut before. */
void share_book_leave(struct share_book *b, size_t member);

/* Is all of the member's time settled? Then it may leave to another one, which takes its owned
 * and waited time. */
bool share_book_is_over(const struct share_book *b, size_t member);
void share_book_leave_to(struct share_book *b, size_t member, size_t successor);

/* The settled part was an interval: sums are of the next from now on. */
void share_book_cut(struct share_book *b);

/* In order of time, and apart from each other. Time settled already is clipped and counted as
 * late. 0 or -ENOMEM. */
int share_book_add(struct share_book *b, size_t member, const struct share_span *span);

/* From at_ns on others are on the device, or are not; in order of time. They are until no sample
 * confirms it any more (until_ns). 0 or -ENOMEM. */
int share_book_others(struct share_book *b, uint64_t at_ns, bool present, uint64_t until_ns);

/* That is known up to horizon_ns, and waited for; UINT64_MAX, as at first: not sampled. */
void share_book_settle_others(struct share_book *b, uint64_t horizon_ns);

/* All that the member did before horizon_ns has been added; UINT64_MAX: it is not waited for. */
void share_book_settle(struct share_book *b, size_t member, uint64_t horizon_ns);
void share_book_settle_all(struct share_book *b, uint64_t horizon_ns);	/* of every member */

/* As far as it is settled: share_book_settle_all on a copy reads on. */
void share_book_sum(const struct share_book *b, struct share_sum *sum);
size_t share_book_members(const struct share_book *b);
size_t share_book_waiting(const struct share_book *b);	/* spans that are not settled */
struct share_member share_book_member(const struct share_book *b, size_t member);
uint64_t share_book_late_ns(const struct share_book *b);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices of the host, by any ordinal: a process's device joins the one of its UUID, and its
 * own book's spans go into the book of the device's owners. Knows no works and no calls; a
 * device of unknown UUID is one of its own.
 */
#ifndef LEDGER_HOST_DEVICES_H
#define LEDGER_HOST_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "event/event.h"
#include "facts/samples.h"
#include "ledger/device_book.h"
#include "ledger/stalls.h"
#include "ledger/unseen.h"

/*
 * The book of one device over all watched processes, streaming: its owner, several at once,
 * others that are not watched, or none. Takes the spans of each process's own book on the
 * device; knows no works, names or causes. In plain words: tests/lib/share_spec.h.
 *
 * A process (a member) runs, or waits (its next work is queued), or is unseen, or none of these.
 * Where one runs it owns the moment; where several do it is shared; where none does, but one is
 * unseen, the moment is unknown; else where another process was on the device it is unwatched;
 * else idle. A member's wait while another ran is summed beside, and how long its gaps between two
 * runs were and the device was idle in them.
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
	uint64_t gaps_ns;		/* neither ran nor was unseen, from its first run to its
					 * last */
	uint64_t gaps_idle_ns;		/* of that, the device was idle */
};

struct share_book;

/* spans of one member; the book goes on without members that are behind */
#define SHARE_WAITING_MAX 65536

void share_book_free(struct share_book *b);

/* Is all of the member's time settled? Then it may leave to another one, which takes its owned
 * and waited time. */
bool share_book_is_over(const struct share_book *b, size_t member);

/* As far as it is settled. */
void share_book_sum(const struct share_book *b, struct share_sum *sum);
struct share_member share_book_member(const struct share_book *b, size_t member);

/* Divides gaps: adds each nanosecond to one cause, and losses to stalls; that is NULL where not
 * wanted, or nothing was known before the gap. 0 or -ENOMEM. */
struct devices_divide {
	int (*divide)(void *ctx, uint32_t process, const struct device_gap *gap, uint64_t *ns,
		      struct stalls *stalls);
	uint64_t (*exit_ns)(void *ctx, uint32_t process);	/* 0: it goes on; NULL: all do */
	/* NULL, or it gives NULL: nothing is */
	const struct unseen *(*unseen)(void *ctx, uint32_t process);
	/* host_devices_settle_all: until gaps have ended, where a device has few processes */
	bool waits;
	/* Strips (ledger/strip.h): time in no call may be anything, so it is unknown. NULL: no */
	const bool *other_is_unknown;
	/* devices_read: the member's waited_ns of a host_device_read at that time; NULL: it makes
	 * one */
	const uint64_t *waited_ns;
	void *ctx;
};

/* A process's device as a member of the host's device. */
struct host_member {
	uint32_t process, pid;		/* handle; as it is shown */
	uint32_t device;		/* the process's own ordinal */
	struct device_book *book;	/* its own; NULL: it stands for ended processes */
	const char *name;		/* of the device, "": unknown */
	struct host_device *host;	/* NULL: it has not joined */
	size_t number;			/* in the host device's book */
	uint64_t reported_ns;		/* until then that book knows when it ran */
};

struct host_device {
	char uuid[DEVICE_UUID_LEN + 8];	/* "": unknown */
	struct share_book *book;
	VEC(struct host_member *) members;	/* by their numbers in the book */
};

struct host_devices {
	VEC(struct host_device *) all;
	uint64_t late_ns;		/* of books that are no more */
};

void host_devices_free(struct host_devices *h);

/* The process's device has a UUID, or (NULL) is used without a known one. The book of the host's
 * opens when the first of theirs did. One that stands for ended processes is not waited for. 0 or
 * -ENOMEM. */
int host_devices_join(struct host_devices *h, struct host_member *s, const char *uuid,
		      uint64_t open_ns);

/* The process is gone: its number is another's from now on. Its spans must be cut off before. Those
 * it had are the successor's, if that is of the same host device, and (share_book_is_over) it is
 * over; successor NULL: they are forgotten. */
void host_devices_leave(struct host_devices *h, struct host_member *s,
			const struct host_member *successor);

/*
 * A sample of the device that began at from_ns: a process that was on it all the time, and is not
 * one of those whose works are reported, had it when none of these did, but for samples in which no
 * kernel ran. wait: the owner before the next sample is not settled without it. 0 or -ENOMEM.
 */
int host_devices_sample(struct host_devices *h, const struct sampled_device *d, uint64_t from_ns,
			bool wait);

/* Where the member's book closes at the latest: at its process's exit, but not before its last work
 * ends. */
uint64_t host_member_end(const struct host_member *m, const struct devices_divide *by);

uint64_t host_devices_late_ns(const struct host_devices *h);	/* of all books, ever */

/* A gap of the process's own book, at whose end its next work was queued for queued_ns (by: the
 * unseen part of it; NULL: none); and how far that book is settled. over: nothing more will come,
 * the unseen part of its last gap is not left for the gap's end; else NULL. 0 or -ENOMEM. */
int host_device_gap(struct host_member *s, const struct device_gap *gap, uint64_t queued_ns,
		    const struct devices_divide *by);
int host_device_settled(struct host_member *s, const struct devices_divide *over);

/* A process further behind than this is not waited for; but (by->waits) few are until a gap has
 * ended. 0 or -ENOMEM. */
int host_devices_settle_all(struct host_devices *h, uint64_t horizon_ns,
			    const struct devices_divide *by);

/* The device's book as it stands if it closed at now, or (DEVICE_BOOK_SETTLED) as far as that goes:
 * the caller's, for share_book_free. NULL + errno. */
struct share_book *host_device_read(const struct host_device *h, uint64_t now_ns,
				    const struct devices_divide *by);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The devices of the host, by any ordinal: a process's device joins the one of its UUID, and its
 * own book's spans go into the book of the device's owners. Knows no works and no calls; a
 * device of unknown UUID is one of its own.
 */
#ifndef LEDGER_HOST_DEVICES_H
#define LEDGER_HOST_DEVICES_H

#include "base/map.h"
#include "base/vec.h"
#include "event/event.h"
#include "facts/samples.h"
#include "ledger/device_book.h"
#include "ledger/stalls.h"
#include "ledger/share_book.h"
#include "ledger/unseen.h"

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
	void *ctx;
};

struct host_device;

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
 * opens when the first of theirs did. 0 or -ENOMEM. */
int host_devices_join(struct host_devices *h, struct host_member *s, const char *uuid,
		      uint64_t open_ns);

/* The process is gone: its number is another's from now on. Its spans must be cut off before. */
void host_devices_leave(struct host_devices *h, struct host_member *s);

/* The same, and its spans are the successor's from now on, of the same host device. Only when it
 * is over (share_book_is_over). */
void host_devices_leave_to(struct host_devices *h, struct host_member *s,
			   const struct host_member *successor);

/*
 * A sample of the device that began at from_ns: a process that was on it all the time, and is
 * not one of those whose works are reported, had it when none of these did, but for samples in
 * which no kernel ran. wait: the owner before the next sample is not settled without it. 0 or
 * -ENOMEM.
 */
int host_devices_sample(struct host_devices *h, const struct sampled_device *d, uint64_t from_ns,
			bool wait);

/* Where the member's book closes at the latest: at its process's exit, but not before its last work
 * ends. */
uint64_t host_member_end(const struct host_member *m, const struct devices_divide *by);

uint64_t host_devices_late_ns(const struct host_devices *h);	/* of all books, ever */

/* share_book_cut, of all */
static inline void host_devices_cut(struct host_devices *h)
{
	for (size_t i = 0; i < h->all.n; i++)
		share_book_cut(h->all.v[i]->book);
}

/* A gap of the process's own book, at whose end its next work was queued for queued_ns (by: the
 * unseen part of it; NULL: none); and how far that book is settled. 0 or -ENOMEM. */
int host_device_gap(struct host_member *s, const struct device_gap *gap, uint64_t queued_ns,
		    const struct devices_divide *by);
int host_device_settled(struct host_member *s);

/* Nothing ran since that was last reported: its unseen part up to until_ns is not left for the
 * gap's end. 0 or -ENOMEM. */
int host_device_idle(struct host_member *s, uint64_t until_ns, const struct devices_divide *by);

/* A process further behind than this is not waited for; but (by->waits) few are until a gap has
 * ended. 0 or -ENOMEM. */
int host_devices_settle_all(struct host_devices *h, uint64_t horizon_ns,
			    const struct devices_divide *by);

/* The device's book as it stands if it closed at now: the caller's, for share_book_free. NULL +
 * errno. */
struct share_book *host_device_read(const struct host_device *h, uint64_t now_ns,
				    const struct devices_divide *by);

#endif

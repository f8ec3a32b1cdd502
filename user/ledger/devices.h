/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The activity of each process on each of its devices: a book of every nanosecond, and statistics
 * of its kernels and copies. Bounded: grows with processes and devices, and with names of kernels
 * up to KERNELS_BUDGET_BYTES; never with works. Knows nothing of calls; idle.h divides gaps.
 */
#ifndef LEDGER_DEVICES_H
#define LEDGER_DEVICES_H

#include <stdbool.h>

#include "event/event.h"
#include "facts/kernels.h"
#include "join/join.h"
#include "ledger/bins.h"
#include "ledger/device_bucket.h"
#include "ledger/host_devices.h"
#include "ledger/idle.h"
#include "ledger/lanes.h"
#include "ledger/stalls.h"
#include "ledger/strip.h"

struct copy_stats {
	uint64_t count, bytes, total_ns;
};

/* One device of one process, or (member.book NULL) of all exited ones: statistics of its works. */
struct device_state {
	uint32_t process, pid;		/* handle; as it is shown */
	uint32_t device;		/* the process's own ordinal */
	uint32_t ordinal;		/* the same; of ended processes, the first one's */
	bool has_facts;
	struct device_facts facts;
	char name[64];			/* "": unknown */
	struct host_member member;	/* its book, its place in the host's device's */
	uint64_t idle_ns[IDLE_CAUSES];	/* of gaps that are settled */
	struct stalls stalls;		/* the same gaps, without the first */
	struct strip strip;		/* the same gaps, all of them */
	struct bins *bins;		/* see devices_use_bins; NULL: none */
	struct kernels kernels;
	struct lanes lanes;
	/* By direction (the last: between devices) and by enum work_memory. */
	struct copy_stats copies[COPY_DEFAULT + 2][3];
	struct copy_stats sets;
};

struct devices;
struct devices *devices_new(void);	/* NULL + errno */
void devices_free(struct devices *d);

/* Before the first: BINS_BOOKS of them have bins, of buckets and (behind them) of idle causes. */
void devices_use_bins(struct devices *d, const uint64_t *session_start_ns);

bool devices_have(const struct devices *d, uint32_t process, uint32_t device);

/* open_ns: where a book that this event opens begins, of no use if they have it; launch NULL:
 * unknown. 0 or -ENOMEM. */
int devices_push_work(struct devices *d, const struct event *ev, const struct launch *launch,
		      uint64_t open_ns);
int devices_push_facts(struct devices *d, const struct event *ev, uint64_t open_ns);

/* The call of a launch became known after its works. */
void devices_push_call(struct devices *d, uint32_t process, uint32_t correlation,
		       const struct launch *launch);

/* Divides gaps of works that did not fit into the queue (device_book_crowded). */
void devices_when_crowded(struct devices *d, const struct devices_divide *by);

/* All works of process before horizon_ns have come, and its threads' calls. 0 or -ENOMEM. */
#define DEVICES_OF_ALL UINT32_MAX	/* process: every one */
int devices_settle(struct devices *d, uint32_t process, uint64_t horizon_ns,
		   const struct devices_divide *by);

/* Where the oldest gap of a device of process begins that is not divided yet; at most now. */
uint64_t devices_idle_since(const struct devices *d, uint32_t process, uint64_t now_ns);

/* Where gaps go. */
struct device_idle {
	uint64_t *ns;			/* by enum idle_cause */
	struct stalls *stalls;		/* NULL: not wanted */
	struct strip *strip;		/* the same */
	struct bins **bins;		/* NULL: not wanted; else set, to NULL where it has none */
};

/* The book as device_book_read has it (also DEVICE_BOOK_SETTLED), and all idle time: the sum of
 * idle->ns is sum->idle_ns, and so is the strip's, which closes with the book (at 0: of ended
 * processes). Stalls and strip are zeroed, and with bins the caller's to free. 0 or -ENOMEM. */
int devices_read(const struct device_state *s, uint64_t now_ns, const struct devices_divide *by,
		 struct device_sum *sum, const struct device_idle *idle);

/* Subtracts an earlier reading of the device, or (open_ns 0) of one of several that are added up:
 * what is left is of the time since then. Time that was idle there and was not is taken from the
 * others, and returned. */
uint64_t devices_subtract(struct device_sum *from, uint64_t idle_ns[IDLE_CAUSES],
			  const struct device_sum *earlier,
			  const uint64_t earlier_ns[IDLE_CAUSES]);

/* The process is no more, and nothing of it will come: all its devices are settled to their ends,
 * and take no more memory than that needs. *done: but for others that share a device and are not as
 * far yet. 0 or -ENOMEM. */
int devices_finish(struct devices *d, uint32_t process, const struct devices_divide *by,
		   bool *done);

/* When that is done, its devices become part of those of process into, which stands for all
 * processes folded into it, with one device per device of the host. Lanes become one, stalls are
 * dropped, and shares of a device of unknown UUID are no longer known. 0 or -ENOMEM. */
int devices_fold(struct devices *d, uint32_t process, uint32_t into,
		 const struct devices_divide *by);

/* The one of into that a device of process will be a part of. NULL + errno; ENOENT: none. */
const struct device_state *devices_successor(struct devices *d, uint32_t process, uint32_t device,
					uint32_t into);

size_t devices_names_left(const struct devices *d);	/* bytes for more names of kernels */
void devices_counts(const struct devices *d, struct device_counts *out);	/* of all books */
struct host_devices *devices_hosts(struct devices *d);	/* devices as the host has them */
size_t devices_count(const struct devices *d);
const struct device_state *devices_get(const struct devices *d, size_t i);

#endif

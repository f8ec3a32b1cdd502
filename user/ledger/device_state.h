/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of one device of one process: its book, and statistics of what it ran. A part of
 * ledger/devices.h. */
#ifndef LEDGER_DEVICE_STATE_H
#define LEDGER_DEVICE_STATE_H

#include <stdbool.h>

#include "event/event.h"
#include "ledger/device_book.h"
#include "ledger/idle.h"
#include "facts/kernels.h"
#include "ledger/lanes.h"
#include "ledger/loss.h"

struct copy_stats {
	uint64_t count, bytes, total_ns;
};

struct host_device;

/* Books of processes that are no more, added up; idle time by cause is in the state. */
struct device_past {
	struct device_sum sum;		/* open_ns: 0; close_ns: all their wall time */
	uint32_t ordinal;		/* of the first of them */
};

struct device_state {
	uint32_t pid;
	uint32_t device;		/* the process's own ordinal */
	bool has_facts;
	bool was_wanted;		/* at a cut */
	struct device_facts facts;
	char name[64];			/* "": unknown */
	struct device_past *past;	/* it stands for others, and has no book; NULL: it is one */
	struct device_book *book;
	uint64_t open_ns;
	uint64_t idle_ns[IDLE_CAUSES];	/* of gaps that are settled */
	struct losses losses;		/* the same gaps, without the first */
	struct kernels kernels;
	struct lanes lanes;
	/* By direction (the last: between devices) and by enum work_memory. */
	struct copy_stats copies[COPY_DEFAULT + 2][3];
	struct copy_stats sets;
	struct host_device *host;	/* of all processes; NULL: not used yet */
	size_t member;			/* its number in the host device's book */
	uint64_t unspent_ns;		/* it waited for others before the cut, and was not yet queued */
	uint64_t told_ns;		/* up to where that book knows when it ran */
};

#endif

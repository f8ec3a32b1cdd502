/* SPDX-License-Identifier: BSD-3-Clause */
/* The input and output of a device's book (ledger/device_book.h): pure data. */
#ifndef LEDGER_DEVICE_WORK_H
#define LEDGER_DEVICE_WORK_H

#include <stdbool.h>
#include <stdint.h>

enum work_state {		/* the first wins */
	WORK_COMPUTE = 0,
	WORK_COMM,
	WORK_COPY,
	WORK_SET,
	WORK_STATES
};

#define DEVICE_BUCKETS 64

struct device_work {
	uint64_t start_ns, end_ns;	/* [start, end), of the host's clock */
	uint64_t lane;
	uint32_t id;			/* CUPTI's correlation */
	uint8_t bucket;			/* < DEVICE_BUCKETS: where its time is booked */
	uint8_t state;			/* enum work_state */

	/* Its launch; the book hands it back with the gap that this work ends. */
	bool has_launch;
	uint8_t call_class;		/* enum call_class; CLASS_OTHER: no probe saw the call */
	uint32_t launch_tid;
	int32_t call_before_ns, call_after_ns;	/* the call is longer by so much, up to 2 s */
	uint64_t launch_start_ns, launch_end_ns;	/* as CUPTI recorded it */
};

/* Begin and end of the call that probes saw. */
static inline uint64_t device_work_call_start(const struct device_work *w)
{
	return w->launch_start_ns - (uint64_t)(int64_t)w->call_before_ns;
}

static inline uint64_t device_work_call_end(const struct device_work *w)
{
	return w->launch_end_ns + (uint64_t)(int64_t)w->call_after_ns;
}

struct device_gap {		/* nothing ran in [start, end) */
	uint64_t start_ns, end_ns;
	const struct device_work *ended_by;	/* NULL: the book closes there */
};
typedef void (*device_gap_fn)(void *ctx, const struct device_gap *gap);

/* Where time goes that is settled, in its order. */
struct device_sink {
	device_gap_fn gap;	/* NULL: not wanted */
	/* A work of bucket owned [from, to), perhaps only a part of its time. NULL: not wanted */
	void (*owned)(void *ctx, unsigned int bucket, uint64_t from, uint64_t to);
	void *ctx;
};

struct device_sum {		/* owned, summed over buckets, and all gaps: close - open */
	uint64_t open_ns, close_ns;
	uint64_t owned_ns[DEVICE_BUCKETS];
	uint64_t busy_ns[DEVICE_BUCKETS];	/* summed over works: >= owned */
	uint64_t works[DEVICE_BUCKETS];
	uint64_t idle_ns;
};

struct device_counts {
	uint64_t invalid;	/* ends before it starts, of no state or bucket, or of more at a
				 * moment than can be: not booked */
	uint64_t late;		/* began before a reported gap ended: that part is not booked */
	uint64_t late_ns;
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The buckets of a thread's wall time: in calls, by class; outside of them off the CPU, by reason;
 * not seen; and CLASS_OTHER, its own computing. */
#ifndef LEDGER_THREAD_BUCKET_H
#define LEDGER_THREAD_BUCKET_H

#include <stdbool.h>

#include "event/event.h"

enum bucket {
	BUCKET_CLASS_0 = 0,		/* ... CLASS_END - 1: enum call_class */
	BUCKET_LOST = CLASS_END,	/* events of this time were lost */
	BUCKET_UNARMED,			/* probes were not attached */
	BUCKET_UNKNOWN,			/* in a call that began before gpuprof, or not */
	BUCKET_OFF_0,			/* ... + OFF_REASON_END - 1: enum off_reason */
	BUCKET_END = BUCKET_OFF_0 + OFF_REASON_END,
	BUCKET_GPUPROF = BUCKET_END,	/* only in sums, taken from others: model/own_cost.h */
	BUCKET_SUM_END
};
const char *bucket_name(unsigned int bucket);

static inline bool bucket_is_off(unsigned int bucket)
{
	return bucket >= BUCKET_OFF_0 && bucket < BUCKET_END;
}

/* reason: any but those of off_is_in_call() */
static inline unsigned int bucket_of_off(uint8_t reason)
{
	return reason == OFF_NO_END ? (unsigned int)BUCKET_LOST :
				      (unsigned int)BUCKET_OFF_0 + reason;
}

struct book_counts {
	uint64_t lost;		/* events that took a number and never came */
	uint64_t invalid, skew, late;
	uint64_t late_ns;	/* booked otherwise than is known now; at most */
	uint64_t abandoned;	/* calls left without a return */
};

/* A closed (or divided) book: sum of ns = close_ns - open_ns. */
struct book_sum {
	uint64_t open_ns, close_ns;
	uint64_t ns[BUCKET_SUM_END];
	uint64_t blocked_ns[CLASS_END];	/* of these, off the CPU */
	uint64_t late_ns[CLASS_END];	/* of these, at least, ready without a CPU */
	uint64_t calls[CLASS_END];	/* that returned; of CLASS_OTHER also those of no
					 * duration */
	uint64_t own_ns[CLASS_END];	/* taken from it for BUCKET_GPUPROF */
	uint32_t unseen;		/* bit 1 << class: not known of all its calls */
};

/* As if both were one: their wall times and buckets added up; to->open_ns stays. */
void book_sum_add(struct book_sum *to, const struct book_sum *from);

/* Subtracts an earlier reading of the book, or (open_ns 0) of one of several: what is left is of
 * the time since then, but `unseen`. Returns the time that the earlier reading had in other
 * buckets, since less was known: num_subtract_parts. */
uint64_t book_sum_subtract(struct book_sum *from, const struct book_sum *earlier);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What is read out of a thread's book (ledger/book.h): for who adds up books and knows none. */
#ifndef LEDGER_BOOK_SUM_H
#define LEDGER_BOOK_SUM_H

#include <stdint.h>

#include "ledger/thread_bucket.h"

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
	uint64_t calls[CLASS_END];	/* that returned; of CLASS_OTHER also those of no duration */
	uint64_t own_ns[CLASS_END];	/* taken from it for BUCKET_GPUPROF */
	uint32_t unseen;		/* bit 1 << class: not known of all its calls */
};

/* As if both were one: their wall times and buckets added up; to->open_ns stays. */
void book_sum_add(struct book_sum *to, const struct book_sum *from);

#endif

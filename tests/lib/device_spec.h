/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The book of a process on a device as a pure specification: a function of the complete list of its
 * works that says of every nanosecond who owns it. Slow and plain; ledger/device_book is tested
 * against it.
 *
 * The rules, for a book of [open, close).
 *  1. A work that ends before it starts, or is of no state or bucket, is invalid: as if it were not
 *     there. A work runs in [start, end), clipped to the book.
 *  2. Of the works that run at a moment, those of the first state (compute, comm, copy, set) win. Of
 *     these, the first by (start, lane, id, bucket) owns it.
 *  3. owned: the moments that a bucket's works own. busy: the sum of the lengths of its works.
 *  4. A moment at which nothing runs is idle. A gap is as many of them in a row as there are; it is
 *     ended by the work that owns the moment after it, or by none where the book closes.
 */
#ifndef TESTS_DEVICE_SPEC_H
#define TESTS_DEVICE_SPEC_H

#include "ledger/device_book.h"

#define DEVICE_SPEC_GAPS 4096

struct device_spec {
	struct device_sum sum;
	uint64_t invalid;
	struct {
		uint64_t start_ns, end_ns;
		int64_t ended_by;	/* index of the work, -1: none */
	} gap[DEVICE_SPEC_GAPS];
	size_t gaps;
};

void device_spec(const struct device_work *works, size_t n, uint64_t open_ns, uint64_t close_ns,
		 struct device_spec *out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The book of a device over several processes as a pure specification: a function of all that they
 * did, which says of every nanosecond who had the device. Slow and plain; ledger/share_book is
 * tested against it.
 *
 * The rules, for a book of [open, close).
 *  1. A member runs, waits, or is unseen at a moment that a span of that state covers.
 *  2. Where exactly one member runs, it owns the moment. Where several do, the moment is shared.
 *  3. Where none runs: unknown, if one is unseen; else unwatched, if of the changes at or before the moment the last says that others
 *     are present, else idle.
 *  4. A member has waited at a moment if it waits and another runs.
 *  5. A moment between two at which a member runs, at which it neither runs nor is unseen, is of its
 *     gaps; and of their idle time, if the moment is idle.
 */
#ifndef TESTS_SHARE_SPEC_H
#define TESTS_SHARE_SPEC_H

#include "ledger/host_devices.h"

#define SHARE_SPEC_MEMBERS 8

struct share_spec_span {
	size_t member;
	struct share_span span;
};

struct share_spec_change {
	uint64_t at_ns;
	bool present;
};

struct share_spec {
	struct share_sum sum;
	struct share_member member[SHARE_SPEC_MEMBERS];
};

void share_spec(const struct share_spec_span *spans, size_t n,
		const struct share_spec_change *changes, size_t n_changes, struct share_spec *out);

#endif

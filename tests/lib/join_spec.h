/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The join as a pure specification: a function of the complete list of events, in which nothing is
 * lost and nothing comes after its window, so that order does not matter. join/join is tested
 * against it.
 *
 *  1. The launch of a work is the API record of its process that has its correlation.
 *  2. A work that ends before the session starts, or begins when it has stopped, or more than
 *     JOIN_SKEW_NS before its launch, is invalid.
 *  3. Every other work is passed on once: with its launch if it has one, else as an orphan.
 *  4. matched: works with a launch; of these skew: those that begin before it.
 */
#ifndef TESTS_JOIN_SPEC_H
#define TESTS_JOIN_SPEC_H

#include <stddef.h>

#include "join/join.h"

enum { JOIN_SPEC_NONE = -1, JOIN_SPEC_INVALID = -2 };

/* by[i]: of event i, a WORK, the index of its launch, or JOIN_SPEC_*. */
void join_spec(const struct event *events, size_t n, uint64_t start_ns, uint64_t stop_ns, int *by,
	       struct join_counts *counts);

#endif

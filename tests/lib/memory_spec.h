/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What memory a process has, as a pure specification: a function of what really happened, one after
 * the other. ledger/memory_book is tested against it with what two sources say of the same.
 *
 * The rules, for each device and kind.
 *  1. An allocation lives from its moment to that of the next free of its address.
 *  2. live: the bytes of those that live. peak: the most that it ever was.
 *  3. A free of an address at which nothing lives is of what was allocated before.
 */
#ifndef TESTS_MEMORY_SPEC_H
#define TESTS_MEMORY_SPEC_H

#include "facts/memory_book.h"

#define MEMORY_SPEC_DEVICES 2

/* acts: in the order of time; end_ns, stack and is_record are not looked at. */
void memory_spec(const struct memory_act *acts, size_t n,
		 struct memory_sums out[MEMORY_SPEC_DEVICES][MEMORY_KIND_END]);

#endif

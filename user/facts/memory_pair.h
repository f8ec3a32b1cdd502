/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a call and a record of CUPTI's tell of is one allocation or free. Knows what each says, and
 * nothing of what lives.
 */
#ifndef FACTS_MEMORY_PAIR_H
#define FACTS_MEMORY_PAIR_H

#include "facts/memory_book.h"

/* When it took effect, as well as is known. */
uint64_t memory_moment(const struct memory_act *a);

/* Drops the calls that records tell of, too, and sorts by moment. Returns how many are left. */
size_t memory_pair(struct memory_act *acts, size_t n);

#endif

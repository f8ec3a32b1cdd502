/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much memory of each kind one process had over time, streaming and of bounded size: the most
 * of each bin. Bins begin with the session, and become twice as wide when time passes behind the
 * last one. Kept by facts/memory_book.h. Example; bins of 4 ns, kind 1:
 *
 *   10 from 2 on, 30 from 5 on, 20 from 6 on, closed at 16     10 30 20 20
 */
#ifndef FACTS_MEMORY_LINE_H
#define FACTS_MEMORY_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/names.h"

#define MEMORY_LINE_BINS 512

struct memory_line {
	uint64_t start_ns;
	unsigned int shift;		/* a bin has 1 << shift nanoseconds */
	size_t last;			/* the bin of the last change: later ones are not set */
	uint64_t now[MEMORY_KIND_END];	/* bytes since then */
	uint64_t most[MEMORY_KIND_END][MEMORY_LINE_BINS];
};

#endif

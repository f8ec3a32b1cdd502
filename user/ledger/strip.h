/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How busy a device was over the time of its book, streaming and of bounded size: gaps that have
 * been divided, at first as they are, then by bins of time. What is in no gap was busy. A bin has
 * twice the time when a gap ends behind the last one. Knows nothing of works and causes: of a gap
 * it knows how much of it is unknown, which lies evenly in it.
 *
 * Examples; a book of [0, 1024), bins of 4 ns:
 *
 *   gap [0,512)                      [0,512) idle 512; [512,1024) busy 512
 *   gap [0,512), 256 of it unknown   [0,4) idle 2, unknown 2; [512,1024) busy 512
 *   gap [0,512), closed at 800       [256,1024) idle 256, busy 288: the rest is not in the book
 */
#ifndef LEDGER_STRIP_H
#define LEDGER_STRIP_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STRIP_BINS 256
#define STRIP_FEW 4		/* gaps without bins: most processes do hardly anything */

struct strip_gap {
	uint64_t start_ns, end_ns;	/* since the book opened */
	uint64_t unknown_ns;
};

struct strip_bin {
	uint64_t idle_ns, unknown_ns;
};

struct strip {				/* start zeroed, but for open_ns */
	uint64_t open_ns, close_ns;	/* close_ns: set to read it */
	struct strip_gap few[STRIP_FEW];
	unsigned int n_few;
	unsigned int shift;		/* a bin has 1 << shift nanoseconds */
	struct strip_bin *bins;		/* NULL: all gaps are in few; else none is */
};

/* A gap that is in the book, or a part of one: each once, in any order. 0 or -ENOMEM. */
int strip_add(struct strip *s, uint64_t start_ns, uint64_t end_ns, uint64_t unknown_ns);

/* Sum: as much of [start_ns, end_ns) as the book is open. In a bin that is cut each lies evenly. */
struct strip_time {
	uint64_t busy_ns, idle_ns, unknown_ns;
};
struct strip_time strip_read(const struct strip *s, uint64_t start_ns, uint64_t end_ns);

/* 0 or -ENOMEM. */
static inline int strip_copy(struct strip *to, const struct strip *from)
{
	*to = *from;
	if (!from->bins)
		return 0;
	to->bins = malloc(STRIP_BINS * sizeof(*to->bins));
	if (!to->bins)
		return -ENOMEM;
	memcpy(to->bins, from->bins, STRIP_BINS * sizeof(*to->bins));
	return 0;
}

static inline void strip_free(struct strip *s)
{
	free(s->bins);
	*s = (struct strip){ .open_ns = s->open_ns };
}

#endif

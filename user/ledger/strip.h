/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How busy a device was over the time of its book, streaming and of constant size: gaps that have
 * been divided, by bins of time. What of a bin is in no gap was busy. A bin holds twice the time
 * when a gap ends behind the last one. Knows nothing of works and causes: of a gap it knows how
 * much of it is unknown.
 *
 * Examples; a book of [0, 1024), bins of 4 ns:
 *
 *   gap [0,512)                      [0,512) idle 512; [512,1024) busy 512
 *   gap [0,512), 256 of it unknown   [0,4) idle 2, unknown 2; [512,1024) busy 512
 *   gap [0,512), closed at 800       [256,1024) idle 256, busy 288: the rest is not in the book
 */
#ifndef LEDGER_STRIP_H
#define LEDGER_STRIP_H

#include <stdint.h>

#define STRIP_BINS 256

struct strip {				/* start zeroed, but for open_ns */
	uint64_t open_ns, close_ns;	/* close_ns: whoever reads it sets it */
	unsigned int shift;		/* a bin has 1 << shift nanoseconds */
	struct strip_bin {
		uint64_t idle_ns, unknown_ns;
	} bins[STRIP_BINS];
};

/* A gap that is in the book, or a part of one: each once, in any order. Its unknown time lies
 * evenly in it. */
void strip_add(struct strip *s, uint64_t start_ns, uint64_t end_ns, uint64_t unknown_ns);

/* Sum: as much of [start_ns, end_ns) as the book is open. In a bin that is cut, each lies evenly. */
struct strip_time {
	uint64_t busy_ns, idle_ns, unknown_ns;
};
struct strip_time strip_read(const struct strip *s, uint64_t start_ns, uint64_t end_ns);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The recent activity of one thread: its calls, and where events of it were lost, as the thread's
 * book has them; but times without a CPU or stopped in a call are kept apart. Bounded: the oldest
 * are forgotten, and that time is unknown. Start zeroed. Knows nothing of devices or of its use.
 *
 * Examples; S a sync call, sums over [0, 100):
 *
 *   S [10,20)                              other 90, sync 10
 *   S [10,20), lost [20,50), S [50,60)     other 50, sync 20, lost 30
 *   the same, S [10,20) forgotten          unknown 20, other 40, lost 30, sync 10
 *   S [10,60), late 20, 5 after it         other 50, sync 30, runqueue 20: [35,55)
 */
#ifndef LEDGER_TIMELINE_H
#define LEDGER_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/ring.h"
#include "ledger/thread_book.h"

#define TIMELINE_MAX 32768	/* chunks of one thread */
#define TIMELINE_CHUNK_BYTES 128	/* of 2 spans at least, mostly of 15 to 25 */
#define TIMELINE_NO_FUNC UINT16_MAX
#define TIMELINE_LARGE_BYTES 65536

struct timeline_span {
	uint64_t start_ns, end_ns;
	uint8_t bucket;		/* enum bucket; never CLASS_OTHER */
	uint16_t func;		/* of a call, as its event has it; else TIMELINE_NO_FUNC */
	uint16_t stream;	/* of a call: the number of its stream (join/launch.h) */
	uint16_t stack;		/* of a call: the number of its stack; 0: unknown */
	bool large;		/* it copies at least TIMELINE_LARGE_BYTES */
	bool captured;		/* into a graph: it gave no work */
	uint8_t late_why;	/* of a call: OFF_RUNQUEUE (ready without a CPU) or OFF_STOPPED, */
	uint64_t late_ns;	/* for so long, */
	uint64_t after_late_ns;	/* so long before its end; both together are not longer than it
				 * is */
};

struct timeline_chunk;		/* spans of a while, packed */
struct reader;

struct timeline {
	RING(struct timeline_chunk) ring;
	struct reader *reached;	/* where timeline_reach was; NULL: nowhere */
	uint64_t forgotten_ns;	/* time before is unknown */
};

/* Chunks that all timelines together may still get memory for. */
struct timeline_room {
	size_t left;
};

/* A span that begins where or after the last one ended. Where there is no room (or memory) the
 * oldest chunk goes. */
void timeline_add(struct timeline *t, struct timeline_room *room, const struct timeline_span *span);

/* Adds the [from, to) of each bucket to ns: time without a span is CLASS_OTHER, forgotten time
 * BUCKET_UNKNOWN. `unarmed` (may be NULL) takes its part of other. */
void timeline_sum(const struct timeline *t, uint64_t from, uint64_t to,
		  const struct intervals *unarmed, uint64_t ns[BUCKET_END]);

/* How many calls of these buckets (bit n: bucket n) begin in [from, to), as far as they are known,
 * but not in `except` (may be NULL). */
uint64_t timeline_count(const struct timeline *t, uint64_t from, uint64_t to, uint32_t buckets,
			const struct intervals *except);

/* Calls fn for every call of these buckets that ends after ns, as far as they are known. */
void timeline_each_call(const struct timeline *t, uint64_t ns, uint32_t buckets,
			void (*fn)(void *ctx, const struct timeline_span *call), void *ctx);

/* Calls fn for every span that is in [from, to), in part or whole. */
void timeline_each(const struct timeline *t, uint64_t from, uint64_t to,
		   void (*fn)(void *ctx, const struct timeline_span *span), void *ctx);

/* The span that at_ns lies in; that of the bucket which has most of [from, to); the first call of
 * which the middle lies in [from, to). False: there is none. */
bool timeline_find(const struct timeline *t, uint64_t at_ns, struct timeline_span *out);
/* The first span that ends after ns, fast where ns was a little earlier the last time. False: it
 * may come yet. */
bool timeline_reach(struct timeline *t, uint64_t ns, struct timeline_span *out);
bool timeline_longest(const struct timeline *t, uint64_t from, uint64_t to, uint8_t bucket,
		      struct timeline_span *out);
bool timeline_call(const struct timeline *t, uint64_t from, uint64_t to, struct timeline_span *out);

void timeline_free(struct timeline *t, struct timeline_room *room);

#endif

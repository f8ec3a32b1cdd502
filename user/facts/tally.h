/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of a process's calls: one tally per (function, launch shape, result, stack). Every
 * table of calls is a grouping of tallies. Bounded: what is over the caps goes into one tally per
 * function (shape TALLY_MORE) and is counted. Knows nothing of threads and of time books.
 */
#ifndef FACTS_TALLY_H
#define FACTS_TALLY_H

#include "base/map.h"
#include "base/vec.h"
#include "event/event.h"
#include "facts/hist.h"

#define TALLY_SHAPES_MAX 4096
#define TALLIES_MAX 16384	/* per process; TALLY_MORE tallies come on top */
#define TALLY_NO_SHAPE 0u	/* ids of shapes begin at 1 */
#define TALLY_MORE 0xffffu	/* one of many shapes: not kept apart */

struct tally_shape {
	uint32_t grid[3];
	uint32_t block[3];
};

struct tally {
	uint16_t func;
	uint16_t shape;		/* id, TALLY_NO_SHAPE or TALLY_MORE */
	bool has_result;	/* key: unknown results apart from 0 */
	int32_t result;
	uint64_t stack;		/* id; 0: none was taken */
	uint64_t count;
	uint64_t results_known;	/* calls whose result is known */
	uint64_t errors;	/* of these, not 0 */
	uint64_t bytes;		/* sum over calls whose bytes are known */
	uint64_t bytes_known;	/* how many those are */
	uint64_t before;	/* calls that began before they could be seen and have ended: not in
				 * count, bytes and time; in errors where their result is known.
				 * With `open`, also those of these that began before */
	uint64_t open;		/* calls that never returned, of threads that are no more; in nothing else */
	struct hist time;	/* calls whose return was observed */
};

struct tallies {
	VEC(struct tally *) all;
	VEC(struct tally_shape) shapes;	/* id - 1 */
	struct map index, shape_index;
	uint64_t more;		/* calls counted under TALLY_MORE */
};

/* The tally that a call belongs to; stable until tallies_free. NULL on ENOMEM. */
struct tally *tallies_find(struct tallies *ts, const struct event *call);

int tally_add(struct tally *t, const struct event *call);	/* 0 or -ENOMEM */
void tally_add_before(struct tally *t, const struct event *ev);	/* LEFT; else it just ended */

/* A call of that function was left open when its thread ended. 0 or -ENOMEM. */
int tallies_leave(struct tallies *ts, uint16_t func, bool began_before);

/* All that from counts, as if its calls had been to's; from stays. 0, or -ENOMEM: to is of no use. */
int tallies_merge(struct tallies *to, const struct tallies *from);
void tallies_trim(struct tallies *ts);	/* gives back what is not needed while nothing comes */
size_t tallies_bytes(const struct tallies *ts);		/* allocated, about */

const struct tally_shape *tallies_shape(const struct tallies *ts, unsigned int id); /* or NULL */
void tallies_reset(struct tallies *ts);	/* counts to zero; keeps shapes and memory */
void tallies_free(struct tallies *ts);

/* Remembers the latest tallies of a thread, so that a call finds its own without hashing. */
#define TALLY_CACHE 8

struct tally_cache {
	struct {
		struct tally *tally;	/* NULL: empty */
		struct tally_shape shape;
	} v[TALLY_CACHE];
};

struct tally *tally_cache_find(struct tally_cache *c, struct tallies *ts, const struct event *call);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which copies and sets of a process give work for certain, so that one whose work never comes is lost.
 * CUPTI's record of a call has neither bytes nor direction: those are of a probe that saw the call. Of
 * what the driver itself does on the host no work comes, and where it does so is its own affair; so a
 * call is certain only if one of the same function and direction, of no more bytes, gave a work before
 * it, from each kind of host memory that such calls used. Knows nothing of streams and of what is over.
 * Bounded, calls by what all processes share, too: of them the oldest half leaves, functions that are too
 * many are never certain. For join.c only.
 *
 * Examples; after cudaMemcpyAsync to the device gave a work of 64 KiB of pinned memory, is certain:
 *
 *   the same function to the device, 64 KiB or more		yes
 *   the same, of 4 KiB, or of 0 bytes				no: it may be staged by the host, or nothing
 *   the same, from the device					no: nothing like it gave a work
 *   the same, but probes did not see it, or it failed		no
 *   cudaMemcpy to the device, 64 KiB				no: another function
 *   ... host to host, or cudaMemcpyDefault			no, never: it may be the CPU's work
 *   any, after the process has got managed memory		no, never: it may be where it has to be
 *
 * Bytes are told apart by powers of two, a work's rounded up, a call's down.
 */
#ifndef JOIN_COPIES_H
#define JOIN_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "event/event.h"
#include "event/work.h"
#include "join/join_room.h"

struct copy_call {		/* that a probe saw */
	uint64_t start_ns, end_ns;
	uint32_t tid;
	uint8_t size;		/* 1 + the power of two */
	uint8_t dir;		/* enum copy_dir; of sets 0 */
	uint16_t pad;
};

struct copy_way {		/* what calls of one function gave */
	uint64_t since_ns;	/* the first launch that gave a work */
	uint16_t func;		/* CUPTI's number */
	uint8_t domain;
	uint8_t least[4][3];	/* the smallest work's size, by direction and enum work_memory; 0: none */
	uint8_t pad;
};

struct copy_launch {		/* kept with a launch; zero: it is neither copy nor set */
	uint8_t way;		/* 1 + index */
	uint8_t size, dir;	/* of the call; size 0: not known */
};

/* Start zeroed. */
struct copies {
	VEC(struct copy_call) calls;
	VEC(struct copy_way) ways;
	bool managed;		/* the process has got managed memory */
};

void copies_free(struct copies *c, struct join_room *room);

/* A copy or a set that returned, as a probe saw it. 0 or -ENOMEM. */
int copies_note_call(struct copies *c, struct join_room *room, const struct event *call);

/* CUPTI's record of one: what is to be kept of it. 0 or -ENOMEM. */
int copies_note_api(struct copies *c, const struct event *api, struct copy_launch *out);

/* It gave a work. */
void copies_note_work(struct copies *c, const struct copy_launch *launch, uint64_t start_ns,
		      const struct work *work);

/* Does a launch of [start, end) give work for certain? */
bool copies_are_certain(const struct copies *c, const struct copy_launch *launch, uint32_t tid,
			uint64_t start_ns, uint64_t end_ns);

#endif

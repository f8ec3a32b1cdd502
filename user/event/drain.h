/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drain: one thread that moves records from the BPF rings into a bounded queue, and does
 * nothing else, so that a slow engine or disk never lets the rings overflow before 16 MiB more
 * have been used up. When the queue is full it waits, and BPF counts what the rings cannot take.
 *
 * Order it keeps: a thread's GP_TASK_NEW comes before its first call and its GP_TASK_EXIT after
 * its last one, although they travel in another ring.
 */
#ifndef EVENT_DRAIN_H
#define EVENT_DRAIN_H

#include <stddef.h>
#include <stdint.h>

enum drain_item_kind {
	DRAIN_CALL = 1,		/* a record of the calls ring */
	DRAIN_TASK = 2,		/* a record of the tasks ring */
	DRAIN_MARK = 3,		/* u64: all that ended before this time has been delivered */
};

struct drain_item {
	uint32_t len;		/* of the data that follows, which is padded to 8 bytes */
	uint8_t kind;		/* enum drain_item_kind */
	uint8_t pad[3];
};

#define DRAIN_CHUNK_BYTES (128u << 10)

struct drain_chunk {
	struct drain_chunk *next;
	uint32_t used;
	char data[DRAIN_CHUNK_BYTES] __attribute__((aligned(8)));
};

struct drain;

struct drain *drain_start(int calls_fd, int tasks_fd);	/* NULL + errno */

/* Readable while chunks wait. */
int drain_fd(const struct drain *d);

/* The engine: the oldest chunk, or NULL. Return each one with drain_release. */
struct drain_chunk *drain_take(struct drain *d);
void drain_release(struct drain *d, struct drain_chunk *c);

/* After the probes are detached: empties the rings into the queue and ends the thread. The engine
 * must go on taking until NULL. While the queue is full this waits for `taken` to make room. */
void drain_finish(struct drain *d, void (*taken)(void *ctx), void *ctx);
void drain_free(struct drain *d);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drain: one thread that only moves records from the BPF rings into a bounded queue, so that
 * a slow engine or disk never lets the rings overflow before 16 MiB more have been used up. When
 * the queue is full it waits, and BPF counts the records that do not fit into the rings.
 *
 * Order it keeps: a thread's GP_TASK_NEW comes before its first call and its GP_TASK_EXIT after
 * its last one, although they travel in another ring.
 */
#ifndef SOURCE_BPF_DRAIN_H
#define SOURCE_BPF_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpuprof/event.h"
#include "source/bpf/ring.h"

/*
 * The bounded queue between the drain and the engine: items in chunks, one writer, one reader.
 * Knows nothing of the items.
 */
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
#define DRAIN_CHUNKS_MAX 128	/* 16 MiB */

struct drain_chunk {
	struct drain_chunk *next;
	uint32_t used;
	char data[DRAIN_CHUNK_BYTES] __attribute__((aligned(8)));
};

struct drain_queue;

/* Readable while chunks wait. */
int drain_queue_fd(const struct drain_queue *q);

/* The reader: the oldest chunk, or NULL. Each one goes back with release. */
struct drain_chunk *drain_queue_take(struct drain_queue *q);
void drain_queue_release(struct drain_queue *q, struct drain_chunk *c);

/* ---- the drain ------------------------------------------------------------------------------- */

struct drain;

struct drain *drain_start(int calls_fd, int tasks_fd);	/* NULL + errno */

struct drain_queue *drain_queue_of(const struct drain *d);	/* the engine reads it */

/* After the probes are detached: lets the thread empty the rings and end. `taken` must take and
 * release all chunks that wait; it is called until nothing is left, so no ring is too large. */
void drain_finish(struct drain *d, void (*taken)(void *ctx), void *ctx);
void drain_free(struct drain *d);

#endif

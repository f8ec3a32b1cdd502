/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bounded queue between the drain and the engine: items in chunks, one writer, one reader.
 * Knows nothing of what items hold.
 */
#ifndef SOURCE_BPF_DRAIN_QUEUE_H
#define SOURCE_BPF_DRAIN_QUEUE_H

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
#define DRAIN_CHUNKS_MAX 128	/* 16 MiB */

struct drain_chunk {
	struct drain_chunk *next;
	uint32_t used;
	char data[DRAIN_CHUNK_BYTES] __attribute__((aligned(8)));
};

struct drain_queue;

struct drain_queue *drain_queue_new(void);	/* NULL + errno */
void drain_queue_free(struct drain_queue *q);

/* Readable while chunks wait. */
int drain_queue_fd(const struct drain_queue *q);

/* The writer. put waits while DRAIN_CHUNKS_MAX chunks are in use; 0, -EMSGSIZE or -ENOMEM. What was
 * put can be taken once its chunk is full or flushed. */
int drain_queue_put(struct drain_queue *q, enum drain_item_kind kind, const void *data, size_t len);
void drain_queue_flush(struct drain_queue *q);

/* The reader: the oldest chunk, or NULL. Each one goes back with release. */
struct drain_chunk *drain_queue_take(struct drain_queue *q);
void drain_queue_release(struct drain_queue *q, struct drain_chunk *c);

#endif

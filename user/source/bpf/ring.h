/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reader of one BPF ring buffer. Its own, not libbpf's, because the drain must stop at a
 * position it noted earlier, and because a callback per record is all there should be.
 */
#ifndef SOURCE_BPF_RING_H
#define SOURCE_BPF_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
	uint64_t *consumer;		/* positions only grow */
	const uint64_t *producer;
	const char *data;		/* size bytes, mapped twice in a row: no record wraps */
	uint64_t size;			/* a power of two */
};

/* Begins behind the ring's present content. NULL + errno; the fd stays the caller's. */
struct ring *ring_open(int map_fd);
void ring_close(struct ring *r);

/* Everything reserved so far ends here. */
static inline uint64_t ring_produced(const struct ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
}

/* Delivers committed records up to position `limit`; fn returns 0, or -errno to stop before the
 * record is consumed. 1: all up to limit delivered; 0: a record is still being written; -errno. */
int ring_consume(struct ring *r, uint64_t limit, int (*fn)(void *ctx, const void *rec, size_t len),
		 void *ctx);

#endif

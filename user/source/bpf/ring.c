// SPDX-License-Identifier: BSD-3-Clause
/*
 * Records of a BPF ring buffer (kernel/bpf/ringbuf.c, stable ABI): a u32 length whose top bits say
 * "being written" and "discarded", a u32 of the kernel's, and the data padded to 8 bytes. Works on
 * any memory laid out so; where it comes from is source/bpf/ring_map.c's business.
 */
#include "source/bpf/ring.h"

#define HEADER 8u
#define BUSY (1u << 31)
#define DISCARDED (1u << 30)

uint64_t ring_produced(const struct ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
}

int ring_consume(struct ring *r, uint64_t limit, int (*fn)(void *, const void *, size_t), void *ctx)
{
	uint64_t at = *r->consumer, released = at;
	int err = 0;

	while (at < limit) {
		const char *rec = r->data + (at & (r->size - 1));
		uint32_t len = __atomic_load_n((const uint32_t *)rec, __ATOMIC_ACQUIRE);

		if (len & BUSY)
			break;
		if (!(len & DISCARDED)) {
			err = fn(ctx, rec + HEADER, len);
			if (err)
				break;
		}
		at += (HEADER + (len & ~DISCARDED) + 7) & ~7ull;
		/* Give room back in steps: each store is a cache line taken from the producers. */
		if (at - released > r->size / 16) {
			__atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
			released = at;
		}
	}
	__atomic_store_n(r->consumer, at, __ATOMIC_RELEASE);
	return err ? err : at >= limit;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Layout (kernel/bpf/ringbuf.c, stable ABI): page 0 is the consumer position, page 1 the producer
 * position, then the data, mapped twice in a row so that no record wraps. A record is a u32
 * length whose top bits say "being written" and "discarded", a u32 of the kernel's, and the data
 * padded to 8 bytes.
 */
#include "event/ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER 8u
#define BUSY (1u << 31)
#define DISCARDED (1u << 30)

struct ring {
	uint64_t *consumer;
	const uint64_t *producer;
	const char *data;
	uint64_t mask;
	size_t page, size;
};

struct ring *ring_open(int map_fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t info_len = sizeof(info);
	struct ring *r = calloc(1, sizeof(*r));
	void *at;
	int saved;

	if (!r)
		return NULL;
	if (bpf_obj_get_info_by_fd(map_fd, &info, &info_len))
		goto fail;
	r->page = (size_t)sysconf(_SC_PAGESIZE);
	r->size = info.max_entries;
	r->mask = info.max_entries - 1;
	at = mmap(NULL, r->page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);
	if (at == MAP_FAILED)
		goto fail;
	r->consumer = at;
	at = mmap(NULL, r->page + 2 * r->size, PROT_READ, MAP_SHARED, map_fd, (off_t)r->page);
	if (at == MAP_FAILED)
		goto fail;
	r->producer = at;
	r->data = (const char *)at + r->page;
	__atomic_store_n(r->consumer, ring_produced(r), __ATOMIC_RELEASE);
	return r;
fail:
	saved = errno;
	ring_close(r);
	errno = saved;
	return NULL;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	if (r->producer)
		munmap((void *)r->producer, r->page + 2 * r->size);
	if (r->consumer)
		munmap(r->consumer, r->page);
	free(r);
}

uint64_t ring_produced(const struct ring *r)
{
	return __atomic_load_n(r->producer, __ATOMIC_ACQUIRE);
}

int ring_consume(struct ring *r, uint64_t limit, int (*fn)(void *, const void *, size_t), void *ctx)
{
	uint64_t at = *r->consumer, released = at;
	int err = 0;

	while (at < limit) {
		const char *rec = r->data + (at & r->mask);
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

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Records of a BPF ring buffer (kernel/bpf/ringbuf.c, stable ABI): a u32 length whose top bits say
 * "being written" and "discarded", a u32 of the kernel's, and the data padded to 8 bytes. As
 * memory, a ring buffer map is a page with the consumer position, one with the producer position,
 * then the data.
 */
#include "source/bpf/ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADER 8u
#define BUSY (1u << 31)
#define DISCARDED (1u << 30)

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

/* ---- a map as memory ------------------------------------------------------------------------ */

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int map_pages(struct ring *r, int map_fd)
{
	size_t page = page_bytes();
	void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	r->consumer = at;
	at = mmap(NULL, page + 2 * r->size, PROT_READ, MAP_SHARED, map_fd, (off_t)page);
	if (at == MAP_FAILED)
		return -errno;
	r->producer = at;
	r->data = (const char *)at + page;
	return 0;
}

struct ring *ring_open(int map_fd)
{
	struct bpf_map_info info = { 0 };
	uint32_t info_len = sizeof(info);
	struct ring *r = calloc(1, sizeof(*r));
	int err;

	if (!r)
		return NULL;
	err = bpf_obj_get_info_by_fd(map_fd, &info, &info_len) ? -errno : 0;
	r->size = info.max_entries;
	if (!err && info.type != BPF_MAP_TYPE_RINGBUF)
		err = -EINVAL;
	if (!err)
		err = map_pages(r, map_fd);
	if (err) {
		ring_close(r);
		errno = -err;
		return NULL;
	}
	__atomic_store_n(r->consumer, ring_produced(r), __ATOMIC_RELEASE);
	return r;
}

void ring_close(struct ring *r)
{
	if (!r)
		return;
	if (r->producer)
		munmap((void *)r->producer, page_bytes() + 2 * r->size);
	if (r->consumer)
		munmap(r->consumer, page_bytes());
	free(r);
}

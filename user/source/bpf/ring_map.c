// SPDX-License-Identifier: BSD-3-Clause
/*
 * A ring buffer map as memory: page 0 is the consumer position, page 1 the producer position, then
 * the data. Knows nothing of records.
 */
#include "source/bpf/ring.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* SPDX-License-Identifier: BSD-3-Clause */
/* Rings for tests: one in ordinary memory, which a small writer fills as the kernel does, and maps. */
#ifndef UNIT_RING_SOURCE_H
#define UNIT_RING_SOURCE_H

#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/cmocka.h"
#include "source/bpf/ring.h"

#define BUSY (1u << 31)
#define DISCARDED (1u << 30)
#define RING_BYTES 4096

struct source {
	struct ring ring;
	uint64_t consumer, producer;
	int fd;
	char *data;
};

/* One page, mapped twice in a row, as the map's data is. */
static inline void source_open(struct source *s)
{
	int fd = memfd_create("ring", 0);

	*s = (struct source){ .fd = fd };
	assert_true(fd >= 0 && !ftruncate(fd, RING_BYTES));
	s->data = mmap(NULL, 2 * RING_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(s->data != MAP_FAILED);
	for (int i = 0; i < 2; i++)
		assert_true(mmap(s->data + i * RING_BYTES, RING_BYTES, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
	s->ring = (struct ring){ .consumer = &s->consumer, .producer = &s->producer,
				 .data = s->data, .size = RING_BYTES };
}

static inline void source_close(struct source *s)
{
	munmap(s->data, 2 * RING_BYTES);
	close(s->fd);
}

/* The new record's length word, or NULL: the ring is full. */
static inline uint32_t *source_reserve(struct source *s, const void *data, uint32_t len)
{
	uint32_t *head = (uint32_t *)(s->data + s->producer % RING_BYTES);
	uint64_t need = (8 + len + 7) & ~7ull;

	if (s->producer + need - s->consumer > RING_BYTES)
		return NULL;
	head[0] = len | BUSY;
	head[1] = 0;
	memcpy(head + 2, data, len);
	s->producer += need;
	return head;
}

static inline void source_commit(uint32_t *head)
{
	assert_non_null(head);
	*head &= ~BUSY;
}

static inline void source_write(struct source *s, const void *data, uint32_t len)
{
	source_commit(source_reserve(s, data, len));
}

/* A real map, or the test is skipped (needs:bpf). */
static inline int make_map(enum bpf_map_type type, uint32_t entries)
{
	uint32_t size = type == BPF_MAP_TYPE_RINGBUF ? 0 : 4;
	int fd = bpf_map_create(type, "gp_test", size, size, entries, NULL);

	if (fd < 0) {
		print_message("SKIP needs:bpf: cannot make a BPF map: %s\n", strerror(errno));
		skip();
	}
	return fd;
}

#endif

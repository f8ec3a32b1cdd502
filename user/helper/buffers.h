/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers that CUPTI fills: a fixed pool, never freed while the process lives, since CUPTI owns
 * a buffer from request to completion whatever happens between. Taking and giving back never wait
 * and allocate nothing: they run inside the application's launch.
 */
#ifndef HELPER_BUFFERS_H
#define HELPER_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUFFERS_MAX 64
#define BUFFER_BYTES (512u << 10)

struct buffers {
	uint8_t *memory;	/* BUFFERS_MAX of them and the one for what is thrown away */
	uint64_t taken;		/* bits */
	uint64_t refused;	/* requests that got the last one */
	/* what is in each of those that are taken was made after it */
	uint64_t since_ns[BUFFERS_MAX];
};

int buffers_open(struct buffers *b);	/* 0 or -errno; the memory is touched when it is used */

/* Never NULL: older CUPTIs crash on a refusal. Without a free one, what is thrown away. */
uint8_t *buffers_take(struct buffers *b, uint64_t since_ns);

bool buffers_is_waste(const struct buffers *b, const uint8_t *buffer);

/* Cleared first, up to what was used: CUPTI expects zeroed buffers. */
void buffers_give(struct buffers *b, uint8_t *buffer, size_t used_bytes);

struct buffers_kept {
	uint64_t bytes;		/* up to the last one that was written */
	uint64_t since_ns;	/* the earliest; 0: there are none */
};

/* Those of before before_ns that were not given back, though there are records in them. They may be
 * written meanwhile: bytes is what was seen. */
struct buffers_kept buffers_kept(const struct buffers *b, uint64_t before_ns);

#endif

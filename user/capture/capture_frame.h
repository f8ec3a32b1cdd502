/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two headers of a capture file: filled in and hashed by the writer, checked by the reader.
 * Knows nothing of payloads.
 */
#ifndef CAPTURE_CAPTURE_FRAME_H
#define CAPTURE_CAPTURE_FRAME_H

#include <gpuprof/capture.h>

#include <stdbool.h>
#include <stddef.h>
#include <xxhash.h>
#include <zstd.h>

#define FRAME_PACKED_MAX ZSTD_COMPRESSBOUND(GP_BLOCK_RAW_MAX)
#define FRAME_PREFIX 8		/* frame_magic, frame_bytes */
#define FRAME_TAG_END 16	/* end of the part that all headers of a type share */

static inline void frame_seal_file(struct gp_file_header *h, uint64_t file_id)
{
	*h = (struct gp_file_header){
		.frame_magic = GP_FRAME_MAGIC, .frame_bytes = sizeof(*h) - FRAME_PREFIX,
		.tag = GP_FILE_TAG, .major = GP_CAPTURE_MAJOR, .minor = GP_CAPTURE_MINOR,
		.file_id = file_id,
	};
	h->hash = XXH64(h, offsetof(struct gp_file_header, hash), 0);
}

static inline bool frame_is_file(const struct gp_file_header *h)
{
	return h->frame_magic == GP_FRAME_MAGIC && h->tag == GP_FILE_TAG &&
	       h->frame_bytes >= sizeof(*h) - FRAME_PREFIX && h->frame_bytes <= GP_FRAME_MAX &&
	       h->hash == XXH64(h, offsetof(struct gp_file_header, hash), 0);
}

/* The caller has set the fields of the block itself. */
static inline void frame_seal_block(struct gp_block_header *h)
{
	h->frame_magic = GP_FRAME_MAGIC;
	h->frame_bytes = sizeof(*h) - FRAME_PREFIX;
	h->tag = GP_BLOCK_TAG;
	h->major = GP_CAPTURE_MAJOR;
	h->hash = XXH64(h, offsetof(struct gp_block_header, hash), 0);
}

static inline bool frame_is_block(const struct gp_block_header *h)
{
	return h->frame_magic == GP_FRAME_MAGIC && h->tag == GP_BLOCK_TAG &&
	       h->frame_bytes >= sizeof(*h) - FRAME_PREFIX && h->frame_bytes <= GP_FRAME_MAX &&
	       h->raw_bytes <= GP_BLOCK_RAW_MAX && h->packed_bytes <= FRAME_PACKED_MAX &&
	       h->hash == XXH64(h, offsetof(struct gp_block_header, hash), 0);
}

#endif

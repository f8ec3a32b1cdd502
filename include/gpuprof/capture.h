/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The border between two gpuprofs: the layout of capture files (.gpr). Little endian.
 *
 * A file is one gp_file_header and any number of blocks. Both headers are zstd *skippable frames*;
 * a block's header is followed by one ordinary zstd frame with a content checksum, so that
 * `zstd -dc FILE` prints the rows of all blocks. The last block of a finished file is of type
 * GP_BLOCK_END.
 *
 * Allowed without a new GP_CAPTURE_MAJOR: headers may grow at their end (see frame_bytes), block
 * types, row tags, event kinds and fields of rows with a length may be added. A reader skips
 * unknown ones. Anything else is a new major, which older readers refuse.
 *
 * capture_row.h describes the payload of a block.
 */
#ifndef GPUPROF_CAPTURE_H
#define GPUPROF_CAPTURE_H

#include <stdint.h>

#include "capture_row.h"

#define GP_CAPTURE_MAJOR 1
#define GP_CAPTURE_MINOR 0

#define GP_FRAME_MAGIC 0x184D2A5Cu	/* one of zstd's 16 skippable frames */
#define GP_FILE_TAG 0x0a666f7270757067ull	/* "gpuprof\n" */
#define GP_BLOCK_TAG 0x6b636f6c42727067ull	/* "gprBlock" */

struct gp_file_header {
	uint32_t frame_magic;
	uint32_t frame_bytes;	/* of this frame, after this field */
	uint64_t tag;
	uint16_t major;
	uint16_t minor;
	uint32_t pad;
	uint64_t file_id;	/* random: no other file's block, nor a text that looks like one,
				 * can pass for a block of this file */
	uint64_t hash;		/* XXH64 of all before */
};

/* Block types. */
#define GP_BLOCK_EVENTS 1
#define GP_BLOCK_END 2		/* gp_capture_end */

struct gp_block_header {
	uint32_t frame_magic;
	uint32_t frame_bytes;	/* of this frame, after this field; the payload follows it */
	uint64_t tag;
	uint16_t major;
	uint16_t type;
	uint32_t events;	/* event and call rows */
	uint64_t number;	/* 1, 2, 3... */
	uint64_t file_id;
	uint64_t start_ns;	/* earliest and latest time in the block; 0: it names none */
	uint64_t end_ns;
	uint32_t raw_bytes;	/* payload, unpacked */
	uint32_t packed_bytes;	/* payload, as it lies in the file */
	uint64_t payload_hash;	/* XXH64 of the packed payload */
	uint64_t hash;		/* XXH64 of all before */
};

/* Payload of GP_BLOCK_END. */
struct gp_capture_end {
	uint64_t events;
	uint64_t blocks;	/* without this one */
	uint64_t raw_bytes;
};

/* Limits that writers keep and readers enforce. */
#define GP_FRAME_MAX 4096u	/* frame_bytes of a header */
#define GP_BLOCK_RAW_MAX (1u << 20)
#define GP_BLOCK_EVENTS_MAX (1u << 16)
#define GP_BLOCK_FUNCS_MAX 1024u
#define GP_BLOCK_THREADS_MAX 4096u
#define GP_BLOCK_SHAPES_MAX 8192u
#define GP_TEXT_MAX 4096u	/* bytes of a text, without its NUL */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "captures are little endian");
_Static_assert(sizeof(struct gp_file_header) == 40, "file header");
_Static_assert(__builtin_offsetof(struct gp_file_header, hash) == 32, "hash of the file header");
_Static_assert(sizeof(struct gp_block_header) == 80, "block header");
_Static_assert(__builtin_offsetof(struct gp_block_header, hash) == 72, "hash of a block header");
_Static_assert(sizeof(struct gp_capture_end) == 24, "end");

#endif

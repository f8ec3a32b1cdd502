/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Walks the blocks of a capture file, whatever happened to it: checks both headers and hashes,
 * unpacks within bounds, finds the next whole block after damage, and keeps the account of what
 * was not whole. Knows nothing of rows.
 */
#ifndef CAPTURE_CAPTURE_SCAN_H
#define CAPTURE_CAPTURE_SCAN_H

#include <gpuprof/capture.h>

#include <stdbool.h>
#include <stddef.h>

struct capture_scan;

/* What was not whole; the reader adds what it finds inside blocks. */
struct scan_damage {
	uint64_t blocks;	/* damaged or missing */
	uint64_t events;	/* in those of them whose header was whole */
	bool cut;		/* the file ends inside a block or before the first one */
};

/* Opens, and checks the file header: errors and messages as capture_open. */
struct capture_scan *capture_scan_open(const char *path);
void capture_scan_free(struct capture_scan *s);

/* Back to the first block; the file may have grown. 0 or -errno, logged. */
int capture_scan_rewind(struct capture_scan *s);

/* 1: the next whole block, of a known type or not; *raw (raw_bytes and DECODE_SLACK more) lives
 * until the next call. 0: no more. -EIO, logged. */
int capture_scan_next(struct capture_scan *s, struct gp_block_header *h, const uint8_t **raw);

/* Does a writer still have the file open? */
bool capture_scan_written(const struct capture_scan *s);

const struct scan_damage *capture_scan_damage(const struct capture_scan *s);

#endif

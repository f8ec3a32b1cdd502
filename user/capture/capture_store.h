/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file of a capture being written: compresses blocks and appends them. The file ends with a
 * complete block at all times, also after a failed write. One thread at a time.
 */
#ifndef CAPTURE_CAPTURE_STORE_H
#define CAPTURE_CAPTURE_STORE_H

#include "capture/capture.h"
#include "capture/capture_codec.h"

struct capture_store;

struct capture_store *capture_store_create(const char *path);	/* NULL + errno, logged */

/* 0 or -errno: sticky, logged once. */
int capture_store_write(struct capture_store *s, const struct capture_block *b);

uint64_t capture_store_bytes(const struct capture_store *s);	/* of all complete blocks */

/* Writes the end block if all events are in, fsyncs, closes, frees; after a failure it only closes
 * and frees. 0 or the first error. stats may be NULL. */
int capture_store_close(struct capture_store *s, bool complete, struct capture_stats *stats);

#endif

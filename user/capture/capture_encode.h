/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events to blocks of rows, in memory. The other half of writing, compressing a block and putting
 * it into the file, is capture/capture_store.h; a block goes from one to the other by pointer, so
 * that the two may run in different threads.
 */
#ifndef CAPTURE_CAPTURE_ENCODE_H
#define CAPTURE_CAPTURE_ENCODE_H

#include <gpuprof/capture.h>

#include "event/event.h"

struct capture_block {
	struct capture_writer *writer;	/* for whoever queues blocks of several */
	uint16_t type;		/* GP_BLOCK_* */
	uint32_t events;
	uint64_t start_ns;
	uint64_t end_ns;
	size_t raw_bytes;
	uint8_t raw[];
};

struct capture_encoder;

struct capture_encoder *capture_encoder_new(const struct funcs *funcs);	/* NULL + errno */
void capture_encoder_free(struct capture_encoder *e);

/* 0, -EAGAIN: take the block first, -EINVAL: no such kind or function, -ENOMEM. */
int capture_encode(struct capture_encoder *e, const struct event *ev);

size_t capture_encoder_bytes(const struct capture_encoder *e);	/* of the present block's rows */

/* Ends the block and hands it over: give it back to the same encoder or free it. NULL: no event
 * since the last one. */
struct capture_block *capture_encoder_take(struct capture_encoder *e);

/* The encoder's next block may use its memory. Called by the encoder's thread. */
void capture_encoder_give(struct capture_encoder *e, struct capture_block *b);

#endif

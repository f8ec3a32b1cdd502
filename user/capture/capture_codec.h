/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events to blocks of rows, in memory, and back; the layout is in include/gpuprof/capture_row.h.
 * A block goes from the encoder to the thread that stores it by pointer. The decoder's bytes are
 * hostile even where their checksums are right.
 */
#ifndef CAPTURE_CAPTURE_CODEC_H
#define CAPTURE_CAPTURE_CODEC_H

#include <gpuprof/capture.h>

#include "event/event.h"

struct capture_block {
	struct capture_writer *writer;	/* for a queue with blocks of several */
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

#define DECODE_SLACK 1536	/* readable bytes that must follow the rows */

struct capture_decoder;

struct decode_result {
	uint32_t rows;		/* of events, decoded well; also those of later kinds */
	uint32_t dropped;	/* of these, not delivered: more than FUNCS_MAX functions */
	bool invalid;		/* a row that cannot be: the rest was not decoded */
};

struct capture_decoder *capture_decoder_new(void);	/* NULL + errno */
void capture_decoder_free(struct capture_decoder *d);

/* The functions of all blocks so far; all else is forgotten between blocks. */
const struct funcs *capture_decoder_funcs(const struct capture_decoder *d);

/* Decodes at most max_events. 0, -ENOMEM or the sink's own error. */
int capture_decode(struct capture_decoder *d, const uint8_t *raw, size_t len, uint32_t max_events,
		   const struct event_sink *sink, struct decode_result *result);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of one block back to events. The bytes are hostile even where their checksums are right.
 * The functions of all blocks share one table; everything else is forgotten between blocks.
 */
#ifndef CAPTURE_CAPTURE_DECODE_H
#define CAPTURE_CAPTURE_DECODE_H

#include "event/event.h"

#define DECODE_SLACK 1024	/* readable bytes that must follow the rows */

struct capture_decoder;

struct decode_result {
	uint32_t rows;		/* of events, decoded well; also those of later kinds */
	uint32_t dropped;	/* of these, not delivered: more than FUNCS_MAX functions */
	bool invalid;		/* a row that cannot be: the rest was not decoded */
};

struct capture_decoder *capture_decoder_new(void);	/* NULL + errno */
void capture_decoder_free(struct capture_decoder *d);
const struct funcs *capture_decoder_funcs(const struct capture_decoder *d);

/* Decodes at most max_events. 0, -ENOMEM or the sink's own error. */
int capture_decode(struct capture_decoder *d, const uint8_t *raw, size_t len, uint32_t max_events,
		   const struct event_sink *sink, struct decode_result *result);

#endif

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The reader's two halves put together: blocks from capture_scan, events from capture_decode, and
 * what the file turned out to be. Knows neither frames nor rows.
 */
#include "capture/capture.h"

#include <gpuprof/capture.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "capture/capture_codec.h"
#include "capture/capture_scan.h"

struct capture_reader {
	struct capture_scan *scan;
	struct capture_decoder *decoder;
	uint64_t blocks;
	uint64_t events;	/* in them */
	uint64_t bad_blocks;	/* besides those that the scan counts */
	uint64_t bad_events;
	bool complete;
};

struct capture_reader *capture_open(const char *path)
{
	struct capture_reader *r = calloc(1, sizeof(*r));
	int saved;

	if (!r)
		return NULL;
	r->decoder = capture_decoder_new();
	if (!r->decoder) {
		log_error("cannot open %s: %s", path, strerror(errno));
		errno = ENOMEM;
	} else {
		r->scan = capture_scan_open(path);
	}
	if (r->scan)
		return r;
	saved = errno;
	capture_free(r);
	errno = saved;
	return NULL;
}

const struct funcs *capture_funcs(const struct capture_reader *r)
{
	return capture_decoder_funcs(r->decoder);
}

static int read_events(struct capture_reader *r, const struct gp_block_header *h,
		       const uint8_t *raw, const struct event_sink *sink)
{
	struct decode_result got;
	int err = capture_decode(r->decoder, raw, h->raw_bytes, h->events, sink, &got);

	if (err)
		return err;
	r->events += got.rows;
	r->bad_events += h->events - got.rows + got.dropped;
	if (got.invalid || got.dropped || got.rows != h->events)
		r->bad_blocks++;
	else
		r->blocks++;
	return 0;
}

/* The end block's totals find what no gap in the numbers shows. */
static void read_end(struct capture_reader *r, const struct gp_block_header *h,
		     const uint8_t *raw)
{
	const struct scan_damage *damage = capture_scan_damage(r->scan);
	struct gp_capture_end end;

	r->complete = true;
	if (h->raw_bytes < sizeof(end)) {
		r->bad_blocks++;
		return;
	}
	memcpy(&end, raw, sizeof(end));
	if (end.events != r->events && !damage->blocks && !r->bad_blocks)
		r->bad_blocks++;
}

int capture_read(struct capture_reader *r, const struct event_sink *sink)
{
	struct gp_block_header h;
	const uint8_t *raw;
	int got, err;

	r->blocks = r->events = r->bad_blocks = r->bad_events = 0;
	r->complete = false;
	err = capture_scan_rewind(r->scan);
	while (!err && (got = capture_scan_next(r->scan, &h, &raw)) != 0) {
		if (got < 0)
			return got;
		if (h.type == GP_BLOCK_EVENTS)
			err = read_events(r, &h, raw, sink);
		else if (h.type == GP_BLOCK_END)
			read_end(r, &h, raw);
	}
	return err;
}

enum capture_state capture_state(const struct capture_reader *r)
{
	if (capture_bad_blocks(r))
		return CAPTURE_DAMAGED;
	if (!r->complete || capture_scan_damage(r->scan)->cut)
		return capture_scan_written(r->scan) ? CAPTURE_GROWING : CAPTURE_CUT;
	return CAPTURE_COMPLETE;
}

uint64_t capture_blocks(const struct capture_reader *r)
{
	return r->blocks;
}

uint64_t capture_bad_blocks(const struct capture_reader *r)
{
	return r->bad_blocks + capture_scan_damage(r->scan)->blocks;
}

uint64_t capture_bad_events(const struct capture_reader *r)
{
	return r->bad_events + capture_scan_damage(r->scan)->events;
}

void capture_free(struct capture_reader *r)
{
	if (!r)
		return;
	capture_scan_free(r->scan);
	capture_decoder_free(r->decoder);
	free(r);
}

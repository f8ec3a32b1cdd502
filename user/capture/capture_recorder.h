/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flight recorder: holds the last seconds of a session in memory, as compressed blocks, and
 * writes them to a capture file of its own on request, or when the session ends. The next file
 * begins where this one ended.
 *
 * Counters of the session (capture_sink.on_cut: lost events, above all) are read when a block
 * begins, so that a file has the counts since shortly before its beginning: at most a sixteenth of
 * the time held. Holes in the numbers of threads are where they are.
 */
#ifndef CAPTURE_CAPTURE_RECORDER_H
#define CAPTURE_CAPTURE_RECORDER_H

#include "capture/capture_sink.h"

struct capture_recorder_plan {
	const char *path;	/* the second file gets a counter, as of capture_file_number */
	uint64_t before_ns;
	uint64_t max_bytes;	/* of memory; at least CAPTURE_RECORDER_MIN */
	bool at_end;		/* write the held events when the session ends */
};

#define CAPTURE_RECORDER_MIN (64u << 10)

/* NULL + errno, logged. */
struct capture_sink *capture_recorder_new(const struct capture_recorder_plan *plan,
					  const struct funcs *funcs);

uint64_t capture_recorder_bytes(const struct capture_sink *k);	/* held now: <= max_bytes */

#endif

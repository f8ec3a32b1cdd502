/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A flight recorder: the last stretch of a session is held in memory, as compressed blocks, and
 * written to a capture file of its own when it is asked for, or when the session ends. What was
 * written is not held any more: the next file begins where this one ended.
 *
 * What is counted over the whole session (keep.on_cut: what was lost, above all) is read as each block
 * begins, so that a file has what was counted since a moment shortly before it begins: at most a sixteenth
 * of the stretch before. Holes in the numbers of threads are told where they are.
 */
#ifndef CAPTURE_CAPTURE_RECORDER_H
#define CAPTURE_CAPTURE_RECORDER_H

#include "capture/capture_sink.h"

struct capture_recorder_plan {
	const char *path;	/* the second file gets a counter, as of capture_file_number */
	uint64_t before_ns;
	uint64_t max_bytes;	/* of memory; at least CAPTURE_RECORDER_MIN */
	bool at_end;		/* write what is held when the session ends */
};

#define CAPTURE_RECORDER_MIN (64u << 10)

/* NULL + errno, logged. */
struct capture_sink *capture_recorder_new(const struct capture_recorder_plan *plan, const struct funcs *funcs);

uint64_t capture_recorder_bytes(const struct capture_sink *k);	/* held now: <= max_bytes */

#endif

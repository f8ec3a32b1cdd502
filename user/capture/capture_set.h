/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session in one capture file, or in several of limited size, each of which can be read alone
 * (capture/capture_state.h: the state at its beginning). Together they hold every event once.
 */
#ifndef CAPTURE_CAPTURE_SET_H
#define CAPTURE_CAPTURE_SET_H

#include "base/str.h"
#include "capture/capture_sink.h"

struct capture_set_plan {
	const char *path;
	uint64_t max_bytes;	/* of a file, at least CAPTURE_SET_MIN; 0: one file, no limit */
	uint64_t max_files;	/* the oldest is removed when there are more; 0: no limit */
};

#define CAPTURE_SET_MIN (64u << 10)

/* Creates the first file. funcs must outlive it. NULL + errno, logged. */
struct capture_sink *capture_set_new(const struct capture_set_plan *plan,
				     const struct funcs *funcs);

#endif

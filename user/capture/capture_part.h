/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A part of a capture's time, as a session of its own: it begins and ends at given times. What came
 * before is passed on, too, because the part continues it: launches whose works run later, memory
 * that lives, ranges that are open. It is in no sum, as what a live session sees just before it
 * begins.
 *
 * Examples; a capture of [0, 100), S a sync, as [start, end):
 *
 *   the part [20, 60)  S [10,30)  S [40,50)  S [55,70)
 *                                  a thread's book: sync 25, other 15; two calls, one is open
 *   the part [20, 60)  K [10,30)   a device's book: K 10, idle 30; one kernel of 20
 */
#ifndef CAPTURE_CAPTURE_PART_H
#define CAPTURE_CAPTURE_PART_H

#include "base/time.h"
#include "capture/capture.h"

struct capture_part {
	uint64_t from_ns, to_ns;	/* CLOCK_MONOTONIC of the host that recorded */
	char part[80];			/* the session's fact: "1.000 s to 2.500 s"; "": all */
	char options[80];		/* ... and that: "--from 1s --to 2.5s" */
	struct event_sink to;		/* gets them, and both facts */
	bool has_begun;
};

/* When the session of the capture began and ended, by a reading of all of it: of a file of several
 * (record --max-size), this file's part. 0, -errno of capture_read, or -ENODATA: no event
 * has a time. */
struct capture_span {
	uint64_t start_ns, stop_ns;
	uint64_t wall_offset_ns;	/* to the host's wall clock; 0: unknown */
};
int capture_read_span(struct capture_reader *r, struct capture_span *span);

/* A time that is not given: the capture's own. 0, or -EINVAL, logged: the part is empty, or a time
 * of day is given and that of the capture is unknown. */
int capture_part_choose(struct capture_part *part, const struct capture_span *span,
			const struct time_moment *from, const struct time_moment *to);

int capture_part_push(void *part, const struct event *ev);	/* an event_sink.push */

#endif

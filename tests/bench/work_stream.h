/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of a helper that benches feed on: for each launch its API record, and some launches
 * later its work, on a few streams of each process, with names as long as real ones. The same for
 * the same settings, made one by one, so that any number of events takes no memory.
 */
#ifndef BENCH_WORK_STREAM_H
#define BENCH_WORK_STREAM_H

#include "event/event.h"

#define WORK_STREAM_NAMES 4096
#define WORK_STREAM_PROCESSES 64
#define WORK_STREAM_LAG 512

struct work_load {
	const char *what;
	uint32_t processes, streams, names;	/* at most the numbers above */
	uint32_t lag;		/* launches between a launch and its work, < WORK_STREAM_LAG */
	bool calls;		/* also the call that a probe saw */
};

struct work_stream {
	struct work_load load;
	uint64_t random;
	uint32_t turn, part;	/* which process is next, and what of its launch */
	struct {
		uint64_t now_ns, free_ns[16];	/* of the thread, of the streams */
		uint64_t began_ns[WORK_STREAM_LAG];	/* of the latest launches */
		uint32_t launches;
	} process[WORK_STREAM_PROCESSES];
	struct work work;	/* of the event that was made last */
	char name[WORK_STREAM_NAMES][160];
	uint64_t name_hash[WORK_STREAM_NAMES];
};

void work_stream_init(struct work_stream *s, const struct work_load *load);
void work_stream_next(struct work_stream *s, struct event *ev);
uint64_t work_stream_now(const struct work_stream *s);	/* the latest time of any thread, ns */

#endif

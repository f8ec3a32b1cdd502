/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The launch-heavy stream that benches feed on: training steps on four threads, 199 launches and
 * copies with noise in gaps and durations, then a sync that is entered and returns. The same for
 * the same number of events, made one by one, so that any number of them takes no memory.
 */
#ifndef BENCH_STREAM_H
#define BENCH_STREAM_H

#include "event/event.h"

#define STREAM_THREADS 4

struct stream_thread {
	uint64_t now_ns;
	uint32_t seq;
	uint32_t call;		/* within the step */
	bool in_sync;
	uint64_t sync_start_ns;
};

struct stream {
	uint64_t random;
	uint32_t turn;		/* whose event is next */
	struct stream_thread thread[STREAM_THREADS];
};

extern const struct funcs stream_funcs;

void stream_init(struct stream *s);
void stream_next(struct stream *s, struct event *ev);
uint64_t stream_now(const struct stream *s);	/* the latest time of any thread, ns */

#endif

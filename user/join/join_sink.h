/* SPDX-License-Identifier: BSD-3-Clause */
/* What the join tells, and to whom (join.h). Knows nothing of what becomes of it. */
#ifndef JOIN_JOIN_SINK_H
#define JOIN_JOIN_SINK_H

#include <stdint.h>

#include "event/event.h"

struct launch {			/* who asked for a work */
	uint32_t tid;
	uint32_t works;			/* that it was met by before this one */
	uint64_t start_ns, end_ns;	/* as CUPTI's record has them */
};

enum join_graphs {
	JOIN_GRAPHS_UNKNOWN,	/* it may have made some that have conditions, or turned nodes off */
	JOIN_GRAPHS_ALL,
	JOIN_GRAPHS_SOME,
};

/* What a thread launched last, and has not ended as far as anybody told. */
struct join_unended {
	uint32_t pid, tid;
	uint64_t since_ns;
};

/* launch NULL: an orphan. Both valid during the call. 0 or an error that ends the push. */
struct join_sink {
	int (*work)(void *ctx, const struct event *work, const struct launch *launch);
	/* Works that start before horizon_ns will be passed on as late only. */
	int (*horizon)(void *ctx, uint32_t pid, uint64_t horizon_ns);
	/* A kernel, a copy or a set was launched and is over, and nobody told it: it ran at some time in [start_ns, end_ns).
	 * No horizon after start_ns has been told, but where it came to be known late. NULL: not wanted. */
	int (*untold)(void *ctx, uint32_t pid, uint64_t start_ns, uint64_t end_ns);
	/* Which nodes of its graphs a launch of the process runs. NULL: not known. */
	enum join_graphs (*graphs_run)(void *ctx, uint32_t pid);
	/* In [start_ns, end_ns) what the thread launched last, since_ns, may have run or waited: nobody told that it
	 * ended. Told in order of time, as the horizon goes on, and up to UINT64_MAX when nothing more will come; and
	 * after a late work, which may be what was told of, all that goes for another until the horizon.
	 * NULL: not wanted. */
	int (*unended)(void *ctx, const struct join_unended *what, uint64_t start_ns, uint64_t end_ns);
	void *ctx;
};

#endif

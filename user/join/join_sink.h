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

/* launch NULL: an orphan. Both valid during the call. 0 or an error that ends the push. */
struct join_sink {
	int (*work)(void *ctx, const struct event *work, const struct launch *launch);
	/* Works that start before horizon_ns will be passed on as late only. */
	int (*horizon)(void *ctx, uint32_t pid, uint64_t horizon_ns);
	/* Works of the process that ran in [start_ns, end_ns) are lost (enum unseen_why), or it is not known whether some
	 * run (join.h): to UINT64_MAX if nothing more will come. NULL: not wanted. */
	int (*unseen)(void *ctx, uint32_t pid, unsigned int why, uint64_t start_ns, uint64_t end_ns);
	void *ctx;
};

#endif

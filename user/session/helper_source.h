/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helpers of a session as a live source: which processes may have one, how often their rings
 * are read, why a process is silent. Without probes it also reports the calls, and looks for new
 * child processes itself.
 */
#ifndef SESSION_HELPER_SOURCE_H
#define SESSION_HELPER_SOURCE_H

#include "model/model.h"
#include "session/live_source.h"
#include "session/targets.h"

struct helper_plan {
	const struct targets *targets;
	const struct event_sink *sink;
	const struct model *model;
	struct live_source *probes;	/* NULL: none */
	bool at_intervals;		/* the session makes intervals */
};

/* The targets of now; others are met as they come. NULL + errno. */
struct live_source *helper_source_new(const struct helper_plan *plan);

/* The remedy for a helper that could not start (gp_ring_head.reason): "; set ..." or "". */
const char *helper_advice(const char *reason);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that the kernel added up -> EVENT_TALLY and EVENT_BINs: what is new since the last
 * reading. Used by the engine thread.
 */
#ifndef SOURCE_BPF_TALLIED_H
#define SOURCE_BPF_TALLIED_H

#include "base/map.h"
#include "event/event.h"
#include "gpuprof/tally.h"

struct tallied {
	struct event_sink sink;
	struct map last;	/* process and row -> struct gp_tally as read before; owned */
	int err;		/* the sink's first error, or -ENOMEM */
};

/* A reading of all that was added up so far, for loader_each_tally. timed: it has times. */
void tallied_read(struct tallied *t, const struct gp_tally_key *key, const struct gp_tally *now,
		  bool timed);
void tallied_free(struct tallied *t);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The probes of a session's targets, and the first round: files that they map now or will map. */
#ifndef SESSION_PROBE_SET_H
#define SESSION_PROBE_SET_H

#include "probe/attach.h"
#include "session/live_source.h"
#include "session/targets.h"
#include "session/worker.h"
#include "stack/inflight.h"

struct probe_set {
	struct targets *targets;
	const struct event_sink *sink;	/* for notes */
	struct loader *loader;
	struct attach *attach;
	struct worker *worker;		/* probes files mapped later */
	struct inflight *inflight;	/* NULL: none; the worker's while that runs */
};

/* Before the worker runs. Adds to the targets who of them uses a library. 0 or -errno, logged. */
int probe_set_attach(struct probe_set *p);

#endif

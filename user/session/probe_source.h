/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probes of a session as a live source: whether there may be any, the functions probed in
 * the targets at the start and by the worker later, the rings that are drained, the kernel's
 * counters.
 */
#ifndef SESSION_PROBE_SOURCE_H
#define SESSION_PROBE_SOURCE_H

#include "session/live_source.h"
#include "session/targets.h"
#include "source/bpf/decode.h"

struct probe_plan {
	struct targets *targets;	/* chosen and users are filled in */
	const struct decoder *decoder;
	const struct event_sink *sink;
	/* Launches are kept, or shown by their grids: CUPTI's records of calls are not enough. */
	bool needs_launches;
};

struct no_probes {		/* a session that runs by the helper alone */
	const char *why;	/* NULL: there are probes */
	const char *remedy;
};

/*
 * Makes probes on all that targets map now, or a command will. 0: *out, or with none->why a
 * NULL. Else -errno, logged unless -ENOMEM: -EPERM (a capability is missing), -ENOTSUP (this
 * kernel cannot), -EINVAL (the options require both), others.
 */
int probe_source_open(struct live_source **out, const struct probe_plan *plan,
		      struct no_probes *none);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The probes of a session as a live source: whether there may be any, the functions probed in
 * the targets at the start and by the worker later, the rings that are drained, the kernel's
 * counters.
 */
#ifndef SESSION_PROBE_SOURCE_H
#define SESSION_PROBE_SOURCE_H

#include "capture/capture_sink.h"
#include "gpuprof/row.h"
#include "session/live_source.h"
#include "session/targets.h"
#include "source/bpf/decode.h"

struct probe_plan {
	struct targets *targets;	/* chosen and users are filled in */
	const struct decoder *decoder;
	const struct event_sink *sink;
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

/* Pushes the calls that threads were in when the probes came. 0, -ENOMEM or the sink's error. */
int probe_source_find_inflight(struct live_source *l, uint64_t start_ns);

/* Starts the worker. keep: the capture whose blocks it stores; NULL: none. 0 or -errno, logged
 * unless -ENOMEM. */
int probe_source_run(struct live_source *l, struct capture_sink *keep);

/* Rows without a probe in some file, if that changed since *noted (at first 0). */
bool probe_source_left_out(struct live_source *l, unsigned int *noted, bool left_out[GP_ROWS_MAX]);

/* Adds advice to an error that starting a thread or a mapping met, logs it. Returns -errno for the
 * caller to pass on, never -ENOMEM, since it is logged. */
int probe_source_cannot(const char *what, int err);

#endif

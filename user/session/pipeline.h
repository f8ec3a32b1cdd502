/* SPDX-License-Identifier: BSD-3-Clause */
/* All events of a live session pass here, in arrival order: adds what procfs has of processes, then
 * hands on to capture and model. Used by the engine thread. */
#ifndef SESSION_PIPELINE_H
#define SESSION_PIPELINE_H

#include "base/map.h"
#include "capture/capture_sink.h"
#include "event/registry.h"
#include "host/identity.h"
#include "model/model.h"

struct pipeline {
	struct capture_sink *keep;		/* NULL: none */
	struct model *model;
	struct registry *registry;
	struct identity_room room;
	struct map seen;		/* handles of processes that were described */
	struct map read;		/* procfs' readings of processes: pid -> struct reading */
	struct map settled;		/* of these, whose devices were looked for after a launch */
	uint32_t last_settled;		/* found there last */
	uint64_t watermark_ns;		/* all that ended before it has been delivered */
	/* before it no process but the command began; 0: any may have */
	uint64_t oldest_ns;
	bool no_cmdline;
};

int pipeline_push(void *tap, const struct event *ev);	/* an event_sink.push */

/* EVENT_PROCESS and its identity of the process that has that pid, once for each process. */
int pipeline_describe(struct pipeline *tap, pid_t pid);
void pipeline_free(struct pipeline *tap);		/* not its sinks */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A session's NVML: begun when somebody uses a device, never waited for for long. */
#ifndef SESSION_NVML_SESSION_H
#define SESSION_NVML_SESSION_H

#include <stdbool.h>

#include "event/event.h"

struct session;
struct nvml;

struct session_nvml {
	struct nvml *reader;	/* NULL: it is not asked */
	bool wanted, began;
	bool said, missing;	/* what is told of it was said; what is missing of it was */
};

/* does it tell of devices in use? */
void session_nvml_on_event(struct session *s, const struct event *ev);
void session_nvml_read(struct session *s);	/* often; begins it when it is wanted */
void session_nvml_stop(struct session *s);	/* a last sample, and the end: does not wait */
void session_nvml_end(struct session *s);	/* reads the last, as far as it comes soon */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpuprof's use of NVML: device activity for a session, once a process uses a device; one query
 * for a verb that waits for the result. Nothing waits long, because a faulty driver may hang.
 */
#ifndef SESSION_NVML_SOURCE_H
#define SESSION_NVML_SOURCE_H

#include "host/selector.h"
#include "session/live_source.h"
#include "source/nvml/nvml.h"

struct live_source *nvml_source_new(const struct event_sink *sink);	/* NULL + errno */

#define NVML_ASK_S 5u		/* a driver without persistence takes seconds to wake a GPU */

/* Until its first turn; NVML_STARTING: it does not respond. */
void nvml_ask(struct nvml *n, struct nvml_status *st);
void nvml_ask_end(struct nvml *n);	/* frees it */

/* Before a verb begins: resolves the MIG instances that --gpu names. selector may be NULL. EXIT_OK,
 * or one is missing (logged). */
int mig_select(struct selector *selector);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A helper's record of memory as an event, but for its time and process. The caller has checked that
 * it is whole.
 */
#ifndef SOURCE_HELPER_HELPER_MEMORY_H
#define SOURCE_HELPER_HELPER_MEMORY_H

#include "event/event.h"
#include "gpuprof/work.h"

void helper_fill_memory(const struct gp_ring_memory *m, struct event *ev);

#endif

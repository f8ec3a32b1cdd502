/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What procfs has of threads that drive devices, a few times a second, where the scheduler's events
 * are not recorded (the session's fact off_cpu is SCHED_SAMPLED): an EVENT_SCHED for each thread
 * and time between two readings, once the calls of that time have been delivered.
 *
 * Readings are at random distances, so that they do not keep step with the program; some each time,
 * so that the engine is not held up: with many threads each is read more rarely.
 */
#ifndef SESSION_SCHED_SOURCE_H
#define SESSION_SCHED_SOURCE_H

#include "model/model.h"
#include "session/live_source.h"

#define SCHED_SAMPLED "sampled"

/* NULL + errno. model: of the session, names the threads. */
struct live_source *sched_source_new(const struct event_sink *sink, const struct model *model);

#endif

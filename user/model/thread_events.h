/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads' activity: calls, as probes saw them and as CUPTI alone recorded them, time off the
 * CPU and the end of threads, into their books, timelines and the statistics of their processes.
 *
 * Calls known by CUPTI's records alone, where a function has no probe, come after the probes'
 * events of their thread: they take the time that its book has as `other` just then. Where the
 * book has not come that far, or an interval of it is over, it does not get them, nor do the
 * causes of idle devices. Time off the CPU stays with its reason. One inside a call that a probe
 * saw, or around it, is that call.
 */
#ifndef MODEL_THREAD_EVENTS_H
#define MODEL_THREAD_EVENTS_H

#include "facts/consumer.h"

/* CALL, ENTER, OPEN, LEFT, INSIDE, GONE, TAIL, EXIT, OFF, CUPTI_CALL, STOP: for the others only
 * those that books took. */
extern const struct consumer threads_consumer;

/* OFF. Time off the CPU, in this interval. */
extern const struct consumer offcpu_consumer;
struct offcpu;
const struct offcpu *threads_offcpu(const struct consumer_states *s);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ran and what was called, one by one: the truth behind the sums of gpusim_truth.h, for tests
 * that hold a profiler's books against it to the nanosecond. Kept in memory while GPUSIM_LOG=FILE is
 * set (%p becomes the pid), written as JSON at exit:
 *
 *   {"log_version": 1, "simulated": true, "pid": P, "seed": S,
 *    "devices": ["GPU-..."],
 *    "works": [{"device": 0, "kind": "kernel", "name": "...", "context": 1, "stream": 7,
 *               "correlation": C, "start": ns, "end": ns, "bytes": 0, "pageable": false, "graph": 0, "node": 0,
 *               "grid": [x,y,z], "block": [x,y,z]}],
 *    "calls": [{"tid": T, "class": "launch", "function": "...", "start": ns, "end": ns,
 *               "correlation": C, "result": 0}]}
 *
 * kind: kernel, h2d, d2h, d2d, set. Calls are the outermost ones. Times are of CLOCK_MONOTONIC.
 *
 * With GPUSIM_LOG_SUMS=1 works are added up, and nothing else is kept: so many that a list of them
 * has no room. In place of both lists, of each device, kind and kernel,
 *
 *    "sums": [{"device": 0, "kind": "kernel", "name": "...", "count": N, "ns": T,
 *              "recorded": n, "recorded_ns": t}]}
 *
 * recorded: of these, those that CUPTI made a record of, or had no buffer for one.
 */
#ifndef GPUSIM_LOG_H
#define GPUSIM_LOG_H

#include <stdio.h>

#include "gpusim_trace.h"

bool gpusim_log_is_wanted(void);
void gpusim_log_work(const struct gpusim_trace_work *work, bool recorded); /* any thread */
/* Its end is when it is logged, as late in the call as can be: that time is returned. */
uint64_t gpusim_log_call(const struct gpusim_trace_call *call);
void gpusim_log_forget(void); /* in a child: nothing of its parent's */
int gpusim_write_log(void); /* 0 or -errno; 0 and nothing done without GPUSIM_LOG */

/* The sums. Adding: with a lock. */
void gpusim_log_sums_add(const struct gpusim_trace_work *work, bool recorded);
bool gpusim_log_sums_are_empty(void);
void gpusim_log_sums_forget(void);
void gpusim_log_sums_write(FILE *file);
const char *gpusim_work_kind_name(enum gpusim_work_kind kind);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside libcupti.so.13, the simulated CUPTI: how it is to behave, the records that wait, and how
 * they get into the client's buffers.
 *
 * Environment: GPUSIM_CUPTI=8.0|11.8|12.1|12.4|12.8|13.0|99.0 (13.0): whose records and version it
 * has; 8.0 and 99.0 are before and after all that gpuprof knows.
 * GPUSIM_CUPTI_FAULTS, of these, by commas: drop=N (each N-th record, counted as dropped), zero=N
 * (each N-th record has no times), late=MS (complete so long after the end), withhold (a flush waits
 * for what has not ended), reorder, busy (another client has subscribed), refuse (nothing can be enabled),
 * hang (a flush never returns), unusable (nothing works, as without a driver that it fits), back=MS
 * (its clock is set back by so much, 60 ms after it was first read), device=N (its buffers on the
 * device are used up after so many nodes of graphs: more have no times, until all is disabled and
 * enabled again), device!=N (disabling does not help), clock=US (its clock answers after so long),
 * vanish=N (each N-th record of a kernel of no graph is lost, and not counted as dropped), deaf (its
 * callbacks cannot be enabled), keep=N (each N-th buffer is filled and never given back).
 */
#ifndef LIBCUPTI_H
#define LIBCUPTI_H

#include <stdbool.h>

#include "cupti_api.h"
#include "gpusim_trace.h"

struct cupti_version {
	const char *name;
	uint32_t number; /* as cuptiGetVersion says */
	uint16_t bytes[KINDS];
	bool single_functions; /* enables API records one by one */
};

struct cupti_faults {
	uint64_t vanish, drop, keep, zero, late_ms, back_ms, device, clock_us;
	bool withhold, reorder, busy, refuse, hang, unusable, device_stays, deaf;
};

const struct cupti_version *cupti_version(void);
const struct cupti_faults *cupti_faults(void);

union cupti_record {
	uint32_t kind;
	struct cupti_kernel kernel;
	struct cupti_memcpy copy;
	struct cupti_memset set;
	struct cupti_graph_trace graph;
	struct cupti_memory memory;
	struct cupti_api api;
};

/* From what the simulation reports to a record; times of CLOCK_REALTIME, as CUPTI's own. */
void cupti_record_work(union cupti_record *rec, const struct gpusim_trace_work *work);
/* While whole graphs are recorded: a node is part of its graph's record. False: that is not complete yet. */
bool cupti_record_graph(union cupti_record *rec, const struct gpusim_trace_work *node);
void cupti_record_forget_times(union cupti_record *rec);
void cupti_record_memory(union cupti_record *rec, const struct gpusim_trace_memory *memory);
bool cupti_record_call(union cupti_record *rec, const struct gpusim_trace_call *call); /* is one */

/* Its one subscriber and what it is called for. */
bool cupti_callback_is_any(void);
void cupti_callback_node(const struct gpusim_trace_node *node);
void cupti_listen(void); /* to what is wanted now: records or callbacks */

/* Records wait until ready_ns of CLOCK_MONOTONIC; any thread. */
void cupti_queue_add(const union cupti_record *rec, uint64_t ready_ns);
void cupti_queue_flush(bool forced, cupti_request_fn request, cupti_complete_fn complete);
size_t cupti_queue_ready(void);	  /* how many a flush would complete */
size_t cupti_queue_dropped(void); /* since the last time it was asked */

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside libcupti.so.13, the simulated CUPTI: how it is to behave, the records, and how they get into
 * the client's buffers. It behaves as the real one is known to (shared facts are cited where they
 * come from); where that is unknown, as is worst for the client.
 *
 * Environment: GPUSIM_CUPTI=8.0|11.8|12.1|12.4|12.8|12.9|13.0|13.1|13.2|13.3|13.5|99.0 (13.0): whose
 * records, version and errors it has; 8.0 and 99.0 are before and after all that gpuprof knows.
 * Which functions it exports is its file's: cupti13.2/ and cupti13.3/ have what came then.
 *
 * GPUSIM_CUPTI_FAULTS, of these, by commas. Faults:
 * drop=N (each N-th record, counted as dropped), zero=N (each N-th record has no times), late=MS
 * (complete so long after the end), reorder (within a buffer), busy (another client has subscribed),
 * refuse (nothing can be enabled), hang (a flush never returns), unusable (nothing works, as without
 * a driver that it fits; 13.2 then overflows the stack, later ones answer 999), back=MS (its clock is
 * set back by so much, 60 ms after it was first read), device=N (25,000,000, in 250 buffers: those on
 * the device are used up after so many nodes of graphs, as none is used twice: more nodes have no
 * times, until all is disabled and enabled again; 0: never),
 * device!=N (disabling does not help), clock=US (its clock answers after so long), vanish=N (each
 * N-th record of a kernel of no graph is lost, and not counted as dropped), deaf (its callbacks
 * cannot be enabled), keep=N (each N-th buffer is filled and never given back), odd=N (each N-th
 * record is followed by one of a kind that the client did not ask for), drift=PPB (times of the
 * device run off the host's clock and back, at such a rate, by 100 ms each), cold=MS (20: the first
 * enabling takes so long, and launches wait for it).
 * Kinder than real: prompt (a flush gives complete records of a buffer that has incomplete ones),
 * one-buffer (not one for each thread), forget (works in flight when their kind is disabled do not
 * come at its next enabling), steady (graphs' correlations are right in later sessions, too).
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
	bool per_thread;       /* a buffer for each thread, by default */
	bool wrong_graphs;     /* correlations of graphs from the second session on (< 13.1 U1) */
	bool overflows;	       /* a failing initialisation recurses until the stack ends (13.2) */
	bool strict;	       /* 999 where it cannot initialise, also of the version (13.3) */
	bool single_late;      /* functions on one by one also in a process with a context (13.3) */
	bool whole_kills;      /* whole graphs end a process that launches an earlier one (< 13.2) */
	bool whole_stays;      /* after whole graphs it records nodes of none (13.5) */
};

struct cupti_faults {
	uint64_t vanish, drop, keep, zero, late_ms, back_ms, device, clock_us, odd, drift_ppb, cold_ms;
	uint64_t finalize_ms;
	bool reorder, busy, refuse, hang, unusable, device_stays, deaf;
	bool prompt, one_buffer, forget, steady;
};

const struct cupti_version *cupti_version(void);
const struct cupti_faults *cupti_faults(void);

/* How each function of the API begins. api: 1, or 2 for the _v2 ones (which do not mix: 14). A result
 * other than CUPTI_SUCCESS is the function's. */
int cupti_enter(int api);
int cupti_enter_query(void); /* of those of no API: version, time, records */
int cupti_enter_kinds(void); /* of cuptiActivityGetEnabledKinds */
void cupti_leave_all(void);  /* cuptiFinalize: as if never entered */
void cupti_die(const char *why); /* by SIGSEGV, also where the thread blocks signals */

union cupti_record {
	uint32_t kind;
	struct cupti_kernel kernel;
	struct cupti_memcpy copy;
	struct cupti_memcpy_peer peer;
	struct cupti_memset set;
	struct cupti_graph_trace graph;
	struct cupti_memory memory;
	struct cupti_api api;
	struct cupti_sync sync;
	struct cupti_external external;
};

/* From what the simulation reports to a record; times of CUPTI's clock, which is CLOCK_REALTIME or
 * the client's callback. */
uint64_t cupti_clock_ns(uint64_t monotonic_ns);
void cupti_clock_callback(uint64_t (*ticks)(void)); /* NULL: CLOCK_REALTIME again */
void cupti_record_work(union cupti_record *rec, const struct gpusim_trace_work *work);
/* While whole graphs are recorded: a node is part of its graph's record. False: that is not complete yet. */
bool cupti_record_graph(union cupti_record *rec, const struct gpusim_trace_work *node);
void cupti_record_forget_times(union cupti_record *rec);
void cupti_record_threads(bool system_ids); /* else as pthread_self has them */
void cupti_record_end_now(union cupti_record *rec);
void cupti_record_memory(union cupti_record *rec, const struct gpusim_trace_memory *memory);
bool cupti_record_call(union cupti_record *rec, const struct gpusim_trace_call *call); /* is one */
bool cupti_record_sync(union cupti_record *rec, const struct gpusim_trace_call *call); /* is one */

/* Of the call that this thread is in, once for each kind of number that it was given. */
void cupti_external_record(uint32_t correlation, uint64_t at_ns);

/* Its one subscriber and what it is called for. */
bool cupti_callback_is_any(void);
void cupti_callback_node(const struct gpusim_trace_node *node);
void cupti_callback_forget(void);
void cupti_listen(void); /* to what is wanted now: records or callbacks */

/* The client's callbacks, the last that were registered. */
void cupti_buffers_register(cupti_request_fn request, cupti_complete_fn complete);
bool cupti_buffers_have_client(void);
void cupti_buffers_are_zeroed(bool yes); /* the client's promise */
void cupti_buffers_per_thread(bool yes); /* the client's choice */
bool cupti_buffers_are_per_thread(void);
/* Any thread; complete from ready_ns of CLOCK_MONOTONIC on. */
void cupti_buffers_add(const union cupti_record *rec, uint64_t ready_ns);
void cupti_buffers_flush(bool forced);
void cupti_buffers_work(void);		 /* completes full ones */
size_t cupti_buffers_dropped(void);	 /* since the last time it was asked */
void cupti_buffers_hold(uint32_t kind);	 /* it is disabled: what is incomplete is held back */
void cupti_buffers_return(uint32_t kind); /* it is enabled: what was held back comes, and ends now */
void cupti_buffers_forget(void);

#endif

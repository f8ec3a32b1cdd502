/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The truth of what was called, for tests to compare with what a profiler saw. Each shim function
 * begins and ends a call; each thread counts in a record of its own that lives until the process
 * ends, so there is no lock on the way. When GPUSIM_TRUTH=FILE is set (%p becomes the pid) the
 * records are merged and written as JSON at exit:
 *
 *   {"truth_version": 1, "simulated": true, "pid": P, "seed": S,
 *    "functions": [{"function": "cudaMalloc", "class": "alloc",
 *                   "outermost": true, "exported": true,
 *                   "count": N, "errors": E, "open": O, "bytes": B, "total_ns": T, "recorded_ns": R, "max_ns": M,
 *                   "results": {"cudaSuccess": N},
 *                   "shapes": [{"grid": [x,y,z], "block": [x,y,z], "count": n}]}],
 *    "threads": [{"tid": T, "name": "...", "first_ns": t, "last_ns": t,
 *                 "classes": {"launch": ns}}],
 *    "memory": [{"device": D, "kind": "device|pool|pinned", "allocs": A, "frees": F, "failed": E,
 *                "live_bytes": L, "peak_bytes": P}]}
 *
 * count: calls that returned; open: calls that had not when it was written. outermost: not nested
 * in another shim function of its thread. exported false: the private twin ran, whose address no
 * symbol has. errors: results other than success and not-ready. bytes: as asked for, also when the
 * call failed. recorded_ns: as their records have it, without the time to report them. classes: time of outermost calls.
 */
#ifndef GPUSIM_TRUTH_H
#define GPUSIM_TRUTH_H

#include "gpusim.h"
#include "gpusim_functions.h"

struct gpusim_call {
	enum gpusim_function function;
	unsigned int place; /* GPUSIM_NESTED | GPUSIM_PRIVATE */
	uint64_t start_ns;
	uint64_t bytes;
	bool has_shape;
	struct gpusim_shape shape; /* launches */
};

enum { GPUSIM_NESTED = 1, GPUSIM_PRIVATE = 2, GPUSIM_PLACES = 4 };

/* start_ns: what the function itself read first. Behind a sleep each further page of code costs half a
 * microsecond, in which a probe's time has already begun. */
struct gpusim_call gpusim_call_begin(enum gpusim_function function, bool exported, uint64_t start_ns);
int gpusim_call_end(const struct gpusim_call *call, int result); /* returns result */
int gpusim_write_truth(void); /* 0, or -errno; 0 and nothing done without GPUSIM_TRUTH */

/* As if nothing had been called yet; only while no other thread is in a call. */
void gpusim_truth_forget(void);

#endif

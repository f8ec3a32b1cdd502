/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the devices do and what is called, reported as it happens to one listener: libcupti. A work is
 * reported once its times are known, which may be before it begins or, behind a collective, long after
 * it was submitted. Correlations number the outermost calls of runtime and driver in the process.
 */
#ifndef GPUSIM_TRACE_H
#define GPUSIM_TRACE_H

#include "gpusim.h"
#include "gpusim_functions.h"

struct gpusim_trace_work {
	struct gpusim_work work;
	int device;
	uint32_t context, stream; /* as CUPTI numbers them */
	uint32_t correlation;
	uint32_t graph; /* 0: none */
	uint64_t graph_node;
	uint32_t graph_index, graph_count; /* which of how many nodes that this launch runs */
};

struct gpusim_trace_call {
	enum gpusim_function function;
	int tid;
	uint64_t start_ns, end_ns;
	uint32_t correlation;
	int result;
};

struct gpusim_trace_memory {
	uint64_t at_ns;
	uint64_t address, bytes;
	enum gpusim_memory kind;
	int device;
	uint32_t context, correlation;
	bool is_free;
};

struct gpusim_trace_node {
	uint64_t node;
	uint64_t original; /* 0: it is no clone */
};

struct gpusim_tracer {
	/* With the world's lock held. True: there is, or will be, a record of it. */
	bool (*work)(const struct gpusim_trace_work *work);
	void (*call)(const struct gpusim_trace_call *call);
	void (*memory)(const struct gpusim_trace_memory *memory); /* with the world's lock held */
	void (*node)(const struct gpusim_trace_node *node); /* the same: it came into a graph */
};

void gpusim_trace_to(const struct gpusim_tracer *tracer); /* NULL: no listener */

uint32_t gpusim_graphs_made(void);  /* executable ones, ever: the number of the latest */
bool gpusim_context_is_any(void);   /* one was made, ever */

/* Of the call that this thread is in; 0: in none. */
uint32_t gpusim_correlation(void);

/* What NCCL launches goes through the runtime, each launch with a correlation of its own; the simulated
 * NCCL does not call it, so it says here what CUPTI would have recorded. */
void gpusim_correlation_renew(void);
void gpusim_trace_own_launch(uint64_t start_ns);

/* Kernels' names: as compiled programs register them. The text is the caller's. */
void gpusim_kernel_register(const void *entity, const char *name);
const char *gpusim_kernel_name(const void *entity); /* NULL: was not registered */

#endif

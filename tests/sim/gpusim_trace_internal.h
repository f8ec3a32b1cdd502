/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the files of libgpusim that submit works and the one that reports them.
 */
#ifndef GPUSIM_TRACE_INTERNAL_H
#define GPUSIM_TRACE_INTERNAL_H

#include "gpusim_internal.h"
#include "gpusim_trace.h"

enum { GPUSIM_STREAM_ID_BASE = 7 }; /* CUPTI's number of the legacy stream */

const struct gpusim_tracer *gpusim_trace_listener(void);

/* With the lock held. traced: all but device, context, stream and times. */
void gpusim_trace_work(const struct gpusim_stream *stream, const struct gpusim_trace_work *traced,
		       const struct gpusim_time *begin, const struct gpusim_time *end);
void gpusim_submit_node(struct gpusim_stream *stream, struct gpusim_work *work, uint64_t now_ns,
			const struct gpusim_trace_work *node);
void gpusim_traces_settle(const struct gpusim_gate *gate, uint64_t end_ns);
uint32_t gpusim_context_id(const struct gpusim_context *context);

#endif

// SPDX-License-Identifier: BSD-3-Clause
/* The rules of idle_spec.h, a nanosecond at a time. */
#include "lib/idle_spec.h"

static const struct timeline_span *span_at(const struct idle_spec_thread *who, uint64_t ns)
{
	for (size_t i = 0; who && i < who->n; i++)
		if (who->spans[i].start_ns <= ns && ns < who->spans[i].end_ns &&
		    who->spans[i].end_ns > who->forgotten_ns)
			return &who->spans[i];
	return NULL;
}

static enum idle_cause cause_of(unsigned int bucket)
{
	switch (bucket) {
	case CLASS_LAUNCH: return IDLE_LAUNCH;
	case CLASS_SYNC: return IDLE_SYNC;
	case CLASS_COPY: return IDLE_COPY_HOST;
	case CLASS_SET: return IDLE_SET;
	case CLASS_ALLOC: case CLASS_FREE: return IDLE_ALLOC;
	case CLASS_EVENT: return IDLE_EVENT;
	case CLASS_STREAM: return IDLE_STREAM;
	case CLASS_GRAPH: return IDLE_GRAPH;
	case CLASS_COMPILE: return IDLE_COMPILE;
	case CLASS_COLLECTIVE: return IDLE_COMM_HOST;
	case CLASS_INIT: return IDLE_INIT;
	case CLASS_LIBRARY: return IDLE_LIBRARY;
	case CLASS_QUERY: return IDLE_QUERY;
	case BUCKET_LOST: return IDLE_LOST;
	case BUCKET_OFF_0 + OFF_RUNQUEUE: return IDLE_RUNQUEUE;
	case BUCKET_OFF_0 + OFF_DISK: return IDLE_DISK;
	case BUCKET_OFF_0 + OFF_IO: return IDLE_IO;
	case BUCKET_OFF_0 + OFF_LOCK: return IDLE_LOCK;
	case BUCKET_OFF_0 + OFF_PAGE_FAULT: return IDLE_PAGE_FAULT;
	case BUCKET_OFF_0 + OFF_SLEEP: return IDLE_SLEEP;
	case BUCKET_OFF_0 + OFF_OTHER: return IDLE_OFF_CPU;
	case BUCKET_OFF_0 + OFF_STOPPED: return IDLE_STOPPED;
	default: return IDLE_UNKNOWN;
	}
}

static bool is_late(const struct timeline_span *span, uint64_t ns)
{
	uint64_t to_end = span->end_ns - 1 - ns;	/* of whole nanoseconds behind this one */

	return to_end >= span->after_late_ns &&
	       to_end < span->after_late_ns + span->late_ns;
}

static enum idle_cause why_late(const struct timeline_span *span)
{
	return span->late_why == OFF_STOPPED ? IDLE_STOPPED : IDLE_RUNQUEUE;
}

static enum idle_cause before(const struct idle_spec_thread *who, uint64_t ns)
{
	const struct timeline_span *span = span_at(who, ns);

	if (!who || ns < who->forgotten_ns)
		return IDLE_UNKNOWN;
	if (span)
		return is_late(span, ns) ? why_late(span) : cause_of(span->bucket);
	return intervals_overlap(who->unarmed, ns, ns + 1) ? IDLE_UNARMED : IDLE_OTHER;
}

static enum idle_cause cause_at(const struct device_work *by, const struct idle_spec_thread *who,
				uint64_t ns)
{
	uint64_t middle = by->launch_start_ns + (by->launch_end_ns - by->launch_start_ns) / 2;
	const struct timeline_span *open = span_at(who, middle);
	uint64_t enter = by->launch_start_ns, leave = by->launch_end_ns;
	unsigned int class = CLASS_LAUNCH;

	if (by->call_class != CLASS_OTHER) {
		enter = device_work_call_start(by);
		leave = device_work_call_end(by);
		class = by->call_class;
	} else if (open && open->end_ns == UINT64_MAX && open->bucket < CLASS_END) {
		enter = open->start_ns;
		leave = open->end_ns;
		class = open->bucket;
	}
	if (ns >= leave)
		return IDLE_QUEUED;
	if (ns < enter)
		return before(who, ns);
	if (by->call_class != CLASS_OTHER && span_at(who, ns) && is_late(span_at(who, ns), ns))
		return why_late(span_at(who, ns));
	return class == CLASS_COPY ? IDLE_COPY_HOST :
	       class == CLASS_COLLECTIVE ? IDLE_COMM_HOST : IDLE_LAUNCH;
}

void idle_spec(const struct device_gap *gap, const struct idle_spec_thread *who,
	       uint64_t ns[IDLE_CAUSES])
{
	for (uint64_t at = gap->start_ns; at < gap->end_ns; at++)
		ns[!gap->ended_by ? IDLE_NO_WORK : !gap->ended_by->has_launch ? IDLE_UNKNOWN :
		   cause_at(gap->ended_by, who, at)]++;
}

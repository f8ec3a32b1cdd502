// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcupti.so.13, the simulated CUPTI: numbers of the client's own that a thread's calls are recorded
 * with, a stack of each kind. torch.profiler finds the operator of a kernel by them.
 */
#include "libcupti.h"

enum { EXTERNAL_KINDS = 6, DEPTH = 256, QUEUE_EMPTY = 8 };

static __thread struct {
	uint64_t ids[DEPTH];
	unsigned int count;
} stacks[EXTERNAL_KINDS];

static bool is_kind(int kind)
{
	return kind > 0 && kind < EXTERNAL_KINDS;
}

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id)
{
	if (!is_kind(kind))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (stacks[kind].count < DEPTH)
		stacks[kind].ids[stacks[kind].count] = id;
	stacks[kind].count++;
	return CUPTI_SUCCESS;
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *last)
{
	if (!is_kind(kind))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (last)
		*last = 0;
	if (!stacks[kind].count)
		return QUEUE_EMPTY;
	if (--stacks[kind].count < DEPTH && last)
		*last = stacks[kind].ids[stacks[kind].count];
	return CUPTI_SUCCESS;
}

void cupti_external_record(uint32_t correlation, uint64_t at_ns)
{
	unsigned int kind, count;
	union cupti_record rec = { .kind = 0 };

	for (kind = 1; kind < EXTERNAL_KINDS; kind++) {
		count = stacks[kind].count;
		if (!count || count > DEPTH)
			continue;
		rec.external = (struct cupti_external){ .kind = KIND_EXTERNAL_CORRELATION,
			.external_kind = kind, .external = stacks[kind].ids[count - 1],
			.correlation = correlation };
		cupti_buffers_add(&rec, at_ns);
	}
}

/* Events are not recorded. */
int cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t enable)
{
	(void)enable;
	return cupti_enter(1);
}

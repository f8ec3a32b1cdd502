// SPDX-License-Identifier: BSD-3-Clause
/*
 * What was allocated and freed: reported to listeners, and added up for the truth.
 */
#include <inttypes.h>
#include <stdio.h>

#include "gpusim_internal.h"
#include "gpusim_memory.h"
#include "gpusim_trace_internal.h"

struct sums {
	uint64_t live_bytes, peak_bytes, allocs, frees, failed;
};

static struct sums sums[GPUSIM_MAX_DEVICES][GPUSIM_MEMORY_KINDS];

void gpusim_memory_report(const struct gpusim_trace_memory *memory)
{
	const struct gpusim_tracer *tracer = gpusim_trace_listener();
	struct sums *s = &sums[memory->device][memory->kind];

	if (memory->is_free) {
		s->frees++;
		s->live_bytes -= memory->bytes;
	} else {
		s->allocs++;
		s->live_bytes += memory->bytes;
	}
	if (s->live_bytes > s->peak_bytes)
		s->peak_bytes = s->live_bytes;
	if (tracer && tracer->memory)
		tracer->memory(memory);
}

void gpusim_memory_failed(enum gpusim_memory kind, int device)
{
	sums[device][kind].failed++;
}

void gpusim_memory_write_truth(FILE *file)
{
	static const char *const kinds[GPUSIM_MEMORY_KINDS] = { "device", "pool", "pinned" };
	const char *separator = "\n";
	int device, kind;

	for (device = 0; device < GPUSIM_MAX_DEVICES; device++)
		for (kind = 0; kind < GPUSIM_MEMORY_KINDS; kind++) {
			const struct sums *s = &sums[device][kind];

			if (!s->allocs && !s->failed)
				continue;
			fprintf(file,
				"%s{\"device\": %d, \"kind\": \"%s\", \"allocs\": %" PRIu64
				", \"frees\": %" PRIu64 ", \"failed\": %" PRIu64
				", \"live_bytes\": %" PRIu64 ", \"peak_bytes\": %" PRIu64 "}",
				separator, device, kinds[kind], s->allocs, s->frees, s->failed,
				s->live_bytes, s->peak_bytes);
			separator = ",\n";
		}
}

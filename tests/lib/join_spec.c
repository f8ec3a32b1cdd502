// SPDX-License-Identifier: BSD-3-Clause
/* The rules of join_spec.h, each asked of the whole list. */
#include "lib/join_spec.h"

#include <stdbool.h>
#include <string.h>

static int launch_of(const struct event *events, size_t n, const struct event *work)
{
	for (size_t i = 0; i < n; i++)
		if (events[i].kind == EVENT_API && events[i].pid == work->pid &&
		    events[i].api.correlation == work->work.correlation)
			return (int)i;
	return JOIN_SPEC_NONE;
}

void join_spec(const struct event *events, size_t n, uint64_t start_ns, uint64_t stop_ns, int *by,
	       struct join_counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (size_t i = 0; i < n; i++) {
		const struct event *w = &events[i];
		uint64_t launch_ns;

		if (w->kind != EVENT_WORK)
			continue;
		by[i] = launch_of(events, n, w);
		launch_ns = by[i] >= 0 ? events[by[i]].start_ns : 0;
		if (w->end_ns < start_ns || w->start_ns >= stop_ns ||
		    w->start_ns + JOIN_SKEW_NS < launch_ns)
			by[i] = JOIN_SPEC_INVALID;
		counts->outside += w->end_ns < start_ns || w->start_ns >= stop_ns;
		counts->invalid += by[i] == JOIN_SPEC_INVALID;
		counts->orphan += by[i] == JOIN_SPEC_NONE;
		counts->matched += by[i] >= 0;
		counts->skew += by[i] >= 0 && w->start_ns < launch_ns;
	}
}

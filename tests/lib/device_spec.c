// SPDX-License-Identifier: BSD-3-Clause
/* The rules of device_spec.h, each asked of the whole list, a nanosecond at a time. */
#include "lib/device_spec.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/num.h"

static bool is_valid(const struct device_work *w)
{
	return w->start_ns <= w->end_ns && w->state < WORK_STATES && w->bucket < DEVICE_BUCKETS;
}

/* Rule 2: does a come before b where both run? */
static bool wins(const struct device_work *a, const struct device_work *b)
{
	if (a->state != b->state)
		return a->state < b->state;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns;
	if (a->lane != b->lane)
		return a->lane < b->lane;
	if (a->id != b->id)
		return a->id < b->id;
	return a->bucket < b->bucket;
}

/* The work that owns the moment, or -1. */
static int64_t owner_at(const struct device_work *works, size_t n, uint64_t ns)
{
	int64_t best = -1;

	for (size_t i = 0; i < n; i++)
		if (is_valid(&works[i]) && works[i].start_ns <= ns && ns < works[i].end_ns &&
		    (best < 0 || wins(&works[i], &works[best])))
			best = (int64_t)i;
	return best;
}

static void add_idle(struct device_spec *out, uint64_t ns, bool is_new)
{
	if (is_new) {
		assert(out->gaps < DEVICE_SPEC_GAPS);
		out->gap[out->gaps].start_ns = ns;
		out->gap[out->gaps++].ended_by = -1;
	}
	out->gap[out->gaps - 1].end_ns = ns + 1;
	out->sum.idle_ns++;
}

void device_spec(const struct device_work *works, size_t n, uint64_t open_ns, uint64_t close_ns,
		 struct device_spec *out)
{
	bool idle = false;

	memset(out, 0, sizeof(*out));
	out->sum.open_ns = open_ns;
	out->sum.close_ns = close_ns;
	for (size_t i = 0; i < n; i++) {
		uint64_t start = num_max(works[i].start_ns, open_ns);
		uint64_t end = num_min(works[i].end_ns, close_ns);

		if (!is_valid(&works[i])) {
			out->invalid++;
			continue;
		}
		out->sum.works[works[i].bucket]++;
		out->sum.busy_ns[works[i].bucket] += start < end ? end - start : 0;
	}
	for (uint64_t ns = open_ns; ns < close_ns; ns++) {
		int64_t own = owner_at(works, n, ns);

		if (own >= 0 && idle)
			out->gap[out->gaps - 1].ended_by = own;
		if (own >= 0)
			out->sum.owned_ns[works[own].bucket]++;
		else
			add_idle(out, ns, !idle);
		idle = own < 0;
	}
}

// SPDX-License-Identifier: BSD-3-Clause
/* What is compared to fold bars: their parts, and why the device idled. */
#include "view/device_bar.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

const struct bar_part device_parts[DEVICE_PARTS] = {
	[DEVICE_PART_COMPUTE] = { "compute", "█", "C", LINE_GREEN },
	[DEVICE_PART_COPY] = { "copy", "▓", "m", LINE_CYAN },
	[DEVICE_PART_COMM] = { "comm", "▒", "c", LINE_MAGENTA },
	[DEVICE_PART_IDLE] = { "idle", "·", ".", LINE_PLAIN },
	[DEVICE_PART_UNKNOWN] = { "unknown", "?", "?", LINE_PLAIN },
};

static enum device_part part_of(unsigned int bucket)
{
	const char *state = device_state_name(bucket);

	return !strcmp(state, "comm")	 ? DEVICE_PART_COMM :
	       !strcmp(state, "compute") ? DEVICE_PART_COMPUTE :
					   DEVICE_PART_COPY;
}

struct device_bar device_bar_read(const struct snapshot_device *s)
{
	struct device_bar b = { .s = s, .wall_ns = device_bar_wall_ns(s), .last = s->number };

	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++)
		b.ns[part_of(i)] += s->sum.owned_ns[i];
	b.ns[DEVICE_PART_UNKNOWN] = device_bar_unknown_ns(s);
	b.ns[DEVICE_PART_IDLE] = num_sub(s->sum.idle_ns, b.ns[DEVICE_PART_UNKNOWN]);
	return b;
}

#define ALIKE 0.05

static bool differ(uint64_t a, uint64_t a_wall_ns, uint64_t b, uint64_t b_wall_ns)
{
	return fabs(num_ratio(a, a_wall_ns) - num_ratio(b, b_wall_ns)) > ALIKE;
}

bool device_parts_are_alike(const uint64_t a[DEVICE_PARTS], uint64_t a_wall_ns,
			    const uint64_t b[DEVICE_PARTS], uint64_t b_wall_ns)
{
	for (unsigned int i = 0; i < DEVICE_PARTS; i++)
		if (differ(a[i], a_wall_ns, b[i], b_wall_ns))
			return false;
	return true;
}

static bool are_alike(const struct device_bar *a, const struct device_bar *b)
{
	if (!device_parts_are_alike(a->ns, a->wall_ns, b->ns, b->wall_ns))
		return false;
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		if (differ(a->s->idle_ns[i], a->wall_ns, b->s->idle_ns[i], b->wall_ns))
			return false;
	return !snapshot_host_is_shared(a->s->host) && !snapshot_host_is_shared(b->s->host);
}

static int compare_bars(const void *a, const void *b)
{
	const struct device_bar *x = a, *y = b;
	const double x_idle = num_ratio(x->s->sum.idle_ns, x->wall_ns),
		     y_idle = num_ratio(y->s->sum.idle_ns, y->wall_ns);

	if (x->is_first != y->is_first)
		return x->is_first ? -1 : 1;
	if (x->s->number != y->s->number)
		return x->s->number < y->s->number ? -1 : 1;
	if (x_idle != y_idle)
		return x_idle < y_idle ? -1 : 1;
	return x->s->process < y->s->process ? -1 : x->s->process > y->s->process;
}

size_t device_bars_fold(struct device_bar *v, size_t n)
{
	size_t kept = 0;

	qsort(v, n, sizeof(*v), compare_bars);
	for (size_t i = 0; i < n; i++) {
		struct device_bar *before = kept ? &v[kept - 1] : NULL;

		if (before && v[i].s->number == before->last + 1 && are_alike(before, &v[i])) {
			before->alike++;
			before->last = v[i].s->number;
		} else {
			v[kept++] = v[i];
		}
	}
	return kept;
}

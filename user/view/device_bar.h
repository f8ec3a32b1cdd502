/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The book of one process on one device as the parts of a bar. Bars whose parts and causes of idle
 * time differ by less than 5 % of the wall time are alike, and may be shown as one.
 */
#ifndef VIEW_DEVICE_BAR_H
#define VIEW_DEVICE_BAR_H

#include "model/snapshot.h"
#include "view/screen_line.h"

enum device_part { DEVICE_PART_COMPUTE, DEVICE_PART_COPY, DEVICE_PART_COMM, DEVICE_PART_UNKNOWN,
		   DEVICE_PART_IDLE, DEVICE_PARTS };

extern const struct bar_part device_parts[DEVICE_PARTS];

struct device_bar {
	const struct snapshot_device *s;
	uint64_t ns[DEVICE_PARTS], wall_ns;	/* ns add up to it */
	bool is_first;			/* the screen is about it */
	size_t alike;			/* so many more devices */
	uint32_t last;			/* number of the last of them */
};

struct device_bar device_bar_read(const struct snapshot_device *s);

/* Does no part's share of the wall time differ by more than that? */
bool device_parts_are_alike(const uint64_t a[DEVICE_PARTS], uint64_t a_wall_ns,
			    const uint64_t b[DEVICE_PARTS], uint64_t b_wall_ns);

/* Sorts by the devices' numbers, the first one before all. Bars of consecutive numbers that are
 * alike become one. Returns how many are left. */
size_t device_bars_fold(struct device_bar *v, size_t n);

static inline uint64_t device_bar_wall_ns(const struct snapshot_device *s)
{
	return s->sum.close_ns - s->sum.open_ns;
}

/* Idle in its book, though it may have been busy. */
static inline uint64_t device_bar_unknown_ns(const struct snapshot_device *s)
{
	return idle_unknown_ns(s->idle_ns);
}

#endif

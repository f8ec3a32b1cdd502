/* SPDX-License-Identifier: BSD-3-Clause */
/* One cell of a device's time: how busy it was, in eighths. */
#ifndef VIEW_STRIP_CELL_H
#define VIEW_STRIP_CELL_H

#include <stdbool.h>

#include "base/num.h"
#include "ledger/strip.h"

/* Of what is known of that time; blank where its book was not open, for the most part. */
static inline const char *strip_cell(const struct strip *strip, uint64_t start_ns, uint64_t end_ns,
				     bool ascii)
{
	static const char *const eighths[] = { "·", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	static const char *const digits[] = { ".", "1", "2", "3", "4", "5", "6", "7", "8" };
	const struct strip_time t = strip_read(strip, start_ns, end_ns);
	const uint64_t known_ns = t.busy_ns + t.idle_ns;
	uint64_t level;

	if (known_ns + t.unknown_ns <= (end_ns - start_ns) / 2)
		return " ";
	if (t.unknown_ns > known_ns)
		return "?";
	level = (uint64_t)(8 * num_ratio(t.busy_ns, known_ns) + 0.5);
	if (t.busy_ns)
		level = num_max(level, 1);
	return (ascii ? digits : eighths)[level];
}

#endif

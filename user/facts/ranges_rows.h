/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranges of one domain, name and kind came to, and of those that are open since when they are. Bounded:
 * names beyond RANGES_ROWS_MAX are one row. For ranges*.c only; knows no threads.
 */
#ifndef FACTS_RANGES_ROWS_H
#define FACTS_RANGES_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct range_row {
	char *domain, *name;		/* NULL: none */
	uint8_t kind;
	bool before;
	uint64_t count, open;
	uint64_t left;			/* that its thread never ended, and that ended with it */
	uint64_t wall_ns, host_ns, device_ns, launches;	/* of what has ended, or was launched */
	uint64_t since_ns, covered_ns;	/* one is open since; wall has what was until */
	uint64_t until_ns;		/* the latest end: threads' ends do not come in the order of time */
	uint64_t host_open, host_starts;	/* those open that count as host: how many, starts added up */
	uint64_t stamp;			/* of the last work that was put here */
};

struct range_rows {
	VEC(struct range_row) all;
	struct map by_name;		/* hash -> index; chains go on by adding 1 */
};

/* The row of key's domain, name, kind and before, or a new one, with wall time from floor_ns on. NULL on
 * ENOMEM. */
struct range_row *range_rows_find(struct range_rows *r, const struct range_row *key, uint64_t floor_ns);

/* One of them begins and one ends, in any order of those that are open. */
void range_row_begin(struct range_row *row, uint64_t ns);
void range_row_end(struct range_row *row, uint64_t ns);

bool range_same_text(const char *a, const char *b);	/* NULL is the same as NULL alone */

void range_rows_free(struct range_rows *r);
size_t range_rows_bytes(const struct range_rows *r);	/* allocated, about */

#endif

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The log of works, added up: as much of it for many as for few. See gpusim_log.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gpusim_log.h"

enum { ROWS = 1024 };

struct row {
	int device;
	enum gpusim_work_kind kind;
	const void *entity; /* of kernels */
	uint64_t count, ns, recorded, recorded_ns;
};

static struct row rows[ROWS + 1]; /* the last: kernels that had no room */
static size_t used;

static struct row *find(const struct gpusim_trace_work *w)
{
	const void *entity = w->work.kind == GPUSIM_KERNEL ? w->work.entity : NULL;
	size_t i;

	for (i = 0; i < used; i++)
		if (rows[i].entity == entity && rows[i].kind == w->work.kind &&
		    rows[i].device == w->device)
			return &rows[i];
	if (used == ROWS)
		entity = NULL;
	else
		used++;
	rows[i].device = w->device;
	rows[i].kind = w->work.kind;
	rows[i].entity = entity;
	return &rows[i];
}

void gpusim_log_sums_add(const struct gpusim_trace_work *work, bool recorded)
{
	uint64_t ns = work->work.end_ns - work->work.start_ns;
	struct row *row = find(work);

	row->count++;
	row->ns += ns;
	row->recorded += recorded;
	row->recorded_ns += recorded ? ns : 0;
}

bool gpusim_log_sums_are_empty(void)
{
	return !used;
}

void gpusim_log_sums_forget(void)
{
	memset(rows, 0, sizeof(rows));
	used = 0;
}

static void write_row(FILE *file, const struct row *row)
{
	const char *name = row->entity ? gpusim_kernel_name(row->entity) : NULL;

	fprintf(file, "{\"device\": %d, \"kind\": \"%s\", \"name\": ", row->device,
		gpusim_work_kind_name(row->kind));
	fprintf(file, name ? "\"%s\"" : "null", name);
	fprintf(file, ", \"count\": %" PRIu64 ", \"ns\": %" PRIu64, row->count, row->ns);
	fprintf(file, ", \"recorded\": %" PRIu64 ", \"recorded_ns\": %" PRIu64 "}", row->recorded,
		row->recorded_ns);
}

void gpusim_log_sums_write(FILE *file)
{
	const char *separator = "\n";
	size_t i;

	fputs("],\n\"sums\": [", file);
	for (i = 0; i <= ROWS; i++) {
		if (!rows[i].count)
			continue;
		fputs(separator, file);
		write_row(file, &rows[i]);
		separator = ",\n";
	}
}

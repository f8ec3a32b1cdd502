// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `ranges`: annotations of applications (NVTX), and the works launched in them. Reads
 * a snapshot. Columns beyond the contract: kind (push, start, mark), open.
 */
#include <errno.h>

#include "facts/ranges.h"
#include "view/view.h"

enum { PID, DOMAIN, RANGE, KIND, COUNT, OPEN, WALL, HOST, DEVICE, LAUNCHES, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = { "pid", NULL, CELL_ID, 0, ROLE_KEY,
		"process id on the host" },
	[DOMAIN] = { "nvtx_domain", NULL, CELL_TEXT, 0, ROLE_KEY,
		"NVTX domain" },
	[RANGE] = { "range", NULL, CELL_TEXT, 0, ROLE_KEY,
		"name of the range" },
	[KIND] = { "kind", NULL, CELL_TEXT, 1, ROLE_KEY,
		"push (nested in a thread) or start (ends in any thread)" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM,
		"times that it ended" },
	[OPEN] = { "open", NULL, CELL_INT, 1, ROLE_SUM,
		"times that it has not ended" },
	[WALL] = { "wall_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"time from begin to end" },
	[HOST] = { "host_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"time in calls within it" },
	[DEVICE] = { "device_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"device time of what was launched within it" },
	[LAUNCHES] = { "launches", NULL, CELL_INT, 0, ROLE_SUM,
		"launches within it" },
};

/* A mark takes no time; of a range that began before, only the end was seen. */
static int fill_row(struct table *t, struct cell *row, const struct range_sum *s)
{
	const char *name = s->before ? RANGES_BEFORE : s->name;
	int err;

	cell_u(&row[COUNT], s->count);
	if (s->kind != RANGE_KIND_MARK) {
		cell_u(&row[OPEN], s->open);
		cell_u(&row[WALL], s->wall_ns);
	}
	if (s->kind != RANGE_KIND_MARK && !s->before) {
		cell_u(&row[HOST], s->host_ns);
		cell_u(&row[DEVICE], s->device_ns);
		cell_u(&row[LAUNCHES], s->launches);
	}
	err = s->domain ? cell_s(t, &row[DOMAIN], s->domain) : 0;
	if (!err && name)
		err = cell_s(t, &row[RANGE], name);
	return err ? err : cell_s(t, &row[KIND], range_kind_name(s->kind));
}

static int add_process(struct table *t, const struct snapshot_process *p)
{
	int err = 0;

	for (size_t i = 0; i < p->ranges.n && !err; i++) {
		const struct range_sum *s = &p->ranges.v[i];
		struct cell *row;

		if (!s->count && !s->open && !s->wall_ns && !s->launches)
			continue;	/* of intervals before */
		row = table_row(t);
		if (!row)
			return -ENOMEM;
		view_put_pid(&row[PID], p->pid);
		err = fill_row(t, row, s);
	}
	return err;
}

static int fill(struct table *t, const struct view_query *q)
{
	const struct snapshot *snap = q->snapshot;
	int err = 0;

	for (size_t i = 0; i < snap->processes.n && !err; i++)
		err = add_process(t, &snap->processes.v[i]);
	return err;
}

const struct view view_ranges = {
	.name = "ranges",
	.help = "a process and NVTX range, by name",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.sort = "wall_ns",
	.shown = VIEW_WITH_ROWS,
	.fill = fill,
};

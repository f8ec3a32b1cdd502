// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `ranges`: annotations of applications (NVTX), and the works launched in them. Reads
 * a snapshot. Columns beyond the contract: kind (push, start, mark), open.
 */
#include "facts/ranges.h"
#include "view/view.h"

enum { PID, DOMAIN, RANGE, KIND, COUNT, OPEN, WALL, HOST, DEVICE, LAUNCHES, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[DOMAIN] = { "nvtx_domain", NULL, CELL_TEXT, 0, ROLE_KEY, "NVTX domain" },
	[RANGE] = { "range", NULL, CELL_TEXT, 0, ROLE_KEY, "name of the range" },
	[KIND] = { "kind", NULL, CELL_TEXT, 1, ROLE_KEY,
		"push (nested in a thread) or start (ends in any thread)" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM, "times that it ended" },
	[OPEN] = { "open", NULL, CELL_INT, 1, ROLE_SUM, "times that it has not ended" },
	[WALL] = { "wall_ns", NULL, CELL_NS, 0, ROLE_SUM, "time from begin to end" },
	[HOST] = { "host_ns", NULL, CELL_NS, 0, ROLE_SUM, "time in calls within it" },
	[DEVICE] = { "device_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"device time of what was launched within it" },
	[LAUNCHES] = { "launches", NULL, CELL_INT, 0, ROLE_SUM, "launches within it" },
};

/* A mark takes no time; of a range that began before, only the end was seen. */
static void add_row(struct table *t, uint32_t pid, const struct range_sum *s)
{
	struct cell *row = table_row(t);

	view_put_pid(&row[PID], pid);
	cell_u(&row[COUNT], s->count);
	if (s->kind != RANGE_KIND_MARK) {
		cell_u(&row[OPEN], s->open + s->left);
		cell_u(&row[WALL], s->wall_ns);
	}
	if (s->kind != RANGE_KIND_MARK && !s->before) {
		cell_u(&row[HOST], s->host_ns);
		cell_u(&row[DEVICE], s->device_ns);
		cell_u(&row[LAUNCHES], s->launches);
	}
	cell_s(t, &row[DOMAIN], s->domain);
	cell_s(t, &row[RANGE], s->before ? RANGES_BEFORE : s->name);
	cell_s(t, &row[KIND], range_kind_name(s->kind));
}

static void add_process(struct table *t, const struct snapshot_process *p)
{
	for (size_t i = 0; i < p->ranges.n; i++) {
		const struct range_sum *s = &p->ranges.v[i];

		/* else of intervals before */
		if (s->count || s->open || s->left || s->wall_ns || s->launches)
			add_row(t, p->pid, s);
	}
}

static void fill(struct table *t, const struct view_query *q)
{
	for (size_t i = 0; i < q->snapshot->processes.n; i++)
		add_process(t, &q->snapshot->processes.v[i]);
}

const struct view view_ranges = {
	.name = "ranges",
	.help = "a process and NVTX range, by name",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "kind count",
	.sort = "wall_ns",
	.shown = VIEW_WITH_ROWS,
	.fill = fill,
};

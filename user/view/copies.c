// SPDX-License-Identifier: BSD-3-Clause
/* The table `copies`: bytes and speed of each direction, from pinned memory or not. */
#include "view/view.h"

enum { PID, DEVICE, MIG, DIRECTION, PINNED, COUNT, BYTES, TOTAL, SPEED, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[DEVICE] = COLUMN_DEVICE,
	[MIG] = COLUMN_MIG,
	[DIRECTION] = { "direction", NULL, CELL_TEXT, 0, ROLE_KEY,
		"host to device (h2d), d2h, d2d, peer, set" },
	[PINNED] = { "pinned", NULL, CELL_BOOL, 0, ROLE_KEY, "is the host memory page-locked?" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM, "copies and sets" },
	[BYTES] = { "bytes", NULL, CELL_BYTES, 0, ROLE_SUM, "bytes copied" },
	[TOTAL] = { "total_ns", NULL, CELL_NS, 0, ROLE_SUM, "time of the copies on the device" },
	[SPEED] = { "gb_per_s", NULL, CELL_REAL, 0, ROLE_MEAN, "10^9 bytes a second" },
};

/* NULL: not in the record. */
static const char *const directions[COPY_DEFAULT + 2] = {
	[COPY_H2H] = "h2h", [COPY_H2D] = "h2d", [COPY_D2H] = "d2h", [COPY_D2D] = "d2d",
	[COPY_DEFAULT] = NULL, [COPY_DEFAULT + 1] = "p2p",
};

static void add_row(struct table *t, const struct snapshot_device *s, const char *direction,
		    unsigned int memory, const struct copy_stats *c)
{
	struct cell *row = table_row(t);

	view_put_pid(&row[PID], s->pid);
	view_put_device(&row[DEVICE], &row[MIG], s->number);
	if (memory != MEMORY_UNKNOWN)
		cell_u(&row[PINNED], memory == MEMORY_PINNED);
	cell_u(&row[COUNT], c->count);
	cell_u(&row[BYTES], c->bytes);
	cell_u(&row[TOTAL], c->total_ns);
	if (c->total_ns)
		cell_d(&row[SPEED], (double)c->bytes / (double)c->total_ns);
	cell_s(t, &row[DIRECTION], direction);
}

static void add_device(struct table *t, const struct snapshot_device *s)
{
	for (unsigned int dir = 0; dir < COPY_DEFAULT + 2; dir++)
		for (unsigned int memory = 0; memory < 3; memory++)
			if (s->copies[dir][memory].count)
				add_row(t, s, directions[dir], memory, &s->copies[dir][memory]);
}

static void fill(struct table *t, const struct view_query *q)
{
	for (size_t i = 0; i < q->snapshot->devices.n; i++)
		add_device(t, &q->snapshot->devices.v[i]);
}

const struct view view_copies = {
	.name = "copies",
	.help = "a process, device, direction and kind of host memory",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "device count bytes total_ns",
	.sort = "total_ns",
	.shown = VIEW_WITH_DEVICES,
	.fill = fill,
};

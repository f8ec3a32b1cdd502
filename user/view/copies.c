// SPDX-License-Identifier: BSD-3-Clause
/* The table `copies`: bytes and speed of each direction, from pinned memory or not. */
#include <errno.h>

#include "view/view.h"

enum { PID, DEVICE, DIRECTION, PINNED, COUNT, BYTES, TOTAL, SPEED, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = { "pid", NULL, CELL_ID, 0, ROLE_KEY,
		"process id on the host" },
	[DEVICE] = { "device", NULL, CELL_DEVICE, 0, ROLE_KEY,
		"number of the device on the host; 0:1 is instance 1 of GPU 0" },
	[DIRECTION] = { "direction", NULL, CELL_TEXT, 0, ROLE_KEY,
		"host to device (h2d), d2h, d2d, peer, set" },
	[PINNED] = { "pinned", NULL, CELL_BOOL, 0, ROLE_KEY,
		"is the host memory page-locked?" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM,
		"copies and sets" },
	[BYTES] = { "bytes", NULL, CELL_BYTES, 0, ROLE_SUM,
		"bytes copied" },
	[TOTAL] = { "total_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"time of the copies on the device" },
	[SPEED] = { "gb_per_s", NULL, CELL_REAL, 0, ROLE_MEAN,
		"10^9 bytes a second" },
};

/* NULL: not in the record. */
static const char *const directions[COPY_DEFAULT + 2] = {
	[COPY_H2H] = "h2h", [COPY_H2D] = "h2d", [COPY_D2H] = "d2h", [COPY_D2D] = "d2d",
	[COPY_DEFAULT] = NULL, [COPY_DEFAULT + 1] = "p2p",
};

static int add_row(struct table *t, uint32_t number, const struct snapshot_device *s,
		   const char *direction, unsigned int memory, const struct copy_stats *c)
{
	struct cell *row;

	if (!c->count)
		return 0;
	row = table_row(t);
	if (!row)
		return -ENOMEM;
	view_put_pid(&row[PID], s->pid);
	cell_u(&row[DEVICE], number);
	if (memory != MEMORY_UNKNOWN)
		cell_u(&row[PINNED], memory == MEMORY_PINNED);
	cell_u(&row[COUNT], c->count);
	cell_u(&row[BYTES], c->bytes);
	cell_u(&row[TOTAL], c->total_ns);
	if (c->total_ns)
		cell_d(&row[SPEED], (double)c->bytes / (double)c->total_ns);
	return cell_s(t, &row[DIRECTION], direction);
}

static int add_device(struct table *t, const struct snapshot_device *s)
{
	uint32_t number = s->number;
	int err = 0;

	for (unsigned int dir = 0; dir < COPY_DEFAULT + 2; dir++)
		for (unsigned int memory = 0; !err && memory < 3; memory++)
			err = add_row(t, number, s, directions[dir], memory,
				      &s->copies[dir][memory]);
	return err;
}

static int fill(struct table *t, const struct view_query *q)
{
	const struct snapshot *snap = q->snapshot;
	int err = 0;

	for (size_t i = 0; !err && i < snap->devices.n; i++)
		err = add_device(t, &snap->devices.v[i]);
	return err;
}

const struct view view_copies = {
	.name = "copies",
	.help = "a process, device, direction and kind of host memory",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.sort = "total_ns",
	.shown = VIEW_WITH_DEVICES,
	.fill = fill,
};

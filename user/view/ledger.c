// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `ledger`: the book of each process on each of its devices, a row per bucket that is not
 * empty and one per cause of idleness, so that the rows of a book add up to its wall time.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/vec.h"
#include "view/view.h"

enum { PID, COMM, RANK, DEVICE, UUID, STATE, BUCKET, NS, SHARE, BUSY, OVERLAPPED, WALL, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = { "pid", NULL, CELL_ID, 0, ROLE_KEY,
		"process id on the host" },
	[COMM] = { "comm", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"name of the process, as the kernel has it" },
	[RANK] = { "rank", NULL, CELL_ID, 0, ROLE_LABEL,
		"number of the process in its job" },
	[DEVICE] = { "device", NULL, CELL_DEVICE, 0, ROLE_KEY,
		"number of the device on the host; 0:1 is instance 1 of GPU 0" },
	[UUID] = { "device_uuid", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"UUID of the device" },
	[STATE] = { "state", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"compute, comm, copy, set or idle" },
	[BUCKET] = { "bucket", NULL, CELL_TEXT, 0, ROLE_KEY,
		"bucket, or cause of idle time" },
	[NS] = { "ns", "time", CELL_NS, 0, ROLE_SUM,
		"time booked: rows of a device add up to wall_ns" },
	[SHARE] = { "share", NULL, CELL_SHARE, 0, ROLE_SHARE,
		"of wall_ns" },
	[BUSY] = { "busy_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"time of all works of the bucket, also where others own it" },
	[OVERLAPPED] = { "overlapped_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"of busy_ns, time that another work owns" },
	[WALL] = { "wall_ns", NULL, CELL_NS, 0, ROLE_TOTAL,
		"wall clock that the rows add up to" },
};

struct line {
	const char *state;	/* NULL: idle */
	const char *bucket;
	uint64_t ns, busy_ns;
};

struct lines {
	VEC(struct line) all;
};

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return num_compare(y->ns, x->ns);
}

static int add_line(struct lines *lines, const struct line *from)
{
	struct line *line;

	if (!from->ns && !from->busy_ns)
		return 0;
	line = VEC_PUSH(&lines->all);
	if (!line)
		return -ENOMEM;
	*line = *from;
	return 0;
}

static int add_row(struct table *t, const struct snapshot *snap, const struct snapshot_device *s,
		   const struct line *line)
{
	uint64_t wall_ns = s->sum.close_ns - s->sum.open_ns;
	struct cell *row = table_row(t);
	const char *rank = snapshot_identity(snapshot_process(snap, s->process), "rank");
	int err;

	if (!row)
		return -ENOMEM;
	view_put_pid(&row[PID], s->pid);
	if (rank)
		cell_u(&row[RANK], strtoull(rank, NULL, 10));
	cell_u(&row[DEVICE], s->number);
	cell_u(&row[NS], line->ns);
	cell_d(&row[SHARE], (double)line->ns / (double)wall_ns);
	if (line->state) {
		cell_u(&row[BUSY], line->busy_ns);
		cell_u(&row[OVERLAPPED], line->busy_ns - line->ns);
	}
	cell_u(&row[WALL], wall_ns);
	err = cell_s(t, &row[COMM], view_comm(snap, s->process));
	if (!err)
		err = cell_s(t, &row[UUID], s->has_facts ?
			     samples_uuid(&snap->samples, s->facts.uuid) : NULL);
	if (!err)
		err = cell_s(t, &row[STATE], line->state ? line->state : "idle");
	return err ? err : cell_s(t, &row[BUCKET], line->bucket);
}

/* Buckets that are separate in the book, not in the table. */
static void fold_rows(struct device_sum *sum)
{
	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++) {
		unsigned int row = device_bucket_row(i);

		if (row == i)
			continue;
		sum->owned_ns[row] += sum->owned_ns[i];
		sum->busy_ns[row] += sum->busy_ns[i];
		sum->owned_ns[i] = sum->busy_ns[i] = 0;
	}
}

static int collect(struct lines *lines, const struct snapshot_device *s)
{
	struct device_sum sum = s->sum;
	int err = 0;

	fold_rows(&sum);
	for (unsigned int i = 0; !err && i < DEVICE_BUCKETS_END; i++)
		err = add_line(lines, &(struct line){ device_state_name(i), device_bucket_name(i),
						      sum.owned_ns[i], sum.busy_ns[i] });
	for (unsigned int i = 0; !err && i < IDLE_CAUSES; i++)
		err = add_line(lines, &(struct line){ NULL, idle_name(i), s->idle_ns[i], 0 });
	return err;
}

static int add_device(struct table *t, const struct snapshot *snap, const struct snapshot_device *s)
{
	struct lines lines = { 0 };
	int err = collect(&lines, s);

	if (!err && lines.all.n)
		qsort(lines.all.v, lines.all.n, sizeof(*lines.all.v), compare_lines);
	for (size_t i = 0; !err && i < lines.all.n; i++)
		err = add_row(t, snap, s, &lines.all.v[i]);
	VEC_FREE(&lines.all);
	return err;
}

static int fill(struct table *t, const struct view_query *q)
{
	const struct snapshot *snap = q->snapshot;
	int err = 0;

	t->book_columns = DEVICE + 1;
	for (size_t i = 0; !err && i < snap->devices.n; i++)
		err = add_device(t, snap, &snap->devices.v[i]);
	return err;
}

const struct view view_ledger = {
	.name = "ledger",
	.help = "a process, device and bucket; ns of a process and device add up to wall_ns",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.shown = VIEW_WITH_DEVICES,
	.fill = fill,
};

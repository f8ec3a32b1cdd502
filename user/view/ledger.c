// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `ledger`: the book of each process on each of its devices, a row per bucket that is not
 * empty and one per cause of idleness, so that the rows of a book add up to its wall time.
 */
#include <stdlib.h>

#include "view/view.h"

enum { PID, COMM, RANK, DEVICE, MIG, UUID, STATE, BUCKET, NS, SHARE, BUSY, OVERLAPPED, WALL,
       N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[COMM] = COLUMN_COMM,
	[RANK] = { "rank", NULL, CELL_ID, 0, ROLE_LABEL, "number of the process in its job" },
	[DEVICE] = COLUMN_DEVICE,
	[MIG] = COLUMN_MIG,
	[UUID] = { "device_uuid", NULL, CELL_TEXT, 1, ROLE_LABEL, "UUID of the device" },
	[STATE] = { "state", NULL, CELL_TEXT, 0, ROLE_LABEL, "compute, comm, copy, set or idle" },
	[BUCKET] = { "bucket", NULL, CELL_TEXT, 0, ROLE_KEY, "bucket, or cause of idle time" },
	[NS] = { "ns", "time", CELL_NS, 0, ROLE_SUM,
		"time booked: rows of a device add up to wall_ns" },
	[SHARE] = { "share", NULL, CELL_SHARE, 0, ROLE_SHARE, "of wall_ns" },
	[BUSY] = { "busy_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"time of all works of the bucket, also where others own it" },
	[OVERLAPPED] = { "overlapped_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"of busy_ns, time that another work owns" },
	[WALL] = { "wall_ns", NULL, CELL_NS, 0, ROLE_TOTAL, "wall clock that the rows add up to" },
};

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

/* A row's time in the book of s: state NULL is idle. */
struct line {
	const struct snapshot_device *s;
	const char *state, *bucket;
	uint64_t ns, busy_ns;
};

static void add_row(struct table *t, const struct snapshot *snap, const struct line *line)
{
	const struct snapshot_device *s = line->s;
	const char *rank = snapshot_identity(snapshot_process(snap, s->process), "rank");
	uint64_t wall_ns = s->sum.close_ns - s->sum.open_ns;
	struct cell *row;

	if (!line->ns && !line->busy_ns)
		return;
	row = table_row(t);
	view_put_pid(&row[PID], s->pid);
	if (rank)
		cell_u(&row[RANK], strtoull(rank, NULL, 10));
	view_put_device(&row[DEVICE], &row[MIG], s->number);
	cell_u(&row[NS], line->ns);
	cell_d(&row[SHARE], (double)line->ns / (double)wall_ns);
	if (line->state) {
		cell_u(&row[BUSY], line->busy_ns);
		cell_u(&row[OVERLAPPED], line->busy_ns - line->ns);
	}
	cell_u(&row[WALL], wall_ns);
	cell_s(t, &row[COMM], view_comm(snap, s->process));
	if (s->has_facts)
		cell_s(t, &row[UUID], samples_uuid(&snap->samples, s->facts.uuid));
	cell_s(t, &row[STATE], line->state ? line->state : "idle");
	cell_s(t, &row[BUCKET], line->bucket);
}

static void add_device(struct table *t, const struct snapshot *snap,
		       const struct snapshot_device *s)
{
	struct device_sum sum = s->sum;
	size_t first = t->n_rows;

	fold_rows(&sum);
	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++)
		add_row(t, snap, &(struct line){ s, device_state_name(i), device_bucket_name(i),
						 sum.owned_ns[i], sum.busy_ns[i] });
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		add_row(t, snap, &(struct line){ s, NULL, idle_name(i), s->idle_ns[i], 0 });
	table_sort_from(t, first, "ns");
}

/* All of its book is that it was given no work. */
static bool is_unused(const struct snapshot_device *s)
{
	uint64_t works = 0;

	for (unsigned int i = 0; i < DEVICE_BUCKETS_END; i++)
		works += s->sum.works[i];
	return !works && s->idle_ns[IDLE_NO_WORK] + s->idle_ns[IDLE_OPEN] ==
				 s->sum.close_ns - s->sum.open_ns;
}

/* A process sees all devices of the host, and uses one of them: that one has rows; where it uses
 * none, its first. */
static bool has_rows(const struct snapshot *snap, const struct snapshot_device *s)
{
	if (!is_unused(s))
		return true;
	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *other = &snap->devices.v[i];

		if (other->process == s->process &&
		    (!is_unused(other) || other->device < s->device))
			return false;
	}
	return true;
}

static void fill(struct table *t, const struct view_query *q)
{
	t->book_columns = DEVICE + 1;
	for (size_t i = 0; i < q->snapshot->devices.n; i++)
		if (has_rows(q->snapshot, &q->snapshot->devices.v[i]))
			add_device(t, q->snapshot, &q->snapshot->devices.v[i]);
}

const struct view view_ledger = {
	.name = "ledger",
	.help = "a process, device that it used, and bucket; their ns add up to wall_ns",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "device state bucket ns share wall_ns",
	.shown = VIEW_WITH_DEVICES,
	.fill = fill,
};

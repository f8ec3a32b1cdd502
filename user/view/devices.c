// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `devices`: who had each device of the host, over all processes that are watched, so that
 * the rows of a device add up to its wall time. How active it was is the whole device's, whoever had it,
 * and a mean over the time that was sampled; who else had it is as exact as samples are, about a second.
 */
#include <errno.h>

#include "base/num.h"
#include "base/vec.h"
#include "ledger/host_devices.h"
#include "view/views.h"

enum { DEVICE, UUID, NAME, OWNER, PID, NS, SHARE, WALL, SM, TENSOR, DRAM, OCCUPANCY, SAMPLED,
       SOURCE, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[DEVICE] = { "device", NULL, CELL_DEVICE, 0 },
	[UUID] = { "device_uuid", NULL, CELL_TEXT, 0 },
	[NAME] = { "name", NULL, CELL_TEXT, 0 },
	[OWNER] = { "owner", NULL, CELL_TEXT, 0 },
	[PID] = { "pid", NULL, CELL_ID, 0 },
	[NS] = { "ns", "time", CELL_NS, 0 },
	[SHARE] = { "share", NULL, CELL_SHARE, 0 },
	[WALL] = { "wall_ns", NULL, CELL_NS, 0 },
	[SM] = { "sm_active_pct", NULL, CELL_REAL, 0 },
	[TENSOR] = { "tensor_active_pct", NULL, CELL_REAL, 0 },
	[DRAM] = { "dram_active_pct", NULL, CELL_REAL, 0 },
	[OCCUPANCY] = { "sm_occupancy_pct", NULL, CELL_REAL, 1 },
	[SAMPLED] = { "sampled_ns", NULL, CELL_NS, 1 },
	[SOURCE] = { "source", NULL, CELL_TEXT, 1 },
};

static const struct {
	uint8_t column, field;
} activities[] = {
	{ SM, SAMPLE_SM }, { TENSOR, SAMPLE_TENSOR }, { DRAM, SAMPLE_DRAM },
	{ OCCUPANCY, SAMPLE_OCCUPANCY },
};

#define WORKS "works"		/* those that are told of it */
#define SAMPLES "samples"	/* NVML's, of who is on it */

struct line {
	const char *owner, *source;
	uint32_t pid;		/* 0: no single process */
	uint64_t ns;
};

struct lines {
	VEC(struct line) all;
	uint64_t wall_ns;
};

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	return x->ns == y->ns ? num_compare(x->pid, y->pid) : num_compare(y->ns, x->ns);
}

static int add_line(struct lines *lines, const char *owner, uint32_t pid, uint64_t ns,
		    const char *source)
{
	struct line *line = ns ? VEC_PUSH(&lines->all) : NULL;

	if (line)
		*line = (struct line){ owner, source, pid, ns };
	return !ns || line ? 0 : -ENOMEM;
}

static int collect(struct lines *lines, const struct model *m, const struct host_device *h,
		   const struct share_book *b)
{
	struct share_sum sum;
	int err = 0;

	share_book_sum(b, &sum);
	for (size_t i = 0; i < h->members.n && !err; i++) {
		uint32_t pid = h->members.v[i]->pid;

		err = add_line(lines, view_comm(m, pid), pid, share_book_member(b, i).owned_ns,
			       WORKS);
	}
	if (!err)
		err = add_line(lines, "shared", 0, sum.shared_ns, WORKS);
	if (!err)
		err = add_line(lines, "unknown", 0, sum.unknown_ns, NULL);
	if (!err)
		err = add_line(lines, "unwatched", 0, sum.unwatched_ns, SAMPLES);
	if (!err)
		err = add_line(lines, "idle", 0, sum.idle_ns, WORKS);
	lines->wall_ns = sum.close_ns - sum.open_ns;
	if (!err && lines->all.n)
		qsort(lines->all.v, lines->all.n, sizeof(*lines->all.v), compare_lines);
	return err;
}

/* "train[1234]", or what is no process. */
static int put_owner(struct table *t, struct cell *cell, const struct line *line)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	if (!line->pid)
		return cell_s(t, cell, line->owner);
	strbuf_addf(&text, "%s[%u]", line->owner ? line->owner : "", line->pid);
	err = text.failed ? -ENOMEM : cell_s(t, cell, text.s);
	strbuf_free(&text);
	return err;
}

static void fill_samples(struct cell *row, const struct sampled_device *d)
{
	double percent;

	if (!d)
		return;
	cell_u(&row[DEVICE], d->number);
	if (d->active[SAMPLE_SM].ns)
		cell_u(&row[SAMPLED], d->active[SAMPLE_SM].ns);
	for (size_t i = 0; i < sizeof(activities) / sizeof(activities[0]); i++)
		if (samples_active(d, activities[i].field, &percent))
			cell_d(&row[activities[i].column], percent);
}

static int add_row(struct table *t, const struct model *m, const struct host_device *h,
		   const struct line *line, uint64_t wall_ns)
{
	const struct device_state *first = h->members.v[0];
	struct cell *row = table_row(t);
	int err;

	if (!row)
		return -ENOMEM;
	if (line->pid)
		cell_u(&row[PID], line->pid);
	cell_u(&row[NS], line->ns);
	cell_d(&row[SHARE], (double)line->ns / (double)wall_ns);
	cell_u(&row[WALL], wall_ns);
	fill_samples(row, samples_find(model_samples(m), h->uuid));
	err = cell_s(t, &row[UUID], h->uuid[0] ? samples_uuid(model_samples(m), h->uuid) : NULL);
	if (!err)
		err = cell_s(t, &row[NAME], first->name[0] ? first->name : NULL);
	if (!err)
		err = cell_s(t, &row[SOURCE], line->source);
	return err ? err : put_owner(t, &row[OWNER], line);
}

static int add_device(struct table *t, const struct model *m, const struct host_device *h,
		      uint64_t now_ns)
{
	struct share_book *b = model_share(m, h, now_ns);
	struct lines lines = { .wall_ns = 0 };
	int err = b ? collect(&lines, m, h, b) : -errno;

	for (size_t i = 0; i < lines.all.n && !err; i++)
		err = add_row(t, m, h, &lines.all.v[i], lines.wall_ns);
	VEC_FREE(&lines.all);
	share_book_free(b);
	return err;
}

struct table *view_devices(const struct model *m, uint64_t now_ns)
{
	const struct devices *d = model_devices(m);
	struct table *t = table_new("devices", columns, N_COLUMNS);
	int err = 0;

	if (!t)
		return NULL;
	for (size_t i = 0; i < devices_hosts(d) && !err; i++)
		err = add_device(t, m, devices_host(d, i), now_ns);
	return table_done(t, err);
}

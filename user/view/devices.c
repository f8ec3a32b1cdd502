// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `devices`: the owners of each device of the host, over all watched processes, so
 * that the rows of a device add up to its wall time: from when the first of these processes
 * began, or the session, to its end, though the processes' own books (view/ledger.c) are of
 * their own lives. Its activity is the whole device's, of all owners, and a mean over the
 * sampled time; other owners are as exact as samples are, about a second.
 *
 * Where the whole host is watched, a device that no watched process uses is in it, too, as far
 * as its samples go: its wall time is the sampled time.
 */
#include "base/num.h"
#include "findings/finding_book.h"
#include "view/view.h"

enum { DEVICE, MIG, UUID, NAME, OWNER, PID, NS, SHARE, WALL, SM, TENSOR, DRAM, OCCUPANCY, SAMPLED,
       SOURCE, USERS, POWER, ENERGY, ENERGY_NS, SM_CLOCK, MEMORY_CLOCK, POWER_DEVICE, FROM, UNTIL,
       N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[DEVICE] = COLUMN_DEVICE,
	[MIG] = COLUMN_MIG,
	[UUID] = { "device_uuid", NULL, CELL_TEXT, COLUMN_INSTEAD, ROLE_LABEL,
		"UUID of the device" },
	[NAME] = { "name", NULL, CELL_TEXT, 0, ROLE_LABEL, "name of the device" },
	[OWNER] = { "owner", NULL, CELL_TEXT, 0, ROLE_KEY,
		"who had the device: a process, shared, unwatched, idle, ..." },
	[PID] = { "pid", NULL, CELL_ID, 0, ROLE_KEY, "process that had it" },
	[NS] = { "ns", "time", CELL_NS, 0, ROLE_SUM, "time for which the owner had the device" },
	[SHARE] = { "share", NULL, CELL_SHARE, 0, ROLE_SHARE, "of wall_ns" },
	[WALL] = { "wall_ns", NULL, CELL_NS, 0, ROLE_TOTAL, "wall clock that the rows add up to" },
	[SM] = { "sm_active_pct", NULL, CELL_REAL, 0, ROLE_MEAN,
		"multiprocessors with any work, mean of NVML samples" },
	[TENSOR] = { "tensor_active_pct", NULL, CELL_REAL, 0, ROLE_MEAN,
		"tensor cores at work, mean of NVML samples" },
	[DRAM] = { "dram_active_pct", NULL, CELL_REAL, 0, ROLE_MEAN,
		"memory bandwidth in use, mean of NVML samples" },
	[OCCUPANCY] = { "sm_occupancy_pct", NULL, CELL_REAL, 1, ROLE_MEAN,
		"warps of those that fit, mean of NVML samples" },
	[SAMPLED] = { "sampled_ns", NULL, CELL_NS, 1, ROLE_SUM, "time that the samples cover" },
	[SOURCE] = { "source", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"works (a helper recorded them) or samples (NVML)" },
	[USERS] = { "users", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"processes on the device, by the last NVML sample" },
	[POWER] = { "power_w", NULL, CELL_REAL, 1, ROLE_MEAN, "mean power" },
	[ENERGY] = { "energy_j", NULL, CELL_REAL, 1, ROLE_SUM, "energy used in energy_ns" },
	[ENERGY_NS] = { "energy_ns", "energy_time", CELL_NS, 1, ROLE_SUM,
		"time that energy_j covers" },
	[SM_CLOCK] = { "sm_mhz", NULL, CELL_REAL, 1, ROLE_MEAN,
		"mean clock of the multiprocessors" },
	[MEMORY_CLOCK] = { "memory_mhz", NULL, CELL_REAL, 1, ROLE_MEAN,
		"mean clock of the memory" },
	[POWER_DEVICE] = { "power_device", NULL, CELL_DEVICE, 1, ROLE_LABEL,
		"device whose power and clocks these are; of an instance, its GPU" },
	[FROM] = { "from_ns", "from", CELL_NS, 1, ROLE_LABEL, "when the book of the device opens" },
	[UNTIL] = { "until_ns", "until", CELL_NS, 1, ROLE_LABEL,
		"when the book of the device closes" },
};

struct mean {
	uint8_t column, field;
	uint16_t divisor;	/* of the field's unit, to the column's */
};

static const struct mean activities[] = {
	{ SM, SAMPLE_SM, 100 }, { TENSOR, SAMPLE_TENSOR, 100 }, { DRAM, SAMPLE_DRAM, 100 },
	{ OCCUPANCY, SAMPLE_OCCUPANCY, 100 },
};

static const struct mean powers[] = {
	{ POWER, SAMPLE_POWER_MW, 1000 }, { SM_CLOCK, SAMPLE_SM_MHZ, 1 },
	{ MEMORY_CLOCK, SAMPLE_MEMORY_MHZ, 1 },
};

#define WORKS "works"		/* of the processes that have it */
#define SAMPLES "samples"	/* NVML's, of the processes on it */
#define USERS_NAMED 8

/* A device and the time that its rows add up to. */
struct device_wall {
	const char *uuid, *name;	/* "": unknown */
	const struct sampled_device *sampled;	/* NULL: no samples */
	/* whose power and clocks are its own: of an instance, its GPU */
	const struct sampled_device *power;
	uint64_t wall_ns;
	bool has_when;			/* since the session's start */
	uint64_t from_ns, until_ns;
};

static struct device_wall wall_of(const struct snapshot *snap, const struct sampled_device *d,
			   const char *uuid, const char *name)
{
	struct device_wall wall = { .uuid = d ? d->uuid : uuid, .name = name, .sampled = d,
				    .power = d };

	if (d && device_number_is_instance(d->number))
		wall.power = samples_gpu_of(&snap->samples, d);
	return wall;
}

/* "12 13": the processes that NVML saw there at last. */
static void fill_users(struct table *t, struct cell *cell, const struct sampled_device *d)
{
	struct strbuf text = STRBUF_INIT;
	size_t said = 0;

	for (size_t i = 0; d->has_users && i < d->users.n; i++)
		if (d->users.v[i].seen_ns == d->last_ns && said++ < USERS_NAMED)
			strbuf_addf(&text, "%s%u", said > 1 ? " " : "", d->users.v[i].pid);
	if (said > USERS_NAMED)
		strbuf_addf(&text, " and %zu more", said - USERS_NAMED);
	cell_text(t, cell, &text);
}

static bool fill_means(struct cell *row, const struct sampled_device *d, const struct mean *means,
		       size_t n)
{
	bool any = false;
	double mean;

	for (size_t i = 0; i < n; i++) {
		if (!samples_mean(d, means[i].field, &mean))
			continue;
		cell_d(&row[means[i].column], mean / means[i].divisor);
		any = true;
	}
	return any;
}

static void fill_power(struct cell *row, const struct sampled_device *d)
{
	bool any = fill_means(row, d, powers, sizeof(powers) / sizeof(powers[0]));

	if (d->energy_ns) {
		cell_d(&row[ENERGY], (double)d->energy_mj / 1000);
		cell_u(&row[ENERGY_NS], d->energy_ns);
	}
	if (any || d->energy_ns)
		cell_u(&row[POWER_DEVICE], d->number);
}

static void fill_samples(struct table *t, struct cell *row, const struct device_wall *wall)
{
	const struct sampled_device *d = wall->sampled;

	view_put_device(&row[DEVICE], &row[MIG], d->number);
	if (d->mean[SAMPLE_SM].ns)
		cell_u(&row[SAMPLED], d->mean[SAMPLE_SM].ns);
	fill_means(row, d, activities, sizeof(activities) / sizeof(activities[0]));
	if (wall->power)
		fill_power(row, wall->power);
	fill_users(t, &row[USERS], d);
}

/* An owner's time; NULL where there is none. */
static struct cell *add_row(struct table *t, const struct device_wall *wall, const char *owner,
			    uint64_t ns, const char *source)
{
	struct cell *row;

	if (!ns)
		return NULL;
	row = table_row(t);
	cell_u(&row[NS], ns);
	cell_d(&row[SHARE], (double)ns / (double)wall->wall_ns);
	cell_u(&row[WALL], wall->wall_ns);
	if (wall->has_when) {
		cell_u(&row[FROM], wall->from_ns);
		cell_u(&row[UNTIL], wall->until_ns);
	}
	if (wall->sampled)
		fill_samples(t, row, wall);
	cell_s(t, &row[UUID], wall->uuid[0] ? wall->uuid : NULL);
	cell_s(t, &row[NAME], wall->name[0] ? wall->name : NULL);
	cell_s(t, &row[SOURCE], source);
	cell_s(t, &row[OWNER], owner);
	return row;
}

/* Its owner is "train[1234]". */
static void add_member(struct table *t, const struct device_wall *wall, const struct snapshot *snap,
		       const struct snapshot_member *m)
{
	const char *comm = view_comm(snap, m->process);
	struct cell *row = add_row(t, wall, comm, m->share.owned_ns, WORKS);

	if (!row || !m->pid || m->pid == MODEL_PAST_PID)
		return;
	cell_u(&row[PID], m->pid);
	cell_f(t, &row[OWNER], "%s[%u]", comm ? comm : "", m->pid);
}

static void add_device(struct table *t, const struct snapshot *snap, const struct snapshot_host *h)
{
	const struct sampled_device *d = samples_find(&snap->samples, h->uuid);
	const struct device_users others = { snap, h };
	const struct share_sum *sum = &h->sum;
	uint64_t start_ns = snap->session.start_ns;
	struct device_wall wall = wall_of(snap, d, h->uuid, h->name);
	size_t first = t->n_rows;

	wall.wall_ns = sum->close_ns - sum->open_ns;
	wall.has_when = start_ns && sum->open_ns >= start_ns;
	wall.from_ns = sum->open_ns - start_ns;
	wall.until_ns = sum->close_ns - start_ns;
	add_row(t, &wall, "shared", sum->shared_ns, WORKS);
	add_row(t, &wall, "unknown", sum->unknown_ns, NULL);
	/* without known works, though a process was there */
	add_row(t, &wall, d && device_users_are_watched(&others, d) ? "untold" : "unwatched",
		sum->unwatched_ns, SAMPLES);
	add_row(t, &wall, "idle", sum->idle_ns, WORKS);
	for (size_t i = 0; i < h->members.n; i++)
		add_member(t, &wall, snap, &h->members.v[i]);
	table_sort_from(t, first, "ns");
}

/* ---- devices that no watched process uses ---------------------------------------------------- */

/* Among others a watched process may have it without a reporting helper. */
static bool may_be_watched(const struct snapshot *snap, const struct sampled_device *d)
{
	for (size_t i = 0; i < d->users.n; i++)
		for (size_t k = 0; k < snap->processes.n; k++)
			if (snap->processes.v[k].process == d->users.v[i].process)
				return true;
	return false;
}

static void add_sampled(struct table *t, const struct snapshot *snap,
			const struct sampled_device *d)
{
	struct device_wall wall = wall_of(snap, d, d->uuid, d->name);
	uint64_t unknown_ns = num_sub(d->sampled_ns, num_add(d->idle_ns, d->used_ns));
	const struct device_users others = { snap, NULL };
	bool unreported = device_users_are_watched(&others, d);
	uint64_t used_ns = may_be_watched(snap, d) && !unreported ? 0 : d->used_ns;
	size_t first = t->n_rows;

	for (size_t i = 0; i < snap->hosts.n; i++)
		if (sampled_device_is(d, snap->hosts.v[i].uuid))
			return;
	if (!d->idle_ns && !d->used_ns)
		return;		/* nothing is known of it, as of a GPU that is divided */
	wall.wall_ns = d->sampled_ns;
	add_row(t, &wall, unreported ? "untold" : "unwatched", used_ns, SAMPLES);
	add_row(t, &wall, "unknown", unknown_ns + d->used_ns - used_ns, SAMPLES);
	add_row(t, &wall, "idle", d->idle_ns, SAMPLES);
	table_sort_from(t, first, "ns");
}

static void fill(struct table *t, const struct view_query *q)
{
	const struct snapshot *snap = q->snapshot;
	const struct samples *samples = &snap->samples;
	bool whole = snapshot_fact(snap, "whole_host");

	t->book_columns = NAME + 1;
	for (size_t i = 0; i < snap->hosts.n; i++)
		add_device(t, snap, &snap->hosts.v[i]);
	for (size_t i = 0; whole && i < samples->all.n; i++)
		add_sampled(t, snap, samples->all.v[i]);
}

const struct view view_devices = {
	.name = "devices",
	.help = "a device of the host and who had it; ns of a device add up to wall_ns",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "ns share wall_ns",
	.shown = VIEW_WITH_DEVICES,
	.fill = fill,
};

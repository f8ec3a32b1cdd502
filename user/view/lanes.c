// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `lanes`: how works wait on each lane of a process's device, and (where it has several)
 * on all of them together.
 */
#include <inttypes.h>

#include "base/num.h"
#include "view/view.h"

enum { PID, COMM, DEVICE, MIG, LANE, WORKS, BUSY, LATENCY_P50, LATENCY_P99, LATENCY_MAX, DEPTH_AVG,
       DEPTH_MAX, WALL, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[COMM] = COLUMN_COMM,
	[DEVICE] = COLUMN_DEVICE,
	[MIG] = COLUMN_MIG,
	[LANE] = { "lane", NULL, CELL_TEXT, 0, ROLE_KEY, "context and stream" },
	[WORKS] = { "works", NULL, CELL_INT, 0, ROLE_SUM,
		"kernels, copies and sets that ran there" },
	[BUSY] = { "busy_ns", NULL, CELL_NS, 0, ROLE_SUM, "time for which any of them ran" },
	[LATENCY_P50] = { "latency_p50_ns", NULL, CELL_NS, 0, ROLE_MEAN,
		"median time from launch to start" },
	[LATENCY_P99] = { "latency_p99_ns", NULL, CELL_NS, 0, ROLE_MEAN,
		"99th percentile of that" },
	[LATENCY_MAX] = { "latency_max_ns", NULL, CELL_NS, 1, ROLE_MAX, "longest of that" },
	[DEPTH_AVG] = { "depth_avg", NULL, CELL_REAL, 0, ROLE_MEAN,
		"works submitted and not ended, mean over time" },
	[DEPTH_MAX] = { "depth_max", NULL, CELL_INT, 0, ROLE_MAX,
		"most works submitted and not ended (an interval: at least)" },
	[WALL] = { "wall_ns", NULL, CELL_NS, 1, ROLE_TOTAL, "wall clock that the rows add up to" },
};

struct of {			/* whose lane it is */
	const struct snapshot_device *state;
	const char *comm;
	uint64_t wall_ns;
};

static struct cell *add_row(struct table *t, const struct of *of, const struct lane_stats *lane)
{
	struct cell *row = table_row(t);

	view_put_pid(&row[PID], of->state->pid);
	view_put_device(&row[DEVICE], &row[MIG], of->state->number);
	cell_u(&row[WORKS], lane->works);
	cell_u(&row[BUSY], lane->busy_ns);
	cell_u(&row[WALL], of->wall_ns);
	if (lane->latency.count) {
		cell_u(&row[LATENCY_P50], hist_quantile(&lane->latency, 0.50));
		cell_u(&row[LATENCY_P99], hist_quantile(&lane->latency, 0.99));
		cell_u(&row[LATENCY_MAX], lane->latency.max);
		cell_u(&row[DEPTH_MAX], lane->depth_max);
		if (of->wall_ns)
			cell_d(&row[DEPTH_AVG], (double)lane->waited_ns / (double)of->wall_ns);
	}
	cell_s(t, &row[COMM], of->comm);
	return row;
}

/* Its name is "1.7": context and stream, as CUPTI numbers them. */
static void add_lane(struct table *t, const struct of *of, const struct lane_stats *lane)
{
	struct cell *row = add_row(t, of, lane);

	if (lane->key.other)
		cell_s(t, &row[LANE], "[other]");
	else
		cell_f(t, &row[LANE], "%" PRIu32 ".%" PRIu32, (uint32_t)(lane->key.lane >> 32),
		       (uint32_t)lane->key.lane);
}

static void add_all(struct table *t, const struct of *of)
{
	const struct lanes *lanes = &of->state->lanes;
	struct lane_stats all = { .depth_max = lanes->depth_max };

	for (size_t i = 0; i < lanes_count(lanes); i++) {
		const struct lane_stats *lane = lanes_at(lanes, i);

		all.works += lane->works;
		all.busy_ns = num_add(all.busy_ns, lane->busy_ns);
		all.waited_ns = num_add(all.waited_ns, lane->waited_ns);
		t->failed |= hist_merge(&all.latency, &lane->latency) < 0;
	}
	cell_s(t, &add_row(t, of, &all)[LANE], "all");
	hist_free(&all.latency);
}

static void add_device(struct table *t, const struct snapshot *snap,
		       const struct snapshot_device *s)
{
	struct of of = { .state = s, .comm = view_comm(snap, s->process),
			 .wall_ns = s->sum.close_ns - s->sum.open_ns };
	size_t used = 0;

	for (size_t i = 0; i < lanes_count(&s->lanes); i++)
		used += lanes_at(&s->lanes, i)->works != 0;
	if (used > 1)
		add_all(t, &of);
	for (size_t i = 0; i < lanes_count(&s->lanes); i++)
		if (lanes_at(&s->lanes, i)->works)
			add_lane(t, &of, lanes_at(&s->lanes, i));
}

static void fill(struct table *t, const struct view_query *q)
{
	for (size_t i = 0; i < q->snapshot->devices.n; i++)
		add_device(t, q->snapshot, &q->snapshot->devices.v[i]);
}

const struct view view_lanes = {
	.name = "lanes",
	.help = "a lane (context and stream) of a process and device",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "device lane works busy_ns wall_ns",
	.shown = VIEW_WITH_ROWS,
	.fill = fill,
};

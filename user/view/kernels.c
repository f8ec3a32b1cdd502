// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `kernels`: kernels on each process's devices, by symbol, under its name in the
 * source. Occupancy is theoretical, from the latest launch and the device's properties. Reads a
 * snapshot.
 */
#include <inttypes.h>

#include "base/num.h"
#include "elf/demangle.h"
#include "bucket/tensor_core.h"
#include "facts/kernel_configs.h"
#include "facts/sm_occupancy.h"
#include "facts/ranges.h"
#include "view/kernel_names.h"
#include "view/view.h"

enum { PID, DEVICE, MIG, NAME, SHORT, BUCKET, COUNT, TOTAL, SHARE, AVG, MIN, MAX, P50, P99,
       QUEUE_P50, QUEUE_P99, REGISTERS, STATIC_SHARED, DYNAMIC_SHARED, BLOCK, GRID, CLUSTER, WAVES,
       OCCUPANCY, LIMITER, TENSOR, EVIDENCE, SYMBOL, N_COLUMNS,
       CAPTURED_IN = N_COLUMNS, CAPTURED_TID, CAPTURED_RANGE, CAPTURE_EVIDENCE,
       N_COLUMNS_BY_LAUNCH };

static const struct column columns[N_COLUMNS_BY_LAUNCH] = {
	[PID] = COLUMN_PID,
	[DEVICE] = COLUMN_DEVICE,
	[MIG] = COLUMN_MIG,
	[NAME] = { "name", "full_name", CELL_TEXT, 1, ROLE_KEY,
		"name of the kernel, without arguments" },
	[SHORT] = { "short_name", "name", CELL_TEXT, 0, ROLE_LABEL,
		"name by what it does; no two kernels of a report have one" },
	[BUCKET] = { "bucket", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"bucket that its time is booked under" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM, "times that it ran" },
	[TOTAL] = { "total_ns", NULL, CELL_NS, 0, ROLE_SUM, "time of the kernels on the device" },
	[SHARE] = { "share", NULL, CELL_SHARE, 0, ROLE_SHARE,
		"of the time of all kernels of the process on the device" },
	[AVG] = { "avg_ns", NULL, CELL_NS, 0, ROLE_MEAN, "mean time of one" },
	[MIN] = { "min_ns", NULL, CELL_NS, 1, ROLE_MIN, "shortest" },
	[MAX] = { "max_ns", NULL, CELL_NS, 0, ROLE_MAX, "longest" },
	[P50] = { "p50_ns", NULL, CELL_NS, 1, ROLE_MEAN, "median time of one" },
	[P99] = { "p99_ns", NULL, CELL_NS, 0, ROLE_MEAN, "time that 99 of 100 stay below" },
	[QUEUE_P50] = { "queue_p50_ns", NULL, CELL_NS, 0, ROLE_MEAN,
		"median time from the launch to the start" },
	[QUEUE_P99] = { "queue_p99_ns", NULL, CELL_NS, 1, ROLE_MEAN, "99th percentile of that" },
	[REGISTERS] = { "registers", NULL, CELL_INT, 1, ROLE_LABEL, "registers of a thread" },
	[STATIC_SHARED] = { "static_shared_bytes", NULL, CELL_BYTES, 1, ROLE_LABEL,
		"static shared memory of a block" },
	[DYNAMIC_SHARED] = { "dynamic_shared_bytes", NULL, CELL_BYTES, 1, ROLE_LABEL,
		"dynamic shared memory of a block" },
	[BLOCK] = { "block", NULL, CELL_TEXT, COLUMN_SPARE, ROLE_LABEL, "threads of a block" },
	[GRID] = { "grid", NULL, CELL_TEXT, COLUMN_SPARE, ROLE_LABEL, "blocks of a launch" },
	[CLUSTER] = { "cluster", NULL, CELL_TEXT, 1, ROLE_LABEL, "blocks of a cluster" },
	[WAVES] = { "waves", NULL, CELL_REAL, 1, ROLE_MEAN,
		"grid over the blocks that run at once" },
	[OCCUPANCY] = { "occupancy_pct", NULL, CELL_REAL, 0, ROLE_MEAN,
		"warps of a multiprocessor of those that fit, from the resources that a block "
		"takes" },
	[LIMITER] = { "limiter", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"resource that limits the occupancy" },
	[TENSOR] = { "tensor_core", NULL, CELL_BOOL, 1, ROLE_LABEL, "does it use tensor cores?" },
	[EVIDENCE] = { "tensor_core_evidence", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"how that is known" },
	[SYMBOL] = { "symbol", NULL, CELL_TEXT, 1, ROLE_LABEL, "symbol as the driver has it" },
	[CAPTURED_IN] = { "captured_in", NULL, CELL_TEXT, 0, ROLE_KEY,
		"call that captured it into a graph" },
	[CAPTURED_TID] = { "captured_tid", NULL, CELL_ID, 0, ROLE_KEY, "thread of that call" },
	[CAPTURED_RANGE] = { "captured_range", NULL, CELL_TEXT, 0, ROLE_KEY,
		"NVTX range around that call" },
	[CAPTURE_EVIDENCE] = { "evidence", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"how the capture is known: order, callback" },
};

struct filling {
	struct table *t;
	const struct snapshot *snap;
	struct kernel_names *names;
	uint64_t *all_ns;		/* of each device's kernels */
};

static void fill_dims(struct table *t, struct cell *c, const uint32_t v[3])
{
	cell_f(t, c, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, v[0], v[1], v[2]);
}

static void fill_occupancy(struct table *t, struct cell *row, const struct snapshot_device *s,
			   const struct kernel_launch *w)
{
	const struct device_facts *f = &s->facts;
	const struct occupancy_device device = {
		.cc_major = f->cc_major, .cc_minor = f->cc_minor,
		.multiprocessors = f->multiprocessors, .threads_per_sm = f->threads_per_sm,
		.blocks_per_sm = f->blocks_per_sm, .registers_per_sm = f->registers_per_sm,
		.shared_per_sm = f->shared_per_sm, .shared_reserved = f->shared_reserved };
	const struct occupancy_launch launch = {
		.blocks = (uint64_t)w->grid[0] * w->grid[1] * w->grid[2],
		.threads = w->block[0] * w->block[1] * w->block[2], .registers = w->registers,
		.shared_bytes = (uint64_t)w->static_shared + w->dynamic_shared,
		.shared_executed = w->shared_executed };
	struct occupancy o;

	if (!s->has_facts || !occupancy_of(&device, &launch, &o))
		return;
	cell_d(&row[WAVES], o.waves);
	cell_d(&row[OCCUPANCY], o.share * 100);
	cell_s(t, &row[LIMITER], occupancy_limiter_name(o.limiter));
}

/* The figures of one launch; w is not one of several grids. */
static void fill_launch(struct table *t, struct cell *row, const struct snapshot_device *s,
			const struct kernel_launch *w)
{
	fill_dims(t, &row[GRID], w->grid);
	fill_dims(t, &row[BLOCK], w->block);
	if (w->has & WORK_HAS_CLUSTER && w->cluster[0])
		fill_dims(t, &row[CLUSTER], w->cluster);
	if (s)
		fill_occupancy(t, row, s, w);
}

/* Overloads have one name and a symbol each; some work comes without. */
static void fill_kernel(const struct filling *f, struct cell *row, const char *symbol,
			const struct kernel_launch *w)
{
	enum tensor_core use = tensor_core_of(symbol);
	struct strbuf name = STRBUF_INIT;

	cell_u(&row[REGISTERS], w->registers);
	cell_u(&row[STATIC_SHARED], w->static_shared);
	cell_u(&row[DYNAMIC_SHARED], w->dynamic_shared);
	if (symbol) {
		elf_demangle(&name, symbol);
		if (!name.len)
			strbuf_addstr(&name, "(no name)");
		cell_text(f->t, &row[NAME], &name);
		cell_s(f->t, &row[SHORT], kernel_names_of(f->names, symbol));
		cell_s(f->t, &row[SYMBOL], symbol);
	}
	if (use != TENSOR_UNKNOWN) {	/* without a hint in the name */
		cell_u(&row[TENSOR], use == TENSOR_YES);
		cell_s(f->t, &row[EVIDENCE], "name");
	}
}

/* Of all kernels of its process on its device. */
static void fill_share(const struct filling *f, struct cell *row, const struct snapshot_device *s,
		       uint64_t ns)
{
	cell_d(&row[SHARE], num_ratio(ns, f->all_ns[s - f->snap->devices.v]));
}

static void add_row(const struct filling *f, const struct snapshot_device *s,
		    const struct kernel_stats *k)
{
	struct cell *row = table_row(f->t);

	view_put_pid(&row[PID], s->pid);
	view_put_device(&row[DEVICE], &row[MIG], s->number);
	cell_u(&row[COUNT], k->time.count);
	cell_u(&row[TOTAL], k->time.total);
	fill_share(f, row, s, k->time.total);
	cell_u(&row[AVG], k->time.total / k->time.count);
	cell_u(&row[MIN], k->time.min);
	cell_u(&row[MAX], k->time.max);
	cell_u(&row[P50], hist_quantile(&k->time, 0.50));
	cell_u(&row[P99], hist_quantile(&k->time, 0.99));
	if (k->queue.count) {
		cell_u(&row[QUEUE_P50], hist_quantile(&k->queue, 0.50));
		cell_u(&row[QUEUE_P99], hist_quantile(&k->queue, 0.99));
	}
	fill_kernel(f, row, k->name, &k->last);
	cell_s(f->t, &row[BUCKET], kernel_class_name(k->class));
	if (k->mixed) {
		cell_s(f->t, &row[GRID], "(mixed)");
		cell_s(f->t, &row[BLOCK], "(mixed)");
	} else {
		fill_launch(f->t, row, s, &k->last);
	}
}

/* ---- by launch ------------------------------------------------------------------------------ */

static void fill_captured(struct table *t, struct cell *row, const struct snapshot *snap,
			  const struct kernel_config_key *key)
{
	const struct snapshot_process *p = key->range ? snapshot_process(snap, key->process) : NULL;
	const struct funcs *funcs = snap->funcs;

	if (key->evidence != EVIDENCE_NONE)
		cell_s(t, &row[CAPTURE_EVIDENCE], graph_evidence_name(key->evidence));
	if (key->evidence != EVIDENCE_ORDER && key->evidence != EVIDENCE_CALLBACK)
		return;
	cell_u(&row[CAPTURED_TID], key->tid);
	if (p && key->range <= p->ranges.n)
		cell_s(t, &row[CAPTURED_RANGE], p->ranges.v[key->range - 1].name);
	if (key->func < funcs->n)
		cell_s(t, &row[CAPTURED_IN], funcs->v[key->func].name);
}

static void add_launched(const struct filling *f, const struct kernel_config *r)
{
	const struct snapshot *snap = f->snap;
	const struct snapshot_device *s = snapshot_device(snap, r->key.process, r->key.device);
	struct cell *row = table_row(f->t);

	view_put_pid(&row[PID], r->key.pid);
	view_put_device(&row[DEVICE], &row[MIG],
			snapshot_device_number(snap, r->key.process, r->key.device));
	cell_u(&row[COUNT], r->count);
	cell_u(&row[TOTAL], r->total_ns);
	if (s)
		fill_share(f, row, s, r->total_ns);
	cell_u(&row[AVG], r->total_ns / r->count);
	cell_u(&row[MIN], r->min_ns);
	cell_u(&row[MAX], r->max_ns);
	fill_kernel(f, row, r->name, &r->last);
	cell_s(f->t, &row[BUCKET], kernel_class_name(kernel_class_of(r->name)));
	fill_captured(f->t, row, snap, &r->key);
	if (r->last.kind)
		fill_launch(f->t, row, s, &r->last);
}

static void fill_by_launch(const struct filling *f)
{
	const struct kernel_configs *launched = f->snap->kernel_configs;

	for (size_t i = 0; i < kernel_configs_count(launched); i++)
		add_launched(f, kernel_configs_at(launched, i));
}

static void fill_by_kernel(const struct filling *f)
{
	for (size_t i = 0; i < f->snap->devices.n; i++) {
		const struct snapshot_device *s = &f->snap->devices.v[i];

		for (size_t k = 0; k < kernels_count(&s->kernels); k++)
			if (kernels_at(&s->kernels, k)->time.count)
				add_row(f, s, kernels_at(&s->kernels, k));
	}
}

static void fill(struct table *t, const struct view_query *q)
{
	const struct snapshot *snap = q->snapshot;
	struct filling f = { t, snap, kernel_names_new(snap),
			     calloc(snap->devices.n + 1, sizeof(f.all_ns[0])) };

	t->failed |= !f.names || !f.all_ns;
	for (size_t i = 0; f.all_ns && i < snap->devices.n; i++)
		f.all_ns[i] = kernels_total_ns(&snap->devices.v[i].kernels);
	if (f.names && f.all_ns)
		(q->by == CALLS_BY_LAUNCH ? fill_by_launch : fill_by_kernel)(&f);
	kernel_names_free(f.names);
	free(f.all_ns);
}

const struct view view_kernels = {
	.name = "kernels",
	.help = "a process, device and kernel (--by launch: and its grid, block and capture)",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "device bucket count total_ns avg_ns min_ns max_ns registers"
		      " static_shared_bytes dynamic_shared_bytes",
	.sort = "total_ns",
	.shown = VIEW_WITH_DEVICES,
	.n_columns_by_launch = N_COLUMNS_BY_LAUNCH,
	.fill = fill,
};

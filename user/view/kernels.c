// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `kernels`: kernels on each process's devices, by symbol, under its name in the
 * source. Occupancy is theoretical, from the latest launch and the device's properties. Reads a
 * snapshot.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "elf/demangle.h"
#include "bucket/tensor_core.h"
#include "facts/kernel_configs.h"
#include "facts/sm_occupancy.h"
#include "facts/ranges.h"
#include "view/view.h"

enum { PID, DEVICE, NAME, BUCKET, COUNT, TOTAL, AVG, MIN, MAX, P50, P99, QUEUE_P50, QUEUE_P99,
       REGISTERS, STATIC_SHARED, DYNAMIC_SHARED, BLOCK, GRID, CLUSTER, WAVES, OCCUPANCY, LIMITER,
       TENSOR, EVIDENCE, SYMBOL, N_COLUMNS, CAPTURED_IN = N_COLUMNS, CAPTURED_TID,
       CAPTURED_RANGE, CAPTURE_EVIDENCE, N_COLUMNS_BY_LAUNCH };

static const struct column columns[N_COLUMNS_BY_LAUNCH] = {
	[PID] = { "pid", NULL, CELL_ID, 0, ROLE_KEY,
		"process id on the host" },
	[DEVICE] = { "device", NULL, CELL_DEVICE, 0, ROLE_KEY,
		"number of the device on the host; 0:1 is instance 1 of GPU 0" },
	[NAME] = { "name", NULL, CELL_TEXT, 0, ROLE_KEY,
		"name of the kernel, without arguments" },
	[BUCKET] = { "bucket", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"bucket that its time is booked under" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM,
		"times that it ran" },
	[TOTAL] = { "total_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"time of the kernels on the device" },
	[AVG] = { "avg_ns", NULL, CELL_NS, 0, ROLE_MEAN,
		"mean time of one" },
	[MIN] = { "min_ns", NULL, CELL_NS, 1, ROLE_MIN,
		"shortest" },
	[MAX] = { "max_ns", NULL, CELL_NS, 0, ROLE_MAX,
		"longest" },
	[P50] = { "p50_ns", NULL, CELL_NS, 1, ROLE_MEAN,
		"median time of one" },
	[P99] = { "p99_ns", NULL, CELL_NS, 0, ROLE_MEAN,
		"time that 99 of 100 stay below" },
	[QUEUE_P50] = { "queue_p50_ns", NULL, CELL_NS, 0, ROLE_MEAN,
		"median time from the launch to the start" },
	[QUEUE_P99] = { "queue_p99_ns", NULL, CELL_NS, 1, ROLE_MEAN,
		"99th percentile of that" },
	[REGISTERS] = { "registers", NULL, CELL_INT, 1, ROLE_LABEL,
		"registers of a thread" },
	[STATIC_SHARED] = { "static_shared_bytes", NULL, CELL_BYTES, 1, ROLE_LABEL,
		"static shared memory of a block" },
	[DYNAMIC_SHARED] = { "dynamic_shared_bytes", NULL, CELL_BYTES, 1, ROLE_LABEL,
		"dynamic shared memory of a block" },
	[BLOCK] = { "block", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"threads of a block" },
	[GRID] = { "grid", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"blocks of a launch" },
	[CLUSTER] = { "cluster", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"blocks of a cluster" },
	[WAVES] = { "waves", NULL, CELL_REAL, 1, ROLE_MEAN,
		"grid over the blocks that run at once" },
	[OCCUPANCY] = { "occupancy_pct", NULL, CELL_REAL, 0, ROLE_MEAN,
		"warps of a multiprocessor of those that fit, from the resources that a block "
		"takes" },
	[LIMITER] = { "limiter", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"resource that limits the occupancy" },
	[TENSOR] = { "tensor_core", NULL, CELL_BOOL, 1, ROLE_LABEL,
		"does it use tensor cores?" },
	[EVIDENCE] = { "tensor_core_evidence", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"how that is known" },
	[SYMBOL] = { "symbol", NULL, CELL_TEXT, 1, ROLE_LABEL,
		"symbol as the driver has it" },
	[CAPTURED_IN] = { "captured_in", NULL, CELL_TEXT, 0, ROLE_KEY,
		"call that captured it into a graph" },
	[CAPTURED_TID] = { "captured_tid", NULL, CELL_ID, 0, ROLE_KEY,
		"thread of that call" },
	[CAPTURED_RANGE] = { "captured_range", NULL, CELL_TEXT, 0, ROLE_KEY,
		"NVTX range around that call" },
	[CAPTURE_EVIDENCE] = { "evidence", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"how the capture is known: order, callback" },
};

static int fill_dims(struct table *t, struct cell *c, const uint32_t v[3])
{
	char text[40];

	snprintf(text, sizeof(text), "%" PRIu32 "x%" PRIu32 "x%" PRIu32, v[0], v[1], v[2]);
	return cell_s(t, c, text);
}

static int fill_occupancy(struct table *t, struct cell *row, const struct snapshot_device *s,
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
		return 0;
	cell_d(&row[WAVES], o.waves);
	cell_d(&row[OCCUPANCY], o.share * 100);
	return cell_s(t, &row[LIMITER], occupancy_limiter_name(o.limiter));
}

/* Overloads have one name and a symbol each; some work comes without. */
static int fill_name(struct table *t, struct cell *row, const char *symbol)
{
	struct strbuf name = STRBUF_INIT;
	int err;

	if (!symbol)
		return 0;
	elf_demangle(&name, symbol);
	err = name.failed ? -ENOMEM : cell_s(t, &row[NAME], name.len ? name.s : "(no name)");
	strbuf_free(&name);
	return err ? err : cell_s(t, &row[SYMBOL], symbol);
}

/* By the name; unknown without a hint in it. */
static int fill_tensor(struct table *t, struct cell *row, const char *symbol)
{
	enum tensor_core use = tensor_core_of(symbol);

	if (use == TENSOR_UNKNOWN)
		return 0;
	cell_u(&row[TENSOR], use == TENSOR_YES);
	return cell_s(t, &row[EVIDENCE], "name");
}

/* The figures of one launch; w is not one of several grids. */
static int fill_launch(struct table *t, struct cell *row, const struct snapshot_device *s,
		       const struct kernel_launch *w)
{
	int err = fill_dims(t, &row[GRID], w->grid);

	if (!err)
		err = fill_dims(t, &row[BLOCK], w->block);
	if (!err && w->has & WORK_HAS_CLUSTER && w->cluster[0])
		err = fill_dims(t, &row[CLUSTER], w->cluster);
	return err || !s ? err : fill_occupancy(t, row, s, w);
}

static int fill_kernel(struct table *t, struct cell *row, const char *symbol,
		       const struct kernel_launch *w)
{
	cell_u(&row[REGISTERS], w->registers);
	cell_u(&row[STATIC_SHARED], w->static_shared);
	cell_u(&row[DYNAMIC_SHARED], w->dynamic_shared);
	return fill_name(t, row, symbol) ? -ENOMEM : fill_tensor(t, row, symbol);
}

static int add_row(struct table *t, uint32_t number, const struct snapshot_device *s,
		   const struct kernel_stats *k)
{
	struct cell *row = table_row(t);
	int err;

	if (!row)
		return -ENOMEM;
	view_put_pid(&row[PID], s->pid);
	cell_u(&row[DEVICE], number);
	cell_u(&row[COUNT], k->time.count);
	cell_u(&row[TOTAL], k->time.total);
	cell_u(&row[AVG], k->time.total / k->time.count);
	cell_u(&row[MIN], k->time.min);
	cell_u(&row[MAX], k->time.max);
	cell_u(&row[P50], hist_quantile(&k->time, 0.50));
	cell_u(&row[P99], hist_quantile(&k->time, 0.99));
	if (k->queue.count) {
		cell_u(&row[QUEUE_P50], hist_quantile(&k->queue, 0.50));
		cell_u(&row[QUEUE_P99], hist_quantile(&k->queue, 0.99));
	}
	err = fill_kernel(t, row, k->name, &k->last);
	if (!err)
		err = cell_s(t, &row[BUCKET], kernel_class_name(k->class));
	if (err || !k->mixed)
		return err ? err : fill_launch(t, row, s, &k->last);
	err = cell_s(t, &row[GRID], "(mixed)");
	return err ? err : cell_s(t, &row[BLOCK], "(mixed)");
}

/* ---- by launch ------------------------------------------------------------------------------ */

static const struct range_sum *find_range(const struct snapshot *snap,
					  const struct kernel_config_key *key)
{
	const struct snapshot_process *p = key->range ? snapshot_process(snap, key->process) : NULL;

	return p && key->range <= p->ranges.n ? &p->ranges.v[key->range - 1] : NULL;
}

static int fill_captured(struct table *t, struct cell *row, const struct snapshot *snap,
			 const struct kernel_config *r)
{
	const struct range_sum *range = find_range(snap, &r->key);
	const struct funcs *funcs = snap->funcs;
	int err = 0;

	if (r->key.evidence != EVIDENCE_NONE)
		err = cell_s(t, &row[CAPTURE_EVIDENCE], graph_evidence_name(r->key.evidence));
	if (err || (r->key.evidence != EVIDENCE_ORDER && r->key.evidence != EVIDENCE_CALLBACK))
		return err;
	cell_u(&row[CAPTURED_TID], r->key.tid);
	if (range)
		err = cell_s(t, &row[CAPTURED_RANGE], range->name);
	return err || r->key.func >= funcs->n ? err :
	       cell_s(t, &row[CAPTURED_IN], funcs->v[r->key.func].name);
}

static int add_launched(struct table *t, const struct snapshot *snap, const struct kernel_config *r)
{
	const struct snapshot_device *s = snapshot_device(snap, r->key.process, r->key.device);
	struct cell *row = table_row(t);
	int err;

	if (!row)
		return -ENOMEM;
	view_put_pid(&row[PID], r->key.pid);
	cell_u(&row[DEVICE], snapshot_device_number(snap, r->key.process, r->key.device));
	cell_u(&row[COUNT], r->count);
	cell_u(&row[TOTAL], r->total_ns);
	cell_u(&row[AVG], r->total_ns / r->count);
	cell_u(&row[MIN], r->min_ns);
	cell_u(&row[MAX], r->max_ns);
	err = fill_kernel(t, row, r->name, &r->last);
	if (!err)
		err = cell_s(t, &row[BUCKET], kernel_class_name(kernel_class_of(r->name)));
	if (!err)
		err = fill_captured(t, row, snap, r);
	return err || !r->last.kind ? err : fill_launch(t, row, s, &r->last);
}

/* ---- by name -------------------------------------------------------------------------------- */

static int add_by_launch(struct table *t, const struct snapshot *snap)
{
	const struct kernel_configs *l = &snap->kernel_configs;
	int err = 0;

	for (size_t i = 0; !err && i < kernel_configs_count(l); i++)
		err = add_launched(t, snap, kernel_configs_at(l, i));
	return err;
}

static int fill(struct table *t, const struct view_query *q)
{
	const struct snapshot *snap = q->snapshot;
	int err = 0;

	if (q->by == CALLS_BY_LAUNCH)
		return add_by_launch(t, snap);
	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct snapshot_device *s = &snap->devices.v[i];
		uint32_t number = s->number;

		for (size_t k = 0; !err && k < kernels_count(&s->kernels); k++)
			if (kernels_at(&s->kernels, k)->time.count)
				err = add_row(t, number, s, kernels_at(&s->kernels, k));
	}
	return err;
}

const struct view view_kernels = {
	.name = "kernels",
	.help = "a process, device and kernel (--by launch: and its grid, block and capture)",
	.columns = columns,
	.n_columns = N_COLUMNS,
	.sort = "total_ns",
	.shown = VIEW_WITH_DEVICES,
	.n_columns_by_launch = N_COLUMNS_BY_LAUNCH,
	.fill = fill,
};

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `memory`: each process's CUDA memory by device and kind, or by the stack that
 * allocated it.
 */
#include "facts/memory_calls.h"
#include "view/folded.h"
#include "view/view.h"

enum { PID, COMM, DEVICE, MIG, KIND, STACK, LIVE, PEAK, ALLOCS, FREES, FAILED, LEAKED, NVML, SINCE,
       FREES_BEFORE, UNSIZED, UNTRACKED, INCOMPLETE, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[COMM] = COLUMN_COMM,
	[DEVICE] = COLUMN_DEVICE,
	[MIG] = COLUMN_MIG,
	[KIND] = { "kind", NULL, CELL_TEXT, 0, ROLE_KEY,
		"device, pinned, managed, pool, array, torch (its allocator), ..." },
	[STACK] = { "stack", NULL, CELL_STACK, 0, ROLE_KEY,
		"who allocated it, outermost first (--by stack)" },
	[LIVE] = { "live_bytes", NULL, CELL_BYTES, 0, ROLE_SUM, "bytes allocated now" },
	[PEAK] = { "peak_bytes", NULL, CELL_BYTES, 0, ROLE_MAX,
		"most bytes allocated at once (an interval: at least)" },
	[ALLOCS] = { "allocs", NULL, CELL_INT, 0, ROLE_SUM, "allocations" },
	[FREES] = { "frees", NULL, CELL_INT, 0, ROLE_SUM, "frees" },
	[FAILED] = { "failed", NULL, CELL_INT, 0, ROLE_SUM, "allocations that failed" },
	[LEAKED] = { "leaked_bytes", NULL, CELL_BYTES, 0, ROLE_SUM,
		"bytes not freed when the process ended" },
	[NVML] = { "nvml_used_bytes", NULL, CELL_BYTES, 0, ROLE_LABEL,
		"bytes that NVML says the process uses" },
	[SINCE] = { "since", NULL, CELL_TEXT, 0, ROLE_LABEL, "from when on allocations are known" },
	[FREES_BEFORE] = { "frees_before", NULL, CELL_INT, COLUMN_RARE, ROLE_SUM,
		"frees of what was allocated before that" },
	[UNSIZED] = { "unsized", NULL, CELL_INT, COLUMN_RARE, ROLE_SUM,
		"allocations of unknown size" },
	[UNTRACKED] = { "untracked", NULL, CELL_INT, COLUMN_RARE, ROLE_SUM,
		"allocations that found no room in the book" },
	[INCOMPLETE] = { "incomplete", NULL, CELL_BOOL, COLUMN_RARE, ROLE_LABEL,
		"records were lost: no number is sure" },
};

struct filling {
	struct table *t;
	const struct snapshot *snap;
	const struct snapshot_process *p;
	struct folded folded;
};

static void fill_sums(struct cell *row, const struct snapshot_process *p,
		      const struct memory_sums *s)
{
	cell_u(&row[LIVE], s->live_bytes);
	if (s->peak_bytes >= s->live_bytes)
		cell_u(&row[PEAK], s->peak_bytes);
	cell_u(&row[ALLOCS], s->allocs);
	cell_u(&row[FREES], s->frees);
	cell_u(&row[FAILED], s->failed);
	if (!p->memory_incomplete && (p->has_ended || s->leaked_bytes))
		cell_u(&row[LEAKED], s->leaked_bytes + (p->has_ended ? s->live_bytes : 0));
	cell_u(&row[FREES_BEFORE], s->frees_before);
	cell_u(&row[UNSIZED], s->unsized);
	cell_u(&row[UNTRACKED], s->untracked);
	cell_u(&row[INCOMPLETE], p->memory_incomplete);
}

/* All that it has of the device by NVML, with what CUDA itself needs. */
static void fill_used(struct cell *row, const struct snapshot *snap, uint32_t process,
		      uint32_t device)
{
	const struct snapshot_device *s = snapshot_device(snap, process, device);
	const struct sampled_device *sampled =
		s && s->has_facts ? samples_find(&snap->samples, s->facts.uuid) : NULL;
	const struct sample_user *user = sampled ? samples_user(sampled, process) : NULL;

	if (user && user->has_bytes)
		cell_u(&row[NVML], user->used_bytes);
}

static void add_row(struct filling *r, const struct memory_sums *s)
{
	const struct snapshot_process *p = r->p;
	const struct snapshot *snap = r->snap;
	uint64_t start_ns = snap->session.start_ns;
	struct cell *row = table_row(r->t);
	const char *stack = NULL;

	view_put_pid(&row[PID], p->pid);
	if (s->key.device != MEMORY_NO_DEVICE) {
		view_put_device(&row[DEVICE], &row[MIG],
				snapshot_device_number(snap, p->process, s->key.device));
		if (s->key.kind != MEMORY_KIND_PINNED && s->key.kind != MEMORY_KIND_TORCH)
			fill_used(row, snap, p->process, s->key.device);
	}
	fill_sums(row, p, s);
	cell_s(r->t, &row[COMM], p->comm[0] ? p->comm : NULL);
	cell_s(r->t, &row[KIND], memory_kind_name(s->key.kind));
	cell_s(r->t, &row[SINCE],
	       p->start_ns >= start_ns || p->exec_ns >= start_ns ? "start" : "attach");
	if (s->key.by_stack && s->key.stack)
		r->t->failed |= folded_text(&r->folded, s->key.stack, &stack) < 0;
	cell_s(r->t, &row[STACK], stack);
}

/* The part of a device and kind without a known stack; its peak is unknown. */
static struct memory_sums without_stacks(const struct snapshot_process *p,
					 const struct memory_sums *all)
{
	struct memory_sums left = *all;

	left.key.by_stack = true;
	left.peak_bytes = 0;
	for (size_t i = 0; i < p->memory.n; i++) {
		const struct memory_sums *s = &p->memory.v[i];

		if (!s->key.by_stack || s->key.device != all->key.device ||
		    s->key.kind != all->key.kind)
			continue;
		left.live_bytes -= s->live_bytes;
		left.leaked_bytes -= s->leaked_bytes;
		left.allocs -= s->allocs;
		left.frees -= s->frees;
		left.failed -= s->failed;
		left.unsized -= s->unsized;
		left.untracked -= s->untracked;
	}
	return left;
}

static void add_process(struct filling *r, bool by_stack)
{
	for (size_t k = 0; k < r->p->memory.n; k++) {
		const struct memory_sums *s = &r->p->memory.v[k];
		struct memory_sums left;

		if (s->key.by_stack == by_stack)
			add_row(r, s);
		if (!by_stack || s->key.by_stack)
			continue;
		left = without_stacks(r->p, s);
		if (left.allocs || left.failed || left.frees_before)
			add_row(r, &left);
	}
}

static void fill(struct table *t, const struct view_query *q)
{
	const struct snapshot *snap = q->snapshot;
	struct filling r = { .t = t, .snap = snap, .folded = { .stacks = &snap->stacks } };

	for (size_t i = 0; i < snap->processes.n; i++) {
		r.p = &snap->processes.v[i];
		add_process(&r, q->by == CALLS_BY_STACK);
	}
	folded_free(&r.folded);
}

const struct view view_memory = {
	.name = "memory",
	.help = "a process, device and kind of memory (--by stack: and who allocated it)",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "kind live_bytes allocs frees failed since frees_before unsized"
		      " untracked incomplete",
	.sort = "live_bytes",
	.shown = VIEW_WITH_ROWS,
	.fill = fill,
};

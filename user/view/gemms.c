// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `gemm`: products of matrices that were asked of cuBLAS, those alike of a process as one
 * row, by the device time of their works, which is what tuning them can win. Reads a snapshot.
 */
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "catalog/gemms.h"
#include "event/event.h"
#include "facts/ops.h"
#include "view/view.h"

enum { PID, FUNCTION, LAYOUT, M, N, K, BATCH, TYPE, LDA, LDB, LDC, BIAS, CALLS, HOST, LAUNCHES,
       DEVICE, SHARE, CUMULATIVE, RATE, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[FUNCTION] = { "function", NULL, CELL_TEXT, 0, ROLE_KEY, "of cuBLAS that was called" },
	[LAYOUT] = { "layout", NULL, CELL_TEXT, 0, ROLE_KEY,
		"A and B: n as they are, t transposed, c and conjugated" },
	[M] = { "m", NULL, CELL_INT, 0, ROLE_KEY, "rows of the result C, column by column" },
	[N] = { "n", NULL, CELL_INT, 0, ROLE_KEY, "columns of C" },
	[K] = { "k", NULL, CELL_INT, 0, ROLE_KEY, "columns of A, rows of B" },
	[BATCH] = { "batch", NULL, CELL_INT, 0, ROLE_KEY, "products of one call" },
	[TYPE] = { "dtype", NULL, CELL_TEXT, 0, ROLE_KEY, "type of elements, of A, B and C" },
	[LDA] = { "lda", NULL, CELL_INT, 1, ROLE_KEY, "elements from a column of A to the next" },
	[LDB] = { "ldb", NULL, CELL_INT, 1, ROLE_KEY, "the same of B" },
	[LDC] = { "ldc", NULL, CELL_INT, 1, ROLE_KEY, "the same of C" },
	[BIAS] = { "bias", NULL, CELL_BOOL, 1, ROLE_KEY, "is a vector added?" },
	[CALLS] = { "calls", NULL, CELL_INT, 0, ROLE_SUM, "times that it was asked for" },
	[HOST] = { "host_ns", NULL, CELL_NS, 1, ROLE_SUM, "time in these calls" },
	[LAUNCHES] = { "launches", NULL, CELL_INT, 1, ROLE_SUM, "launches in them" },
	[DEVICE] = { "device_ns", NULL, CELL_NS, 0, ROLE_SUM, "device time of their works" },
	[SHARE] = { "share", NULL, CELL_SHARE, 0, ROLE_SHARE, "of the device time of all rows" },
	[CUMULATIVE] = { "cumulative_share", "cumulative", CELL_SHARE, 0, ROLE_SHARE,
		"share of this row and of all with more device time" },
	[RATE] = { "tflops", "TFLOP/s", CELL_REAL, 0, ROLE_MEAN,
		"multiplications and additions by device time, in 10^12 a second" },
};

struct product {
	uint32_t process;
	const char *text;		/* of its frame */
	uint64_t calls, host_ns, launches, works, works_ns;
};

struct products {
	VEC(struct product) all;
	struct map by_text;		/* hash of the process and the text -> index + 1 */
	uint64_t works, works_ns;
};

/* NULL: out of memory. */
static struct product *find_product(struct products *p, uint32_t process, const char *text)
{
	const uint64_t key = event_text_hash(text) ^ map_hash(process);
	struct map_slot *slot = map_put(&p->by_text, key, NULL);

	if (slot && !slot->value && VEC_PUSH(&p->all)) {
		slot->value = p->all.n;
		p->all.v[slot->value - 1] = (struct product){ .process = process, .text = text };
	}
	return slot && slot->value ? &p->all.v[slot->value - 1] : NULL;
}

/* In one operator and in another, it is one product. 0 or -1: out of memory. */
static int add_up(struct products *p, const struct snapshot *snap)
{
	for (size_t i = 0; i < ops_count(snap->ops); i++) {
		const struct op_row *row = ops_at(snap->ops, i);
		const struct stacks_frame *f = stacks_frame(&snap->stacks, row->key.op);
		struct product *to;

		if (!f || !(f->flags & FRAME_GEMM) || !f->function)
			continue;
		to = find_product(p, row->key.process, f->function);
		if (!to)
			return -1;
		to->calls += row->count;
		to->host_ns = num_add(to->host_ns, row->time.total);
		to->launches += row->launches;
		to->works += row->works;
		to->works_ns = num_add(to->works_ns, row->works_ns);
		p->works += row->works;
		p->works_ns = num_add(p->works_ns, row->works_ns);
	}
	return 0;
}

static int by_device(const void *a, const void *b)
{
	const struct product *x = a, *y = b;

	if (x->works_ns != y->works_ns)
		return x->works_ns > y->works_ns ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->text, y->text);
}

static void fill_type(struct table *t, struct cell *cell, const struct gemm *g)
{
	if (!strcmp(g->type[0], g->type[1]) && !strcmp(g->type[0], g->type[2]))
		cell_s(t, cell, g->type[0]);
	else
		cell_f(t, cell, "%s, %s, %s", g->type[0], g->type[1], g->type[2]);
}

static void fill_sizes(struct table *t, struct cell *row, const struct gemm *g)
{
	cell_s(t, &row[LAYOUT], g->operation);
	cell_u(&row[M], g->m);
	cell_u(&row[N], g->n);
	cell_u(&row[K], g->k);
	cell_u(&row[BATCH], g->batch);
	cell_u(&row[LDA], g->ld[0]);
	cell_u(&row[LDB], g->ld[1]);
	cell_u(&row[LDC], g->ld[2]);
	cell_u(&row[BIAS], g->bias);
	fill_type(t, &row[TYPE], g);
}

/* A launch that a graph repeats has more works than calls. */
static double times_run(const struct product *p)
{
	return p->launches ? (double)p->calls * (double)p->works / (double)p->launches : 0;
}

static void add_row(struct table *t, const struct snapshot *snap, const struct product *p,
		    const struct products *all, uint64_t above_ns)
{
	const struct snapshot_process *process = snapshot_process(snap, p->process);
	struct cell *row = table_row(t);
	struct gemm g;
	bool has_sizes = gemm_read(p->text, &g) && g.m;

	if (process)
		view_put_pid(&row[PID], process->pid);
	cell_s(t, &row[FUNCTION], g.function);
	if (has_sizes)
		fill_sizes(t, row, &g);
	cell_u(&row[CALLS], p->calls);
	cell_u(&row[HOST], p->host_ns);
	cell_u(&row[LAUNCHES], p->launches);
	if (!p->works)
		return;
	cell_u(&row[DEVICE], p->works_ns);
	cell_d(&row[SHARE], num_ratio(p->works_ns, all->works_ns));
	cell_d(&row[CUMULATIVE], num_ratio(num_add(above_ns, p->works_ns), all->works_ns));
	if (has_sizes && p->works_ns)
		cell_d(&row[RATE], gemm_flops(&g) * times_run(p) / (double)p->works_ns / 1e3);
}

/* Rows with less of a share, of which each adds less. */
static size_t rows_above(const struct products *p, double share)
{
	size_t n = 0;

	while (n < p->all.n && num_ratio(p->all.v[n].works_ns, p->works_ns) >= share)
		n++;
	return n;
}

static void fill(struct table *t, const struct view_query *q)
{
	struct products p = { 0 };
	uint64_t above_ns = 0;

	t->none = "no product of matrices was recorded: --gemms";
	t->failed |= add_up(&p, q->snapshot) < 0;
	if (p.all.n)
		qsort(p.all.v, p.all.n, sizeof(*p.all.v), by_device);
	for (size_t i = 0; i < p.all.n; i++) {
		add_row(t, q->snapshot, &p.all.v[i], &p, above_ns);
		above_ns = num_add(above_ns, p.all.v[i].works_ns);
	}
	if (q->prune > 0 && p.works)
		table_top(t, rows_above(&p, q->prune), true);
	VEC_FREE(&p.all);
	map_free(&p.by_text);
}

const struct view view_gemm = {
	.name = "gemm",
	.help = "a process and product of matrices by cuBLAS (--gemms)",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "function calls host_ns launches",
	.sort = "device_ns",
	.shown = VIEW_WITH_ROWS,
	.fill = fill,
};

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The tables `ops` and `modules`: a framework's operators and PyTorch's modules, how long they
 * took on the host, and the device time of the works that they launched. Read a snapshot.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/num.h"
#include "facts/ops.h"
#include "gpuprof/event.h"
#include "view/view.h"

enum { PID, OP, SHAPE, TYPE, COUNT, HOST, SELF, AVG, P50, P99, SOURCE, DEVICE, LAUNCHES,
       N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[OP] = { "op", NULL, CELL_TEXT, 0, ROLE_KEY,
		"operator, as Python calls it or by overload; node of the backward pass" },
	[SHAPE] = { "input_shape", "shape", CELL_TEXT, 0, ROLE_KEY,
		"sizes of its first tensor, with --shapes" },
	[TYPE] = { "input_dtype", "dtype", CELL_TEXT, 0, ROLE_KEY,
		"type of that tensor's elements" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM, "times that it ran" },
	[HOST] = { "host_total_ns", "host", CELL_NS, 0, ROLE_SUM, "time in it" },
	[SELF] = { "host_self_ns", "host self", CELL_NS, 1, ROLE_SUM,
		"of that, outside of operators inside it" },
	[AVG] = { "host_avg_ns", "avg", CELL_NS, 0, ROLE_MEAN, "mean time of one" },
	[P50] = { "host_p50_ns", "p50", CELL_NS, 0, ROLE_MEAN, "median time of one" },
	[P99] = { "host_p99_ns", "p99", CELL_NS, 0, ROLE_MEAN, "time that 99 of 100 stay below" },
	[SOURCE] = { "time_source", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"measured; or an upper bound, until its thread was seen outside of it" },
	[DEVICE] = { "device_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"device time of the work that it launched, itself" },
	[LAUNCHES] = { "launches", NULL, CELL_INT, 0, ROLE_SUM, "launches in it, itself" },
};

/* The frame with the name of an operator or module; *shape: that of its shape. NULL: unknown. */
static const struct stacks_frame *frame_of(const struct snapshot *snap, const struct op_row *op,
					   const struct stacks_frame **shape)
{
	const struct stacks_frame *f = stacks_frame(&snap->stacks, op->key.op);

	*shape = f && f->flags & FRAME_SHAPE ? f : NULL;
	return *shape ? stacks_frame(&snap->stacks, f->offset) : f;
}

/* FRAME_MODULE, FRAME_GEMM; 0: an operator. */
static unsigned int kind_of(const struct snapshot *snap, const struct op_row *op)
{
	const struct stacks_frame *shape, *f = frame_of(snap, op, &shape);

	return f ? f->flags & (FRAME_MODULE | FRAME_GEMM) : 0;
}

static bool is_module(const struct snapshot *snap, const struct op_row *op)
{
	return kind_of(snap, op) == FRAME_MODULE;
}

/* "[8, 64] float32" in two cells. */
static void fill_shape(struct table *t, struct cell *sizes, struct cell *type,
		       const struct stacks_frame *f)
{
	const char *at = f && f->function ? strstr(f->function, "] ") : NULL;

	if (!at)
		return;
	cell_f(t, sizes, "%.*s", (int)(at + 1 - f->function), f->function);
	cell_s(t, type, at + strlen("] "));
}

static void fill_pid(struct cell *cell, const struct snapshot *snap, const struct op_row *op)
{
	const struct snapshot_process *p = snapshot_process(snap, op->key.process);

	if (p)
		view_put_pid(cell, p->pid);
}

static void fill_times(struct cell *row, const struct op_row *op)
{
	const struct hist *h = &op->time;

	if (!h->count)
		return;
	cell_u(&row[HOST], h->total);
	cell_u(&row[SELF], op->self_ns);
	cell_u(&row[AVG], h->total / h->count);
	cell_u(&row[P50], hist_quantile(h, 0.50));
	cell_u(&row[P99], hist_quantile(h, 0.99));
}

static void add_row(struct table *t, const struct snapshot *snap, const struct op_row *op)
{
	const struct stacks_frame *shape, *f = frame_of(snap, op, &shape);
	const uint64_t number = shape ? shape->offset : op->key.op;
	struct cell *row = table_row(t);

	fill_pid(&row[PID], snap, op);
	fill_shape(t, &row[SHAPE], &row[TYPE], shape);
	cell_u(&row[COUNT], op->count);
	fill_times(row, op);
	if (op->works)
		cell_u(&row[DEVICE], op->works_ns);
	cell_u(&row[LAUNCHES], op->launches);
	if (f)
		cell_s(t, &row[OP], f->function);
	else if (number)
		cell_f(t, &row[OP], "0x%" PRIx64, number);
	else
		cell_s(t, &row[OP], "[other]");
	cell_s(t, &row[SOURCE], op->bound ? "upper bound" : "measured");
}

static void fill(struct table *t, const struct view_query *q)
{
	const struct ops *ops = q->snapshot->ops;

	t->none = "no operator was recorded: --torch python";
	for (size_t i = 0; i < ops_count(ops); i++)
		if (!kind_of(q->snapshot, ops_at(ops, i)))
			add_row(t, q->snapshot, ops_at(ops, i));
}

const struct view view_ops = {
	.name = "ops",
	.help = "a process and operator of PyTorch (--torch python, all)",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "op count time_source launches",
	.sort = "host_total_ns",
	.shown = VIEW_WITH_ROWS,
	.fill = fill,
};

/* ---- modules --------------------------------------------------------------------------------- */

enum { M_PID, MODULE, M_SHAPE, M_TYPE, CALLS, M_HOST, M_SELF, M_DEVICE, M_DEVICE_SELF, M_LAUNCHES,
       N_M_COLUMNS };

static const struct column module_columns[N_M_COLUMNS] = {
	[M_PID] = COLUMN_PID,
	[MODULE] = { "module", NULL, CELL_TEXT, 0, ROLE_KEY,
		"classes of the modules around it, the outermost first, and its own" },
	[M_SHAPE] = { "input_shape", "shape", CELL_TEXT, 0, ROLE_KEY,
		"of the first tensor of the first operator in it, with --shapes" },
	[M_TYPE] = { "input_dtype", "dtype", CELL_TEXT, 0, ROLE_KEY,
		"type of that tensor's elements" },
	[CALLS] = { "calls", NULL, CELL_INT, 0, ROLE_SUM, "times that it was called" },
	[M_HOST] = { "host_ns", NULL, CELL_NS, 0, ROLE_SUM, "time in it" },
	[M_SELF] = { "host_self_ns", "host self", CELL_NS, 0, ROLE_SUM,
		"of that, outside of modules inside it" },
	[M_DEVICE] = { "device_ns", NULL, CELL_NS, 0, ROLE_SUM,
		"of the work launched in it and modules inside; of several shapes: unknown" },
	[M_DEVICE_SELF] = { "device_self_ns", "device self", CELL_NS, 0, ROLE_SUM,
		"of that, what it launched itself" },
	[M_LAUNCHES] = { "launches", NULL, CELL_INT, 0, ROLE_SUM, "launches in it, itself" },
};

struct module {			/* of all its shapes together */
	uint64_t rows;
	uint64_t self_ns;		/* device time of what it launched itself */
	uint64_t device_ns;		/* ... and the modules inside it */
};

struct modules {
	VEC(struct module) all;
	struct map by_key;		/* process and number -> index + 1 */
};

/* Found or made, until the next one is; NULL: out of memory. */
static struct module *find_module(struct modules *m, uint32_t process, uint64_t number)
{
	struct map_slot *slot = map_put(&m->by_key, number ^ map_hash(process), NULL);

	if (slot && !slot->value && VEC_PUSH(&m->all)) {
		slot->value = m->all.n;
		m->all.v[slot->value - 1] = (struct module){ 0 };
	}
	return slot && slot->value ? &m->all.v[slot->value - 1] : NULL;
}

/* The device time of each module is that of all modules around it, too. 0 or -ENOMEM. */
static int add_up(struct modules *m, const struct snapshot *snap)
{
	for (size_t i = 0; i < ops_count(snap->ops); i++) {
		const struct op_row *row = ops_at(snap->ops, i);
		const struct stacks_frame *shape, *f = frame_of(snap, row, &shape);
		struct module *module;
		bool is_self = true;

		if (!is_module(snap, row))
			continue;
		for (; f; f = stacks_frame(&snap->stacks, f->caller)) {
			module = find_module(m, row->key.process, f->number);
			if (!module)
				return -ENOMEM;
			module->rows += is_self;
			module->self_ns += is_self ? row->works_ns : 0;
			module->device_ns = num_add(module->device_ns, row->works_ns);
			is_self = false;
		}
	}
	return 0;
}

/* The time of modules inside it is that of its shape if it has but one, or if there is none. */
static void fill_device(struct cell *cell, const struct op_row *op, const struct module *module)
{
	if (module->rows == 1 && module->device_ns)
		cell_u(cell, module->device_ns);
	else if (module->device_ns == module->self_ns && op->works)
		cell_u(cell, op->works_ns);
}

static void fill_module(struct table *t, struct cell *cell, const struct snapshot *snap,
			const struct stacks_frame *f)
{
	const char *name[GP_OPS_DEPTH];
	struct strbuf text = STRBUF_INIT;
	size_t n = 0;

	for (; f && n < GP_OPS_DEPTH; f = stacks_frame(&snap->stacks, f->caller))
		name[n++] = f->function ? f->function : "?";
	while (n--)
		strbuf_addf(&text, "%s%s", name[n], n ? "/" : "");
	cell_text(t, cell, &text);
}

static void add_module(struct table *t, const struct snapshot *snap, const struct op_row *op,
		       struct modules *m)
{
	const struct stacks_frame *shape, *f = frame_of(snap, op, &shape);
	const struct module *module = find_module(m, op->key.process, f->number);
	struct cell *row = table_row(t);

	fill_pid(&row[M_PID], snap, op);
	fill_module(t, &row[MODULE], snap, f);
	fill_shape(t, &row[M_SHAPE], &row[M_TYPE], shape);
	cell_u(&row[CALLS], op->count);
	cell_u(&row[M_HOST], op->time.total);
	cell_u(&row[M_SELF], op->self_ns);
	if (module)
		fill_device(&row[M_DEVICE], op, module);
	if (op->works)
		cell_u(&row[M_DEVICE_SELF], op->works_ns);
	cell_u(&row[M_LAUNCHES], op->launches);
}

static void fill_modules(struct table *t, const struct view_query *q)
{
	const struct ops *ops = q->snapshot->ops;
	struct modules m = { 0 };

	t->none = "no module was recorded: --torch python";
	t->failed |= add_up(&m, q->snapshot) < 0;
	for (size_t i = 0; i < ops_count(ops); i++)
		if (is_module(q->snapshot, ops_at(ops, i)))
			add_module(t, q->snapshot, ops_at(ops, i), &m);
	VEC_FREE(&m.all);
	map_free(&m.by_key);
}

const struct view view_modules = {
	.name = "modules",
	.help = "a process and PyTorch module, by its classes (--torch python)",
	.columns = module_columns, .n_columns = N_M_COLUMNS,
	.never_null = "module calls host_ns host_self_ns launches",
	.sort = "host_ns",
	.shown = VIEW_WITH_ROWS,
	.fill = fill_modules,
};

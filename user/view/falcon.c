// SPDX-License-Identifier: BSD-3-Clause
/* Adds up rows of the tables `ops` and `modules`. */
#include "view/falcon.h"

#include <string.h>

#include "base/map.h"
#include "base/num.h"
#include "base/vec.h"
#include "event/event.h"

#define MS 1e6
#define SECOND 1e9
#define PERCENT 100

struct group {			/* rows of one operator or module and shape */
	const char *name, *shape, *type;	/* NULL: unknown */
	uint64_t rows, count, ns;
	uint64_t median_ns;	/* of a single row; 0: unknown */
	bool is_unknown;	/* its time is */
};

struct groups {
	struct table *from;
	VEC(struct group) all;
	struct map by_name;	/* hash -> index + 1 */
	uint64_t ns;
	bool failed, has_shapes;
};

static const char *text_of(const struct table *t, size_t row, const char *column)
{
	const struct cell *c = table_cell(t, row, column);

	return c->known ? c->s : NULL;
}

/* 0: unknown */
static uint64_t number_of(const struct table *t, size_t row, const char *column)
{
	const struct cell *c = table_cell(t, row, column);

	return c->known ? c->u : 0;
}

static bool has_device(const struct table *t)
{
	bool has = false;

	for (size_t row = 0; row < t->n_rows; row++)
		has |= table_cell(t, row, "device_ns")->known;
	return has;
}

/* Its group, until the next one is found; NULL: out of memory. */
static struct group *find_group(struct groups *g, size_t row, const char *name)
{
	const char *shape = text_of(g->from, row, "input_shape");
	const char *type = text_of(g->from, row, "input_dtype");
	struct strbuf key = STRBUF_INIT;
	struct map_slot *slot;

	strbuf_addf(&key, "%s|%s|%s", name, shape ? shape : "", type ? type : "");
	slot = key.failed ? NULL : map_put(&g->by_name, event_text_hash(key.s), NULL);
	strbuf_free(&key);
	if (slot && !slot->value && VEC_PUSH(&g->all)) {
		slot->value = g->all.n;
		g->all.v[slot->value - 1] =
			(struct group){ .name = name, .shape = shape, .type = type };
	}
	g->failed |= !slot || !slot->value;
	g->has_shapes |= shape != NULL;
	return slot && slot->value ? &g->all.v[slot->value - 1] : NULL;
}

static void add_to(struct groups *g, struct group *to, uint64_t count, uint64_t ns)
{
	to->rows++;
	to->count = num_add(to->count, count);
	to->ns = num_add(to->ns, ns);
	g->ns = num_add(g->ns, ns);
}

/* The table that they are of; false: out of memory. */
static bool groups_begin(struct groups *g, const struct view *of, const struct view_query *q)
{
	*g = (struct groups){ .from = view_fill(of, q) };
	return g->from;
}

static bool groups_end(struct groups *g)
{
	bool failed = g->failed || !g->from;

	table_free(g->from);
	VEC_FREE(&g->all);
	map_free(&g->by_name);
	return failed;
}

/* "(8, 64)", "(7,)", "()" of "[8, 64]", "[7]", "[]" */
static void fill_shape(struct table *t, struct cell *cell, const struct group *of)
{
	const int inner = of->shape ? (int)strlen(of->shape) - 2 : 0;

	if (!of->shape)
		cell_s(t, cell, "N/A");
	else
		cell_f(t, cell, "(%.*s%s)", inner, of->shape + 1,
		       inner && !strchr(of->shape, ',') ? "," : "");
}

static void fill_type(struct table *t, struct cell *cell, const struct group *of)
{
	if (of->type)
		cell_f(t, cell, "torch.%s", of->type);
	else
		cell_s(t, cell, "N/A");
}

/* ---- operators ------------------------------------------------------------------------------- */

enum { OPERATOR, COUNT, TOTAL, AVERAGE, MEDIAN, SHARE, SHAPES, TYPES, N_COLUMNS };

#define PLAIN_COLUMNS SHAPES

static const struct column columns[N_COLUMNS] = {
	[OPERATOR] = { "operator", NULL, CELL_TEXT, 0, ROLE_KEY, "operator, by overload" },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM, "times that it ran" },
	[TOTAL] = { "total_time_ms", NULL, CELL_REAL, 0, ROLE_SUM, "device time, or on the host" },
	[AVERAGE] = { "avg_time_ms", NULL, CELL_REAL, 0, ROLE_MEAN, "mean of one" },
	[MEDIAN] = { "median_time_ms", NULL, CELL_REAL, 0, ROLE_MEAN, "median of one" },
	[SHARE] = { "percent_time", NULL, CELL_REAL, 0, ROLE_MEAN, "of the times of all" },
	[SHAPES] = { "input_shapes", NULL, CELL_TEXT, 0, ROLE_KEY, "of its first tensor" },
	[TYPES] = { "input_dtypes", NULL, CELL_TEXT, 0, ROLE_KEY, "of its first tensor" },
};

static void add_operator(struct groups *g, size_t row, bool on_device)
{
	const struct table *from = g->from;
	const char *name = text_of(from, row, "op");
	const uint64_t self_ns = number_of(from, row, "host_self_ns");
	struct group *to;
	bool is_leaf;

	if (on_device ? !number_of(from, row, "launches") : strncmp(name, "aten.", 5) != 0)
		return;
	to = find_group(g, row, name);
	if (!to)
		return;
	add_to(g, to, number_of(from, row, "count"),
	       on_device ? number_of(from, row, "device_ns") : self_ns);
	is_leaf = !on_device && self_ns == number_of(from, row, "host_total_ns");
	to->median_ns = is_leaf && to->rows == 1 ? number_of(from, row, "host_p50_ns") : 0;
}

static void fill_operators(struct table *t, const struct view_query *q)
{
	struct groups g;
	bool on_device = groups_begin(&g, &view_ops, q) && has_device(g.from);

	for (size_t row = 0; g.from && row < g.from->n_rows; row++)
		add_operator(&g, row, on_device);
	if (!g.has_shapes)
		t->n_columns = PLAIN_COLUMNS;
	for (const struct group *of = g.all.v; of < g.all.v + g.all.n; of++) {
		struct cell *cell = table_row(t);

		cell_s(t, &cell[OPERATOR], of->name);
		cell_u(&cell[COUNT], of->count);
		cell_d(&cell[TOTAL], (double)of->ns / MS);
		if (of->count)
			cell_d(&cell[AVERAGE], (double)of->ns / MS / (double)of->count);
		if (of->median_ns)
			cell_d(&cell[MEDIAN], (double)of->median_ns / MS);
		cell_d(&cell[SHARE], PERCENT * num_ratio(of->ns, g.ns));
		if (!g.has_shapes)
			continue;
		fill_shape(t, &cell[SHAPES], of);
		fill_type(t, &cell[TYPES], of);
	}
	t->failed |= groups_end(&g);
}

const struct view view_falcon_operators = {
	.name = "operators",
	.columns = columns, .n_columns = N_COLUMNS,
	.sort = "total_time_ms",
	.fill = fill_operators,
};

/* ---- modules --------------------------------------------------------------------------------- */

enum { LAYER, SHAPE, TYPE, PER_CALL, CALLS, TOTAL_S, KEY, N_M_COLUMNS };

static const struct column module_columns[N_M_COLUMNS] = {
	[LAYER] = { "layer_type", NULL, CELL_TEXT, 0, ROLE_KEY, "class of the module" },
	[SHAPE] = { "input_shape", NULL, CELL_TEXT, 0, ROLE_KEY, "of its first operator" },
	[TYPE] = { "input_dtype", NULL, CELL_TEXT, 0, ROLE_KEY, "of its first operator" },
	[PER_CALL] = { "time_per_call", NULL, CELL_REAL, 0, ROLE_MEAN, "seconds of one" },
	[CALLS] = { "call_count", NULL, CELL_INT, 0, ROLE_SUM, "times that it was called" },
	[TOTAL_S] = { "total_time", NULL, CELL_REAL, 0, ROLE_SUM, "seconds" },
	[KEY] = { "original_key", NULL, CELL_TEXT, 0, ROLE_KEY, "of these, but the times" },
};

static void add_module(struct groups *g, size_t row, const char *time)
{
	const char *chain = text_of(g->from, row, "module"), *inner = strrchr(chain, '/');
	struct group *to = find_group(g, row, inner ? inner + 1 : chain);

	if (!to)
		return;
	add_to(g, to, number_of(g->from, row, "calls"), number_of(g->from, row, time));
	to->is_unknown |= !table_cell(g->from, row, time)->known;
}

static void fill_modules(struct table *t, const struct view_query *q)
{
	struct groups g;
	bool on_device = groups_begin(&g, &view_modules, q) && has_device(g.from);
	const char *time = on_device ? "device_ns" : "host_ns";

	for (size_t row = 0; g.from && row < g.from->n_rows; row++)
		add_module(&g, row, time);
	for (const struct group *of = g.all.v; of < g.all.v + g.all.n; of++) {
		struct cell *cell = table_row(t);

		cell_s(t, &cell[LAYER], of->name);
		fill_shape(t, &cell[SHAPE], of);
		fill_type(t, &cell[TYPE], of);
		cell_u(&cell[CALLS], of->count);
		if (!of->is_unknown)
			cell_d(&cell[TOTAL_S], (double)of->ns / SECOND);
		if (!of->is_unknown && of->count)
			cell_d(&cell[PER_CALL], (double)of->ns / SECOND / (double)of->count);
		cell_f(t, &cell[KEY], "%s|%s|%s|{}", of->name, cell[SHAPE].s, cell[TYPE].s);
	}
	t->failed |= groups_end(&g);
}

const struct view view_falcon_modules = {
	.name = "modules",
	.columns = module_columns, .n_columns = N_M_COLUMNS,
	.sort = "total_time",
	.fill = fill_modules,
};

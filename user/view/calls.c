// SPDX-License-Identifier: BSD-3-Clause
/*
 * The table `calls`: statistics of calls grouped by function, launch shape, result or stack, with
 * the calls that have not returned. Reads a snapshot; knows nothing of events.
 */
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "catalog/results.h"
#include "view/folded.h"
#include "view/view.h"

enum { PID, COMM, FUNCTION, CLASS, COUNT, ERRORS, OPEN, BYTES, TOTAL, SHARE, AVG, P50, P99, MAX,
       GRID, BLOCK, RESULT, PROCESS_START, BEGUN_BEFORE, STACK, DEVICE, N_COLUMNS };

static const struct column columns[N_COLUMNS] = {
	[PID] = COLUMN_PID,
	[COMM] = COLUMN_COMM,
	[FUNCTION] = { "function", NULL, CELL_TEXT, 0, ROLE_KEY, "function that was called" },
	[CLASS] = { "class", NULL, CELL_TEXT, 0, ROLE_LABEL,
		"class of the function: launch, sync, copy, ..." },
	[COUNT] = { "count", NULL, CELL_INT, 0, ROLE_SUM, "calls that returned" },
	[ERRORS] = { "errors", NULL, CELL_INT, 0, ROLE_SUM,
		"calls whose result is an error (not-ready is none)" },
	[OPEN] = { "open", NULL, CELL_INT, 0, ROLE_SUM, "calls that have not returned" },
	[BYTES] = { "bytes", NULL, CELL_BYTES, 0, ROLE_SUM,
		"bytes that the calls were to copy, set or allocate, also those that failed" },
	[TOTAL] = { "total_ns", NULL, CELL_NS, 0, ROLE_SUM, "time in the calls" },
	[SHARE] = { "share", NULL, CELL_SHARE, 0, ROLE_SHARE,
		"of the time in all calls of the process" },
	[AVG] = { "avg_ns", NULL, CELL_NS, 0, ROLE_MEAN, "mean time of one" },
	[P50] = { "p50_ns", NULL, CELL_NS, 0, ROLE_MEAN, "median time of one" },
	[P99] = { "p99_ns", NULL, CELL_NS, 0, ROLE_MEAN, "time that 99 of 100 stay below" },
	[MAX] = { "max_ns", NULL, CELL_NS, 0, ROLE_MAX, "longest" },
	[GRID] = { "grid", NULL, CELL_TEXT, 0, ROLE_KEY, "grid of the launches (--by launch)" },
	[BLOCK] = { "block", NULL, CELL_TEXT, 0, ROLE_KEY, "block of the launches (--by launch)" },
	[RESULT] = { "result", NULL, CELL_TEXT, 0, ROLE_KEY, "result of the calls (--by result)" },
	[PROCESS_START] = { "process_start_ns", "process_start", CELL_ID, 1, ROLE_KEY,
		/* pids are used again */
		"when the process was started: tells two processes of one pid apart" },
	[BEGUN_BEFORE] = { "begun_before", NULL, CELL_INT, COLUMN_RARE, ROLE_SUM,
		"open calls that began before they could be seen" },
	[STACK] = { "stack", NULL, CELL_STACK, 0, ROLE_KEY,
		"who called, outermost first (--by stack)" },
	[DEVICE] = { "device_ns", NULL, CELL_NS, 1, ROLE_SUM,
		"device time of the work that the calls launched (by function, by stack)" },
};

/* Statistics of calls (or an open call, which has none) under the key of the table's row. */
struct part {
	size_t process;		/* index in the snapshot: the first comparison */
	uint16_t func;
	const char *name;	/* func's: a capture numbers functions otherwise than the run did */
	enum call_shape shape;
	const uint32_t *dims;	/* of CALL_SHAPE_ONE, else NULL */
	bool has_result;
	int32_t result;
	const char *stack;	/* NULL: none, or unknown */
	const struct call_stat *stat;
	bool before;		/* an open call that began before it could be seen */
};

struct parts {
	VEC(struct part) all;
	struct folded folded;
};

/* The sums of a row. */
struct sums {
	uint64_t count, errors, open, before, bytes, bytes_known, results_known, works, works_ns;
	struct hist time;
};

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;
	int c = num_compare(x->process, y->process);

	if (!c)
		c = strcmp(x->name, y->name);
	if (!c)
		c = num_compare(x->func, y->func);
	if (!c)
		c = num_compare(x->shape, y->shape);
	for (int i = 0; !c && x->dims && i < 6; i++)
		c = num_compare(x->dims[i], y->dims[i]);
	if (!c)
		c = num_compare(x->has_result, y->has_result);
	if (!c)
		c = (x->result > y->result) - (x->result < y->result);
	return c ? c : strcmp(x->stack ? x->stack : "", y->stack ? y->stack : "");
}

static void set_key(struct table *t, struct parts *parts, struct part *part, enum calls_by by)
{
	const struct call_key *key = &part->stat->key;

	switch (by) {
	case CALLS_BY_LAUNCH:
		part->shape = key->shape;
		part->dims = key->shape == CALL_SHAPE_ONE ? key->dims : NULL;
		break;
	case CALLS_BY_RESULT:
		part->has_result = key->has_result;
		part->result = key->result;
		break;
	case CALLS_BY_STACK:
		part->stack = "[more stacks]";
		if (key->shape != CALL_SHAPE_MORE)
			t->failed |= folded_text(&parts->folded, key->stack, &part->stack) < 0;
		break;
	default:
		break;
	}
}

static struct part *add_part(struct table *t, struct parts *parts, const struct snapshot *snap,
			     size_t process, uint16_t func)
{
	struct part *part = VEC_PUSH(&parts->all);

	if (part)
		*part = (struct part){ .process = process, .func = func,
				       .name = func < snap->funcs->n ?
					       snap->funcs->v[func].name : "" };
	t->failed |= !part;
	return part;
}

/* The shape and the result of a work's call are not kept. */
static bool has_works(enum calls_by by)
{
	return by == CALLS_BY_FUNCTION || by == CALLS_BY_STACK;
}

static void add_stats(struct table *t, struct parts *parts, const struct snapshot *snap,
		      size_t process, enum calls_by by)
{
	const struct call_stats *ts = &snap->processes.v[process].calls;

	for (size_t i = 0; i < call_stats_count(ts); i++) {
		const struct call_stat *stat = call_stats_at(ts, i);
		struct part *part;

		if (!stat->count && !stat->before && !stat->open &&
		    (!stat->works || !has_works(by)))
			continue;
		part = add_part(t, parts, snap, process, stat->key.func);
		if (!part)
			return;
		part->stat = stat;
		set_key(t, parts, part, by);
	}
}

/* Rows of open calls have no shape and no result: those are known at the return. */
static void add_open(struct table *t, struct parts *parts, const struct snapshot *snap)
{
	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *thread = &snap->threads.v[i];
		struct part *part = NULL;

		if (thread->has_book && thread->open)
			part = add_part(t, parts, snap, thread->process, thread->func);
		if (part)
			part->before = thread->before;
	}
}

static int sum_up(struct sums *s, const struct part *part)
{
	const struct call_stat *t = part->stat;

	if (!t) {
		s->open++;
		s->before += part->before;
		return 0;
	}
	s->count += t->count;
	s->before += t->before;
	s->open += t->open;
	s->errors += t->errors;
	s->results_known += t->results_known;
	s->bytes = num_add(s->bytes, t->bytes);
	s->bytes_known += t->bytes_known;
	s->works += t->works;
	s->works_ns += t->works_ns;
	return hist_merge(&s->time, &t->time);
}

static void fill_sums(struct cell *row, const struct sums *s, enum calls_by by)
{
	const struct hist *h = &s->time;

	cell_u(&row[COUNT], s->count);
	cell_u(&row[OPEN], s->open);
	cell_u(&row[BEGUN_BEFORE], s->before);
	if (s->results_known)
		cell_u(&row[ERRORS], s->errors);
	if (s->bytes_known)
		cell_u(&row[BYTES], s->bytes);
	if (s->works && has_works(by))
		cell_u(&row[DEVICE], s->works_ns);
	if (!h->count)
		return;
	cell_u(&row[TOTAL], h->total);
	cell_u(&row[AVG], h->total / h->count);
	cell_u(&row[P50], hist_quantile(h, 0.50));
	cell_u(&row[P99], hist_quantile(h, 0.99));
	cell_u(&row[MAX], h->max);
}

static void fill_result(struct table *t, struct cell *c, const char *library, int32_t code)
{
	const char *name = library ? result_name(library, code) : NULL;

	if (name)
		cell_s(t, c, name);
	else
		cell_f(t, c, "%d", code);
}

static void fill_key(struct table *t, struct cell *row, const struct snapshot *snap,
		     const struct part *key)
{
	const struct snapshot_process *p = &snap->processes.v[key->process];
	const struct func *fn = &snap->funcs->v[key->func];
	const uint32_t *dims = key->dims;

	view_put_pid(&row[PID], p->pid);
	if (p->start_ns)
		cell_u(&row[PROCESS_START], p->start_ns);
	cell_s(t, &row[COMM], p->comm[0] ? p->comm : NULL);
	cell_s(t, &row[FUNCTION], fn->name);
	cell_s(t, &row[CLASS], class_name(fn->class));
	if (key->shape == CALL_SHAPE_MORE)
		cell_s(t, &row[GRID], "(more shapes)");
	if (dims) {
		cell_f(t, &row[GRID], "%ux%ux%u", dims[0], dims[1], dims[2]);
		cell_f(t, &row[BLOCK], "%ux%ux%u", dims[3], dims[4], dims[5]);
	}
	if (key->has_result)
		fill_result(t, &row[RESULT], fn->library, key->result);
	cell_s(t, &row[STACK], key->stack);
}

/* Of the rows from `from` on, which are one process's. */
static void add_shares(struct table *t, size_t from)
{
	uint64_t all_ns = 0;

	for (size_t row = from; row < t->n_rows; row++)
		all_ns = num_add(all_ns, table_cells(t, row)[TOTAL].u);
	for (size_t row = from; row < t->n_rows; row++) {
		struct cell *cells = t->cells + row * t->n_columns;

		if (cells[TOTAL].known)
			cell_d(&cells[SHARE], num_ratio(cells[TOTAL].u, all_ns));
	}
}

/* Parts of a process, and in it those of equal keys, follow each other: one row of each key. */
static void add_rows(struct table *t, const struct snapshot *snap, const struct parts *parts,
		     enum calls_by by)
{
	size_t from = 0;

	for (size_t i = 0; i < parts->all.n;) {
		const struct part *first = &parts->all.v[i];
		struct sums sums = { 0 };
		struct cell *row;

		if (i && first->process != first[-1].process) {
			add_shares(t, from);
			from = t->n_rows;
		}
		row = table_row(t);

		for (; i < parts->all.n && !compare_parts(first, &parts->all.v[i]); i++)
			t->failed |= sum_up(&sums, &parts->all.v[i]) < 0;
		fill_sums(row, &sums, by);
		fill_key(t, row, snap, first);
		hist_free(&sums.time);
	}
	add_shares(t, from);
}

static void fill(struct table *t, const struct view_query *q)
{
	struct parts parts = { .folded = { .stacks = &q->snapshot->stacks } };

	add_open(t, &parts, q->snapshot);
	for (size_t i = 0; i < q->snapshot->processes.n; i++)
		add_stats(t, &parts, q->snapshot, i, q->by);
	if (parts.all.n)
		qsort(parts.all.v, parts.all.n, sizeof(*parts.all.v), compare_parts);
	add_rows(t, q->snapshot, &parts, q->by);
	VEC_FREE(&parts.all);
	folded_free(&parts.folded);
}

const struct view view_calls = {
	.name = "calls",
	.help = "a process and function (--by launch, result, stack: and its grid, result, stack)",
	.columns = columns, .n_columns = N_COLUMNS,
	.never_null = "function class count open begun_before",
	.sort = "total_ns",
	.fill = fill,
};

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The rows of a table: filling, filtering, sorting, cutting. Owns cells and their strings. Knows
 * nothing of their printing (render.c) nor of their meaning.
 */
#include "view/table.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "view/format.h"

struct table *table_new(const char *name, const struct column *columns, unsigned int n_columns)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct table){ .name = name, .columns = columns, .n_columns = n_columns };
	t->strings = strpool_new();
	if (!t->strings) {
		free(t);
		errno = ENOMEM;
		return NULL;
	}
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	strpool_free(t->strings);
	free(t->cells);
	free(t);
}

static bool grow(struct table *t)
{
	size_t cap = t->cap_rows ? t->cap_rows * 2 : 16;
	struct cell *cells = reallocarray(t->cells, cap, t->n_columns * sizeof(*cells));

	if (!cells)
		return false;
	t->cells = cells;
	t->cap_rows = cap;
	return true;
}

struct cell *table_row(struct table *t)
{
	struct cell *row;

	if (t->n_rows == t->cap_rows && !grow(t))
		return NULL;
	row = t->cells + t->n_rows++ * t->n_columns;
	memset(row, 0, t->n_columns * sizeof(*row));
	return row;
}

int cell_s(struct table *t, struct cell *c, const char *s)
{
	const char *own = s ? strpool_add(t->strings, s) : NULL;

	c->known = own != NULL;
	c->s = own;
	return s && !own ? -ENOMEM : 0;
}

static bool has_title(const struct column *c, const char *title)
{
	struct strbuf sb = STRBUF_INIT;
	bool same;

	format_title(&sb, c);
	same = !strcmp(sb.s, title);
	strbuf_free(&sb);
	return same;
}

int column_find(const struct column *columns, unsigned int n, const char *name)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(columns[i].name, name))
			return (int)i;
	for (unsigned int i = 0; i < n; i++)
		if (has_title(&columns[i], name))
			return (int)i;
	return -ENOENT;
}

void table_keep(struct table *t, bool (*keep)(const struct cell *cells, const void *ctx),
		const void *ctx)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->n_rows; i++) {
		struct cell *row = t->cells + i * t->n_columns;

		if (!keep(row, ctx))
			continue;
		if (kept != i)
			memcpy(t->cells + kept * t->n_columns, row, t->n_columns * sizeof(*row));
		kept++;
	}
	t->n_rows = kept;
}

struct sort_key {
	const struct cell *cell;
	unsigned int type;
	size_t row;		/* breaks ties, which makes the sort stable */
};

static int compare_numbers(double a, double b)
{
	if (isnan(a) || isnan(b))
		return isnan(a) - isnan(b);
	return (a < b) - (a > b);
}

static int compare_cells(const struct cell *a, const struct cell *b, unsigned int type)
{
	if (!a->known || !b->known)
		return b->known - a->known;
	switch (type) {
	case CELL_TEXT:
	case CELL_STACK:
	case CELL_PROSE:
	case CELL_COMMAND:
		return strcmp(a->s, b->s);
	case CELL_SHARE:
	case CELL_REAL:
		return compare_numbers(a->d, b->d);
	default:
		return (a->u < b->u) - (a->u > b->u);
	}
}

static int compare_keys(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;
	int order = compare_cells(a->cell, b->cell, a->type);

	return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* Is row a part of the book that the row before it is of? */
static bool goes_on(const struct table *t, size_t row)
{
	const struct cell *before = table_cells(t, row - 1), *cells = table_cells(t, row);

	for (unsigned int i = 0; i < t->book_columns; i++)
		if (compare_cells(&before[i], &cells[i], t->columns[i].type))
			return false;
	return t->book_columns;
}

void table_top(struct table *t, size_t n, bool asked)
{
	size_t whole = n;

	if (t->n_rows <= n)
		return;
	while (!asked && whole && goes_on(t, whole))
		whole--;
	n = whole ? whole : n;		/* else one book has more */
	t->unasked |= !asked;
	t->cut += t->n_rows - n;
	t->n_rows = n;
}

int table_sort(struct table *t, const char *column)
{
	size_t row_bytes = t->n_columns * sizeof(struct cell);
	int at = table_column(t, column);
	struct sort_key *keys;
	struct cell *sorted;

	if (at < 0)
		return at;
	if (t->n_rows < 2)
		return 0;
	keys = reallocarray(NULL, t->n_rows, sizeof(*keys));
	sorted = reallocarray(NULL, t->cap_rows, row_bytes);
	if (!keys || !sorted) {
		free(keys);
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < t->n_rows; i++)
		keys[i] = (struct sort_key){ &t->cells[i * t->n_columns + (size_t)at],
					     t->columns[at].type, i };
	qsort(keys, t->n_rows, sizeof(*keys), compare_keys);
	for (size_t i = 0; i < t->n_rows; i++)
		memcpy(sorted + i * t->n_columns, t->cells + keys[i].row * t->n_columns, row_bytes);
	free(keys);
	free(t->cells);
	t->cells = sorted;
	return 0;
}


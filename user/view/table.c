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

#include "base/num.h"

#define ROWS_FIRST 16

struct table *table_new(const char *name, const struct column *columns, unsigned int n_columns)
{
	struct table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	*t = (struct table){ .name = name, .columns = columns, .n_columns = n_columns,
			     .cap_rows = ROWS_FIRST, .strings = strpool_new(),
			     .cells = calloc(ROWS_FIRST, n_columns * sizeof(*t->cells)) };
	if (t->strings && t->cells)
		return t;
	table_free(t);
	errno = ENOMEM;
	return NULL;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	strpool_free(t->strings);
	free(t->cells);
	free(t);
}

struct cell *table_row(struct table *t)
{
	size_t row_bytes = t->n_columns * sizeof(*t->cells);
	struct cell *cells;

	if (t->n_rows == t->cap_rows) {
		cells = reallocarray(t->cells, t->cap_rows * 2, row_bytes);
		if (cells) {
			t->cells = cells;
			t->cap_rows *= 2;
		} else {
			t->failed = true;
			t->n_rows--;	/* is written over */
		}
	}
	return memset(t->cells + t->n_rows++ * t->n_columns, 0, row_bytes);
}

void cell_s(struct table *t, struct cell *c, const char *s)
{
	const char *own = s ? strpool_add(t->strings, s) : NULL;

	c->known = own != NULL;
	c->s = own;
	t->failed |= s && !own;
}

void cell_text(struct table *t, struct cell *c, struct strbuf *text)
{
	t->failed |= text->failed;
	cell_s(t, c, text->len ? text->s : NULL);
	strbuf_free(text);
}

void cell_f(struct table *t, struct cell *c, const char *fmt, ...)
{
	struct strbuf text = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&text, fmt, ap);
	va_end(ap);
	cell_text(t, c, &text);
}

int column_find(const struct column *columns, unsigned int n, const char *name)
{
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(columns[i].name, name))
			return (int)i;
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(column_title(&columns[i]).s, name))
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

static int compare_cells(const struct cell *a, const struct cell *b, unsigned int type)
{
	if (!a->known || !b->known)
		return b->known - a->known;
	if (cell_is_text(type))
		return strcmp(a->s, b->s);
	if (type != CELL_SHARE && type != CELL_REAL)
		return num_compare(b->u, a->u);
	if (isnan(a->d) || isnan(b->d))
		return isnan(a->d) - isnan(b->d);
	return (a->d < b->d) - (a->d > b->d);
}

static int compare_keys(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;
	int order = compare_cells(a->cell, b->cell, a->type);

	return order ? order : num_compare(a->row, b->row);
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

int table_sort_from(struct table *t, size_t first, const char *column)
{
	const size_t n = t->n_rows - first, row_bytes = t->n_columns * sizeof(struct cell);
	struct cell *rows = t->cells + first * t->n_columns, *sorted;
	int at = table_column(t, column);
	struct sort_key *keys;

	if (at < 0)
		return at;
	if (n < 2)
		return 0;
	keys = reallocarray(NULL, n, sizeof(*keys));
	sorted = reallocarray(NULL, n, row_bytes);
	t->failed |= !keys || !sorted;
	if (keys && sorted) {
		for (size_t i = 0; i < n; i++)
			keys[i] = (struct sort_key){ &rows[i * t->n_columns + (size_t)at],
						     t->columns[at].type, i };
		qsort(keys, n, sizeof(*keys), compare_keys);
		for (size_t i = 0; i < n; i++)
			memcpy(sorted + i * t->n_columns, rows + keys[i].row * t->n_columns,
			       row_bytes);
		memcpy(rows, sorted, n * row_bytes);
	}
	free(keys);
	free(sorted);
	return t->failed ? -ENOMEM : 0;
}

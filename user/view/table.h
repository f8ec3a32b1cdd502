/* SPDX-License-Identifier: BSD-3-Clause */
/* A table whose columns are data, for every format: its cells, in rows. */
#ifndef VIEW_TABLE_H
#define VIEW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "view/column.h"

struct cell {
	uint8_t known;
	union {
		uint64_t u;	/* INT, NS, BYTES, ID, BOOL */
		double d;	/* SHARE, REAL */
		const char *s;	/* TEXT, STACK, PROSE, COMMAND: owned by the table's string pool */
	};
};

struct table {			/* a view sets book_columns and none */
	const char *name;
	const struct column *columns;
	unsigned int n_columns;
	struct cell *cells;	/* of n_rows rows, one after the other */
	size_t n_rows, cap_rows;
	size_t cut;		/* rows that table_top took away */
	bool unasked;		/* it did so without --top */
	unsigned int book_columns;	/* rows alike in the first so many are one book; 0: none */
	const char *none;	/* a literal: why it has no rows; NULL: that is all */
	struct strpool *strings;
	bool failed;		/* out of memory: it lacks rows or texts, and must not be shown */
};

/* columns must outlive the table. NULL + errno. */
struct table *table_new(const char *name, const struct column *columns, unsigned int n_columns);
void table_free(struct table *t);

/* A new row, n_columns cells, all unknown; valid until the next row. Never NULL: out of memory is
 * remembered in `failed`, here as for all texts, and checked once, after filling. */
struct cell *table_row(struct table *t);

static inline void cell_u(struct cell *c, uint64_t u)
{
	c->known = 1;
	c->u = u;
}

static inline void cell_d(struct cell *c, double d)
{
	c->known = 1;
	c->d = d;
}

/* Copies; NULL and an empty strbuf: unknown. cell_text frees its strbuf. */
void cell_s(struct table *t, struct cell *c, const char *s);
void cell_f(struct table *t, struct cell *c, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void cell_text(struct table *t, struct cell *c, struct strbuf *text);

static inline const struct cell *table_cells(const struct table *t, size_t row)
{
	return t->cells + row * t->n_columns;
}

static inline int table_column(const struct table *t, const char *name)
{
	return column_find(t->columns, t->n_columns, name);
}

/* column: one that it has. */
static inline const struct cell *table_cell(const struct table *t, size_t row, const char *column)
{
	return &table_cells(t, row)[table_column(t, column)];
}

/* Drops the rows for which keep returns false; the others stay in order. */
void table_keep(struct table *t, bool (*keep)(const struct cell *cells, const void *ctx),
		const void *ctx);

/* The rows from `first` on: numbers descending, text ascending, unknown last; stable. -ENOENT: no
 * such column; -ENOMEM. */
int table_sort_from(struct table *t, size_t first, const char *column);
static inline int table_sort(struct table *t, const char *column)
{
	return table_sort_from(t, 0, column);
}

/* Keeps the first n rows; by default, no part of a book. */
void table_top(struct table *t, size_t n, bool asked);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A table whose columns are data, for every format. */
#ifndef VIEW_TABLE_H
#define VIEW_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/units.h"

enum cell_type {
	CELL_TEXT,
	CELL_INT,	/* text form: thousands as 1,234,567 */
	CELL_NS,	/* nanoseconds; text form: 1.234 ms */
	CELL_BYTES,	/* text form: 1.5 MiB */
	CELL_SHARE,	/* 0..1; text form: 12.3 % */
	CELL_REAL,	/* text form: three digits, or thousands as 11,148 */
	CELL_ID,	/* integer that is a name (pid): never grouped */
	/* a device's number on the host (event/device_number.h): 0, or of a MIG instance 0:1;
	 * json: a number, or "0:1" */
	CELL_DEVICE,
	CELL_BOOL,	/* u is 0 or 1; text form: yes, no; csv and json: true, false */
	/* frames joined by ';', outermost first; json: an array; text form: below the row,
	 * innermost first */
	CELL_STACK,
	CELL_PROSE,	/* sentences; text form: below the row, under its title */
	CELL_COMMAND,	/* to be typed: the same, on one line however long */
};

/* The meaning of a column's numbers: which of them add up, and how two rows of one key are
 * compared. */
enum column_role {
	ROLE_KEY = 1,	/* rows of one table differ in these */
	ROLE_LABEL,	/* describes the row */
	ROLE_SUM,	/* adds up over rows and captures */
	ROLE_TOTAL,	/* adds up over captures; the same in all rows of a book */
	ROLE_MEAN,	/* a mean, a quantile or a rate: compared, never added */
	ROLE_MAX,
	ROLE_MIN,
	ROLE_SHARE,	/* of a total: computed anew after adding */
};

struct column {
	const char *name;	/* as in csv and json; never changes its meaning */
	const char *title;	/* text form; NULL: the name without its unit suffix */
	uint8_t type;		/* enum cell_type */
	uint8_t wide;		/* 1: shown in text form only with --wide; COLUMN_RARE */
	uint8_t role;		/* enum column_role */
	const char *help;	/* one line */
};

#define COLUMN_RARE 2		/* shown in text form where a number is not 0, or with --wide */

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
};

/* columns must outlive the table. NULL + errno. */
struct table *table_new(const char *name, const struct column *columns, unsigned int n_columns);
void table_free(struct table *t);

/* A new row, n_columns cells, all unknown; valid until the next row. NULL on ENOMEM. */
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

int cell_s(struct table *t, struct cell *c, const char *s);	/* copies; NULL s: unknown */

static inline const struct cell *table_cells(const struct table *t, size_t row)
{
	return t->cells + row * t->n_columns;
}

/* The column of this name or title; index or -ENOENT. */
int column_find(const struct column *columns, unsigned int n, const char *name);
static inline int table_column(const struct table *t, const char *name)
{
	return column_find(t->columns, t->n_columns, name);
}

/* Drops the rows for which keep returns false; the others stay in order. */
void table_keep(struct table *t, bool (*keep)(const struct cell *cells, const void *ctx),
		const void *ctx);

/* Numbers descending, text ascending, unknown last; stable. -ENOENT: no such column. */
int table_sort(struct table *t, const char *column);

/* Keeps the first n rows; by default, no part of a book. */
void table_top(struct table *t, size_t n, bool asked);

#endif

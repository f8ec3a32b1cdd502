/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table whose columns are data, and its four renderings: text (units for people, columns
 * aligned), md, csv (RFC 4180, raw numbers, empty = unknown), json (raw numbers, null = unknown).
 * A view reads tables only; it never sees live state.
 */
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
	CELL_BOOL,	/* u is 0 or 1; text form: yes, no; csv and json: true, false */
	CELL_STACK,	/* frames joined by ';', outermost first; json: an array; text form: below the
			 * row, innermost first */
	CELL_PROSE,	/* sentences; text form: below the row, under its title */
};

struct column {
	const char *name;	/* as in csv and json; never changes its meaning */
	const char *title;	/* text form; NULL: the name without its unit suffix */
	uint8_t type;		/* enum cell_type */
	uint8_t wide;		/* 1: shown in text form only with --wide; COLUMN_RARE */
};

#define COLUMN_RARE 2		/* shown in text form where a number is not 0, or with --wide */

struct cell {
	uint8_t known;		/* 0: unknown */
	union {
		uint64_t u;	/* INT, NS, BYTES, ID, BOOL */
		double d;	/* SHARE, REAL */
		const char *s;	/* TEXT, STACK, PROSE: owned by the table's string pool */
	};
};

struct table;

/* columns must outlive the table. NULL + errno. */
struct table *table_new(const char *name, const struct column *columns, unsigned int n_columns);
void table_free(struct table *t);
struct table *table_done(struct table *t, int err);	/* t; err < 0: frees it, NULL + errno */
const char *table_name(const struct table *t);

/* A new row, all cells unknown: an array of n_columns cells, valid until the next row. NULL on ENOMEM. */
struct cell *table_row(struct table *t);
size_t table_rows(const struct table *t);

void cell_u(struct cell *c, uint64_t u);
void cell_d(struct cell *c, double d);
int cell_s(struct table *t, struct cell *c, const char *s);	/* copies; NULL s: unknown */

/* For renderers and filters. */
const struct column *table_columns(const struct table *t, unsigned int *n);
const struct cell *table_cells(const struct table *t, size_t row);	/* n_columns cells */
size_t table_cut(const struct table *t);	/* rows that table_top took away */
const char *table_none(const struct table *t);	/* why it has no rows; NULL: it has, or that is all */

/* The column of this name, or of this title; index or -ENOENT. */
int table_column(const struct table *t, const char *name);

/* Drops the rows for which keep says false; the others stay in order. */
void table_keep(struct table *t, bool (*keep)(const struct cell *cells, const void *ctx),
		const void *ctx);

/* Sorts by a column, descending for numbers, ascending for text; unknown
 * last; stable. -ENOENT: no such column. */
int table_sort(struct table *t, const char *column);
void table_say_none(struct table *t, const char *why);	/* a literal: text and md, if without rows */
void table_top(struct table *t, size_t n);	/* keeps the first n rows; remembers how many were cut */

enum format { FORMAT_TEXT, FORMAT_MD, FORMAT_CSV, FORMAT_JSON, FORMAT_END };

struct meta_pair {
	const char *key;
	struct cell value;
	uint8_t type;		/* enum cell_type */
};

struct meta {			/* key/value pairs of the report's `meta` */
	struct meta_pair *v;
	size_t n;
};

struct report {
	const struct meta *meta;
	struct table *const *tables;
	unsigned int n_tables;
	const char *head;	/* text, md: the line before the tables; NULL none */
	const char *verdict;	/* text, md: sentences after the head, one a line; NULL none */
	const char *foot;	/* text, md: what was lost and what it cost; NULL none */
	unsigned int name_width; /* text: longer cells are cut in the middle; 0: never */
	bool wide;		/* text, md: also columns that are `wide` or all unknown */
};

/* Appends the rendering of a whole report. json: {"schema_version": 1, "meta": {...},
 * "tables": {"calls": [{...}, ...]}}. text and md: each table under its name, then what was lost.
 * csv: one table; several are separated by an empty line and a "# name" line. */
void report_render(struct strbuf *out, const struct report *r, enum format f);

void format_real(struct strbuf *out, double d);	/* exact: reads back as the same double */

/* One line that no terminal, csv reader or editor can stumble over: control characters, bytes that
 * are not UTF-8 and direction marks are written as \n, \x1b, \u202e. */
void format_safe(struct strbuf *out, const char *s);

/* The same, broken into lines of about TEXT_WIDTH, those after the first one indented. */
#define TEXT_WIDTH 100
void format_wrapped(struct strbuf *out, const char *s, unsigned int indent);

/* A cell as people read it ("-" when unknown). */
void format_cell(struct strbuf *out, const struct cell *c, unsigned int type);

/* The heading of a column in text and md. */
void format_title(struct strbuf *out, const struct column *c);

#endif

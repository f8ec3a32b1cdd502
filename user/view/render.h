/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables with what stands around them, and their four renderings: text (units for people, columns
 * aligned), md, csv (RFC 4180, raw numbers, empty = unknown), json (raw numbers, null = unknown).
 */
#ifndef VIEW_RENDER_H
#define VIEW_RENDER_H

#include "facts/notes.h"
#include "view/table.h"

/* As printf, one line that no terminal, csv reader or editor can stumble over: control characters,
 * bytes that are not UTF-8 and direction marks are written as \n, \x1b, \u202e. */
void format_safef(struct strbuf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A cell as people read it ("-" when unknown). */
void format_cell(struct strbuf *out, const struct cell *c, unsigned int type);

/* The same as HTML and SVG take it, in elements and in quotes. */
void render_markup(struct strbuf *out, const char *text);

enum format { FORMAT_TEXT, FORMAT_MD, FORMAT_CSV, FORMAT_JSON, FORMAT_TABLES,
	      FORMAT_FOLDED = FORMAT_TABLES, FORMAT_SPEEDSCOPE, FORMAT_SVG,	/* view/flame.h */
	      FORMAT_FALCON,		/* csv of other tables: view/falcon.h */
	      FORMAT_TUNABLEOP,		/* lines of the table gemm: view/tunableop.h */
	      FORMAT_TORCH_MEMORY,	/* of no table: view/torch_memory.h */
	      FORMAT_HTML,		/* of all tables: view/html.h */
	      FORMAT_END };

struct meta_pair {
	const char *key;
	struct cell value;
	uint8_t type;		/* enum cell_type */
};

struct meta {			/* key/value pairs of the report's `meta` */
	struct meta_pair *v;
	size_t n;
	const struct notes *notes;	/* NULL: none */
};

struct report {
	const struct meta *meta;
	struct table *const *tables;
	unsigned int n_tables;
	const char *head;	/* text, md: the line before the tables; NULL none */
	const char *verdict;	/* text, md: sentences after the head, one a line; NULL none */
	const char *foot;	/* text, md: losses and cost; NULL none */
	unsigned int name_width; /* text: longer cells are cut in the middle; 0: never */
	unsigned int columns;	/* text: of the terminal that shows it; 0: any number */
	const char *sort;	/* text: this column stays, however few there are; NULL none */
	bool ascii, has_color;	/* text: it shows no more than that; it is in colour */
	bool wide;		/* text, md: also columns that are `wide` or all unknown */
	bool only_rows;		/* text: titles and a line for each row, nothing else of tables */
};

/* Appends the rendering of a whole report. json: {"schema_version": 1, "meta": {...}, "tables":
 * {"calls": [{...}, ...]}}. text and md: each table under its name, then the losses. csv: one
 * table. f < FORMAT_TABLES. */
void report_render(struct strbuf *out, const struct report *r, enum format f);

/* Parts of views of other shapes than tables: is a column worth its place, where the report is not
 * wide? a quoted string, and the object of `meta`. */
bool render_shows(const struct table *t, unsigned int column);
void render_json_string(struct strbuf *out, const char *s);
void render_json_meta(struct strbuf *out, const struct meta *meta);

#endif

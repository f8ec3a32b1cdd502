// SPDX-License-Identifier: BSD-3-Clause
/*
 * The formats: a new one is a row of `formats`, its name a row of the command line's. Here are
 * those of a few lines; text, with its layout, is render_text.c. And what those for people leave
 * out.
 */
#include "view/render.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "event/device_number.h"
#include "view/format.h"

static bool is_known(const struct table *t, unsigned int column)
{
	for (size_t row = 0; row < table_rows(t); row++)
		if (table_cells(t, row)[column].known)
			return true;
	return !table_rows(t);
}

/* Worth a column: known in a row, and where a column says so, not 0. */
static bool is_shown(const struct table *t, unsigned int column, const struct column *c)
{
	if (c->wide != COLUMN_RARE)
		return !c->wide && is_known(t, column);
	for (size_t row = 0; row < table_rows(t); row++)
		if (table_cells(t, row)[column].known && table_cells(t, row)[column].u)
			return true;
	return false;
}

unsigned int render_columns(const struct report *r, const struct table *t, unsigned int *column)
{
	unsigned int n, shown = 0;
	const struct column *c = table_columns(t, &n);

	for (unsigned int i = 0; i < n; i++)
		if (r->wide || is_shown(t, i, &c[i]))
			column[shown++] = i;
	return shown;
}

void render_cut(struct strbuf *out, const struct table *t, const char *before)
{
	if (!table_cut(t))
		return;
	strbuf_addstr(out, before);
	format_count(out, table_cut(t));
	strbuf_addstr(out, " more");
	if (!table_cut_asked(t))
		strbuf_addf(out, " (--table %s has all)", table_name(t));
	strbuf_addch(out, '\n');
}

/* ---- md ------------------------------------------------------------------------------------ */

/*
 * Tables as GitHub-flavoured Markdown, units for people. What Markdown would read as markup in a
 * C++ name ("op<float*>", "a|b") is escaped. Sample:
 *
 *   | function | count |
 *   | :--- | ---: |
 *   | op\<float\*\> | 4,000 |
 */
/* Inside a word an underscore is no markup, and cuda_graph stays readable. */
static bool is_markup(const char *s, const char *at)
{
	if (*at == '_')
		return at == s || !isalnum((unsigned char)at[-1]) ||
		       !isalnum((unsigned char)at[1]);
	return strchr("\\|`*<>[]&~#", *at) != NULL;
}

static void add_escaped(struct strbuf *out, const char *s)
{
	for (const char *at = s; *at; at++) {
		if (is_markup(s, at))
			strbuf_addch(out, '\\');
		strbuf_addch(out, *at);
	}
}

static void md_add_cell(struct strbuf *out, const char *text)
{
	strbuf_addstr(out, "| ");
	add_escaped(out, text);
	strbuf_addch(out, ' ');
}

static bool is_text(const struct column *c)
{
	return c->type == CELL_TEXT || c->type == CELL_STACK ||
	       c->type == CELL_PROSE || c->type == CELL_COMMAND;
}

static void print_heading(struct strbuf *out, const struct column *c, const unsigned int *shown,
			  unsigned int n)
{
	struct strbuf title = STRBUF_INIT;

	for (unsigned int i = 0; i < n; i++) {
		strbuf_reset(&title);
		format_title(&title, &c[shown[i]]);
		md_add_cell(out, title.s);
	}
	strbuf_addstr(out, "|\n");
	for (unsigned int i = 0; i < n; i++)
		strbuf_addstr(out, is_text(&c[shown[i]]) ? "| :--- " : "| ---: ");
	strbuf_addstr(out, "|\n");
	strbuf_free(&title);
}

static void print_rows(struct strbuf *out, const struct table *t, const unsigned int *shown,
		       unsigned int n)
{
	struct strbuf text = STRBUF_INIT;
	unsigned int columns;
	const struct column *c = table_columns(t, &columns);

	for (size_t row = 0; row < table_rows(t); row++) {
		for (unsigned int i = 0; i < n; i++) {
			strbuf_reset(&text);
			format_cell(&text, &table_cells(t, row)[shown[i]], c[shown[i]].type);
			md_add_cell(out, text.s);
		}
		strbuf_addstr(out, "|\n");
	}
	out->failed |= text.failed;
	strbuf_free(&text);
}

static void md_print_table(struct strbuf *out, const struct report *r, const struct table *t)
{
	unsigned int n;
	const struct column *c = table_columns(t, &n);
	unsigned int *shown = calloc(n + 1, sizeof(*shown));

	if (!shown) {
		out->failed = true;
		return;
	}
	n = render_columns(r, t, shown);
	strbuf_addf(out, "## %s\n\n", table_name(t));
	print_heading(out, c, shown, n);
	print_rows(out, t, shown, n);
	free(shown);
	if (table_none(t))
		strbuf_addf(out, "\nnone: %s\n", table_none(t));
	render_cut(out, t, "\n");
}

/* Each line of a footer is a line of its own in the rendered page too. */
static void print_lines(struct strbuf *out, const char *s)
{
	struct strbuf line = STRBUF_INIT, safe = STRBUF_INIT;

	for (; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		strbuf_reset(&line);
		strbuf_reset(&safe);
		strbuf_add(&line, s, strcspn(s, "\n"));
		format_safe(&safe, line.s);
		add_escaped(out, safe.s);
		strbuf_addstr(out, s[strcspn(s, "\n")] ? "  \n" : "\n");
	}
	out->failed |= line.failed || safe.failed;
	strbuf_free(&line);
	strbuf_free(&safe);
}

static void render_md(struct strbuf *out, const struct report *r)
{
	if (r->head)
		print_lines(out, r->head);
	if (r->verdict && *r->verdict) {
		strbuf_addch(out, '\n');
		print_lines(out, r->verdict);
	}
	for (unsigned int i = 0; i < r->n_tables; i++) {
		if (i || r->head)
			strbuf_addch(out, '\n');
		md_print_table(out, r, r->tables[i]);
	}
	if (r->foot) {
		strbuf_addch(out, '\n');
		print_lines(out, r->foot);
	}
}

/* ---- csv ----------------------------------------------------------------------------------- */

/*
 * Tables as RFC 4180, but for the line end, which is LF as Unix tools expect: raw numbers, unknown
 * is empty. One record is one line: control characters of names are escaped as in text. Several
 * tables in one output are told apart by an empty line and "# name", which is not RFC 4180; one
 * table is.
 */
#define LINE_END "\n"

static void add_field(struct strbuf *out, const char *s)
{
	if (!s[strcspn(s, ",\"")] && *s != ' ' && *s != '#') {
		strbuf_addstr(out, s);
		return;
	}
	strbuf_addch(out, '"');
	for (; *s; s++) {
		if (*s == '"')
			strbuf_addch(out, '"');
		strbuf_addch(out, *s);
	}
	strbuf_addch(out, '"');
}

static void add_text(struct strbuf *out, const char *s)
{
	struct strbuf safe = STRBUF_INIT;

	format_safe(&safe, s);
	add_field(out, safe.s);
	out->failed |= safe.failed;
	strbuf_free(&safe);
}

static void csv_add_cell(struct strbuf *out, const struct cell *c, unsigned int type)
{
	if (!c->known)
		return;
	switch (type) {
	case CELL_TEXT:
	case CELL_STACK:
	case CELL_PROSE:
	case CELL_COMMAND:
		add_text(out, c->s);
		break;
	case CELL_SHARE:
	case CELL_REAL:
		if (isfinite(c->d))
			format_real(out, c->d);
		break;
	case CELL_BOOL:
		strbuf_addstr(out, c->u ? "true" : "false");
		break;
	case CELL_DEVICE:
		device_number_add(out, (uint32_t)c->u);
		break;
	default:
		strbuf_addf(out, "%llu", (unsigned long long)c->u);
	}
}

static void csv_print_table(struct strbuf *out, const struct table *t)
{
	unsigned int n;
	const struct column *c = table_columns(t, &n);

	for (unsigned int i = 0; i < n; i++) {
		strbuf_addstr(out, i ? "," : "");
		add_field(out, c[i].name);
	}
	strbuf_addstr(out, LINE_END);
	for (size_t row = 0; row < table_rows(t); row++) {
		for (unsigned int i = 0; i < n; i++) {
			strbuf_addstr(out, i ? "," : "");
			csv_add_cell(out, &table_cells(t, row)[i], c[i].type);
		}
		strbuf_addstr(out, LINE_END);
	}
}

static void render_csv(struct strbuf *out, const struct report *r)
{
	for (unsigned int i = 0; i < r->n_tables; i++) {
		if (i)
			strbuf_addstr(out, LINE_END);
		if (r->n_tables > 1)
			strbuf_addf(out, "# %s" LINE_END, table_name(r->tables[i]));
		csv_print_table(out, r->tables[i]);
	}
}

/* ---- json ---------------------------------------------------------------------------------- */

/*
 * A report as strict JSON (RFC 8259): numbers raw, unknown and not finite are null, bytes that are
 * not UTF-8 become U+FFFD. One row per line, so that reports can be compared with diff. Sample:
 *
 *   {"schema_version": 1,
 *    "meta": {"host": "a", "lost": 0},
 *    "tables": {
 *     "calls": [
 *      {"pid": 1234, "function": "cudaLaunchKernel"}
 *     ]}}
 */
static void add_char(struct strbuf *out, const char *at, const char *end, int32_t code)
{
	if (code < 0)
		strbuf_addstr(out, "\xef\xbf\xbd");
	else if (code == '"' || code == '\\')
		strbuf_addf(out, "\\%c", (char)code);
	else if (code < 0x20 || code == 0x7f)
		strbuf_addf(out, "\\u%04x", (unsigned int)code);
	else
		strbuf_add(out, at, (size_t)(end - at));
}

void render_json_string(struct strbuf *out, const char *s)
{
	strbuf_addch(out, '"');
	while (*s) {
		const char *at = s;
		int32_t code = utf8_next(&s);

		add_char(out, at, s, code);
	}
	strbuf_addch(out, '"');
}

static void add_stack(struct strbuf *out, const char *s)
{
	struct strbuf frame = STRBUF_INIT;

	strbuf_addch(out, '[');
	for (const char *at = s; *at; at += *at == ';') {
		strbuf_addstr(out, at == s ? "" : ", ");
		strbuf_reset(&frame);
		strbuf_add(&frame, at, strcspn(at, ";"));
		render_json_string(out, frame.s);
		at += strcspn(at, ";");
	}
	strbuf_addch(out, ']');
	out->failed |= frame.failed;
	strbuf_free(&frame);
}

/* An instance is no number. */
static void add_device(struct strbuf *out, uint32_t number)
{
	const char *quote = device_number_is_instance(number) ? "\"" : "";

	strbuf_addstr(out, quote);
	device_number_add(out, number);
	strbuf_addstr(out, quote);
}

static void add_value(struct strbuf *out, const struct cell *c, unsigned int type)
{
	bool real = type == CELL_SHARE || type == CELL_REAL;

	if (!c->known || (real && !isfinite(c->d)))
		strbuf_addstr(out, "null");
	else if (real)
		format_real(out, c->d);
	else if (type == CELL_TEXT || type == CELL_PROSE || type == CELL_COMMAND)
		render_json_string(out, c->s);
	else if (type == CELL_STACK)
		add_stack(out, c->s);
	else if (type == CELL_BOOL)
		strbuf_addstr(out, c->u ? "true" : "false");
	else if (type == CELL_DEVICE)
		add_device(out, (uint32_t)c->u);
	else
		strbuf_addf(out, "%llu", (unsigned long long)c->u);
}

static void add_pair(struct strbuf *out, const char *key, const struct cell *c, unsigned int type)
{
	render_json_string(out, key);
	strbuf_addstr(out, ": ");
	add_value(out, c, type);
}

void render_json_meta(struct strbuf *out, const struct meta *meta)
{
	strbuf_addch(out, '{');
	for (size_t i = 0; meta && i < meta->n; i++) {
		strbuf_addstr(out, i ? ", " : "");
		add_pair(out, meta->v[i].key, &meta->v[i].value, meta->v[i].type);
	}
	strbuf_addch(out, '}');
}

static void json_print_table(struct strbuf *out, const struct table *t)
{
	unsigned int n;
	const struct column *c = table_columns(t, &n);

	strbuf_addstr(out, "  ");
	render_json_string(out, table_name(t));
	strbuf_addstr(out, ": [");
	for (size_t row = 0; row < table_rows(t); row++) {
		strbuf_addstr(out, row ? ",\n   {" : "\n   {");
		for (unsigned int i = 0; i < n; i++) {
			strbuf_addstr(out, i ? ", " : "");
			add_pair(out, c[i].name, &table_cells(t, row)[i], c[i].type);
		}
		strbuf_addch(out, '}');
	}
	strbuf_addstr(out, table_rows(t) ? "\n  ]" : "]");
}

static void render_json(struct strbuf *out, const struct report *r)
{
	strbuf_addstr(out, "{\"schema_version\": 1,\n \"meta\": ");
	render_json_meta(out, r->meta);
	strbuf_addstr(out, ",\n \"tables\": {");
	for (unsigned int i = 0; i < r->n_tables; i++) {
		strbuf_addstr(out, i ? ",\n" : "\n");
		json_print_table(out, r->tables[i]);
	}
	strbuf_addstr(out, r->n_tables ? "\n }}\n" : "}}\n");
}

/* ---- all ----------------------------------------------------------------------------------- */

static void (*const formats[FORMAT_END])(struct strbuf *out, const struct report *r) = {
	[FORMAT_TEXT] = render_text, [FORMAT_MD] = render_md, [FORMAT_CSV] = render_csv,
	[FORMAT_JSON] = render_json,
};

void report_render(struct strbuf *out, const struct report *r, enum format f)
{
	formats[f](out, r);
}

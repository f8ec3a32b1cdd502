// SPDX-License-Identifier: BSD-3-Clause
/*
 * The formats: a new one is a row of `formats`, its name a row of the command line's. And what
 * those for people leave out.
 */
#include "view/render.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/note.h"
#include "base/utf8.h"
#include "event/device_number.h"
#include "view/format.h"

static bool is_known(const struct table *t, unsigned int column)
{
	for (size_t row = 0; row < t->n_rows; row++)
		if (table_cells(t, row)[column].known)
			return true;
	return !t->n_rows;
}

/* Worth a column: known in a row, and where a column requires it, not 0. */
static bool is_shown(const struct table *t, unsigned int column, const struct column *c)
{
	if (c->wide != COLUMN_RARE)
		return !c->wide && is_known(t, column);
	for (size_t row = 0; row < t->n_rows; row++)
		if (table_cells(t, row)[column].known && table_cells(t, row)[column].u)
			return true;
	return false;
}

/*
 * Text and md are for people: unless the report is wide, columns that are `wide` and columns in
 * which nothing is known are left out. Returns how many are shown; column[i] is the table's own
 * index.
 */
static unsigned int choose_columns(const struct report *r, const struct table *t,
				   unsigned int *column)
{
	unsigned int shown = 0;

	for (unsigned int i = 0; i < t->n_columns; i++)
		if (r->wide || is_shown(t, i, &t->columns[i]))
			column[shown++] = i;
	return shown;
}

/* The number of rows cut, after `before`, and, unless requested, where to find them. */
static void print_cut(struct strbuf *out, const struct table *t, const char *before)
{
	if (!t->cut)
		return;
	strbuf_addstr(out, before);
	format_count(out, t->cut);
	strbuf_addstr(out, " more");
	if (t->unasked)
		strbuf_addf(out, " (--table %s has all)", t->name);
	strbuf_addch(out, '\n');
}

/* ---- text --------------------------------------------------------------------------------- */

/*
 * Tables for people at a terminal: numbers right-aligned with units, text left-aligned, names
 * that are too long cut in the middle (template kernels differ at the ends). Sample:
 *
 *   calls
 *    pid  comm   function          count     total
 *   1234  train  cudaLaunchKernel  4,000  12.34 ms
 */
#define TEXT_WIDTH 100
#define NARROW 40	/* no terminal that is used */

/* As format_safe, broken into lines of about `width`, those after the first one indented. */
static void add_wrapped(struct strbuf *out, const char *s, unsigned int indent, unsigned int width)
{
	struct strbuf safe = STRBUF_INIT;
	size_t at = 0;			/* of the line */

	format_safe(&safe, s);
	for (const char *word = safe.s; *word;) {
		size_t len = strcspn(word, " ");

		if (at && indent + at + 1 + len > width) {
			strbuf_addf(out, "\n%*s", (int)indent, "");
			at = 0;
		}
		strbuf_addstr(out, at ? " " : "");
		strbuf_add(out, word, len);
		at += len + (at ? 1 : 0);
		word += len;
		word += strspn(word, " ");
	}
	out->failed |= safe.failed;
	strbuf_free(&safe);
}

/* Every shown cell as text, one after another in `text`; row 0 holds the titles. */
struct grid {
	struct strbuf text;
	size_t *at;		/* offset of each cell in text */
	size_t *width;		/* of each column */
	unsigned int *column;	/* shown column -> the table's column */
	unsigned int n;		/* shown columns */
	size_t rows;
	bool ascii;
};

static void add_spaces(struct strbuf *out, size_t n)
{
	while (n--)
		strbuf_addch(out, ' ');
}

/* Appends s, at most `limit` wide: "at::native::vectori…ement_kernel". */
static void add_cut(struct strbuf *out, const char *s, size_t limit, const char *gap)
{
	size_t total = utf8_str_width(s), left, right, used = 0, gap_width = utf8_str_width(gap);
	const char *p = s, *next = s;

	if (!limit || total <= limit) {
		strbuf_addstr(out, s);
		return;
	}
	left = limit / 2;
	right = limit - num_min(gap_width, limit - left) - left;
	for (; *next; p = next) {
		size_t w = utf8_width(utf8_next(&next));

		if (used + w > left)
			break;
		used += w;
	}
	strbuf_add(out, s, (size_t)(p - s));
	strbuf_addstr(out, gap);
	while (*p && total - used > right)
		used += utf8_width(utf8_next(&p));
	strbuf_addstr(out, p);
}

static void grid_add(struct grid *g, size_t row, unsigned int col, const char *s, size_t limit)
{
	size_t at = g->text.len, width;

	g->at[row * g->n + col] = at;
	add_cut(&g->text, s, limit, g->ascii ? ".." : "\u2026");
	strbuf_addch(&g->text, '\0');
	if (g->text.failed)
		return;
	width = utf8_str_width(g->text.s + at);
	if (width > g->width[col])
		g->width[col] = width;
}

static void grid_fill(struct grid *g, const struct report *r, const struct table *t)
{
	struct strbuf sb = STRBUF_INIT;
	const struct column *c = t->columns;

	for (size_t row = 0; row < g->rows; row++) {
		for (unsigned int i = 0; i < g->n; i++) {
			unsigned int col = g->column[i];

			strbuf_reset(&sb);
			if (row)
				format_cell(&sb, &table_cells(t, row - 1)[col], c[col].type);
			else
				format_title(&sb, &c[col]);
			grid_add(g, row, i, sb.s, r->wide ? 0 : r->name_width);
		}
	}
	g->text.failed |= sb.failed;
	strbuf_free(&sb);
}

/* They are printed below their rows. */
static bool is_long(unsigned int type)
{
	return type == CELL_STACK || type == CELL_PROSE || type == CELL_COMMAND;
}

static void leave_out_long(struct grid *g, const struct table *t)
{
	unsigned int shown = 0;

	for (unsigned int i = 0; i < g->n; i++)
		if (!is_long(t->columns[g->column[i]].type))
			g->column[shown++] = g->column[i];
	g->n = shown;
}

static bool grid_init(struct grid *g, const struct report *r, const struct table *t)
{
	*g = (struct grid){ .text = STRBUF_INIT, .rows = t->n_rows + 1,
			     .ascii = r->ascii };
	g->column = calloc(t->n_columns + 1, sizeof(*g->column));
	if (!g->column)
		return false;
	g->n = choose_columns(r, t, g->column);
	leave_out_long(g, t);
	g->width = calloc(g->n + 1, sizeof(*g->width));
	g->at = calloc(g->rows * g->n + 1, sizeof(*g->at));
	if (!g->width || !g->at)
		return false;
	grid_fill(g, r, t);
	return !g->text.failed;
}

static void grid_free(struct grid *g)
{
	strbuf_free(&g->text);
	free(g->at);
	free(g->width);
	free(g->column);
}

static void print_row(struct strbuf *out, const struct grid *g, size_t row, const struct column *c)
{
	for (unsigned int i = 0; i < g->n; i++) {
		const char *s = g->text.s + g->at[row * g->n + i];
		size_t pad = g->width[i] - utf8_str_width(s);
		bool left = c[g->column[i]].type == CELL_TEXT;

		if (i)
			add_spaces(out, 2);
		if (!left)
			add_spaces(out, pad);
		strbuf_addstr(out, s);
		if (left && i + 1 < g->n)
			add_spaces(out, pad);
	}
	strbuf_addch(out, '\n');
}

/* From the innermost frame on, which is the last one. */
static void print_frames(struct strbuf *out, const char *stack)
{
	struct strbuf frame = STRBUF_INIT;
	size_t end = strlen(stack);

	while (end) {
		size_t start = end;

		while (start && stack[start - 1] != ';')
			start--;
		strbuf_reset(&frame);
		strbuf_add(&frame, stack + start, end - start);
		add_spaces(out, 8);
		format_safe(out, frame.s);
		strbuf_addch(out, '\n');
		end = start ? start - 1 : 0;
	}
	out->failed |= frame.failed;
	strbuf_free(&frame);
}

/* Output too wide for a terminal is not easier to read elsewhere. */
static unsigned int prose_width(const struct report *r)
{
	unsigned int width = r->columns && r->columns < TEXT_WIDTH ? r->columns : TEXT_WIDTH;

	return width < NARROW ? NARROW : width;
}

/* "    evidence  20 times, 1.2 ms each" */
static void print_prose(struct strbuf *out, const struct report *r, const struct column *c,
			const char *s)
{
	struct strbuf title = STRBUF_INIT;

	format_title(&title, c);
	strbuf_addf(out, "    %-9s ", title.s);
	add_wrapped(out, s, 14, c->type == CELL_COMMAND ? UINT_MAX : prose_width(r));
	strbuf_addch(out, '\n');
	out->failed |= title.failed;
	strbuf_free(&title);
}

static void print_long(struct strbuf *out, const struct report *r, const struct table *t,
		       size_t row)
{
	const unsigned int n = t->n_columns;
	const struct column *c = t->columns;
	const struct cell *cells = table_cells(t, row);

	for (unsigned int i = 0; i < n; i++)
		if (c[i].type == CELL_STACK && cells[i].known)
			print_frames(out, cells[i].s);
		else if (is_long(c[i].type) && cells[i].known)
			print_prose(out, r, &c[i], cells[i].s);
}

static void text_print_table(struct strbuf *out, const struct report *r, const struct table *t)
{
	const char *why;
	struct grid g;

	strbuf_addf(out, "%s\n", t->name);
	if (!t->n_rows) {
		why = t->cut ? NULL : t->none;
		strbuf_addf(out, "(%s%s%s)\n", t->cut ? "all rows cut" : "none", why ? ": " : "",
			    why ? why : "");
		return;
	}
	if (grid_init(&g, r, t))
		for (size_t row = 0; row < g.rows; row++) {
			print_row(out, &g, row, t->columns);
			if (row)
				print_long(out, r, t, row - 1);
		}
	else
		out->failed = true;
	grid_free(&g);
	print_cut(out, t, "... ");
}

/* Each line broken where it is too long; commands to type are not. */
static void text_print_lines(struct strbuf *out, const char *s, unsigned int width)
{
	struct strbuf line = STRBUF_INIT;

	for (; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		strbuf_reset(&line);
		strbuf_add(&line, s, strcspn(s, "\n"));
		add_wrapped(out, line.s, 2, strncmp(line.s, "Next: ", 6) ? width : UINT_MAX);
		strbuf_addch(out, '\n');
	}
	out->failed |= line.failed;
	strbuf_free(&line);
}

static void render_text(struct strbuf *out, const struct report *r)
{
	unsigned int width = r->columns ? prose_width(r) : UINT_MAX;	/* in files a line is one */

	if (r->head)
		text_print_lines(out, r->head, width);
	if (r->verdict && *r->verdict) {
		strbuf_addch(out, '\n');
		text_print_lines(out, r->verdict, prose_width(r));
	}
	for (unsigned int i = 0; i < r->n_tables; i++) {
		if (i || r->head)
			strbuf_addch(out, '\n');
		text_print_table(out, r, r->tables[i]);
	}
	if (r->foot) {
		strbuf_addch(out, '\n');
		text_print_lines(out, r->foot, width);
	}
}

/* ---- md ------------------------------------------------------------------------------------ */

/*
 * Tables as GitHub-flavoured Markdown, units for people. Characters of a C++ name that Markdown
 * would read as markup ("op<float*>", "a|b") are escaped. Sample:
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
	const struct column *c = t->columns;

	for (size_t row = 0; row < t->n_rows; row++) {
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
	unsigned int n, *shown = calloc(t->n_columns + 1, sizeof(*shown));

	if (!shown) {
		out->failed = true;
		return;
	}
	n = choose_columns(r, t, shown);
	strbuf_addf(out, "## %s\n\n", t->name);
	print_heading(out, t->columns, shown, n);
	print_rows(out, t, shown, n);
	free(shown);
	if (!t->n_rows && !t->cut && t->none)
		strbuf_addf(out, "\nnone: %s\n", t->none);
	print_cut(out, t, "\n");
}

/* Each line of a footer is a line of its own in the rendered page too. */
static void md_print_lines(struct strbuf *out, const char *s)
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
		md_print_lines(out, r->head);
	if (r->verdict && *r->verdict) {
		strbuf_addch(out, '\n');
		md_print_lines(out, r->verdict);
	}
	for (unsigned int i = 0; i < r->n_tables; i++) {
		if (i || r->head)
			strbuf_addch(out, '\n');
		md_print_table(out, r, r->tables[i]);
	}
	if (r->foot) {
		strbuf_addch(out, '\n');
		md_print_lines(out, r->foot);
	}
}

/* ---- csv ----------------------------------------------------------------------------------- */

/*
 * Tables as RFC 4180, but for the line end, which is LF as Unix tools expect: raw numbers,
 * unknown is empty. One record is one line: control characters of names are escaped as in text.
 * Several tables in one output are separated by an empty line and "# name", which is not RFC
 * 4180; one table is.
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
	const unsigned int n = t->n_columns;
	const struct column *c = t->columns;

	for (unsigned int i = 0; i < n; i++) {
		strbuf_addstr(out, i ? "," : "");
		add_field(out, c[i].name);
	}
	strbuf_addstr(out, LINE_END);
	for (size_t row = 0; row < t->n_rows; row++) {
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
			strbuf_addf(out, "# %s" LINE_END, r->tables[i]->name);
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

static void add_note(struct strbuf *out, const struct note *note)
{
	strbuf_addstr(out, "\n  {\"code\": ");
	render_json_string(out, note->code);
	strbuf_addstr(out, ", \"severity\": ");
	render_json_string(out, note_severity_name(note->severity));
	if (note->pid)
		strbuf_addf(out, ", \"pid\": %u", note->pid);
	else
		strbuf_addstr(out, ", \"pid\": null");
	strbuf_addstr(out, ", \"text\": ");
	render_json_string(out, note->text);
	strbuf_addch(out, '}');
}

static void add_notes(struct strbuf *out, const struct notes *notes)
{
	strbuf_addstr(out, ", \"notes\": [");
	for (size_t i = 0; i < notes->all.n; i++) {
		strbuf_addstr(out, i ? "," : "");
		add_note(out, &notes->all.v[i]);
	}
	strbuf_addch(out, ']');
}

void render_json_meta(struct strbuf *out, const struct meta *meta)
{
	strbuf_addch(out, '{');
	for (size_t i = 0; meta && i < meta->n; i++) {
		strbuf_addstr(out, i ? ", " : "");
		add_pair(out, meta->v[i].key, &meta->v[i].value, meta->v[i].type);
	}
	if (meta && meta->notes)
		add_notes(out, meta->notes);
	strbuf_addch(out, '}');
}

static void json_print_table(struct strbuf *out, const struct table *t)
{
	const unsigned int n = t->n_columns;
	const struct column *c = t->columns;

	strbuf_addstr(out, "  ");
	render_json_string(out, t->name);
	strbuf_addstr(out, ": [");
	for (size_t row = 0; row < t->n_rows; row++) {
		strbuf_addstr(out, row ? ",\n   {" : "\n   {");
		for (unsigned int i = 0; i < n; i++) {
			strbuf_addstr(out, i ? ", " : "");
			add_pair(out, c[i].name, &table_cells(t, row)[i], c[i].type);
		}
		strbuf_addch(out, '}');
	}
	strbuf_addstr(out, t->n_rows ? "\n  ]" : "]");
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

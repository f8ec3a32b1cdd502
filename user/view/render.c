// SPDX-License-Identifier: BSD-3-Clause
/*
 * The formats: a new one is a row of `formats`, its name a row of the command line's. And what
 * those for people leave out.
 */
#include "view/render.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/note.h"
#include "base/num.h"
#include "base/units.h"
#include "base/utf8.h"
#include "event/device_number.h"
#include "view/color.h"

/* exact: reads back as the same double */
static void format_real(struct strbuf *out, double d)
{
	char text[32];

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, d);
		if (strtod(text, NULL) == d)
			break;
	}
	strbuf_addstr(out, text);
}

/* A whole number as csv and json have it. */
static void add_whole(struct strbuf *out, uint64_t u, unsigned int type)
{
	if (type == CELL_BOOL)
		strbuf_addstr(out, u ? "true" : "false");
	else if (type == CELL_DEVICE)
		strbuf_addf(out, "%u", device_number_gpu((uint32_t)u));
	else
		strbuf_addf(out, "%llu", (unsigned long long)u);
}

static void add_code(struct strbuf *out, int32_t code)
{
	switch (code) {
	case '\n':
		strbuf_addstr(out, "\\n");
		break;
	case '\r':
		strbuf_addstr(out, "\\r");
		break;
	case '\t':
		strbuf_addstr(out, "\\t");
		break;
	default:
		strbuf_addf(out, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned int)code);
	}
}

/* Safe text stays as it is. */
static void format_safe(struct strbuf *out, const char *s)
{
	while (*s) {
		const char *at = s;
		int32_t code = utf8_next(&s);

		if (code < 0)
			strbuf_addf(out, "\\x%02x", (unsigned char)*at);
		else if (utf8_is_unsafe(code))
			add_code(out, code);
		else
			strbuf_add(out, at, (size_t)(s - at));
	}
}

void format_safef(struct strbuf *out, const char *fmt, ...)
{
	struct strbuf raw = STRBUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(&raw, fmt, ap);
	va_end(ap);
	format_safe(out, raw.s);
	out->failed |= raw.failed;
	strbuf_free(&raw);
}

void render_markup(struct strbuf *out, const char *text)
{
	struct strbuf safe = STRBUF_INIT;

	format_safef(&safe, "%s", text);
	for (const char *c = safe.s; *c; c++)
		if (strchr("<>&\"'", *c))
			strbuf_addf(out, "&#%d;", *c);
		else
			strbuf_addch(out, *c);
	out->failed |= safe.failed;
	strbuf_free(&safe);
}

void format_cell(struct strbuf *out, const struct cell *c, unsigned int type)
{
	if (!c->known) {
		strbuf_addch(out, '-');
		return;
	}
	switch (type) {
	case CELL_INT:
		strbuf_addstr(out, count_text(c->u).s);
		break;
	case CELL_NS:
		strbuf_addstr(out, ns_text(c->u).s);
		break;
	case CELL_BYTES:
		strbuf_addstr(out, bytes_text(c->u).s);
		break;
	case CELL_SHARE:
		strbuf_addf(out, isfinite(c->d) ? "%.1f %%" : "-", c->d * 100);
		break;
	case CELL_REAL:
		/* "0.0512", "12.3", "11,148" */
		if (c->d >= 1000 && c->d < 1e15)
			strbuf_addstr(out, count_text((uint64_t)llround(c->d)).s);
		else
			strbuf_addf(out, isfinite(c->d) ? "%.3g" : "-", c->d);
		break;
	case CELL_BOOL:
		strbuf_addstr(out, c->u ? "yes" : "no");
		break;
	case CELL_DEVICE:
		strbuf_addstr(out, device_text((uint32_t)c->u).s);
		break;
	default:
		if (cell_is_text(type))
			format_safe(out, c->s);
		else
			strbuf_addf(out, "%llu", (unsigned long long)c->u);
	}
}

/* Worth a column: known in a row, and what its COLUMN_* requires. */
bool render_shows(const struct table *t, unsigned int column)
{
	const unsigned int wide = t->columns[column].wide;

	if (wide == 1)
		return false;
	for (size_t row = 0; row < t->n_rows; row++) {
		const struct cell *cells = table_cells(t, row), *c = &cells[column];

		if (c->known && (wide != COLUMN_RARE || c->u) &&
		    (wide != COLUMN_INSTEAD || !cells[0].known))
			return true;
	}
	return (!wide || wide == COLUMN_SPARE) && !t->n_rows;
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
		if (r->wide || render_shows(t, i))
			column[shown++] = i;
	return shown;
}

/* The number of rows cut, after `before`, and, unless requested, where to find them. */
static void print_cut(struct strbuf *out, const struct table *t, const char *before)
{
	if (!t->cut)
		return;
	strbuf_addf(out, "%s%s more", before, count_text(t->cut).s);
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

/* Why a column is not in the rows of a table that is too wide: its cells are alike, and below the
 * table once; or there is no room for it. In that order. */
enum left_out { IS_IN, IS_ALIKE, IS_SPARE, HAS_NO_ROOM };

/* Every shown cell as text, one after another in `text`; row 0 holds the titles. */
struct grid {
	struct strbuf text;
	size_t *at;		/* offset of each cell in text */
	size_t *width;		/* of each column */
	unsigned int *column;	/* shown column -> the table's column */
	uint8_t *left_out;	/* of each column: enum left_out */
	unsigned int n;		/* shown columns */
	size_t rows;
	bool ascii, has_color;
};

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
				strbuf_addstr(&sb, column_title(&c[col]).s);
			grid_add(g, row, i, sb.s, r->wide ? 0 : r->name_width);
		}
	}
	g->text.failed |= sb.failed;
	strbuf_free(&sb);
}

/* They are printed below their rows. */
static bool is_long(unsigned int type)
{
	return cell_is_text(type) && type != CELL_TEXT;
}

static bool grid_init(struct grid *g, const struct report *r, const struct table *t)
{
	unsigned int n;

	*g = (struct grid){ .text = STRBUF_INIT, .rows = t->n_rows + 1, .ascii = r->ascii,
			    .has_color = r->has_color };
	g->column = calloc(t->n_columns + 1, sizeof(*g->column));
	if (!g->column)
		return false;
	n = choose_columns(r, t, g->column);
	for (unsigned int i = 0; i < n; i++)
		if (!is_long(t->columns[g->column[i]].type))
			g->column[g->n++] = g->column[i];
	g->width = calloc(g->n + 1, sizeof(*g->width));
	g->left_out = calloc(g->n + 1, sizeof(*g->left_out));
	g->at = calloc(g->rows * g->n + 1, sizeof(*g->at));
	if (!g->width || !g->left_out || !g->at)
		return false;
	grid_fill(g, r, t);
	return !g->text.failed;
}

static void grid_free(struct grid *g)
{
	strbuf_free(&g->text);
	free(g->at);
	free(g->width);
	free(g->left_out);
	free(g->column);
}

static const char *grid_cell(const struct grid *g, size_t row, unsigned int i)
{
	return g->text.s + g->at[row * g->n + i];
}

static bool is_alike(const struct grid *g, unsigned int i)
{
	size_t row = 2;

	while (row < g->rows && !strcmp(grid_cell(g, row, i), grid_cell(g, 1, i)))
		row++;
	return g->rows > 2 && row == g->rows;
}

static bool may_leave_out(const struct grid *g, unsigned int i, const struct column *c,
			  enum left_out why)
{
	switch (why) {
	case IS_ALIKE:
		return is_alike(g, i);
	case IS_SPARE:
		return c->wide == COLUMN_SPARE;
	default:
		return c->type != CELL_TEXT;
	}
}

/* Columns of a table that is too wide are left out, from the right. Names stay, and what rows are
 * sorted by. */
static void grid_fit(struct grid *g, const struct report *r, const struct table *t)
{
	const int sort = r->sort ? table_column(t, r->sort) : -ENOENT;
	size_t width = 0;

	for (unsigned int i = 0; i < g->n; i++)
		width += g->width[i] + (i ? 2 : 0);
	for (unsigned int why = IS_ALIKE; why <= HAS_NO_ROOM; why++) {
		for (unsigned int i = g->n; i-- && width > r->columns;) {
			const struct column *c = &t->columns[g->column[i]];

			if (g->left_out[i] || (int)g->column[i] == sort ||
			    !may_leave_out(g, i, c, (enum left_out)why))
				continue;
			g->left_out[i] = (uint8_t)why;
			width -= g->width[i] + 2;
		}
	}
}

/* Output too wide for a terminal is not easier to read elsewhere. */
static unsigned int prose_width(const struct report *r)
{
	unsigned int width = r->columns && r->columns < TEXT_WIDTH ? r->columns : TEXT_WIDTH;

	return width < NARROW ? NARROW : width;
}

/* "  in all rows: pid 13029, errors 0"; "  left out: p99, max (--wide)" */
static void print_left_out(struct strbuf *out, const struct report *r, const struct grid *g,
			   bool alike)
{
	struct strbuf list = STRBUF_INIT;

	for (unsigned int i = 0; i < g->n; i++) {
		if (!g->left_out[i] || (g->left_out[i] == IS_ALIKE) != alike)
			continue;
		strbuf_addf(&list, "%s%s", list.len ? ", " : "", grid_cell(g, 0, i));
		if (alike)
			strbuf_addf(&list, " %s", grid_cell(g, 1, i));
	}
	if (list.len) {
		strbuf_addstr(&list, alike ? "" : " (--wide)");
		strbuf_addstr(out, alike ? "  in all rows: " : "  left out: ");
		add_wrapped(out, list.s, alike ? 15 : 12, prose_width(r));
		strbuf_addch(out, '\n');
	}
	out->failed |= list.failed;
	strbuf_free(&list);
}

/* Titles are bold, the share that is lost has the colour of its severity. */
static enum line_color color_of(const struct table *t, size_t row, const struct column *c)
{
	const int at = row && !strcmp(c->name, "share") ? table_column(t, "severity") : -ENOENT;

	if (!row)
		return LINE_BOLD;
	if (at < 0 || !table_cells(t, row - 1)[at].known)
		return LINE_PLAIN;
	return line_color_of_severity(table_cells(t, row - 1)[at].s);
}

static void print_row(struct strbuf *out, const struct grid *g, size_t row, const struct table *t)
{
	int behind = 0;		/* of a name, up to the next column */
	bool is_first = true;

	for (unsigned int i = 0; i < g->n; i++) {
		const char *s = grid_cell(g, row, i);
		const struct column *c = &t->columns[g->column[i]];
		int pad = (int)(g->width[i] - utf8_str_width(s));
		size_t from;

		if (g->left_out[i])
			continue;
		strbuf_addf(out, "%*s%s%*s", behind, "", is_first ? "" : "  ",
			    c->type != CELL_TEXT ? pad : 0, "");
		from = out->len;
		strbuf_addstr(out, s);
		if (g->has_color)
			line_color_from(out, from, color_of(t, row, c));
		behind = c->type == CELL_TEXT ? pad : 0;
		is_first = false;
	}
	strbuf_addch(out, '\n');
}

/* From the innermost frame on, which is the last one. */
static void print_frames(struct strbuf *out, const char *stack)
{
	size_t end = strlen(stack);

	while (end) {
		size_t start = end;

		while (start && stack[start - 1] != ';')
			start--;
		format_safef(out, "%8s%.*s", "", (int)(end - start), stack + start);
		strbuf_addch(out, '\n');
		end = start ? start - 1 : 0;
	}
}

static void print_long(struct strbuf *out, const struct report *r, const struct table *t,
		       size_t row)
{
	const struct column *c = t->columns;
	const struct cell *cells = table_cells(t, row);

	for (unsigned int i = 0; i < t->n_columns; i++) {
		if (!is_long(c[i].type) || !cells[i].known)
			continue;
		if (c[i].type == CELL_STACK) {
			print_frames(out, cells[i].s);
			continue;
		}
		/* "    evidence  20 times, 1.2 ms each" */
		strbuf_addf(out, "    %-9s ", column_title(&c[i]).s);
		add_wrapped(out, cells[i].s, 14,
			    c[i].type == CELL_COMMAND ? UINT_MAX : prose_width(r));
		strbuf_addch(out, '\n');
	}
}

static void text_print_table(struct strbuf *out, const struct report *r, const struct table *t)
{
	const char *why = t->cut ? NULL : t->none;
	const size_t from = out->len;
	struct grid g;

	if (!r->only_rows)
		strbuf_addf(out, "%s\n", t->name);
	if (r->has_color)
		line_color_from(out, from, LINE_BOLD);
	if (!t->n_rows) {
		strbuf_addf(out, "(%s%s%s)\n", t->cut ? "all rows cut" : "none", why ? ": " : "",
			    why ? why : "");
		return;
	}
	out->failed |= !grid_init(&g, r, t);
	if (!out->failed && r->columns && !r->wide)
		grid_fit(&g, r, t);
	for (size_t row = 0; !out->failed && row < g.rows; row++) {
		print_row(out, &g, row, t);
		if (row && !r->only_rows)
			print_long(out, r, t, row - 1);
	}
	if (!r->only_rows)
		print_cut(out, t, "... ");
	if (!out->failed && !r->only_rows) {
		print_left_out(out, r, &g, true);
		print_left_out(out, r, &g, false);
	}
	grid_free(&g);
}

/* Of a line of the verdict. */
static enum line_color color_of_line(const char *line)
{
	if (!strncmp(line, "Evidence: ", 10) || !strncmp(line, "Next: ", 6))
		return LINE_PLAIN;
	return strncmp(line, "This job hangs", 14) ? LINE_BOLD : LINE_BOLD_RED;
}

/* Each line broken where it is too long; commands to type are not. */
static void text_print_lines(struct strbuf *out, const char *s, unsigned int width, bool has_color)
{
	struct strbuf line = STRBUF_INIT;
	size_t from;

	for (; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		strbuf_reset(&line);
		strbuf_add(&line, s, strcspn(s, "\n"));
		from = out->len;
		add_wrapped(out, line.s, 2, strncmp(line.s, "Next: ", 6) ? width : UINT_MAX);
		if (has_color)
			line_color_from(out, from, color_of_line(line.s));
		strbuf_addch(out, '\n');
	}
	out->failed |= line.failed;
	strbuf_free(&line);
}

/* The parts of a report for people, an empty line between them. */
static void print_parts(struct strbuf *out, const struct report *r,
			void (*print_lines)(struct strbuf *out, const char *s, unsigned int width,
					    bool has_color),
			void (*print_table)(struct strbuf *out, const struct report *r,
					    const struct table *t))
{
	unsigned int width = r->columns ? prose_width(r) : UINT_MAX;	/* in files a line is one */

	if (r->head)
		print_lines(out, r->head, width, false);
	if (r->verdict && *r->verdict) {
		strbuf_addch(out, '\n');
		print_lines(out, r->verdict, prose_width(r), r->has_color);
	}
	for (unsigned int i = 0; i < r->n_tables; i++) {
		if (i || r->head)
			strbuf_addch(out, '\n');
		print_table(out, r, r->tables[i]);
	}
	if (r->foot) {
		strbuf_addch(out, '\n');
		print_lines(out, r->foot, width, false);
	}
}

static void render_text(struct strbuf *out, const struct report *r)
{
	print_parts(out, r, text_print_lines, text_print_table);
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
		return at == s || !isalnum((unsigned char)at[-1]) || !isalnum((unsigned char)at[1]);
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

static void print_heading(struct strbuf *out, const struct column *c, const unsigned int *shown,
			  unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		md_add_cell(out, column_title(&c[shown[i]]).s);
	strbuf_addstr(out, "|\n");
	for (unsigned int i = 0; i < n; i++)
		strbuf_addstr(out, cell_is_text(c[shown[i]].type) ? "| :--- " : "| ---: ");
	strbuf_addstr(out, "|\n");
}

static void print_rows(struct strbuf *out, const struct table *t, const unsigned int *shown,
		       unsigned int n)
{
	struct strbuf text = STRBUF_INIT;

	for (size_t row = 0; row < t->n_rows; row++) {
		for (unsigned int i = 0; i < n; i++) {
			strbuf_reset(&text);
			format_cell(&text, &table_cells(t, row)[shown[i]],
				    t->columns[shown[i]].type);
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
static void md_print_lines(struct strbuf *out, const char *s, unsigned int width, bool has_color)
{
	struct strbuf safe = STRBUF_INIT;

	(void)width;
	(void)has_color;
	for (; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		strbuf_reset(&safe);
		format_safef(&safe, "%.*s", (int)strcspn(s, "\n"), s);
		add_escaped(out, safe.s);
		strbuf_addstr(out, s[strcspn(s, "\n")] ? "  \n" : "\n");
	}
	out->failed |= safe.failed;
	strbuf_free(&safe);
}

static void render_md(struct strbuf *out, const struct report *r)
{
	print_parts(out, r, md_print_lines, md_print_table);
}

/* ---- csv ----------------------------------------------------------------------------------- */

/*
 * Tables as RFC 4180, but for the line end, which is LF as Unix tools expect: raw numbers,
 * unknown is empty. One record is one line: control characters of names are escaped as in text; a
 * name that a spreadsheet would take for a formula has a ' before it.
 */
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

static void csv_add_cell(struct strbuf *out, const struct cell *c, unsigned int type)
{
	struct strbuf safe = STRBUF_INIT;

	if (!c->known)
		return;
	if (cell_is_text(type)) {
		if (*c->s && strchr("=+-@", *c->s))
			strbuf_addch(&safe, '\'');
		format_safe(&safe, c->s);
		add_field(out, safe.s);
		out->failed |= safe.failed;
		strbuf_free(&safe);
	} else if (type == CELL_SHARE || type == CELL_REAL) {
		if (isfinite(c->d))
			format_real(out, c->d);
	} else {
		add_whole(out, c->u, type);
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
	strbuf_addch(out, '\n');
	for (size_t row = 0; row < t->n_rows; row++) {
		for (unsigned int i = 0; i < n; i++) {
			strbuf_addstr(out, i ? "," : "");
			csv_add_cell(out, &table_cells(t, row)[i], c[i].type);
		}
		strbuf_addch(out, '\n');
	}
}

static void render_csv(struct strbuf *out, const struct report *r)
{
	for (unsigned int i = 0; i < r->n_tables; i++)
		csv_print_table(out, r->tables[i]);
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
void render_json_string(struct strbuf *out, const char *s)
{
	strbuf_addch(out, '"');
	while (*s) {
		const char *at = s;
		int32_t code = utf8_next(&s);

		if (code < 0)
			strbuf_addstr(out, "\xef\xbf\xbd");
		else if (code == '"' || code == '\\')
			strbuf_addf(out, "\\%c", (char)code);
		else if (utf8_is_unsafe(code))
			strbuf_addf(out, "\\u%04x", (unsigned int)code);
		else
			strbuf_add(out, at, (size_t)(s - at));
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

static void add_pair(struct strbuf *out, const char *key, const struct cell *c, unsigned int type)
{
	bool real = type == CELL_SHARE || type == CELL_REAL;

	render_json_string(out, key);
	strbuf_addstr(out, ": ");
	if (!c->known || (real && !isfinite(c->d)))
		strbuf_addstr(out, "null");
	else if (real)
		format_real(out, c->d);
	else if (type == CELL_STACK)
		add_stack(out, c->s);
	else if (cell_is_text(type))
		render_json_string(out, c->s);
	else
		add_whole(out, c->u, type);
}

static void add_note(struct strbuf *out, const struct note *note)
{
	strbuf_addstr(out, "\n  {\"code\": ");
	render_json_string(out, note->code);
	strbuf_addstr(out, ", \"severity\": ");
	render_json_string(out, note_severity_name(note->severity));
	strbuf_addf(out, note->pid ? ", \"pid\": %u" : ", \"pid\": null", note->pid);
	strbuf_addstr(out, ", \"text\": ");
	render_json_string(out, note->text);
	strbuf_addch(out, '}');
}

void render_json_meta(struct strbuf *out, const struct meta *meta)
{
	const struct notes *notes = meta ? meta->notes : NULL;

	strbuf_addch(out, '{');
	for (size_t i = 0; meta && i < meta->n; i++) {
		strbuf_addstr(out, i ? ", " : "");
		add_pair(out, meta->v[i].key, &meta->v[i].value, meta->v[i].type);
	}
	strbuf_addstr(out, notes ? ", \"notes\": [" : "");
	for (size_t i = 0; notes && i < notes->all.n; i++) {
		strbuf_addstr(out, i ? "," : "");
		add_note(out, &notes->all.v[i]);
	}
	strbuf_addstr(out, notes ? "]}" : "}");
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

static void (*const formats[FORMAT_TABLES])(struct strbuf *out, const struct report *r) = {
	[FORMAT_TEXT] = render_text, [FORMAT_MD] = render_md, [FORMAT_CSV] = render_csv,
	[FORMAT_JSON] = render_json,
};

void report_render(struct strbuf *out, const struct report *r, enum format f)
{
	formats[f](out, r);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tables for people at a terminal: numbers right-aligned with units, text left-aligned, names that
 * are too long cut in the middle (the ends tell template kernels apart). Sample:
 *
 *   calls
 *    pid  comm   function          count     total
 *   1234  train  cudaLaunchKernel  4,000  12.34 ms
 */
#include "view/render.h"


#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/utf8.h"
#include "view/format.h"

#define NARROW 40	/* no terminal that is used */

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
	unsigned int n;
	const struct column *c = table_columns(t, &n);

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
	unsigned int n, shown = 0;
	const struct column *c = table_columns(t, &n);

	for (unsigned int i = 0; i < g->n; i++)
		if (!is_long(c[g->column[i]].type))
			g->column[shown++] = g->column[i];
	g->n = shown;
}

static bool grid_init(struct grid *g, const struct report *r, const struct table *t)
{
	unsigned int n;

	table_columns(t, &n);
	*g = (struct grid){ .text = STRBUF_INIT, .rows = table_rows(t) + 1,
			     .ascii = r->ascii };
	g->column = calloc(n + 1, sizeof(*g->column));
	if (!g->column)
		return false;
	g->n = render_columns(r, t, g->column);
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

/* What a terminal is too narrow for is read nowhere better, what it is too wide for neither. */
static unsigned int prose_width(const struct report *r)
{
	unsigned int width = r->columns && r->columns < TEXT_WIDTH ? r->columns : TEXT_WIDTH;

	return width < NARROW ? NARROW : width;
}

/* "    evidence  20 times, 1.2 ms each" */
static void print_prose(struct strbuf *out, const struct report *r, const struct column *c, const char *s)
{
	struct strbuf title = STRBUF_INIT;

	format_title(&title, c);
	strbuf_addf(out, "    %-9s ", title.s);
	format_wrapped(out, s, 14, c->type == CELL_COMMAND ? UINT_MAX : prose_width(r));
	strbuf_addch(out, '\n');
	out->failed |= title.failed;
	strbuf_free(&title);
}

static void print_long(struct strbuf *out, const struct report *r, const struct table *t, size_t row)
{
	unsigned int n;
	const struct column *c = table_columns(t, &n);
	const struct cell *cells = table_cells(t, row);

	for (unsigned int i = 0; i < n; i++)
		if (c[i].type == CELL_STACK && cells[i].known)
			print_frames(out, cells[i].s);
		else if (is_long(c[i].type) && cells[i].known)
			print_prose(out, r, &c[i], cells[i].s);
}

static void print_table(struct strbuf *out, const struct report *r, const struct table *t)
{
	unsigned int n;
	const struct column *c = table_columns(t, &n);
	struct grid g;

	strbuf_addf(out, "%s\n", table_name(t));
	if (!table_rows(t)) {
		strbuf_addf(out, "(%s%s%s)\n", table_cut(t) ? "all rows cut" : "none",
			    table_none(t) ? ": " : "", table_none(t) ? table_none(t) : "");
		return;
	}
	if (grid_init(&g, r, t))
		for (size_t row = 0; row < g.rows; row++) {
			print_row(out, &g, row, c);
			if (row)
				print_long(out, r, t, row - 1);
		}
	else
		out->failed = true;
	grid_free(&g);
	render_cut(out, t, "... ");
}

/* Each line broken where it is too long; what is to be typed is not. */
static void print_lines(struct strbuf *out, const char *s, unsigned int width)
{
	struct strbuf line = STRBUF_INIT;

	for (; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		strbuf_reset(&line);
		strbuf_add(&line, s, strcspn(s, "\n"));
		format_wrapped(out, line.s, 2, strncmp(line.s, "Next: ", 6) ? width : UINT_MAX);
		strbuf_addch(out, '\n');
	}
	out->failed |= line.failed;
	strbuf_free(&line);
}

void render_text(struct strbuf *out, const struct report *r)
{
	unsigned int width = r->columns ? prose_width(r) : UINT_MAX;	/* in files a line is one */

	if (r->head)
		print_lines(out, r->head, width);
	if (r->verdict && *r->verdict) {
		strbuf_addch(out, '\n');
		print_lines(out, r->verdict, prose_width(r));
	}
	for (unsigned int i = 0; i < r->n_tables; i++) {
		if (i || r->head)
			strbuf_addch(out, '\n');
		print_table(out, r, r->tables[i]);
	}
	if (r->foot) {
		strbuf_addch(out, '\n');
		print_lines(out, r->foot, width);
	}
}

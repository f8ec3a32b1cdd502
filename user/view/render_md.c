// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tables as GitHub-flavoured Markdown, units for people. What Markdown would read as markup in a
 * C++ name ("op<float*>", "a|b") is escaped. Sample:
 *
 *   | function | count |
 *   | :--- | ---: |
 *   | op\<float\*\> | 4,000 |
 */
#include "view/render.h"

#include <ctype.h>
#include <string.h>

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

static void print_heading(struct strbuf *out, const struct report *r, const struct column *c,
			  unsigned int n)
{
	struct strbuf title = STRBUF_INIT;

	for (unsigned int i = 0; i < n; i++) {
		if (!render_shows(r, &c[i]))
			continue;
		strbuf_reset(&title);
		format_title(&title, &c[i]);
		strbuf_addstr(out, "| ");
		add_escaped(out, title.s);
		strbuf_addch(out, ' ');
	}
	strbuf_addstr(out, "|\n");
	for (unsigned int i = 0; i < n; i++)
		if (render_shows(r, &c[i]))
			strbuf_addstr(out, c[i].type == CELL_TEXT ? "| :--- " : "| ---: ");
	strbuf_addstr(out, "|\n");
	strbuf_free(&title);
}

static void print_rows(struct strbuf *out, const struct report *r, const struct table *t)
{
	struct strbuf cell = STRBUF_INIT;
	unsigned int n;
	const struct column *c = table_columns(t, &n);

	for (size_t row = 0; row < table_rows(t); row++) {
		for (unsigned int i = 0; i < n; i++) {
			if (!render_shows(r, &c[i]))
				continue;
			strbuf_reset(&cell);
			format_cell(&cell, &table_cells(t, row)[i], c[i].type);
			strbuf_addstr(out, "| ");
			add_escaped(out, cell.s);
			strbuf_addch(out, ' ');
		}
		strbuf_addstr(out, "|\n");
	}
	out->failed |= cell.failed;
	strbuf_free(&cell);
}

static void print_table(struct strbuf *out, const struct report *r, const struct table *t)
{
	unsigned int n;
	const struct column *c = table_columns(t, &n);

	strbuf_addf(out, "## %s\n\n", table_name(t));
	print_heading(out, r, c, n);
	print_rows(out, r, t);
	if (table_cut(t)) {
		strbuf_addch(out, '\n');
		format_count(out, table_cut(t));
		strbuf_addstr(out, " more\n");
	}
}

/* Each line of a footer is a line of its own in the rendered page too. */
static void print_lines(struct strbuf *out, const char *s)
{
	struct strbuf line = STRBUF_INIT;

	for (; *s; s += strcspn(s, "\n"), s += *s == '\n') {
		strbuf_reset(&line);
		strbuf_add(&line, s, strcspn(s, "\n"));
		add_escaped(out, line.s);
		strbuf_addstr(out, s[strcspn(s, "\n")] ? "  \n" : "\n");
	}
	strbuf_free(&line);
}

void render_md(struct strbuf *out, const struct report *r)
{
	if (r->head)
		print_lines(out, r->head);
	for (unsigned int i = 0; i < r->n_tables; i++) {
		if (i || r->head)
			strbuf_addch(out, '\n');
		print_table(out, r, r->tables[i]);
	}
	if (r->foot) {
		strbuf_addch(out, '\n');
		print_lines(out, r->foot);
	}
}

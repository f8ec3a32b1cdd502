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
#include <stdlib.h>
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

static void add_cell(struct strbuf *out, const char *text)
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
		add_cell(out, title.s);
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
			add_cell(out, text.s);
		}
		strbuf_addstr(out, "|\n");
	}
	out->failed |= text.failed;
	strbuf_free(&text);
}

static void print_table(struct strbuf *out, const struct report *r, const struct table *t)
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

void render_md(struct strbuf *out, const struct report *r)
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
		print_table(out, r, r->tables[i]);
	}
	if (r->foot) {
		strbuf_addch(out, '\n');
		print_lines(out, r->foot);
	}
}

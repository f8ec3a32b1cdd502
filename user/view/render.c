// SPDX-License-Identifier: BSD-3-Clause
/*
 * The formats: a new one is a row here, its name a row of the command line's, and a file
 * render_NAME.c. And what those for people leave out.
 */
#include "view/render.h"

static void (*const formats[FORMAT_END])(struct strbuf *out, const struct report *r) = {
	[FORMAT_TEXT] = render_text, [FORMAT_MD] = render_md, [FORMAT_CSV] = render_csv,
	[FORMAT_JSON] = render_json,
};

void report_render(struct strbuf *out, const struct report *r, enum format f)
{
	formats[f](out, r);
}

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

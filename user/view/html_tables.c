// SPDX-License-Identifier: BSD-3-Clause
#include "view/html_tables.h"

#include <inttypes.h>

#include "base/num.h"
#include "base/units.h"
#include "view/flame_svg.h"
#include "view/render.h"

/* Sentences, frames and commands do not fit into a cell. */
static bool is_column(const struct table *t, unsigned int i)
{
	const unsigned int type = t->columns[i].type;

	return render_shows(t, i) && (type == CELL_TEXT || !cell_is_text(type));
}

static bool is_number(unsigned int type)
{
	return !cell_is_text(type) && type != CELL_BOOL;
}

static void add_head(struct strbuf *out, const struct table *t)
{
	strbuf_addstr(out, "<thead><tr>");
	for (unsigned int i = 0; i < t->n_columns; i++) {
		const struct column *c = &t->columns[i];

		if (!is_column(t, i))
			continue;
		strbuf_addf(out, "<th scope=\"col\"%s title=\"", is_number(c->type) ? " class=\"n\"" : "");
		markup_add(out, c->help);
		strbuf_addstr(out, "\">");
		markup_add(out, column_title(c).s);
		strbuf_addstr(out, "</th>");
	}
	strbuf_addstr(out, "</tr></thead>\n");
}

/* Of an unknown number there is none: it is the last in any order. */
static void add_order(struct strbuf *out, const struct cell *cell, unsigned int type)
{
	if (!cell->known || type == CELL_DEVICE)
		return;
	if (type == CELL_NS || type == CELL_BYTES || type == CELL_INT)
		strbuf_addf(out, " data-v=\"%" PRIu64 "\"", cell->u);
	else if (type == CELL_SHARE || type == CELL_REAL)
		strbuf_addf(out, " data-v=\"%.6g\"", cell->d);
}

static void add_cell(struct strbuf *out, const struct cell *cell, const struct column *c)
{
	struct strbuf text = STRBUF_INIT;

	strbuf_addstr(out, is_number(c->type) ? "<td class=\"n\"" : "<td");
	add_order(out, cell, c->type);
	strbuf_addch(out, '>');
	format_cell(&text, cell, c->type);
	markup_add(out, text.s);
	strbuf_addstr(out, "</td>");
	out->failed |= text.failed;
	strbuf_free(&text);
}

static bool adds_up(const struct column *c)
{
	return c->role == ROLE_SUM &&
	       (c->type == CELL_NS || c->type == CELL_BYTES || c->type == CELL_INT);
}

/* "312 more rows", and what they add up to. */
static void add_rest(struct strbuf *out, const struct table *t, size_t from)
{
	bool is_first = true;

	strbuf_addstr(out, "<tfoot><tr>");
	for (unsigned int i = 0; i < t->n_columns; i++) {
		struct cell sum = { 0 };

		if (!is_column(t, i))
			continue;
		if (is_first) {
			strbuf_addf(out, "<td>%s more</td>", count_text(t->n_rows - from).s);
			is_first = false;
			continue;
		}
		for (size_t row = from; adds_up(&t->columns[i]) && row < t->n_rows; row++)
			if (table_cells(t, row)[i].known)
				cell_u(&sum, num_add(sum.u, table_cells(t, row)[i].u));
		if (sum.known)
			add_cell(out, &sum, &t->columns[i]);
		else
			strbuf_addstr(out, "<td></td>");
	}
	strbuf_addstr(out, "</tr></tfoot>\n");
}

void html_table_add(struct strbuf *out, const struct view *v, const struct table *t, size_t rows)
{
	const size_t shown = num_min(rows, t->n_rows);

	strbuf_addf(out, "<section class=\"table\" id=\"t-%s\"><h3>%s <small>", v->name, v->name);
	markup_add(out, v->help);
	strbuf_addstr(out, "</small></h3>\n<div class=\"scroll\"><table>\n");
	add_head(out, t);
	strbuf_addstr(out, "<tbody>\n");
	for (size_t row = 0; row < shown; row++) {
		strbuf_addstr(out, "<tr>");
		for (unsigned int i = 0; i < t->n_columns; i++)
			if (is_column(t, i))
				add_cell(out, &table_cells(t, row)[i], &t->columns[i]);
		strbuf_addstr(out, "</tr>\n");
	}
	strbuf_addstr(out, "</tbody>\n");
	if (shown < t->n_rows)
		add_rest(out, t, shown);
	strbuf_addstr(out, "</table></div></section>\n");
}

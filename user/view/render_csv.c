// SPDX-License-Identifier: BSD-3-Clause
/*
 * Tables as RFC 4180, but for the line end, which is LF as Unix tools expect: raw numbers, unknown
 * is empty. One record is one line: control characters of names are escaped as in text. Several tables
 * in one output are told apart by an empty line and "# name", which is not RFC 4180; one table is.
 */
#include "view/render.h"

#include <math.h>
#include <string.h>

#include "event/device_number.h"

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

static void add_cell(struct strbuf *out, const struct cell *c, unsigned int type)
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

static void print_table(struct strbuf *out, const struct table *t)
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
			add_cell(out, &table_cells(t, row)[i], c[i].type);
		}
		strbuf_addstr(out, LINE_END);
	}
}

void render_csv(struct strbuf *out, const struct report *r)
{
	for (unsigned int i = 0; i < r->n_tables; i++) {
		if (i)
			strbuf_addstr(out, LINE_END);
		if (r->n_tables > 1)
			strbuf_addf(out, "# %s" LINE_END, table_name(r->tables[i]));
		print_table(out, r->tables[i]);
	}
}

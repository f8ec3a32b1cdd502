// SPDX-License-Identifier: BSD-3-Clause
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
#include "view/render.h"

#include <math.h>
#include <string.h>

#include "event/device_number.h"
#include "view/utf8.h"

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

static void print_table(struct strbuf *out, const struct table *t)
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

void render_json(struct strbuf *out, const struct report *r)
{
	strbuf_addstr(out, "{\"schema_version\": 1,\n \"meta\": ");
	render_json_meta(out, r->meta);
	strbuf_addstr(out, ",\n \"tables\": {");
	for (unsigned int i = 0; i < r->n_tables; i++) {
		strbuf_addstr(out, i ? ",\n" : "\n");
		print_table(out, r->tables[i]);
	}
	strbuf_addstr(out, r->n_tables ? "\n }}\n" : "}}\n");
}

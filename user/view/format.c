// SPDX-License-Identifier: BSD-3-Clause
/*
 * Cells as people read them, and text that is safe to print. Knows cells, not tables.
 */
#include "view/format.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/device_number.h"
#include "base/utf8.h"

void format_real(struct strbuf *out, double d)
{
	char text[32];

	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, d);
		if (strtod(text, NULL) == d)
			break;
	}
	strbuf_addstr(out, text);
}

/* Marks that turn the reading direction would let a name rewrite what stands beside it. */
static bool is_unsafe(int32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static void add_escaped(struct strbuf *out, int32_t code)
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

void format_safe(struct strbuf *out, const char *s)
{
	while (*s) {
		const char *at = s;
		int32_t code = utf8_next(&s);

		if (code < 0)
			strbuf_addf(out, "\\x%02x", (unsigned char)*at);
		else if (is_unsafe(code))
			add_escaped(out, code);
		else
			strbuf_add(out, at, (size_t)(s - at));
	}
}

/* "0.0512", "12.3", "11,148" */
static void add_real(struct strbuf *out, double d)
{
	if (d >= 1000 && d < 1e15)
		format_count(out, (uint64_t)llround(d));
	else
		strbuf_addf(out, isfinite(d) ? "%.3g" : "-", d);
}

void format_cell(struct strbuf *out, const struct cell *c, unsigned int type)
{
	if (!c->known) {
		strbuf_addch(out, '-');
		return;
	}
	switch (type) {
	case CELL_TEXT:
	case CELL_STACK:
	case CELL_PROSE:
	case CELL_COMMAND:
		format_safe(out, c->s);
		break;
	case CELL_INT:
		format_count(out, c->u);
		break;
	case CELL_NS:
		format_ns(out, c->u);
		break;
	case CELL_BYTES:
		format_bytes(out, c->u);
		break;
	case CELL_SHARE:
		strbuf_addf(out, isfinite(c->d) ? "%.1f %%" : "-", c->d * 100);
		break;
	case CELL_REAL:
		add_real(out, c->d);
		break;
	case CELL_BOOL:
		strbuf_addstr(out, c->u ? "yes" : "no");
		break;
	case CELL_DEVICE:
		device_number_add(out, (uint32_t)c->u);
		break;
	default:
		strbuf_addf(out, "%llu", (unsigned long long)c->u);
	}
}

void format_title(struct strbuf *out, const struct column *c)
{
	static const char *const units[] = { "_ns", "_bytes" };
	size_t len = strlen(c->name);

	if (c->title) {
		strbuf_addstr(out, c->title);
		return;
	}
	if (!strcmp(c->name, "ns")) {
		strbuf_addstr(out, "time");
		return;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t n = strlen(units[i]);

		if (len > n && !strcmp(c->name + len - n, units[i])) {
			len -= n;
			break;
		}
	}
	strbuf_add(out, c->name, len);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Numbers with units for people, and text that is safe to print. Integer arithmetic throughout,
 * so that a value is rounded once. Knows cells, not tables.
 */
#include "view/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/utf8.h"

void format_count(struct strbuf *out, uint64_t n)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			strbuf_addch(out, ',');
		strbuf_addch(out, digits[i]);
	}
}

static uint64_t round_div(uint64_t n, uint64_t by)
{
	return n / by + (n % by * 2 >= by);
}

/* Four significant digits: 1.234 ms, 12.34 ms, 123.4 ms; whole below 1 us and above 1000 s. */
void format_ns(struct strbuf *out, uint64_t ns)
{
	static const char *const unit[] = { "us", "ms", "s" };
	uint64_t step = 1;	/* the last digit shown, in ns */

	if (ns < 1000) {
		strbuf_addf(out, "%u ns", (unsigned int)ns);
		return;
	}
	for (unsigned int i = 0; i < 9; i++, step *= 10) {
		static const unsigned int scale[] = { 1000, 100, 10 };
		uint64_t x = round_div(ns, step);

		if (x >= 10000)
			continue;
		strbuf_addf(out, "%u.%0*u %s", (unsigned int)x / scale[i % 3], 3 - (int)(i % 3),
			    (unsigned int)x % scale[i % 3], unit[i / 3]);
		return;
	}
	format_count(out, round_div(ns, step));
	strbuf_addstr(out, " s");
}

void format_bytes(struct strbuf *out, uint64_t bytes)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned int shift = 0, i = 0;
	uint64_t tenths;

	if (bytes < 1024) {
		strbuf_addf(out, "%u B", (unsigned int)bytes);
		return;
	}
	while (i + 1 < sizeof(unit) / sizeof(unit[0]) && bytes >> shift >= 1024) {
		shift += 10;
		i++;
	}
	tenths = (bytes >> shift) * 10;
	tenths += (((bytes & ((1ull << shift) - 1)) >> (shift - 10)) * 10 + 512) >> 10;
	if (tenths >= 10240 && i + 1 < sizeof(unit) / sizeof(unit[0])) {
		tenths = 10;
		i++;
	}
	strbuf_addf(out, "%llu.%u %s", (unsigned long long)(tenths / 10),
		    (unsigned int)(tenths % 10), unit[i]);
}

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

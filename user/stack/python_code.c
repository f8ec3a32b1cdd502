// SPDX-License-Identifier: BSD-3-Clause
#include "stack/python_code.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* ---- texts ---------------------------------------------------------------------------------- */

static void add_utf8(struct strbuf *out, uint32_t c)
{
	if (!c || (c >= 0xd800 && c < 0xe000) || c > 0x10ffff)
		c = '?';
	if (c < 0x80) {
		strbuf_addch(out, (char)c);
		return;
	}
	if (c < 0x800) {
		strbuf_addch(out, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		strbuf_addch(out, (char)(0xe0 | c >> 12));
		strbuf_addch(out, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		strbuf_addch(out, (char)(0xf0 | c >> 18));
		strbuf_addch(out, (char)(0x80 | (c >> 12 & 0x3f)));
		strbuf_addch(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	strbuf_addch(out, (char)(0x80 | (c & 0x3f)));
}

int python_add_text(struct strbuf *out, const char *raw, size_t length, unsigned int kind)
{
	if (!length || (kind != 1 && kind != 2 && kind != 4))
		return -EFAULT;
	for (size_t i = 0; i < length; i++) {
		uint32_t c = 0;

		memcpy(&c, raw + i * kind, kind);	/* little-endian, as all we run on */
		add_utf8(out, c);
	}
	return out->failed ? -ENOMEM : 0;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/*
 * co_linetable since 3.11: an entry for each run of instructions. Its first byte alone has bit 7
 * set: bits 3 to 6 are its kind, bits 0 to 2 the code units (of 2 bytes) that it covers, less one.
 * Kinds 0 to 9 stay on the line, 10 to 12 are 0 to 2 lines on, 13 and 14 have a signed number of
 * lines next, 15 is of no line. What follows is columns. Numbers have 6 bits a byte, the lowest
 * first, bit 6: more follow; the sign is bit 0.
 */
static int64_t read_signed(const uint8_t *table, size_t n, size_t at)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; at < n && shift < 36; shift += 6) {
		value |= (uint64_t)(table[at] & 0x3f) << shift;
		if (!(table[at++] & 0x40))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

/* 0: it is none. */
static uint32_t valid_line(int64_t line)
{
	return line > 0 && line <= INT_MAX ? (uint32_t)line : 0;
}

/* The line of the instruction at an offset into the code; 0: it has none. */
static uint32_t find_location(const uint8_t *table, size_t n, int64_t first_line, int64_t offset)
{
	int64_t line = first_line, end = 0;
	size_t at = 0;

	if (offset < 0)		/* not begun yet */
		return valid_line(first_line);
	while (at < n) {
		unsigned int kind = table[at] >> 3 & 0xf;

		end += ((table[at] & 7) + 1) * PYTHON_UNIT;
		if (kind == 13 || kind == 14)
			line += read_signed(table, n, at + 1);
		else if (kind >= 10 && kind <= 12)
			line += kind - 10;
		if (offset < end)
			return kind == 15 ? 0 : valid_line(line);
		do
			at++;
		while (at < n && !(table[at] & 0x80));
	}
	return 0;
}

/* 3.10: a pair for each run of instructions, its bytes and by how many lines it is on; -128: it is
 * of no line. */
static uint32_t find_range(const uint8_t *table, size_t n, int64_t first_line, int64_t offset)
{
	int64_t line = first_line, end = 0;

	if (offset < 0)
		return valid_line(first_line);
	for (size_t at = 0; at + 1 < n; at += 2) {
		const int8_t lines = (int8_t)table[at + 1];

		end += table[at];
		if (lines != INT8_MIN)
			line += lines;
		if (offset < end)
			return lines == INT8_MIN ? 0 : valid_line(line);
	}
	return 0;
}

/* co_lnotab before 3.10: how many bytes further and by how many lines it is on from there. */
static uint32_t find_step(const uint8_t *table, size_t n, int64_t first_line, int64_t offset)
{
	int64_t line = first_line, begin = 0;

	for (size_t at = 0; at + 1 < n; at += 2) {
		begin += table[at];
		if (begin > offset)
			break;
		line += (int8_t)table[at + 1];
	}
	return valid_line(line);
}

uint32_t python_line(const struct python_lines *lines, int64_t offset)
{
	switch (lines->are) {
	case GP_PYTHON_STEPS:
		return find_step(lines->table, lines->n, lines->first, offset);
	case GP_PYTHON_RANGES:
		return find_range(lines->table, lines->n, lines->first, offset);
	default:
		return find_location(lines->table, lines->n, lines->first, offset);
	}
}

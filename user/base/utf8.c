// SPDX-License-Identifier: BSD-3-Clause
/*
 * UTF-8 decoding and the width of characters on a terminal. wcwidth() would need a locale, which
 * root's shells and services often lack. The ranges are the large blocks of the Unicode standard
 * (East Asian Width W/F, combining marks); a rare character missing from them misaligns a column.
 */
#include "base/utf8.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

struct range {
	int32_t first, last;
};

static const struct range zero[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x0610, 0x061a },
	{ 0x064b, 0x065f }, { 0x0e34, 0x0e3a }, { 0x0e47, 0x0e4e }, { 0x1ab0, 0x1aff },
	{ 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x202a, 0x202e }, { 0x2060, 0x2064 },
	{ 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0xfeff, 0xfeff },
	{ 0xe0100, 0xe01ef },
};

static const struct range two[] = {
	{ 0x1100, 0x115f }, { 0x2e80, 0x303e }, { 0x3041, 0x33ff }, { 0x3400, 0x4dbf },
	{ 0x4e00, 0x9fff }, { 0xa000, 0xa4cf }, { 0xa960, 0xa97f }, { 0xac00, 0xd7a3 },
	{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 }, { 0xffe0, 0xffe6 },
	{ 0x1f300, 0x1f64f }, { 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x1fa70, 0x1faff },
	{ 0x20000, 0x2fffd }, { 0x30000, 0x3fffd },
};

/* By lead byte: how many bytes follow, and the smallest code point that needs that many. */
static int lead(unsigned char c, int32_t *code, int32_t *least)
{
	static const struct {
		unsigned char mask, bits;
		int32_t least;
	} form[] = {
		{ 0x80, 0x00, 0 }, { 0xe0, 0xc0, 0x80 }, { 0xf0, 0xe0, 0x800 },
		{ 0xf8, 0xf0, 0x10000 },
	};

	for (int i = 0; i < (int)ARRAY_LEN(form); i++) {
		if ((c & form[i].mask) != form[i].bits)
			continue;
		*code = c & (unsigned char)~form[i].mask;
		*least = form[i].least;
		return i;
	}
	return -1;
}

int32_t utf8_next(const char **s)
{
	const char *p = *s;
	int32_t code, least;
	int more = lead((unsigned char)*p++, &code, &least);

	++*s;
	if (more < 0)
		return -1;
	for (; more; more--, p++) {
		if (((unsigned char)*p & 0xc0) != 0x80)
			return -1;
		code = code << 6 | (*p & 0x3f);
	}
	if (code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return -1;
	*s = p;
	return code;
}

static int within(const struct range *r, size_t n, int32_t code)
{
	for (size_t i = 0; i < n; i++)
		if (code >= r[i].first && code <= r[i].last)
			return 1;
	return 0;
}

unsigned int utf8_width(int32_t code)
{
	if (code < 0x300)
		return 1;
	if (within(zero, ARRAY_LEN(zero), code))
		return 0;
	return within(two, ARRAY_LEN(two), code) ? 2 : 1;
}

size_t utf8_str_width(const char *s)
{
	size_t width = 0;

	while (*s)
		width += utf8_width(utf8_next(&s));
	return width;
}

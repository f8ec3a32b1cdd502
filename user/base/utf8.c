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

int32_t utf8_next(const char **s)
{
	/* By how many bytes follow: the smallest code point that needs that many. */
	static const int32_t least[] = { 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)*s;
	unsigned int ones = (unsigned int)__builtin_clz(~((uint32_t)*p << 24));
	unsigned int more = ones ? ones - 1 : 0;
	int32_t code = *p & (0x7f >> ones);

	++*s;
	if (ones == 1 || ones > 4)
		return -1;
	for (unsigned int i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return -1;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return -1;
	*s += more;
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

/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8 without a locale: decoding that refuses all the standard refuses, and widths of cells. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The code point at *s, which moves behind it; -1 when the byte there begins none (*s moves by
 * one). Nothing at or after a NUL is read. */
int32_t utf8_next(const char **s);

/* Control characters, and marks that turn the reading direction: they would let a name rewrite what
 * stands beside it. */
static inline bool utf8_is_unsafe(int32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

unsigned int utf8_width(int32_t code);		/* terminal columns: 0, 1 or 2 */
size_t utf8_str_width(const char *s);		/* of a whole string; a bad byte counts 1 */

#endif

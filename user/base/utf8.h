/* SPDX-License-Identifier: BSD-3-Clause */
/* UTF-8 without a locale: decoding that refuses all the standard refuses, and widths of cells. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The code point at *s, which moves behind it; -1 when the byte there begins none (*s moves by
 * one). Nothing at or after a NUL is read. */
int32_t utf8_next(const char **s);

unsigned int utf8_width(int32_t code);		/* terminal columns: 0, 1 or 2 */
size_t utf8_str_width(const char *s);		/* of a whole string; a bad byte counts 1 */

#endif

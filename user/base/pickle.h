/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Data as Python's pickle module reads it (protocol 2): texts, numbers, lists and dictionaries,
 * which may be inside each other.
 *
 *   pickle_begin(out); pickle_dict(out);
 *   pickle_text(out, "size"); pickle_number(out, 512);
 *   pickle_dict_end(out); pickle_end(out);	loads as {"size": 512}
 */
#ifndef BASE_PICKLE_H
#define BASE_PICKLE_H

#include <stdint.h>

#include "base/str.h"

static inline void pickle_begin(struct strbuf *out)
{
	strbuf_add(out, "\x80\x02", 2);
}

static inline void pickle_end(struct strbuf *out)
{
	strbuf_addch(out, '.');
}

static inline void pickle_dict(struct strbuf *out)
{
	strbuf_addstr(out, "}(");
}

static inline void pickle_dict_end(struct strbuf *out)
{
	strbuf_addch(out, 'u');
}

static inline void pickle_list(struct strbuf *out)
{
	strbuf_addstr(out, "](");
}

static inline void pickle_list_end(struct strbuf *out)
{
	strbuf_addch(out, 'e');
}

static inline void pickle_bytes(struct strbuf *out, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		strbuf_addch(out, (char)(value >> 8 * i & 0xff));
}

/* text: UTF-8 */
static inline void pickle_text(struct strbuf *out, const char *text)
{
	const size_t len = strlen(text);

	strbuf_addch(out, 'X');
	pickle_bytes(out, len, 4);
	strbuf_add(out, text, len);
}

static inline void pickle_number(struct strbuf *out, uint64_t value)
{
	if (value > INT32_MAX) {
		strbuf_add(out, "\x8a\x09", 2);
		pickle_bytes(out, value, 8);
		strbuf_addch(out, 0);
		return;
	}
	strbuf_addch(out, 'J');
	pickle_bytes(out, value, 4);
}

#endif

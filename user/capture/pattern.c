// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Pure: reads no file and no clock. */
#include "capture/pattern.h"

#include <ctype.h>
#include <string.h>

#define VALUE_MAX 64	/* of a value; a name has 255 bytes */

static const char letters[] = "hprjt%";

char pattern_unknown(const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern != '%')
			continue;
		pattern++;
		if (!*pattern)
			return '%';
		if (!strchr(letters, *pattern))
			return *pattern;
	}
	return 0;
}

/* A value with a slash, or one that is "..", would lead elsewhere. */
static void add_value(struct strbuf *out, const char *text)
{
	for (size_t i = 0; i < VALUE_MAX && text[i]; i++) {
		bool plain = isalnum((unsigned char)text[i]) || text[i] == '-' || text[i] == '_' ||
			     (text[i] == '.' && i);

		strbuf_addch(out, plain ? text[i] : '_');
	}
}

char pattern_expand(struct strbuf *out, const char *pattern, const struct pattern_value *values,
		    size_t n)
{
	for (; *pattern; pattern++) {
		const char *text = NULL;

		if (*pattern != '%' || pattern[1] == '%' || !pattern[1]) {
			strbuf_addch(out, *pattern);
			pattern += *pattern == '%' && pattern[1];
			continue;
		}
		pattern++;
		for (size_t i = 0; i < n && !text; i++)
			if (values[i].letter == *pattern)
				text = values[i].text;
		if (!text)
			return *pattern;
		add_value(out, text);
	}
	return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Any value in any pattern makes a name that has no more slashes than the pattern. The input: the
 * pattern, a NUL, the value.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "capture/sink_open.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t count_slashes(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += *s == '/';
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 2);
	struct strbuf sb = STRBUF_INIT;
	const char *value;
	size_t len;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = text[size + 1] = '\0';
	len = strlen(text);
	value = len < size ? text + len + 1 : NULL;
	if (!pattern_unknown(text) &&
	    !pattern_expand(&sb, text, (const struct pattern_value[]){ { 'r', value }, { 'h', "a" } },
			    2) && count_slashes(sb.s) != count_slashes(text))
		abort();
	strbuf_free(&sb);
	free(text);
	return 0;
}

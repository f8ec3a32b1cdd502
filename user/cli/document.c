// SPDX-License-Identifier: BSD-3-Clause
/* What the generators of completions have in common. Knows no shell by name. */
#include "cli/document.h"

void document_add_words(struct strbuf *out, const char *const *words, const char *separator)
{
	for (size_t i = 0; words[i]; i++)
		strbuf_addf(out, "%s%s", i ? separator : "", words[i]);
}

void document_add_names(struct strbuf *out, const struct option_row *row, const char *separator)
{
	if (row->letter)
		strbuf_addf(out, "-%c%s", row->letter, separator);
	strbuf_addf(out, "--%s", row->name);
}

/* A quote ends the string, is quoted alone, and begins it anew: all three shells read that. */
void document_add_quoted(struct strbuf *out, const char *text)
{
	strbuf_addch(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			strbuf_addstr(out, "'\\''");
		else
			strbuf_addch(out, *text);
	}
	strbuf_addch(out, '\'');
}

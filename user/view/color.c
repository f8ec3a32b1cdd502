// SPDX-License-Identifier: BSD-3-Clause
#include "view/color.h"

#include <stdlib.h>

static const char *const sequences[LINE_COLORS] = {
	[LINE_BOLD] = "\033[1m", [LINE_BOLD_RED] = "\033[1;31m", [LINE_RED] = "\033[31m",
	[LINE_YELLOW] = "\033[33m", [LINE_GREEN] = "\033[32m", [LINE_CYAN] = "\033[36m",
	[LINE_MAGENTA] = "\033[35m",
};

void line_color_from(struct strbuf *text, size_t from, enum line_color color)
{
	char *added = sequences[color] && text->len > from ? strdup(text->s + from) : NULL;

	text->failed |= !added && sequences[color] && text->len > from;
	if (!added)
		return;
	text->len = from;
	for (const char *at = added; *at;) {
		const size_t len = strcspn(at, "\n");

		if (len)
			strbuf_addstr(text, sequences[color]);
		strbuf_add(text, at, len);
		strbuf_addstr(text, len ? "\033[0m" : "");
		at += len;
		strbuf_addstr(text, *at ? "\n" : "");
		at += *at == '\n';
	}
	free(added);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Colours of text on a terminal: escape sequences around parts of it. */
#ifndef VIEW_COLOR_H
#define VIEW_COLOR_H

#include <string.h>

#include "base/str.h"

enum line_color { LINE_PLAIN, LINE_BOLD, LINE_BOLD_RED, LINE_RED, LINE_YELLOW, LINE_GREEN,
		  LINE_CYAN, LINE_MAGENTA, LINE_COLORS };

/* high, medium, low */
static inline enum line_color line_color_of_severity(const char *severity)
{
	return !strcmp(severity, "high")   ? LINE_RED :
	       !strcmp(severity, "medium") ? LINE_YELLOW :
					     LINE_PLAIN;
}

/* Colours what was added to any text from that offset on, each line for itself: `less -R` takes no
 * colour from one line to the next. */
void line_color_from(struct strbuf *text, size_t from, enum line_color color);

#endif

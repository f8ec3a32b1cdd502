/* SPDX-License-Identifier: BSD-3-Clause */
/* Cells and texts as people and readers of files get them. */
#ifndef VIEW_FORMAT_H
#define VIEW_FORMAT_H

#include "view/table.h"

void format_real(struct strbuf *out, double d);	/* exact: reads back as the same double */

/* One line that no terminal, csv reader or editor can stumble over: control characters, bytes that
 * are not UTF-8 and direction marks are written as \n, \x1b, \u202e. */
void format_safe(struct strbuf *out, const char *s);

/* A cell as people read it ("-" when unknown). */
void format_cell(struct strbuf *out, const struct cell *c, unsigned int type);

/* The heading of a column in text and md. */
void format_title(struct strbuf *out, const struct column *c);

#endif

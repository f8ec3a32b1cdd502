/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a page, as HTML. Numbers whose text has a unit bring the number to sort by. */
#ifndef VIEW_HTML_TABLES_H
#define VIEW_HTML_TABLES_H

#include "view/view.h"

/* Appends a section of the first rows; the sums of the others are its last row. */
void html_table_add(struct strbuf *out, const struct view *v, const struct table *t, size_t rows);

#endif

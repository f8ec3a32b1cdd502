/* SPDX-License-Identifier: BSD-3-Clause */
/* The renderings behind report_render: one function per format. For render*.c only. */
#ifndef VIEW_RENDER_H
#define VIEW_RENDER_H

#include "view/format.h"
#include "view/report.h"

void render_text(struct strbuf *out, const struct report *r);
void render_md(struct strbuf *out, const struct report *r);
void render_csv(struct strbuf *out, const struct report *r);
void render_json(struct strbuf *out, const struct report *r);

/* What views of other shapes than tables are made of: a quoted string, and the object of `meta`. */
void render_json_string(struct strbuf *out, const char *s);
void render_json_meta(struct strbuf *out, const struct meta *meta);

/*
 * Text and md are for people: unless the report is wide, columns that are `wide` and columns in
 * which nothing is known are left out. Returns how many are shown; column[i] is the table's own
 * index. column: an array as long as the table has columns.
 */
unsigned int render_columns(const struct report *r, const struct table *t, unsigned int *column);

/* The same two: `before`, how many rows were cut, and, unless it was asked for, where they are. Nothing if
 * none were. */
void render_cut(struct strbuf *out, const struct table *t, const char *before);

#endif

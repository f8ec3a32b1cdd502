/* SPDX-License-Identifier: BSD-3-Clause */
/* The renderings behind report_render: one function per format. For render*.c only. */
#ifndef VIEW_RENDER_H
#define VIEW_RENDER_H

#include "view/table.h"

void render_text(struct strbuf *out, const struct report *r);
void render_md(struct strbuf *out, const struct report *r);
void render_csv(struct strbuf *out, const struct report *r);
void render_json(struct strbuf *out, const struct report *r);

/* Text and md hide columns that are `wide` unless the report is. */
static inline bool render_shows(const struct report *r, const struct column *c)
{
	return r->wide || !c->wide;
}

#endif

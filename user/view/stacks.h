/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot of stacks as text for people, as json with its frames, or as a flat table. */
#ifndef VIEW_STACKS_H
#define VIEW_STACKS_H

#include "stack/snapshot.h"
#include "view/render.h"

/* csv and md: pid tid comm state wchan syscall file call class cpu_ns stack frames, the frames as
 * one text from the outermost to the innermost, "main;work;read". NULL + errno. */
struct table *view_stacks_table(const struct stack_snapshot *s);

void view_stacks_text(struct strbuf *out, const struct stack_snapshot *s);

/* {"schema_version": 1, "meta": {...}, "tables": {"stacks": [{..., "frames": [{...}]}]}} */
void view_stacks_json(struct strbuf *out, const struct stack_snapshot *s, const struct meta *meta);

#endif

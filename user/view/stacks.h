/* SPDX-License-Identifier: BSD-3-Clause */
/* A snapshot of stacks in the formats of a report. */
#ifndef VIEW_STACKS_H
#define VIEW_STACKS_H

#include "stack/snapshot.h"
#include "view/render.h"

/*
 * Text for people, in colour where its headings are bold. json: {"schema_version": 1, "meta":
 * {...}, "tables": {"stacks": [{..., "frames": [{...}], "python":
 * [{"file", "line", "function"}]}]}}. csv and md: pid tid comm state wchan
 * syscall file call class cpu_ns stack frames, the frames as one text from the outermost to the
 * innermost, "main;work;read". 0 or -errno.
 */
int view_stacks(struct strbuf *out, const struct stack_snapshot *s, const struct meta *meta,
		enum format format, bool has_color);

#endif

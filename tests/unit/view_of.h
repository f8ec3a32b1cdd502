/* SPDX-License-Identifier: BSD-3-Clause */
/* What is made of a model's snapshot: a table as a report fills it, findings, the words. */
#ifndef UNIT_VIEW_OF_H
#define UNIT_VIEW_OF_H

#include "findings/findings.h"
#include "snap_of.h"
#include "view/summary.h"
#include "view/verdict.h"
#include "view/view.h"

static inline struct table *view_by(const struct view *v, const struct model *m, uint64_t now_ns,
				    enum calls_by by)
{
	struct snapshot *snap = snap_take(m, now_ns);
	struct table *t = snap ? view_fill(v, &(struct view_query){ .snapshot = snap, .by = by }) : NULL;

	snapshot_free(snap);
	return t;
}

static inline struct table *view_at(const struct view *v, const struct model *m, uint64_t now_ns)
{
	return view_by(v, m, now_ns, CALLS_BY_FUNCTION);
}

static inline struct table *view_now(const struct view *v, const struct model *m)
{
	return view_at(v, m, 0);
}

static inline int findings_of(struct findings *f, const struct model *m, uint64_t now_ns)
{
	struct snapshot *snap = snap_take(m, now_ns);
	int err = snap ? findings_read(f, snap) : -1;

	snapshot_free(snap);
	return err;
}

static inline int verdict_of(struct strbuf *out, const struct model *m)
{
	struct snapshot *snap = snap_take(m, 0);
	int err = snap ? verdict_add(out, snap) : -1;

	snapshot_free(snap);
	return err;
}

static inline void foot_of(struct strbuf *out, const struct model *m)
{
	struct snapshot *snap = snap_take(m, 0);
	struct summary s = summary_read(snap, false);
	struct summary_text text;

	if (summary_write(&text, &s, ""))
		out->failed = true;
	strbuf_addstr(out, text.foot.s);
	summary_text_free(&text);
	snapshot_free(snap);
}

static inline struct own_cost cost_of(const struct model *m)
{
	struct snapshot *snap = snap_take(m, 0);
	struct own_cost cost = own_cost_read(snap);

	snapshot_free(snap);
	return cost;
}

#endif

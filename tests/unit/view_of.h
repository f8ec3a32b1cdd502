/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of a model, as a report fills it. */
#ifndef UNIT_VIEW_OF_H
#define UNIT_VIEW_OF_H

#include "view/view.h"

static inline struct table *view_by(const struct view *v, const struct model *m, uint64_t now_ns,
				    enum calls_by by)
{
	return view_fill(v, &(struct view_query){ m, now_ns, by });
}

static inline struct table *view_at(const struct view *v, const struct model *m, uint64_t now_ns)
{
	return view_by(v, m, now_ns, CALLS_BY_FUNCTION);
}

static inline struct table *view_now(const struct view *v, const struct model *m)
{
	return view_at(v, m, model_now(m));
}

#endif

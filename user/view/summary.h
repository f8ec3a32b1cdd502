/* SPDX-License-Identifier: BSD-3-Clause */
/* The words around the tables: the header line, the footer in words, and `meta`. */
#ifndef VIEW_SUMMARY_H
#define VIEW_SUMMARY_H

#include "view/render.h"
#include "model/own_cost.h"

#define SUMMARY_META 29

struct summary {
	const struct snapshot *snap;
	bool incomplete;
	uint64_t start_ns, now_ns;	/* of the report */
	/* since the session began: hits, and of these never received */
	uint64_t events, lost;
	double lost_share;
	struct own_cost cost;
	uint64_t thread_ns;		/* wall time of all threads in the report */
};

struct summary summary_read(const struct snapshot *snap, bool incomplete);

void summary_head(struct strbuf *out, const struct summary *s);	/* one line, no newline */

/* Appends the lines below the tables, no last newline, and all notes: the session's, and those of
 * the header and of these lines. 0 or -ENOMEM. */
int summary_notes(struct notes *to, struct strbuf *foot, const struct summary *s);

/* Fills at most SUMMARY_META pairs; their texts live in pool. Returns how many. */
size_t summary_meta(struct meta_pair *v, const struct summary *s, const char *verdict,
		    struct strpool *pool);

#endif

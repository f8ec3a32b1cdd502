/* SPDX-License-Identifier: BSD-3-Clause */
/* The words around the tables: the header line, the footer in words, and `meta`. */
#ifndef VIEW_SUMMARY_H
#define VIEW_SUMMARY_H

#include "view/render.h"
#include "model/own_cost.h"

#define SUMMARY_META 33

struct summary {
	const struct snapshot *snap;
	bool incomplete;
	struct snapshot_losses losses;
	struct own_cost cost;
	uint64_t thread_ns;		/* wall time of all threads in the report */
};

/* What gpuprof cost, of thread_ns: at most 1; 0 when that is 0. */
double summary_cost_share(const struct summary *s);

struct summary summary_read(const struct snapshot *snap, bool incomplete);

/* For the first line of a screen: "pid 12 (train), 2.010 s on myhost", and "cost ~0.4 %
 * (estimated); nothing lost". */
void summary_add_title(struct strbuf *left, struct strbuf *right, const struct summary *s);

/* What is left out of measuring for --budget; NULL: nothing is, or there is none. */
const char *summary_budget_text(const struct snapshot *snap);

/* What is written of a summary; every member is set by summary_write. */
struct summary_text {
	struct strbuf head;		/* one line, no newline */
	struct strbuf foot;		/* the lines below the tables, no last newline */
	struct notes notes;		/* the session's, and those of the header and the footer */
	struct meta meta;		/* with the notes; its texts live in pool */
	struct meta_pair pairs[SUMMARY_META];
	struct strpool *pool;
};

/* verdict: its sentences, "" for none. 0 or -ENOMEM; free it in both cases. */
int summary_write(struct summary_text *t, const struct summary *s, const char *verdict);
void summary_text_free(struct summary_text *t);

/* meta of a session of which nothing is known, without notes: what is known in it always is. */
void summary_write_unknown(struct summary_text *t);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rules have in common: the losses of some kinds added up, the thread that has most of them, and
 * the words for it. For findings_rules.c only.
 */
#ifndef FINDINGS_FINDINGS_LOST_H
#define FINDINGS_FINDINGS_LOST_H

#include "findings/findings.h"

#define KIND(k) (1u << (k))

struct lost {
	uint64_t ns, gaps, longest_ns, late_ns;
	uint64_t unseen_ns;			/* not in ns: outside of calls, where there were no probes.
						 * Of LOSS_HOST it is, since that is nothing else */
	uint64_t own_ns;			/* of ns, up to: what gpuprof cost these threads; 0: not worth a word */
	uint64_t cause_ns[IDLE_CAUSES];
	const struct finding_loss *most;	/* NULL: there is none */
	unsigned int others;			/* rows of other threads or functions */
};

struct lost lost_add_up(const struct finding_book *b, unsigned int kinds);	/* KIND(...) | ... */
const char *lost_function(const struct lost *lost, const char *else_name);

/* Share and bound; false where it is not worth a line. */
bool lost_set_share(struct finding *f, const struct finding_book *b, uint64_t ns, uint64_t bound_ns);

/* To f->cause: the thread that has most, and how many more there are. */
void lost_add_main(struct finding *f, const struct lost *lost);
void lost_add_others(struct finding *f, const struct lost *lost);

void lost_add_thread(struct strbuf *out, uint32_t tid, const char *comm);	/* "thread 12 (train)" */
void lost_add_times(struct strbuf *out, const struct lost *lost); /* "20 times, 1.2 ms each, 8.1 ms at most" */
void lost_add_unseen(struct strbuf *out, const struct lost *lost);	/* "; 1.2 s more ..."; or nothing */
/* "; up to 1.2 ms of that is gpuprof's own cost (estimated)"; or nothing */
void lost_add_own(struct strbuf *out, const struct lost *lost);
/* The same, and it is not gained; with the share set. */
void lost_take_own(struct finding *f, const struct finding_book *b, const struct lost *lost);
/* If it is most of the share, the cause says so, and the next command is one without probes: true. */
bool lost_blame_own(struct finding *f, const struct finding_book *b);
void lost_add_calls(struct strbuf *out, const struct finding_loss *row);	/* "; 200 calls x 6.7 ms" */

#endif

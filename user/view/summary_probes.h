/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the footer and of `meta` that tells what the probes could not see, and what the dear
 * ones cost. Reads a session's facts (session/session_probes.c) and its model. */
#ifndef VIEW_SUMMARY_PROBES_H
#define VIEW_SUMMARY_PROBES_H

#include "view/summary.h"

uint64_t summary_entries(const struct model *m);	/* calls that were seen at entry only */

void summary_add_probes(struct strbuf *out, const struct summary *s);	/* lines, each after a newline */

#endif

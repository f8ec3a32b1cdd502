/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rule cuda-error: calls of a process that failed as all do from then on. For findings.c and
 * findings_rules.c only.
 */
#ifndef FINDINGS_FINDINGS_ERRORS_H
#define FINDINGS_FINDINGS_ERRORS_H

#include "findings/findings.h"

/* Looks for such calls of the process; p may be NULL. */
void errors_read(struct finding_book *b, const struct funcs *funcs, const struct model_process *p);

bool errors_judge(const struct finding_book *b, struct finding *f);

#endif

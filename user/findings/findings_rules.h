/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules, as findings.c walks them. See findings.h for what they mean. */
#ifndef FINDINGS_FINDINGS_RULES_H
#define FINDINGS_FINDINGS_RULES_H

#include "findings/findings.h"

struct finding_rule {
	const char *name;
	/* Does it hold? Then the finding is filled in: it has its name, pid and device already. */
	bool (*judge)(const struct finding_book *b, struct finding *f);
};

extern const struct finding_rule finding_rules[];
extern const size_t finding_rules_n;

#endif

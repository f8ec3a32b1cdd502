/* SPDX-License-Identifier: BSD-3-Clause */
/* The rules, in two tables that findings.c walks, and what rules of devices read themselves. See
 * findings.h for their meaning. */
#ifndef FINDINGS_FINDINGS_RULES_H
#define FINDINGS_FINDINGS_RULES_H

#include "findings/findings.h"

struct finding_rule {
	const char *name;
	/* Does it hold? Then the finding is filled in: it has its name, pid and device already. */
	bool (*judge)(const struct finding_book *b, struct finding *f);
};

extern const struct finding_rule finding_rules[];		/* of lost time and memory */
extern const size_t finding_rules_n;
extern const struct finding_rule finding_device_rules[];	/* of failures and of sharing a
								 * device */
extern const size_t finding_device_rules_n;

/* The calls of the process after which all fail; p may be NULL. */
void finding_read_errors(struct finding_book *b, const struct funcs *funcs,
			 const struct snapshot_process *p);

/* Of the processes that NVML saw on a device beside its own, those that are watched, or are not. */
size_t device_users_count(const struct device_users *o, const struct sampled_device *d,
			  bool watched);

#endif

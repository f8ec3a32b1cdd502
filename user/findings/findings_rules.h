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

/* Samples of the device, if this is the first process on it: the others have the same. 0 or
 * -ENOMEM. */
int device_facts_read(struct finding_book *b, const struct model *m, const struct device_state *s,
		      uint64_t now_ns);

/* Samples of a device without a book of any process, if it concerns the session: the session is the
 * whole host's, or NVML saw a process on the device whose calls are known. */
bool device_alone_read(struct finding_book *b, const struct model *m,
		       const struct sampled_device *d);

/* The calls of the process after which all fail; p may be NULL. */
void errors_read(struct finding_book *b, const struct funcs *funcs, const struct model_process *p);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of what a device tells of itself: device-fault, throttled, unwatched-process,
 * untold-process. For findings.c and findings_rules.c only.
 */
#ifndef FINDINGS_FINDINGS_DEVICE_H
#define FINDINGS_FINDINGS_DEVICE_H

#include "findings/findings.h"

/* What was sampled of the device, if this is the first process on it: others have the same. 0 or -ENOMEM. */
int device_facts_read(struct finding_book *b, const struct model *m, const struct device_state *s,
		      uint64_t now_ns);

/* What was sampled of a device that no process tells of, if it concerns the session: it is the whole host's,
 * or NVML saw a process on it whose calls are known. */
bool device_alone_read(struct finding_book *b, const struct model *m, const struct sampled_device *d);

bool fault_judge(const struct finding_book *b, struct finding *f);
bool throttled_judge(const struct finding_book *b, struct finding *f);
bool unwatched_judge(const struct finding_book *b, struct finding *f);
bool untold_judge(const struct finding_book *b, struct finding *f);

#endif

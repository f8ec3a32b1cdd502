/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What to probe where only a few functions can be probed at a time: the best of the catalogue's
 * core, over all files together. Pure: knows nothing of links, processes and BPF.
 */
#ifndef PROBE_PLAN_CORE_H
#define PROBE_PLAN_CORE_H

#include "probe/plan.h"

/* Keeps at most `max` functions of the first parts of all these plans, the best first, a function of
 * several files once in each; the others are counted as left out. 0, or -ENOMEM: the plans are as before. */
int plan_keep_core(struct plan *const *plans, size_t n, size_t max);

#endif

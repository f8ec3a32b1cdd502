/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happened to devices and when, as the data that the page's script draws: faults, times of
 * reduced clocks, memory in use. NVML knows them; without it the lists are empty. Times are since
 * the session began.
 *
 *   {"faults": [{"gpu": "0", "ns": 1200000, "times": 3, "text": "GPU 0: XID 79, ..."}],
 *    "slow": [{"gpu": "0", "from_ns": 0, "to_ns": 1000000000, "why": "heat"}],
 *    "memory": [{"gpu": "0", "total": 85899345920, "points": [[1000000000, 1073741824], ...]}]}
 *
 * Kept by a consumer of events, of bounded size: of many samples, the points are the largest ones.
 */
#ifndef VIEW_PAGE_MOMENTS_H
#define VIEW_PAGE_MOMENTS_H

#include "model/snapshot.h"

extern const struct consumer moments_consumer;

void page_moments_add(struct strbuf *out, const struct snapshot *snap);

#endif

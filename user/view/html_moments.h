/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happened to devices and when, as the data that the page's script draws: faults, times of
 * reduced clocks, memory in use. NVML knows them; without it the lists are empty. Times are since
 * the session began.
 *
 *   {"faults": [{"gpu": "0", "ns": 1200000, "times": 3, "text": "GPU 0: XID 79, ..."}],
 *    "slow": [{"gpu": "0", "from_ns": 0, "to_ns": 1000000000, "why": "heat"}],
 *    "memory": [{"gpu": "0", "total": 85899345920, "points": [[1000000000, 1073741824], ...]}],
 *    "live": [{"pid": 12, "bin_ns": 4194304, "kinds": [["device", [0, 1048576, -99]]]}],
 *    "more": 0}
 *
 * more: faults and times of reduced clocks that there is no room for. live: bytes that a process
 * had allocated, the most of each bin; -n repeats the last n times.
 * Kept by a consumer of events, of bounded size: of many samples, the points are the largest ones.
 */
#ifndef VIEW_HTML_MOMENTS_H
#define VIEW_HTML_MOMENTS_H

#include "model/snapshot.h"

extern const struct consumer html_moments_consumer;

void html_moments_add(struct strbuf *out, const struct snapshot *snap);

#endif

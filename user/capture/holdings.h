/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one process has that its source tells once, or when it begins: devices, ranges that are open,
 * memory that CUPTI's records say is allocated. A capture that begins in the middle of a session says
 * it again, so that it can be read alone. Bounded: what is over is not told again. Knows nothing of
 * files or other processes.
 */
#ifndef CAPTURE_HOLDINGS_H
#define CAPTURE_HOLDINGS_H

#include "event/event.h"

#define HOLDINGS_DEVICES_MAX 256
#define HOLDINGS_RANGES_MAX 4096
#define HOLDINGS_ALLOCS_MAX 4096

struct holdings;

void holdings_free(struct holdings *h);

/* DEVICE, RANGE or MEMORY; others are not looked at. *h is NULL at first. 0 or -ENOMEM. */
int holdings_take(struct holdings **h, const struct event *ev);

/* The thread has ended, and with it the ranges that it began. h may be NULL. */
void holdings_exit(struct holdings *h, uint32_t tid);

/* All of it; ranges, those further out first, and memory as what began before (EVENT_AGAIN). 0 or to's
 * error. h may be NULL. */
int holdings_put(const struct holdings *h, uint32_t pid, const struct event_sink *to);

#endif

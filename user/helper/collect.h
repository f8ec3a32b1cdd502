/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From CUPTI's buffers to the ring: which kinds are enabled, what each record becomes, what CUPTI
 * lost, how its clock relates to the host's. One for the process, since CUPTI's
 * callbacks carry no pointer of ours. Knows nothing of why it is armed or drained: helper/agent
 * decides.
 */
#ifndef HELPER_COLLECT_H
#define HELPER_COLLECT_H

#include <stdint.h>

#include "helper/cupti.h"
#include "helper/names.h"
#include "helper/ring.h"

/* Makes buffers. 0 or -errno. */
int collect_open(struct helper_ring *r, struct names *names);

/* Is another client subscribed? 1: yes. 0: no, we are, or it is unknown. */
int collect_is_occupied(const struct cupti *c);

/* Registers our callbacks and enables the activity kinds that the ring's kinds need. 0, or
 * CUPTI's code; *what: the function that failed. A partial arming is drained again. */
int collect_arm(const struct cupti *c, uint32_t kinds, const char **what);

/* While armed: enables the kinds that a further reader needs, if CUPTI has them. */
void collect_more(uint32_t kinds);

/* CUPTI keeps nodes of graphs in buffers on the device that it does not use again (after 25 million
 * records their times are 0). Before, all is disabled and enabled anew, and the time between sent
 * as unseen; if that does not help, graphs are recorded whole from then on. */
void collect_renew(uint32_t kinds);

/* Buffers that CUPTI has requested from us or returned so far. */
uint64_t collect_arrivals(void);

/* Another client has the callbacks now: the enabled kinds are its own too, and stay enabled. */
void collect_stand_down(void);

/* Delivers records that CUPTI has completed, and its counts of dropped records. */
void collect_flush(uint32_t flag);

/* Device activity in [since, until) was not recorded. */
void collect_unseen(uint64_t since_ns, uint64_t until_ns);

/* Disables everything, after delivering what CUPTI holds. With CUPTI_FLUSH_FORCED, records that
 * CUPTI still keeps are lost, and sent as lost. */
void collect_drain(uint32_t flag);

/* Writes to the ring's head how many bytes of earlier records CUPTI keeps; any thread, at any
 * time. */
void collect_note_kept(uint64_t before_ns);

/* In a forked child: buffers that CUPTI returns there are ignored. */
void collect_forget(void);

/* A reading of CUPTI's clock between two of the host's: the closest of a few. */
void collect_clock(void);

#endif

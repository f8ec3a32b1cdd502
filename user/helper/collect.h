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

/* Registers our callbacks and enables what the ring's kinds need. 0, or CUPTI's code; *what: the
 * function that failed. Partly armed is drained again. */
int collect_arm(const struct cupti *c, uint32_t kinds, const char **what);

/* While armed: what a further reader's kinds need, if CUPTI has it. */
void collect_more(uint32_t kinds);

/* CUPTI keeps nodes of graphs in buffers on the device that it does not use again (after 25 million
 * records their times are 0). Before, all is disabled and enabled anew, and the time between sent
 * as unseen; if that does not help, graphs are recorded whole from then on. */
void collect_renew(uint32_t kinds);

/* Buffers that CUPTI has asked us for or given back so far. */
uint64_t collect_arrivals(void);

/* Another client has the callbacks now: what is enabled is theirs too, and is left as it is. */
void collect_stand_down(void);

/* Hands on what CUPTI has completed, and what it dropped since the last time. */
void collect_flush(uint32_t flag);

/* What devices did in [since, until) was not recorded. */
void collect_unseen(uint64_t since_ns, uint64_t until_ns);

/* Disables everything; what CUPTI holds is handed on first. With CUPTI_FLUSH_FORCED what it keeps
 * all the same is lost, and sent as lost. */
void collect_drain(uint32_t flag);

/* Writes to the ring's head how much CUPTI keeps of what was recorded before; any thread, at any
 * time. */
void collect_note_kept(uint64_t before_ns);

/* In a forked child: what CUPTI gives us there is ignored. */
void collect_forget(void);

/* A reading of CUPTI's clock between two of the host's: the closest of a few. */
void collect_clock(void);

#endif

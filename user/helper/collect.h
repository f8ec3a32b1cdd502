/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From CUPTI's buffers to the ring: which kinds are enabled, what each record becomes, what CUPTI
 * lost, how its clock relates to the host's. One for the process, since CUPTI's callbacks carry no
 * pointer of ours. Knows nothing of why it is armed or drained: helper/agent decides.
 */
#ifndef HELPER_COLLECT_H
#define HELPER_COLLECT_H

#include <stdint.h>

#include "helper/names.h"
#include "helper/ring.h"

/* Makes buffers. 0 or -errno. */
int collect_open(struct helper_ring *r, struct names *names);

enum collect_result { COLLECT_READY, COLLECT_OCCUPIED, COLLECT_FAILED, COLLECT_TOO_EARLY };

/* Finds libcupti and asks it for another client. OCCUPIED: one is subscribed; the ring's head
 * names it. FAILED: there is no libcupti; the head has the reason. TOO_EARLY: CUPTI must not be
 * called before the driver is initialised; if `waits`, else that is FAILED, too. */
enum collect_result collect_prepare(bool waits);

/* After that: registers our callbacks and enables the activity kinds that the ring's kinds need;
 * starts: CUDA does, on this thread (whole graphs can be had then only). READY: works are recorded
 * since *since_ns; or FAILED, as above: a partial arming is drained again. */
enum collect_result collect_arm(uint32_t kinds, bool starts, uint64_t *since_ns);

/* While armed, again and again: enables the kinds that a further reader needs, if CUPTI has them;
 * delivers the records that CUPTI has completed and its counts of dropped ones; reads its clock.
 * 0; or another client has the callbacks now: since when, at the earliest. The enabled kinds are
 * its own too, and stay enabled. */
uint64_t collect_step(uint32_t kinds);

/* Device activity in [since, until) was not recorded. */
void collect_unseen(uint64_t since_ns, uint64_t until_ns);

/* Disables everything, after delivering what CUPTI holds; nothing if another client has the
 * callbacks now. What runs is not waited for long. At the end of the process: in any case, and
 * records that CUPTI still keeps are lost, and sent as lost. */
void collect_drain(bool is_end);

/* Writes to the ring's head how many bytes of earlier records CUPTI keeps; any thread, at any
 * time. */
void collect_note_kept(uint64_t before_ns);

/* In a forked child: buffers that CUPTI returns there are ignored. */
void collect_forget(void);

/* A reading of CUPTI's clock between two of the host's: the closest of a few. */
void collect_clock(void);

/* The client of CUPTI whose library is loaded, or one linked with libcupti; NULL: none. Cheap to
 * call again as long as nothing is loaded. */
const char *cupti_client_expected(void);

#endif

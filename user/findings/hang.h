/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that do not go on. A job is the processes with ranks (EVENT_IDENTITY) and the same job name;
 * it hangs when, up to the end, each rank has been for HANG_NS in a call that waits for its device
 * or for other ranks, but those that all wait for. These are, the first of:
 *
 *   ranks that are stopped or have ended      the others wait for what they have not launched; also
 *   or are in no call                         in one of class init or compile
 *   ranks in a collective                     or set one up, where others wait for their
 *                                             devices: they have not launched it yet
 *   ranks with the fewest collectives         where all began in the session
 *   none                                      a collective or a device hangs itself
 *
 * Example: ranks 0, 2, 3 are in cudaStreamSynchronize for 2.9 s, rank 1 in ncclAllReduce: they wait
 * for rank 1. Where two processes have the same rank and both make calls, there are several jobs
 * without a name: nothing is said of them.
 */
#ifndef FINDINGS_HANG_H
#define FINDINGS_HANG_H

#include "findings/findings.h"

#define HANG_NS 1000000000ull
#define HANG_LONG_NS (10 * HANG_NS)	/* or half of the session: it comes before all else */

/* Appends a finding for each job that hangs. 0 or -ENOMEM. */
int hang_find(struct findings *f, const struct snapshot *snap);

#endif

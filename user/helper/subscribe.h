/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our subscription to CUPTI, while a reader asks for it: then the nodes of graphs are told as they are
 * made. CUPTI has one subscriber, and a profiler that is refused once may stay without events for good:
 * so none is taken where somebody else may come to use CUPTI (helper/occupant), and it is given back
 * when such a one is loaded. What is asked for and not done is said in the ring's head. Knows nothing
 * of activity records.
 */
#ifndef HELPER_SUBSCRIBE_H
#define HELPER_SUBSCRIBE_H

#include <stdbool.h>

#include "helper/cupti.h"
#include "helper/ring.h"

void subscribe_open(struct helper_ring *r);	/* where nodes go */

/* Takes it, keeps it or gives it back; to be called again while it is wanted. Not held: who gave it back,
 * or could not have it, does without as long as it goes on to be wanted. */
void subscribe_follow(const struct cupti *c, bool wanted);

bool subscribe_is_held(void);

void subscribe_forget(void);	/* in a forked child: callbacks are nobody's */

#endif

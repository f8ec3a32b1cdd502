/* SPDX-License-Identifier: BSD-3-Clause */
/* Who else uses CUPTI in this process, and our own subscription to it. */
#ifndef HELPER_CUPTI_CLIENT_H
#define HELPER_CUPTI_CLIENT_H

#include <stdbool.h>

#include "helper/cupti.h"
#include "helper/ring.h"

/* Who else may be using CUPTI in this process, or come to: a guess by what is loaded, and called
 * one. */
const char *cupti_client_name(void);	/* "another CUPTI client" when nothing known is loaded */

/* The client whose library is loaded, or one that is linked with libcupti; NULL: none. As long as
 * nothing is loaded it is cheap to ask again. */
const char *cupti_client_expected(void);

/*
 * Our subscription to CUPTI, while a reader asks for it: then the nodes of graphs are sent as they
 * are made. CUPTI has one subscriber, and a profiler that is refused once may stay without events
 * for good: so none is taken where another client may come (see above), and it is given
 * back when such a one is loaded. The ring's head says why a reader's wish was refused. Knows
 * nothing of activity records.
 */
void subscribe_open(struct helper_ring *r);	/* where nodes go */

/* Takes it, keeps it or gives it back; to be called again while it is wanted. Not held: who gave it
 * back, or could not have it, does without as long as it goes on to be wanted. */
void subscribe_follow(const struct cupti *c, bool wanted);

bool subscribe_is_held(void);

void subscribe_forget(void);	/* in a forked child: callbacks are ignored */

#endif

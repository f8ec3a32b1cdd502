/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads of one process that others work for: PyTorch's backward pass runs in threads of its own,
 * while the thread that asked for it waits. Which one that was at a time, also later on.
 *
 *   A asks 10, A ends 30				at 15: A	35: none
 *   A asks 10, B asks 20, A ends 30, B ends 40	at 15: A	25, 35: unknown, none
 *   A asks 10, A asks 20, A ends 30, A ends 40	at 35: A (backward in backward)
 */
#ifndef JOIN_ASKERS_H
#define JOIN_ASKERS_H

#include <stdint.h>

#include "base/ring.h"

#define ASKERS_HISTORY_MAX 65536	/* changes */

struct askers_change {
	uint64_t ns;
	uint32_t tid;			/* since then; 0: none, or it is not known which */
};

struct askers {				/* start zeroed */
	RING(struct askers_change) changes;
	uint32_t tid, n;		/* n ask now, the first was tid */
	uint32_t several;		/* and another one, until none asks */
};

/* 0 or -ENOMEM, as the next one. */
int askers_begin(struct askers *a, uint32_t tid, uint64_t ns);
int askers_end(struct askers *a, uint64_t ns);

uint32_t askers_at(const struct askers *a, uint64_t ns);	/* 0: none, or not known */

/* Nothing will be looked up of before ns. */
void askers_settle(struct askers *a, uint64_t ns);
void askers_free(struct askers *a);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of the functions that CUPTI records says something to the join, by their names alone. Knows
 * nothing of processes and times.
 */
#ifndef JOIN_API_ROLES_H
#define JOIN_API_ROLES_H

#include <stdint.h>

#include "catalog/cbid.h"
#include "event/event.h"

#define API_LAUNCH 0x01		/* it gives work */
#define API_KERNEL 0x02		/* ... always: not only where there are bytes to copy, or nodes of a graph */
#define API_CAPTURE 0x04	/* a stream captures from now on */
#define API_CAPTURED 0x08	/* ... no more */
#define API_SYNC 0x10		/* it returns when all that was launched in the thread's context is over */

struct api_roles {
	uint8_t of[2][CBID_MAX];	/* the runtime's functions, the driver's */
};

void api_roles_init(struct api_roles *r);

/* API_* of a record, 0 for other functions. One that failed gives no work, and begins nothing. */
unsigned int api_roles_get(const struct api_roles *r, const struct event *api);

#endif

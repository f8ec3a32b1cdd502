/* SPDX-License-Identifier: BSD-3-Clause */
/* The buckets of the thread book: classes of calls, reasons to be off the CPU, and what could not be
 * seen. */
#ifndef LEDGER_THREAD_BUCKET_H
#define LEDGER_THREAD_BUCKET_H

#include <stdbool.h>

#include "event/event.h"

enum bucket {
	BUCKET_CLASS_0 = 0,		/* ... CLASS_END - 1: enum call_class */
	BUCKET_LOST = CLASS_END,	/* events were lost just there */
	BUCKET_UNARMED,			/* probes were not attached */
	BUCKET_UNKNOWN,			/* a call that began before may have returned already */
	BUCKET_OFF_0,			/* ... + OFF_REASON_END - 1: enum off_reason; outside calls */
	BUCKET_END = BUCKET_OFF_0 + OFF_REASON_END,
	BUCKET_GPUPROF = BUCKET_END,	/* of sums alone: what was taken from others (ledger/own_cost.h) */
	BUCKET_SUM_END
};
const char *bucket_name(unsigned int bucket);

static inline bool bucket_is_off(unsigned int bucket)
{
	return bucket >= BUCKET_OFF_0 && bucket < BUCKET_END;
}

/* Of a reason that is not OFF_CALL. */
static inline unsigned int bucket_of_off(uint8_t reason)
{
	return reason == OFF_UNTOLD ? (unsigned int)BUCKET_LOST : (unsigned int)BUCKET_OFF_0 + reason;
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The model of a session: takes events in arrival order, keeps per-function statistics and one
 * time book per thread, all in bounded memory (grows with threads, functions and shapes, never
 * with events). Books are exact: the sum of a thread's buckets is its wall time, to the
 * nanosecond, whatever the events are.
 *
 * Used by one thread (the engine). Tables are made from it by ledger/tables.h.
 */
#ifndef LEDGER_MODEL_H
#define LEDGER_MODEL_H

#include "event/event.h"
#include "ledger/hist.h"

/* Buckets of the thread book: the classes of calls, and what could not be seen. */
enum bucket {
	BUCKET_CLASS_0 = 0,		/* ... CLASS_END - 1: enum call_class */
	BUCKET_LOST = CLASS_END,	/* events were lost just there */
	BUCKET_UNARMED,			/* probes were not attached */
	BUCKET_END
};
const char *bucket_name(unsigned int bucket);

struct model;

struct model *model_new(const struct funcs *funcs);	/* funcs may grow meanwhile; NULL + errno */
void model_free(struct model *m);

/* One event; what contradicts itself is counted (model_counts) and never trusted. 0 or -ENOMEM. */
int model_push(struct model *m, const struct event *ev);

/* Where the books stand: the session's end, else the latest time that any event named. */
uint64_t model_now(const struct model *m);

#endif

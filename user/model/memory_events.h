/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls and CUPTI's records of memory, into the book of each process (facts/memory_book.h).
 */
#ifndef MODEL_MEMORY_EVENTS_H
#define MODEL_MEMORY_EVENTS_H

#include "facts/consumer.h"

/* CALL, CUPTI_CALL, MEMORY, DEVICE, PROCESS, WATERMARK. */
extern const struct consumer memory_consumer;

void memory_note_unseen(const struct model *m, struct process *p, const struct event *ev);
bool memory_is_incomplete(const struct model *m, const struct process *p);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What calls and CUPTI's records say of memory, into the book of each process
 * (facts/memory_book.h). Where nothing else is said functions return 0 or -ENOMEM.
 */
#ifndef LEDGER_MEMORY_EVENTS_H
#define LEDGER_MEMORY_EVENTS_H

#include "event/event.h"

struct model;
struct process;

int memory_note_call(struct model *m, struct process *p, const struct event *ev);
/* A call that worked, of which no more is known. 0 or -ENOMEM. */
int memory_note_told(struct model *m, struct process *p, uint16_t func, uint64_t end_ns);
int memory_push(struct model *m, const struct event *ev);
int memory_expect_records(struct model *m, uint32_t pid);	/* a helper tells of it */
int memory_watermark(struct model *m, uint64_t ns);
int memory_exec(struct process *p, uint64_t ns);	/* all that it had is gone */
void memory_cut(struct model *m);
void memory_note_unseen(const struct model *m, struct process *p, const struct event *ev);
bool memory_is_incomplete(const struct model *m, const struct process *p);

#endif

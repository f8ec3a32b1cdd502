/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a process's device activity is unknown, and how many calls launched meanwhile without
 * recorded works: earlier ones are in timelines, others come later.
 */
#ifndef LEDGER_VISIBILITY_H
#define LEDGER_VISIBILITY_H

#include "facts/consumer.h"

struct model;
struct process;
struct interval;
struct thread;

/* UNSEEN. */
extern const struct consumer visibility_consumer;
/* Its ring has reported its end: the outcome of later launches is unknown. 0 or -ENOMEM. */
int unseen_note_end(struct model *m, struct process *p);
/* of t alone */
int unseen_note_exit(struct model *m, struct process *p, const struct thread *t);
/* A call of the thread. */
void unseen_note_call(struct model *m, const struct thread *t, const struct interval *call,
		      unsigned int class);

#endif

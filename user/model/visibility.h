/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a process's device activity is unknown, and how many calls launched meanwhile without
 * recorded works: earlier ones are in timelines, others come later. When processes ended, after
 * which all of it is unknown.
 */
#ifndef MODEL_VISIBILITY_H
#define MODEL_VISIBILITY_H

#include "facts/consumer.h"

struct model;
struct process;
struct interval;
struct thread;

/* UNSEEN. */
extern const struct consumer visibility_consumer;
/* EXIT, IDENTITY: when threads and processes ended. */
extern const struct consumer ends_consumer;
/* A call of the thread. */
void unseen_note_call(struct model *m, const struct thread *t, const struct interval *call,
		      unsigned int class);

#endif

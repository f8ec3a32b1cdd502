/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads and processes that ended: threads become one of their process, processes one of the
 * session (ledger/model_processes.h says which and when). Functions return 0 or -ENOMEM.
 */
#ifndef LEDGER_RETENTION_H
#define LEDGER_RETENTION_H

#include <stdbool.h>

#include "event/event.h"

struct model;
struct process;
struct thread;

/* A thread has ended: threads that ended more than JOIN_WINDOW_NS ago forget their timelines, and
 * where there are more than MODEL_THREADS they become one for each process. is_process: so has its
 * process, and those that ended become one where model_processes.h says so. 0 or -ENOMEM. */
int retention_age(struct model *m, bool is_process);

/* EXIT of a thread of it, IDENTITY: when all of it has ended, as far as these tell. 0 or -ENOMEM. */
int retention_note_exit(struct model *m, const struct thread *t, const struct event *ev);
int retention_note_fact(struct model *m, struct process *p, const struct event *ev);

#endif

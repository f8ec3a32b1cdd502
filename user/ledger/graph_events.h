/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graphs of the model's processes: which call says something of them, and of which captured
 * call a kernel is (facts/kernel_configs.h). Functions return 0 or -ENOMEM.
 */
#ifndef LEDGER_GRAPH_EVENTS_H
#define LEDGER_GRAPH_EVENTS_H

#include "join/join.h"

struct model;
struct thread;

/* One that returned; a work; NODE. */
int graph_note_call(struct model *m, struct thread *t, const struct event *ev);
int graph_note_work(struct model *m, const struct event *work, const struct launch *launch);
int graph_push_node(struct model *m, const struct event *ev);

int graph_settle(struct model *m, uint64_t horizon_ns);	/* all before has come */

#endif

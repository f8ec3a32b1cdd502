/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The graphs of the model's processes: which calls concern them, and the captured call of a
 * kernel (facts/kernel_configs.h).
 */
#ifndef MODEL_GRAPH_EVENTS_H
#define MODEL_GRAPH_EVENTS_H

#include "facts/consumer.h"

/* NODE, PROCESS, WATERMARK; works. */
extern const struct consumer graphs_consumer;

struct model;
struct thread;

/* A call that returned. 1: it was captured into a graph; 0 or -ENOMEM. */
int graphs_note_call(struct model *m, struct thread *t, const struct event *call);

/* Kernels by the call that launched or captured them; empty without model_use_launches. */
struct kernel_configs;
const struct kernel_configs *graphs_configs(const struct consumer_states *s);

#endif

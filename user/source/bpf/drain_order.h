/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which order the records of two rings are delivered: a thread's GP_TASK_NEW before its first
 * call, its GP_TASK_EXIT after its last one and before what is told of who takes its number, and a
 * mark once everything before it is through.
 * Works on any two rings; knows nothing of threads or queues.
 */
#ifndef SOURCE_BPF_DRAIN_ORDER_H
#define SOURCE_BPF_DRAIN_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source/bpf/drain_queue.h"
#include "source/bpf/ring.h"
#include "gpuprof/event.h"

struct drain_waiting {
	struct gp_task *v;
	size_t n, cap;
};

struct drain_order {
	struct ring *calls, *tasks;
	int (*put)(void *ctx, enum drain_item_kind kind, const void *data, size_t len);
	void *ctx;

	/* From here on it starts zeroed. */
	struct drain_waiting held,	/* exits (and births of their numbers' next owners) that may be
					 * delivered after this round's calls */
		fresh;			/* found since the last complete round */
	size_t births;			/* in both: what is no exit */
	uint64_t mark_ns;		/* when that round began; 0: there was none */
};

/* Delivers what the rings hold now. False: a record is still being written, or put failed; the next
 * round goes on there. An exit needs two complete rounds. */
bool drain_order_round(struct drain_order *o);
void drain_order_free(struct drain_order *o);

#endif

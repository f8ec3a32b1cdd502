/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The consumers of a model's events, one a file, in the order of model.c's table, and the few
 * functions by which they and snapshots use each other.
 */
#ifndef MODEL_CONSUMERS_H
#define MODEL_CONSUMERS_H

#include "base/intervals.h"
#include "facts/consumer.h"

struct thread;

/* thread_events.c: CALL, ENTER, OPEN, LEFT, INSIDE, GONE, TAIL, EXIT, OFF, CUPTI_CALL, STOP; for
 * the others only those that books took. And of OFF, time off the CPU in this interval: its state
 * begins with a struct offcpu. */
extern const struct consumer threads_consumer, offcpu_consumer;

/* op_events.c: OP, CALL; works. Its state begins with a struct ops. */
extern const struct consumer ops_consumer;

/* graph_events.c: NODE, PROCESS, WATERMARK; works. Its state begins with a struct kernel_configs:
 * kernels by the call that launched or captured them, empty without model_use_launches. */
extern const struct consumer graphs_consumer;

/* A call that returned. 1: it was captured into a graph; 0 or -ENOMEM. */
int graphs_note_call(struct model *m, struct thread *t, const struct event *call);

/* memory_events.c: CALL, CUPTI_CALL, MEMORY, DEVICE, PROCESS, WATERMARK. */
extern const struct consumer memory_consumer;

/* May bytes be wrong, because records of the process's memory were lost? */
bool memory_is_incomplete(const struct model *m, const struct process *p);

/* visibility.c: UNSEEN; and EXIT, IDENTITY: when threads and processes ended. */
extern const struct consumer visibility_consumer, ends_consumer;

/* A call of the thread; one of the process that returned before the session. */
void unseen_note_call(struct model *m, const struct thread *t, const struct interval *call,
		      unsigned int class);
void unseen_note_before(struct process *p, const struct event *ev, unsigned int class);

/* range_events.c: RANGE, EXIT, STOP; works. The NVTX ranges of processes (facts/ranges.h). */
extern const struct consumer ranges_consumer;

/* device_events.c: DEVICE, SCHED, SAMPLE, USER, FAULT, WATERMARK; works. */
extern const struct consumer devices_consumer;

/* A call that was pushed into t's book. */
struct noted_call {
	uint64_t cursor_ns;	/* of the book, before */
	uint8_t class;		/* enum bucket */
	bool captured;		/* into a graph */
};

/* It goes into t's timeline, and to the records that wait for it. */
void device_note_call(struct model *m, struct thread *t, const struct event *ev,
		      const struct noted_call *call);

/* CUPTI's record of a call goes to the join, with the call; where no call ends later, it may
 * come yet. */
int device_push_api(struct model *m, const struct event *ev);

#endif

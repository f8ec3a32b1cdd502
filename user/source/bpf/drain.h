/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drain: one thread that moves records from the BPF rings into a bounded queue, and does
 * nothing else, so that a slow engine or disk never lets the rings overflow before 16 MiB more
 * have been used up. When the queue is full it waits, and BPF counts what the rings cannot take.
 *
 * Order it keeps: a thread's GP_TASK_NEW comes before its first call and its GP_TASK_EXIT after
 * its last one, although they travel in another ring.
 */
#ifndef SOURCE_BPF_DRAIN_H
#define SOURCE_BPF_DRAIN_H

#include "source/bpf/drain_queue.h"

struct drain;

struct drain *drain_start(int calls_fd, int tasks_fd);	/* NULL + errno */

/* Readable while chunks wait. */
int drain_fd(const struct drain *d);

/* The engine: the oldest chunk, or NULL. Return each one with drain_release. */
struct drain_chunk *drain_take(struct drain *d);
void drain_release(struct drain *d, struct drain_chunk *c);

/* After the probes are detached: lets the thread empty the rings and end. `taken` must take and
 * release all chunks that wait; it is called until nothing is left, so no ring is too large. */
void drain_finish(struct drain *d, void (*taken)(void *ctx), void *ctx);
void drain_free(struct drain *d);

#endif

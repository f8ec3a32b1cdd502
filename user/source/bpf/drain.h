/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The drain: one thread that only moves records from the BPF rings into a bounded queue, so that
 * a slow engine or disk never lets the rings overflow before 16 MiB more have been used up. When
 * the queue is full it waits, and BPF counts the records that do not fit into the rings.
 *
 * Order it keeps: a thread's GP_TASK_NEW comes before its first call and its GP_TASK_EXIT after
 * its last one, although they travel in another ring.
 */
#ifndef SOURCE_BPF_DRAIN_H
#define SOURCE_BPF_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "event/event.h"
#include "gpuprof/event.h"
#include "source/bpf/decode.h"

/*
 * The live source: drained records -> events, pushed into a sink in arrival order, with
 * everything that arrived counted by kind. Used by the engine thread.
 */

struct drain;

struct bpf_source {
	struct drain *drain;
	const struct decoder *decoder;
	struct event_sink sink;
	uint64_t received[GP_KINDS];	/* records, by kind */
	uint64_t skipped;		/* kinds this version does not know */
	uint64_t invalid;		/* malformed: a bug of ours or a newer BPF side */
	int err;			/* the sink's first error; nothing is pushed after it */
};

/* Takes the waiting records and pushes them. Returns l->err. */
int bpf_source_pump(struct bpf_source *l);

/* One state of loader_each_state: EVENT_TAIL, then EVENT_OPEN if a call is open. */
void bpf_source_push_state(struct bpf_source *l, const void *rec, size_t len, uint64_t now_ns);

/* One reading of loader_each_off, as far as until_ns. */
void bpf_source_push_off(struct bpf_source *l, const void *rec, size_t len, uint64_t until_ns);

/* One of loader_each_op, as far as until_ns. */
void bpf_source_push_op(struct bpf_source *l, const void *rec, size_t len, uint64_t until_ns);

struct drain *drain_start(int calls_fd, int tasks_fd);	/* NULL + errno */
int drain_fd(const struct drain *d);	/* readable while records wait for bpf_source_pump */

/* Returns when all records that were complete at its call have been taken, or after CATCH_UP_MS.
 * `taken` must take and release all chunks that wait. */
#define CATCH_UP_MS 100
void drain_catch_up(struct drain *d, void (*taken)(void *ctx), void *ctx);

/* After the probes are detached: lets the thread empty the rings and end. `taken` must take and
 * release all chunks that wait; it is called until nothing is left, so no ring is too large. */
void drain_finish(struct drain *d, void (*taken)(void *ctx), void *ctx);
void drain_free(struct drain *d);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stacks of calls: copies (struct gp_stack, from BPF) and the Python functions that they stand
 * on (gpuprof/python.h) in, frames with names out, as EVENT_FRAME and EVENT_STACK. Each copy is
 * unwound once, with the mappings of its process when it was made; files that processes map are
 * kept open, so that names can be read after they have exited.
 *
 * One thread at a time. Bounded: STACKS_FRAMES_MAX frames, STACKS_MAX stacks; the rest is sent
 * as unknown.
 */
#ifndef STACK_CALLSTACKS_H
#define STACK_CALLSTACKS_H

#include <sys/types.h>

#include "event/event.h"
#include "gpuprof/control.h"
#include "gpuprof/event.h"

struct callstacks;

/* set_code is called with the ranges that ids of a process's stacks are computed over
 * (loader_set_code). */
typedef void (*callstacks_code_fn)(void *ctx, pid_t pid, const struct gp_code *code);
struct callstacks *callstacks_new(callstacks_code_fn set_code, void *ctx);	/* NULL + errno */
void callstacks_free(struct callstacks *cs);

/* Events of processes. A process is known from its first mapping or stack on. */
/* it maps something new: read at once */
int callstacks_mapped(struct callstacks *cs, pid_t pid);
void callstacks_exec(struct callstacks *cs, pid_t pid, uint64_t time_ns);
void callstacks_exit(struct callstacks *cs, pid_t pid, uint64_t time_ns);
bool callstacks_knows(const struct callstacks *cs, pid_t pid);

/* One record of the ring. 0 (also for a malformed one, which is counted) or -ENOMEM. */
int callstacks_take(struct callstacks *cs, const void *rec, size_t len);

/* Sends all that is new since the last call. 0, -ENOMEM or to's error. */
int callstacks_send(struct callstacks *cs, const struct event_sink *to);

struct callstacks_counts {
	/* records, by kind; added to atomically, for readers in other threads */
	uint64_t received[GP_KINDS];
	uint64_t malformed;
	uint64_t over;		/* stacks over the limits */
};
const struct callstacks_counts *callstacks_counts(const struct callstacks *cs);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes of a model, by their places, as of now. A part of model/model.h. */
#ifndef MODEL_MODEL_PROCESSES_H
#define MODEL_MODEL_PROCESSES_H

#include <stdbool.h>

#include "base/vec.h"
#include "facts/call_stats.h"

struct model;

struct model_child {		/* a child that was seen, not followed */
	uint32_t pid;
	uint64_t start_ns;
	char comm[16];		/* "": unknown */
};

#define MODEL_CHILDREN 64	/* named; more are only counted */

/*
 * Processes that exited keep rows of their own while they are few and small: up to MODEL_ENDED of
 * them, of MODEL_ENDED_BYTES in all; half of these are the latest, a quarter those with a failed
 * call, the rest those that lived longest. Where kernels have too many names, fewer are. All others
 * are one process that stands for them, number MODEL_PAST_PID (never a real one): their calls,
 * threads, devices, ranges and memory are added up, their identities and findings are forgotten.
 * Nothing is folded less than JOIN_WINDOW_NS after it exited, unless they are very many.
 *
 * Example; 700 processes, each made 10 calls of 1 us, lived 1 ms and ended:
 *
 *   at least 256 of 10 calls and 1 ms of a thread; one "[444 ended]", past 444, of 4440 calls
 * and 444 ms
 */
#define MODEL_ENDED 256
#define MODEL_ENDED_BYTES (6u << 20)
#define MODEL_PAST_PID UINT32_MAX

struct model_process {
	uint32_t process;	/* its handle; MODEL_PAST_PID: it stands for others */
	uint32_t pid;
	char comm[16];		/* "": unknown */
	const char *cmdline;	/* NULL: unknown */
	uint64_t start_ns;	/* 0: unknown. Of many the first */
	uint64_t exec_ns;	/* it executed its program; 0: was not seen */
	/* it exited, not before its threads; 0: goes on, or unknown. Of many the last */
	uint64_t exit_ns;
	uint64_t past;		/* it stands for so many that ended; 0: it is one */
	uint64_t children;	/* seen */
	uint64_t missing;	/* launches without a record of CUPTI, though it recorded */
	VEC(struct model_child) child;	/* named, <= MODEL_CHILDREN */
	struct call_stats calls;
};
/* exited ones have rows of their own only while there are not more */
#define MODEL_THREADS 8192

/*
 * At most so many processes, threads beside processes' first ones, and devices of processes have
 * books, living or not; events of more are in none, and are counted (model_counts.unfollowed). Far
 * beyond what a host has: only so that a hostile capture's memory is bounded.
 */
#define MODEL_PROCESSES_MAX 16384
#define MODEL_THREADS_MAX 65536
#define MODEL_DEVICES_MAX 16384	/* each process reports all that it may use */

size_t model_processes(const struct model *m);
const struct model_process *model_process(const struct model *m, size_t i);

/* A thread that has made a call and has not ended. */
struct model_driver {
	uint32_t pid, tid;
	uint64_t number;	/* of no other thread of the model */
};
/* From *at on, which goes on; 0 begins. False: there is none left. */
bool model_next_driver(const struct model *m, size_t *at, struct model_driver *out);

/* not all of its threads were seen to exit */
bool model_may_go_on(const struct model *m, size_t i);

#endif

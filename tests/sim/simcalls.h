/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside simcalls: what finds a function (linked, or opened with dlopen), and what makes one call
 * of it.
 */
#ifndef SIMCALLS_H
#define SIMCALLS_H

#include <stdint.h>

#include "cuda_api.h"
#include "cudart_api.h"

enum { SIMCALLS_KEPT = 4096 };

/* Handles made by calls and not given back yet. */
struct simcalls_stack {
	void *handles[SIMCALLS_KEPT];
	unsigned int depth;
};

/* What a thread needs around the calls it makes; prepared as far as its functions want it. */
struct simcalls_caller {
	cudaStream_t stream;
	cudaEvent_t before, after;
	cudaGraphExec_t graph;
	void *memory, *host;
	struct simcalls_stack memories, async_memories, host_memories, streams, events;
	uint64_t made; /* of the present function */
};

struct simcalls_function;

/* simcalls_linked.c, simcalls_dlopen.c: a function of the runtime or the simulation, or NULL. */
void *simcalls_symbol(const char *name);
extern const int simcalls_takes_path;
int simcalls_open(const char *path); /* simcalls-dl: 0, or -1 after a message */

/* simcalls_calls.c */
const struct simcalls_function *simcalls_find(const char *name); /* NULL: not offered */
void simcalls_list(void); /* all names, on stdout */
int simcalls_call(struct simcalls_caller *caller, const struct simcalls_function *function);

/* simcalls_prepare.c */
int simcalls_load(void); /* before there are threads; 0, or -1 after a message */
void simcalls_prepare(struct simcalls_caller *caller, const struct simcalls_function *function);
int simcalls_hang(
	struct simcalls_caller *caller); /* never returns on a simulated device, else -1 */
void simcalls_init_runtime(void);
void simcalls_forget(void); /* what was called so far is not part of the truth */

#endif

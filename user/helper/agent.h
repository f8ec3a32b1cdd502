/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper's threads, and another tool's injection, which the user had configured before ours:
 * CUDA loads only one. */
#ifndef HELPER_AGENT_H
#define HELPER_AGENT_H

#include <stddef.h>

/* Loads the library that GPUPROF_CHAIN_INJECTION names and calls its InitializeInjection. Writes
 * the result to `out`: "" without such a variable. */
void agent_load_chained(char *out, size_t size);

/* A thread that is detached and blocks all signals, which are the application's. 0 or an errno. */
int thread_start(void *(*run)(void *), void *ctx);

#endif

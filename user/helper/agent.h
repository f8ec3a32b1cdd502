/* SPDX-License-Identifier: BSD-3-Clause */
/* Another tool's injection, which the user had asked for before us: CUDA loads only one. */
#ifndef HELPER_AGENT_H
#define HELPER_AGENT_H

#include <stddef.h>

/* Loads what GPUPROF_CHAIN_INJECTION names and calls its InitializeInjection. What became of it is
 * written to `out`: "" if none was asked for. */
void agent_load_chained(char *out, size_t size);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiler of the program's own, in a library of its own (client_profiler.c). */
#ifndef CLIENT_H
#define CLIENT_H

#include <stdbool.h>
#include <stdint.h>

bool profiler_choose(const char *style); /* "torch-2.11" unless chosen; false: there is none */
bool profiler_begin(void);		/* a window; false: it cannot, now and for ever */
uint64_t profiler_end(bool teardown);	/* how many kernels it saw that began since */

#endif

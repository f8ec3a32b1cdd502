/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX, version 3: the application's ranges and marks, in each library that has its own copy of it.
 * Handlers run on the application's threads: no lock, no allocation, and next to nothing while
 * no reader wants ranges. Knows nothing of CUDA.
 */
#ifndef HELPER_NVTX_H
#define HELPER_NVTX_H

#include <stdint.h>

#include "helper/names.h"
#include "helper/ring.h"

typedef const void *(*nvtx_export_fn)(uint32_t table);

/* Where ranges go; before the first nvtx_attach. */
void nvtx_open(struct helper_ring *r, struct names *names);

/* Puts our handlers into one copy's table; as often as there are copies. */
void nvtx_attach(nvtx_export_fn export_table);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Between the file that allocates and the one that reports and adds up; all with the world's lock. */
#ifndef GPUSIM_MEMORY_H
#define GPUSIM_MEMORY_H

#include <stdio.h>

#include "gpusim_trace.h"

void gpusim_memory_report(const struct gpusim_trace_memory *memory);
void gpusim_memory_failed(enum gpusim_memory kind, int device);
void gpusim_memory_write_truth(FILE *file);

#endif

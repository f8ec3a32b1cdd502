/* SPDX-License-Identifier: BSD-3-Clause */
/* The helper comes into a process that runs already (include/gpuprof/load.h). */
#ifndef HELPER_LOAD_H
#define HELPER_LOAD_H

#include "gpuprof/load.h"

/* Unmaps what the loading thread ran from and used, once it has ended. */
void load_clean_up(const struct gp_load *l);

#endif

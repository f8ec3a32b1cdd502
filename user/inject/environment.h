/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables by which the CUDA driver and NVTX load the helper, for a process that is started
 * here (shared_file.h) or elsewhere.
 */
#ifndef INJECT_ENVIRONMENT_H
#define INJECT_ENVIRONMENT_H

#include <stdbool.h>

#define INJECT_CUDA "CUDA_INJECTION64_PATH"
#define INJECT_NVTX "NVTX_INJECTION64_PATH"	/* only one tool can have NVTX: the user's own */
/* what was in INJECT_CUDA: loaded after the helper */
#define INJECT_CHAIN "GPUPROF_CHAIN_INJECTION"

bool inject_is_ours(const char *path);	/* a helper's, of this gpuprof or another one */

/* What our own environment names in that variable, if it is another tool's; else NULL. */
const char *inject_foreign(const char *name);

/* In the child, before exec: sets what makes the CUDA driver load `file` and the helper wait for
 * its reader. An injection that the user has asked for is loaded after ours. */
void inject_environment(const char *file);

#endif

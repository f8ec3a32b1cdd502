/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a helper's head says of records that CUPTI keeps: buffers that it was given to fill and does not give
 * back, so that works are missing, some time between the first of them and the end. For helper_process.c only.
 */
#ifndef SOURCE_HELPER_HELPER_KEPT_H
#define SOURCE_HELPER_HELPER_KEPT_H

#include "source/helper/helpers.h"

/* kept_bytes and kept_ns of out, by its head, which is not trusted. alive_ns: when the process was seen last,
 * by its own clock. */
void helper_kept_note(struct helpers_status *out, uint64_t alive_ns);

#endif

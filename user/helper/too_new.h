/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a libcupti that was found does nothing: one that is newer than the driver refuses everything, with
 * a code that says nothing of it.
 */
#ifndef HELPER_TOO_NEW_H
#define HELPER_TOO_NEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* version as cuptiGetVersion says, 0: it did not; path of the library. Writes "libcupti 13.0 is newer than
 * the driver's CUDA 12.4" (GP_REASON_TOO_NEW). False: it is not, or nobody knows. */
bool too_new_say(char *out, size_t size, uint32_t version, const char *path);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that have let a seccomp filter be set on themselves after the helper came and before CUPTI began:
 * woken, the helper would load CUPTI, and what the filter does not let pass may end them. Such a helper
 * is left asleep.
 */
#ifndef SOURCE_HELPER_HELPER_CAGED_H
#define SOURCE_HELPER_HELPER_CAGED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "source/helper/helper_source.h"
#include "source/helper/helpers.h"

/* head is of its ring. False also where the kernel does not count filters (before Linux 5.9). */
bool helper_is_caged(const struct gp_ring_head *head, pid_t pid);

/* As helper_source_open; of one that is to be left asleep NULL and EPERM. */
struct helper_source *helper_open_uncaged(int fd, const struct helpers_process *who, uint32_t kinds,
					  uint64_t now_ns);

#endif

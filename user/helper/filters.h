/* SPDX-License-Identifier: BSD-3-Clause */
/* How many seccomp filters the process had when the helper came. */
#ifndef HELPER_FILTERS_H
#define HELPER_FILTERS_H

#include <stdint.h>

/* As gp_ring_head.filters has it. Only while libraries are loaded: under a later filter to ask could be the end. */
uint32_t filters_count(void);

#endif

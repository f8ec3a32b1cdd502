/* SPDX-License-Identifier: BSD-3-Clause */
/* The host's clock as the target sees it: the helper depends on nothing that base has. */
#ifndef HELPER_CLOCK_H
#define HELPER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

#endif

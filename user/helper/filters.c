// SPDX-License-Identifier: BSD-3-Clause
/* See the header. What was loaded under the same filters may be loaded on; gpuprof compares. */
#include "helper/filters.h"

#include "helper/status.h"

uint32_t filters_count(void)
{
	uint64_t n;

	/* The line is there since Linux 5.9. */
	return status_number("/proc/thread-self/status", "\nSeccomp_filters:", 10, &n) ? (uint32_t)n + 1 : 0;
}

// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "inject/room.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/num.h"
#include "gpuprof/ring.h"

/* user/helper/ring.c */
static uint64_t least_bytes(void)
{
	return num_max((uint64_t)sysconf(_SC_PAGESIZE), GP_RING_HEAD_BYTES) +
	       (uint64_t)GP_RING_SLOTS * GP_RING_BYTES_MIN;
}

bool inject_lacks_room(pid_t pid, char *why, size_t size)
{
	uint64_t least = least_bytes();
	struct rlimit limit;

	if (prlimit(pid, RLIMIT_FSIZE, NULL, &limit) || limit.rlim_cur == RLIM_INFINITY ||
	    limit.rlim_cur >= least)
		return false;
	snprintf(why, size, "it may have no file of more than %" PRIu64 " KiB, and the helper needs one of %"
		 PRIu64 " KiB in memory; raise `ulimit -f`", (uint64_t)limit.rlim_cur / 1024, least / 1024);
	return true;
}

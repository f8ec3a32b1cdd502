// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes that have let a seccomp filter be set on themselves after the helper came and before CUPTI began:
 * woken, the helper would load CUPTI, and what the filter does not let pass may end them. Such a helper
 * is left asleep.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/log.h"
#include "cli/session_blind.h"
#include "event/helper_source.h"
#include "probe/proc.h"

static unsigned long filters_now(pid_t pid)
{
	struct proc p;
	const char *text = proc_open(&p, pid) ? NULL : proc_read(&p, PROC_STATUS, NULL);
	const char *at = text ? proc_status_field(text, "Seccomp_filters") : NULL;
	unsigned long n = at ? strtoul(at, NULL, 10) : 0;

	proc_close(&p);
	return n;
}

bool caged_is(pid_t pid)
{
	unsigned long now = filters_now(pid);
	struct gp_ring_head head;

	return now && !helper_source_peek(pid, &head) && head.state == GP_HELPER_VIRGIN && head.filters &&
	       now > head.filters - 1;
}

int caged_say(struct session *s, pid_t pid)
{
	bool is_new;

	if (!map_put(&s->caged, (uint64_t)pid, &is_new))
		return -ENOMEM;
	if (is_new)
		log_warn("device times of process %d are not known: since its helper came it lets seccomp filter its "
			 "system calls, which may be its end when CUPTI begins; start it by gpuprof's -- CMD, then "
			 "CUPTI begins with CUDA", pid);
	return 0;
}

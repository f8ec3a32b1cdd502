// SPDX-License-Identifier: BSD-3-Clause
/* From procfs, while the process lives. */
#include "source/helper/helper_owner.h"

#include <errno.h>

#include "host/proc.h"

#define TICK_NS 10000000ull	/* of procfs, in which it began */

int helper_owner_read(pid_t pid, struct helper_owner *out)
{
	struct proc_stat stat;
	uint32_t inner = 0;
	const char *text;
	struct proc p;
	int err = proc_open(&p, pid);

	*out = (struct helper_owner){ 0 };
	text = err ? NULL : proc_read(&p, PROC_STATUS, NULL);
	if (text) {
		inner = proc_inner_pid(text);
		out->own_pid = inner ? inner : (uint32_t)pid;
	}
	/* Its number may be another's, too. The ring's clock may be another one. */
	if (inner && !proc_clock_offset_ns(pid)) {
		text = proc_read(&p, PROC_STAT, NULL);
		if (text && !proc_parse_stat(text, &stat))
			out->born_ns = stat.start_ns;
	}
	proc_close(&p);
	return err == -ESRCH ? err : 0;
}

bool helper_owner_has(const struct helper_owner *o, const struct gp_ring_head *head)
{
	if (!o->own_pid)
		return true;
	return head->pid == o->own_pid && head->start_ns + TICK_NS >= o->born_ns;
}

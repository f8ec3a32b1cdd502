// SPDX-License-Identifier: BSD-3-Clause
/*
 * Children that were forked from a process that uses CUDA, and run no program of their own: CUDA does
 * not work in them, and the helper does nothing there. That their calls fail only probes see. Who had
 * time to execute a program, and did not, is one.
 */
#include <errno.h>
#include <inttypes.h>

#include "base/log.h"
#include "session/session_blind.h"
#include "host/proc.h"

static bool is_forked(pid_t pid)
{
	struct proc_stat stat;

	return proc_stat_of(pid, &stat) && stat.forked;
}

static bool has_own_helper(const struct session *s, pid_t pid)
{
	struct helpers_status st;

	return helpers_find(s->helpers, pid, &st) && st.head.tag;
}

int forked_note(struct session *s, const struct helpers_status *parent, pid_t pid)
{
	struct session_forked *f = &s->forked;
	bool is_new;

	if (!parent->head.tag || parent->head.state == GP_HELPER_VIRGIN)
		return 0;
	if (!map_put(&f->looked_at, (uint64_t)pid, &is_new))
		return -ENOMEM;
	if (!is_new || has_own_helper(s, pid) || !is_forked(pid))
		return 0;
	if (!f->n++) {
		f->first = pid;
		f->parent = parent->pid;
	}
	return 0;
}

void forked_say(const struct session *s)
{
	const struct session_forked *f = &s->forked;

	if (!f->n)
		return;
	log_warn("process %d was forked by %d, which uses CUDA: if it calls CUDA too, that fails, and is not "
		 "seen without probes", f->first, f->parent);
	if (f->n > 1)
		log_warn("the same holds for %" PRIu64 " more processes", f->n - 1);
}

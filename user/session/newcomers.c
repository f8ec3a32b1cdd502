// SPDX-License-Identifier: BSD-3-Clause
/* See the header. Children that are forked later are followed by BPF. */
#include "session/newcomers.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "target/target.h"

struct joining {
	struct newcomers *n;
	void (*fn)(void *ctx, pid_t pid);
	void *ctx;
	unsigned int depth;
};

#define DEPTH_MAX 64		/* of children's children: a pid that is used again may make a ring */

bool newcomers_follow(struct newcomers *n, pid_t pid)
{
	int err = loader_follow(n->loader, pid);
	bool full = err == -E2BIG;

	if (err && !n->refused)
		log_warn("cannot follow process %d: %s; it and others that come are not measured; %s", pid,
			 full ? "too many are followed" : strerror(-err),
			 full ? "choose fewer than 65,536 processes, or give -a" :
				"see gpuprof doctor");
	n->refused |= err;
	return !err;
}

/* Followed before its children are looked for: who is forked meanwhile is followed by BPF. */
static int join(void *ctx, pid_t pid)
{
	struct joining *j = ctx;

	if (pid == getpid() || !newcomers_follow(j->n, pid))
		return 0;
	j->fn(j->ctx, pid);
	if (!j->n->below || j->depth == DEPTH_MAX)
		return 0;
	j->depth++;
	target_each_child(pid, join, j);
	j->depth--;
	return 0;
}

bool newcomers_take(struct newcomers *n, pid_t pid, void (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct joining j = { .n = n, .fn = fn, .ctx = ctx };
	struct proc p;
	bool meant;

	if (pid == getpid() || proc_open(&p, pid))
		return false;
	meant = selector_matches(n->selector, &p) == 1;
	proc_close(&p);
	if (!meant)
		return false;
	log_debug("process %d is chosen", pid);
	join(&j, pid);
	return true;
}

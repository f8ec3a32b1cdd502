// SPDX-License-Identifier: BSD-3-Clause
/*
 * Targets chosen by what is known of processes: who matches when the session begins, with everybody
 * below; who begins to match later joins them (newcomers.c). One watch of the host, and the set of
 * pids in BPF decides who is recorded.
 */
#include <errno.h>

#include "base/log.h"
#include "session/session_targets.h"
#include "target/selection.h"

/* Those that use a library now: they have a name in the report, calls or not. */
static int list_users(struct session *s, const struct selection *found)
{
	for (size_t i = 0; i < found->all.n; i++) {
		pid_t pid = found->all.v[i].pid, *slot;

		if (!targets_use_library(s, pid))
			continue;
		slot = VEC_PUSH(&s->chosen);
		if (!slot)
			return -ENOMEM;
		*slot = pid;
	}
	return 0;
}

/* While one process uses a library, the kernel keeps probes out of all others. */
static int choose_filter(struct scan *scan)
{
	const struct session *s = scan->s;
	const struct newcomers newcomers = {
		.selector = s->plan->o->selector, .loader = s->loader,
		.below = !s->plan->o->isolate,
	};

	scan->filter = s->chosen.n == 1 ? s->chosen.v[0] : 0;
	worker_choose(s->worker, &newcomers, scan->filter);
	return scan->filter ? 0 : attach_hand_over(s->attach);
}

static int attach_chosen(struct scan *scan, const struct selection *found)
{
	int err = 0;

	for (size_t i = 0; i < found->all.n && !err; i++) {
		err = targets_attach_pid(scan, found->all.v[i].pid);
		err = err == -ESRCH ? 0 : err;
	}
	return err;
}

static void tell(const struct scan *scan, const struct selection *found)
{
	const struct session_options *o = scan->s->plan->o;
	struct strbuf sb = STRBUF_INIT;

	selection_describe(found, o->selector, &sb);
	if (found->matches)
		log_info("%s", sb.s);
	else
		log_info("%s yet; waiting for one to start, %s", sb.s,
			 o->duration_ns ? "as long as -d says" : "until Ctrl-C");
	strbuf_free(&sb);
	if (found->denied)
		log_warn("of %u process%s it cannot be told whether they match: permission denied, "
			 "CAP_SYS_PTRACE is needed", found->denied, found->denied == 1 ? "" : "es");
	if (scan->denied)
		log_warn("%u of these could not be read: permission denied, CAP_SYS_PTRACE is needed",
			 scan->denied);
}

static int follow(const struct session *s, const struct selection *found)
{
	int err = 0;

	for (size_t i = 0; i < found->all.n && !err; i++)
		err = targets_follow(s, found->all.v[i].pid);
	return err;
}

int targets_attach_selected(struct session *s)
{
	const struct session_options *o = s->plan->o;
	struct selection found = { .denied = 0 };
	struct scan scan = { .s = s };
	int err = worker_watch(s->worker, -1, 0);

	worker_only_followed(s->worker);
	if (!o->isolate)
		worker_follow_children(s->worker);
	if (!err)
		err = selection_find(&found, o->selector, !o->isolate);
	if (!err)
		err = follow(s, &found);
	if (!err)
		err = list_users(s, &found);
	if (!err)
		err = choose_filter(&scan);
	if (!err)
		err = attach_chosen(&scan, &found);
	if (!err)
		tell(&scan, &found);
	selection_free(&found);
	return err;
}

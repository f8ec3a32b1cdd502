// SPDX-License-Identifier: BSD-3-Clause
/*
 * Sessions without probes: when one is possible, why there is none, what it has instead. Calls are
 * then told by helpers alone; processes below the command are looked for, since nobody tells of
 * them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/time.h"
#include "session/helper_only.h"
#include "source/helper/ring_reader.h"
#include "host/caps.h"
#include "host/proc.h"
#include "target/target.h"

#define LOOK_EVERY_NS 50000000ull
#define LOOK_MAX 64		/* processes at a time */

static bool has_helper(pid_t pid)
{
	int fd = ring_reader_find(pid);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Every target has a helper, or will. */
static bool have_helpers(const struct session_options *o)
{
	for (size_t i = 0; i < o->n_pids; i++)
		if (!has_helper((pid_t)o->pids[i]))
			return false;
	return o->cmd || o->n_pids;
}

/* The option whose meaning is probes, or NULL. */
static const char *asks_for_probes(const struct session_options *o)
{
	return o->stacks ? "--stacks" : o->tier ? "--tier 1" :
	       o->launch != LAUNCH_AUTO ? "--launch" : NULL;
}

/* What was asked for can be done without them. */
static bool may_do_without(const struct session_options *o)
{
	return o->attach == WAY_AUTO && !asks_for_probes(o) && have_helpers(o);
}

static int check_none(const struct session_options *o)
{
	if (asks_for_probes(o)) {
		log_error("%s needs probes, and --attach none is without", asks_for_probes(o));
		return -EINVAL;
	}
	if (o->cmd || o->n_pids)
		return 0;
	log_error("--attach none needs a process: give -p PID, or a command behind --");
	return -EINVAL;
}

/* A process that could be measured without, if it had the helper. */
static int deny(const struct session_options *o, const struct caps_need *missing)
{
	for (size_t i = 0; i < o->n_pids; i++)
		if (!has_helper((pid_t)o->pids[i]))
			log_error("cannot probe process %u: %s is missing (needed to %s); run as "
				  "root or with "
				  "sudo, or without probes by the helper: --inject brings it into "
				  "a process "
				  "of yours",
				  o->pids[i], missing->name, missing->why);
	return -EPERM;
}

static int set_helper_only(struct session *s, const char *why, const char *remedy)
{
	s->blind = why;
	s->remedy = remedy;
	return 0;
}

int helper_only_choose(struct session *s)
{
	const struct session_options *o = s->plan->o;
	const struct caps_need *missing = caps_missing();

	if (o->attach == WAY_NONE)
		return check_none(o) ? -EINVAL :
				       set_helper_only(s, "--attach none", "leave that out");
	if (missing && o->n_pids && o->attach == WAY_AUTO && !asks_for_probes(o) &&
	    !have_helpers(o))
		return deny(o, missing);
	if (!may_do_without(o))
		return 0;
	if (missing)
		return set_helper_only(s, missing->name, "run as root or with sudo");
	if (!proc_pids_are_hosts())
		return set_helper_only(s, "in a container with pids of its own",
				"run gpuprof on the host, or the container with --pid=host");
	return 0;
}

int helper_only_after(struct session *s, int err)
{
	/* A kernel that cannot is said, and whoever wants the helper alone asks for it. */
	if (!err || err == -ENOMEM || err == -ENOTSUP || err == -EMFILE ||
	    !may_do_without(s->plan->o))
		return err;
	log_warn("going on without probes: calls are told by the helper alone");
	return set_helper_only(s, "BPF cannot be used here", "gpuprof doctor tells more");
}

void helper_only_facts(struct session *s)
{
	session_fact(s, "without_probes", "%s%s; %s", s->blind,
		     caps_missing() && s->blind == caps_missing()->name ? " is missing" : "",
		     s->remedy);
}

/* Nobody else tells that it executes its program, and that all it has is had since. */
int helper_only_exec(struct session *s, uint64_t exec_ns)
{
	struct event ev = { .kind = EVENT_PROCESS, .pid = (uint32_t)s->command.pid,
			    .tid = (uint32_t)s->command.pid, .end_ns = exec_ns, .task.comm = "" };

	return s->blind ? session_push(s, &ev) : 0;
}

/* ---- while it runs -------------------------------------------------------------------------- */

struct below {
	struct session *s;
	const struct helpers_status *parent;
};

static int meet_below(void *ctx, pid_t pid)
{
	const struct below *b = ctx;

	if (!helpers_know(b->s->helpers, pid))
		return helpers_add_target(b->s, pid);
	if (helper_load_check(b->s, pid))
		return -ENOMEM;
	return forked_add(b->s, b->parent, pid);
}

/* A part of the processes at a time: there may be thousands. */
static void look_below(struct session *s)
{
	size_t n = helpers_count(s->helpers);
	unsigned int looked = 0;
	struct helpers_status st;

	for (size_t i = 0; i < n && looked < LOOK_MAX; i++) {
		helpers_status(s->helpers, s->look_at++ % n, &st);
		if (st.state == HELPERS_ENDED)
			continue;
		looked++;
		if (target_each_child(st.pid, meet_below, &(struct below){ s, &st }) == -ENOMEM)
			s->err = -ENOMEM;
	}
}

void helper_only_scan(struct session *s, uint64_t now_ns)
{
	uint64_t told_ns = helpers_complete_ns(s->helpers, now_ns);

	if (told_ns > s->tap.watermark_ns)
		session_push(s, &(struct event){ .kind = EVENT_WATERMARK, .end_ns = told_ns });
	if (s->plan->o->isolate || now_ns - s->looked_ns < LOOK_EVERY_NS)
		return;
	s->looked_ns = now_ns;
	look_below(s);
}

/* ---- what is said of it --------------------------------------------------------------------- */

/* Who counts calls, and how, as far as one helper has been armed. */
void helper_only_sources(struct session *s)
{
	static const char *const texts[] = {
		[0] = "cupti", [GP_CALLS_SINGLE] = "cupti: API records of single functions",
		[GP_CALLS_WHOLE] = "cupti: API records of all functions (before CUPTI 12.5)",
	};
	struct helpers_status st;
	unsigned int how = 0;

	for (size_t i = 0; s->helpers && i < helpers_count(s->helpers); i++) {
		helpers_status(s->helpers, i, &st);
		if (st.head.calls <= GP_CALLS_WHOLE && st.head.calls > how)
			how = st.head.calls;
	}
	if (s->blind)
		session_fact(s, "sources", "%s", texts[how]);
	else if (how)
		session_fact(s, "sources", "uprobe, %s", texts[how]);
}

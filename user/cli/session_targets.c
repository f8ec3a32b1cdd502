// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a session's targets mean for probes: -p gives each process its own links with the kernel's
 * pid filter; -a and -- CMD give each library one unfiltered link, and for CMD the set of pids in
 * BPF decides who is recorded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/time.h"
#include "cli/session_internal.h"
#include "cli/version.h"
#include "probe/catalog.h"

extern char **environ;

int targets_check(struct session *s)
{
	const struct options *o = s->plan->o;

	for (size_t i = 0; i < o->n_pids; i++) {
		int *fd = VEC_PUSH(&s->pidfds);

		if (!fd)
			return -ENOMEM;
		*fd = (int)syscall(SYS_pidfd_open, (pid_t)o->pids[i], 0);
		if (*fd < 0) {
			int err = errno;

			if (err == EINVAL || err == ENOENT)	/* the latter since Linux 6.15 */
				log_error("cannot profile %u: it is a thread, not a process; give "
					  "the pid of its process", o->pids[i]);
			else
				log_error("cannot profile process %u: %s", o->pids[i],
					  strerror(err));
			return -ESRCH;
		}
	}
	return 0;
}

/* ---- attaching ------------------------------------------------------------------------------ */

struct scan {
	struct session *s;
	pid_t filter;
	unsigned int denied;	/* processes that could not be read */
	unsigned int probes;	/* made */
	int err;		/* of attaching, logged; ends the scan */
};

static int on_file(void *ctx, const struct target_file *file)
{
	struct scan *scan = ctx;
	struct attach_result result;

	scan->err = attach_file(scan->s->attach, file, scan->filter, &result);
	scan->probes += result.probes;
	return scan->err;
}

static int attach_pid(struct scan *scan, pid_t pid)
{
	int err = target_each_file(pid, on_file, scan);

	if (err == -EACCES || err == -EPERM) {
		scan->denied++;
		return 0;
	}
	return err;
}

static int on_host_pid(void *ctx, pid_t pid)
{
	int err = attach_pid(ctx, pid);

	return err == -ESRCH ? 0 : err;
}

/* A process below one that was named: its own links with its own filter, which the hand-over then
 * makes one for all. */
static int on_descendant(void *ctx, pid_t pid)
{
	struct scan *below = ctx, scan = { .s = below->s, .filter = pid };
	int err = loader_follow(below->s->loader, pid);

	if (!err)
		err = worker_watch(below->s->worker, pid, below->filter);
	if (!err)
		err = attach_pid(&scan, pid);
	below->denied += scan.denied;
	below->probes += scan.probes;
	return err == -ESRCH ? 0 : err;
}

static int attach_below(struct session *s, pid_t pid)
{
	struct scan below = { .s = s, .filter = pid };
	int err;

	if (s->plan->o->isolate)
		return 0;
	err = target_each_descendant(pid, on_descendant, &below);
	if (below.denied)
		log_warn("%u processes below process %d could not be read: permission denied, "
			 "CAP_SYS_PTRACE is needed", below.denied, pid);
	return !err && below.probes ? attach_hand_over(s->attach) : err;
}

static int attach_named(struct session *s)
{
	if (!s->plan->o->isolate)
		worker_follow_children(s->worker);
	for (size_t i = 0; i < s->plan->o->n_pids; i++) {
		pid_t pid = (pid_t)s->plan->o->pids[i];
		struct scan scan = { .s = s, .filter = pid };
		int err = loader_follow(s->loader, pid), said;

		if (!err)
			err = worker_watch(s->worker, pid, pid);
		said = err;
		if (!err)
			err = attach_pid(&scan, pid);
		if (err == -ESRCH && !said)
			log_error("process %d ended before it could be profiled", pid);
		if (err)
			return err;
		if (scan.denied) {
			log_error("cannot read what process %d maps: permission denied; run as its "
				  "user or root, or with CAP_SYS_PTRACE", pid);
			return -EPERM;
		}
		err = attach_below(s, pid);
		if (err)
			return err;
	}
	return 0;
}

static int attach_all(struct session *s)
{
	struct scan scan = { .s = s };
	int err = worker_watch(s->worker, -1, 0);

	if (!err)
		err = target_each_pid(on_host_pid, &scan);
	if (scan.denied)
		log_warn("%u process%s could not be read: permission denied, CAP_SYS_PTRACE is "
			 "needed; libraries used by no other are not probed", scan.denied,
			 scan.denied == 1 ? "" : "es");
	return err;
}

static int attach_command(struct session *s)
{
	const char *name = s->plan->o->cmd[0];
	struct scan scan = { .s = s };
	int err = loader_follow(s->loader, s->command.pid);

	if (!err)
		err = worker_watch(s->worker, s->command.pid, 0);
	if (err)
		return err;
	err = target_expect(s->plan->o->cmd, environ, catalog_wants_file, on_file, &scan);
	if (err == -ENOENT) {
		bool there = strchr(name, '/') && !access(name, F_OK);

		log_error("cannot run %s: %s", name, strerror(there ? EACCES : ENOENT));
		return err;
	}
	/* What cannot be read is seen when it is mapped, and exec says what cannot be run. */
	return err == -ENOMEM ? err : scan.err;
}

int targets_attach(struct session *s)
{
	if (s->plan->o->n_pids)
		return attach_named(s);
	return s->plan->o->cmd ? attach_command(s) : attach_all(s);
}

/* ---- facts ---------------------------------------------------------------------------------- */

void session_fact(struct session *s, const char *key, const char *fmt, ...)
{
	char value[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	session_push(s, &(struct event){ .kind = EVENT_FACT, .text = key, .text2 = value });
}

static void fact_targets(struct session *s)
{
	const struct options *o = s->plan->o;
	char list[512] = "";
	size_t at = 0;

	if (o->cmd) {
		session_fact(s, "target", "%s", o->cmd[0]);
		return;
	}
	for (size_t i = 0; i < o->n_pids && at < sizeof(list) - 16; i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%u", i ? "," : "pid ",
				       o->pids[i]);
	session_fact(s, "target", "%s", o->n_pids ? list : "all processes");
}

static void fact_libraries(struct session *s)
{
	char key[32];

	for (size_t i = 0; i < attach_count(s->attach); i++) {
		const struct attach_info *info = attach_get(s->attach, i);

		snprintf(key, sizeof(key), "library.%zu", i);
		session_fact(s, key, "%s probes=%u stepped=%u refused=%u build_id=%s", info->path,
			     info->result.probes, info->result.stepped, info->result.refused,
			     info->build_id);
	}
}

void targets_facts(struct session *s)
{
	struct utsname un = { 0 };
	uint64_t wall = time_wall_ns(), mono = time_now_ns();

	uname(&un);
	session_fact(s, "host", "%s", un.nodename);
	session_fact(s, "kernel", "%s", un.release);
	session_fact(s, "arch", "%s", un.machine);
	session_fact(s, "version", "%s", version_text());
	session_fact(s, "wall_offset_ns", "%" PRIu64, wall - mono);
	session_fact(s, "sources", "uprobe");
	session_fact(s, "attach", "%s", loader_way_name(loader_way(s->loader)));
	session_fact(s, "ring_bytes", "%" PRIu64, s->plan->o->ring_bytes);
	session_fact(s, "cost_per_hit_ns", "%" PRIu64, loader_call_cost_ns(s->loader));
	if (s->plan->o->isolate)
		session_fact(s, "children", "not followed");
	session_fact(s, "cost_per_nested_ns", "%" PRIu64, loader_nested_cost_ns(s->loader));
	fact_targets(s);
	fact_libraries(s);
}

void targets_processes(struct session *s)
{
	for (size_t i = 0; i < s->plan->o->n_pids; i++)
		if (!s->err)
			s->err = tap_describe(&s->tap, (pid_t)s->plan->o->pids[i]);
}

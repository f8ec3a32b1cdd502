// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a session's targets mean for probes: -p gives each process its own links with the kernel's
 * pid filter; -a and -- CMD give each library one unfiltered link, and for CMD the set of pids in
 * BPF decides who is recorded.
 */
#include "session/targets.h"

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
#include "base/version.h"
#include "catalog/catalog.h"
#include "findings/findings_next.h"
#include "inject/injectable.h"
#include "session/helper_only.h"
#include "target/selection.h"

extern char **environ;

int targets_check(struct session *s)
{
	const struct session_options *o = s->plan->o;

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
					  err == ESRCH ? "there is none, or none any more" :
							 strerror(err));
			return -ESRCH;
		}
	}
	return 0;
}

int targets_follow(const struct session *s, pid_t pid)
{
	int err = loader_follow(s->loader, pid);

	if (err)
		log_error("cannot follow process %d: %s; %s", pid, strerror(-err), err == -E2BIG ?
			  "choose fewer than 65,536 processes, or give -a" : "see gpuprof doctor");
	return err;
}

/* ---- attaching ------------------------------------------------------------------------------ */

static int on_file(void *ctx, const struct target_file *file)
{
	struct scan *scan = ctx;
	struct attach_result result;

	scan->err = attach_file(scan->s->attach, file, scan->filter, &result);
	scan->uses |= !scan->err && attach_wants(scan->s->attach, file);
	return scan->err;
}

/* It may have a helper, which is woken when there are probes. */
static int note_user(struct session *s, pid_t pid)
{
	pid_t *slot = VEC_PUSH(&s->users);

	if (!slot)
		return -ENOMEM;
	*slot = pid;
	return 0;
}

int targets_attach_pid(struct scan *scan, pid_t pid)
{
	int err;

	scan->uses = false;
	err = target_each_file(pid, on_file, scan);
	if (!err && scan->uses && scan->s->inside)
		err = inflight_add(scan->s->inside, pid);
	if (!err && scan->uses)
		err = note_user(scan->s, pid);
	if (err == -EACCES || err == -EPERM) {
		scan->denied++;
		return 0;
	}
	return err;
}

static int on_host_pid(void *ctx, pid_t pid)
{
	int err = targets_attach_pid(ctx, pid);

	return err == -ESRCH ? 0 : err;
}

/* ---- -p: processes and all that is below them ------------------------------------------------ */

/* More than these are probed without filters: each filter takes a look at every hit of the others.
 */
#define WATCHES_MAX 16
#define FILTERS_MAX 4	/* named processes that use one library, before it is probed for all */

#define WALKS_MAX 8	/* over processes that keep forking */

struct member {
	pid_t pid;
	pid_t named;		/* which of -p it is, or is below */
};

struct family {
	struct session *s;
	VEC(struct member) members;
	struct map known;	/* their pids */
	pid_t named;		/* being walked */
};

/* Those that join it are followed before their children are looked for. */
static int add_member(void *ctx, pid_t pid)
{
	struct family *f = ctx;
	struct member *m;
	bool is_new;

	if (!map_put(&f->known, (uint64_t)pid, &is_new))
		return -ENOMEM;
	if (!is_new)
		return 0;
	m = VEC_PUSH(&f->members);
	if (!m)
		return -ENOMEM;
	*m = (struct member){ .pid = pid, .named = f->named };
	return targets_follow(f->s, pid);
}

static int walk_below(struct family *f)
{
	const struct session_options *o = f->s->plan->o;
	struct target_tree *tree = target_tree_read();
	int err = tree ? 0 : -errno;

	for (size_t i = 0; i < o->n_pids && !err; i++) {
		f->named = (pid_t)o->pids[i];
		err = target_tree_each_below(tree, f->named, add_member, f);
	}
	target_tree_free(tree);
	return err;
}

/* Until a walk finds nobody new: a member's child is followed by BPF once the member is. */
static int walk_family(struct family *f)
{
	const struct session_options *o = f->s->plan->o;
	size_t before = SIZE_MAX;
	int err = 0;

	for (size_t i = 0; i < o->n_pids && !err; i++) {
		f->named = (pid_t)o->pids[i];
		err = add_member(f, f->named);
	}
	for (int i = 0; i < WALKS_MAX && !err && !o->isolate && f->members.n != before; i++) {
		before = f->members.n;
		err = walk_below(f);
	}
	return err;
}

/* A child that ended meanwhile is no error. */
static int watch_members(struct family *f)
{
	int err = 0;

	for (size_t i = 0; i < f->members.n && !err; i++) {
		const struct member *m = &f->members.v[i];

		err = worker_watch(f->s->worker, m->pid, m->named);
		if (err == -ESRCH && m->pid != m->named)
			err = 0;
		else if (err == -ESRCH)
			log_error("process %d ended before it could be profiled", m->pid);
	}
	return err;
}

static int watch_family(struct family *f)
{
	int err = walk_family(f);

	if (err)
		return err;
	if (f->s->plan->o->isolate || f->members.n <= WATCHES_MAX)
		return watch_members(f);
	err = worker_watch(f->s->worker, -1, 0);
	worker_only_followed(f->s->worker);
	if (!err)
		err = attach_hand_over(f->s->attach);
	return err ? err : walk_family(f);	/* those born before there was a watch */
}

static int is_wanted(void *ctx, const struct target_file *file)
{
	return attach_wants(ctx, file);
}

bool targets_use_library(const struct session *s, pid_t pid)
{
	return target_each_file(pid, is_wanted, s->attach) > 0;
}

/* One process that uses a library, or few that were named: filters keep all others free of probes.
 */
static int choose_filters(struct family *f)
{
	unsigned int users = 0, below = 0;

	if (f->s->plan->o->isolate || f->members.n < 2)
		return 0;
	for (size_t i = 0; i < f->members.n; i++) {
		const struct member *m = &f->members.v[i];

		if (!targets_use_library(f->s, m->pid))
			continue;
		users++;
		below += m->pid != m->named;
	}
	return (below && users > 1) || users > FILTERS_MAX ? attach_hand_over(f->s->attach) : 0;
}

static int cannot_read(pid_t pid)
{
	log_error("cannot read what process %d maps: permission denied; %s", pid, denied_reading());
	return -EPERM;
}

static int attach_members(struct family *f)
{
	struct scan below = { 0 };
	int err = 0;

	for (size_t i = 0; i < f->members.n && !err; i++) {
		const struct member *m = &f->members.v[i];
		struct scan scan = { .s = f->s, .filter = m->pid };

		err = targets_attach_pid(&scan, m->pid);
		if (m->pid != m->named) {
			below.denied += scan.denied;
			err = err == -ESRCH ? 0 : err;
		} else if (err == -ESRCH) {
			log_error("process %d ended before it could be profiled", m->pid);
		} else if (!err && scan.denied) {
			err = cannot_read(m->pid);
		}
	}
	if (below.denied)
		log_warn("%u child processes could not be read: permission denied, CAP_SYS_PTRACE "
			 "is "
			 "needed",
			 below.denied);
	return err;
}

static int attach_named(struct session *s)
{
	struct family f = { .s = s };
	int err;

	if (!s->plan->o->isolate)
		worker_follow_children(s->worker);
	err = watch_family(&f);
	if (!err)
		err = choose_filters(&f);
	if (!err)
		err = attach_members(&f);
	VEC_FREE(&f.members);
	map_free(&f.known);
	return err;
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
	int err = targets_follow(s, s->command.pid);

	if (!err)
		err = worker_watch(s->worker, s->command.pid, 0);
	if (err)
		return err;
	err = target_expect(s->plan->o->cmd, environ, catalog_wants_file, on_file, &scan);
	if (err == -ENOENT) {
		bool there = strchr(name, '/') && !access(name, F_OK);

		return command_cannot_run(&s->command, name, there ? -EACCES : -ENOENT);
	}
	/* What cannot be read is seen when it is mapped, and exec says what cannot be run. */
	return err == -ENOMEM ? err : scan.err;
}

int targets_attach(struct session *s)
{
	if (s->plan->o->n_pids)
		return attach_named(s);
	if (s->plan->o->selector)
		return targets_attach_selected(s);
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
	session_push(s, &(struct event){ .kind = EVENT_FACT, .fact.key = key,
					 .fact.value = value });
}

/* For a proposal to run it again. */
static void fact_command(struct session *s)
{
	struct strbuf all = STRBUF_INIT;
	bool typed = !s->plan->o->no_cmdline;

	for (char *const *arg = s->plan->o->cmd; *arg; arg++) {
		typed &= **arg && !strchr(*arg, ' ');
		strbuf_addf(&all, "%s%s", all.len ? " " : "", *arg);
	}
	session_fact(s, "command", "%s",
		     typed && !all.failed && next_is_typed(all.s) ? all.s : "CMD");
	strbuf_free(&all);
}

static void fact_targets(struct session *s)
{
	const struct session_options *o = s->plan->o;
	struct strbuf chosen = STRBUF_INIT;
	char list[512] = "";
	size_t at = 0;

	if (o->cmd) {
		session_fact(s, "target", "%s", o->cmd[0]);
		fact_command(s);
		return;
	}
	if (o->selector) {
		selector_describe(o->selector, &chosen);
		session_fact(s, "target", "any process with %s", chosen.s);
		strbuf_free(&chosen);
		return;
	}
	for (size_t i = 0; i < o->n_pids && at < sizeof(list) - 16; i++)
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%u", i ? "," : "pid ",
				       o->pids[i]);
	session_fact(s, "target", "%s", o->n_pids ? list : "all processes");
	if (!o->n_pids)
		session_fact(s, "whole_host", "yes");
}

static void fact_libraries(struct session *s)
{
	char key[32];

	for (size_t i = 0; i < attach_count(s->attach); i++) {
		const struct attach_info *info = attach_get(s->attach, i);

		snprintf(key, sizeof(key), "library.%zu", i);
		session_fact(s, key, "%s probes=%u too_dear=%u refused=%u left_out=%u build_id=%s",
			     info->path, info->result.probes, info->result.too_dear,
			     info->result.refused, info->result.left_out, info->build_id);
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
	session_fact(s, "sources", "%s", s->blind ? "cupti" : "uprobe");
	if (!geteuid() && getenv("SUDO_UID"))
		session_fact(s, "sudo", "yes");
	session_fact(s, "ring_bytes", "%" PRIu64, s->plan->o->ring_bytes);
	if (s->plan->o->isolate)
		session_fact(s, "children", "not followed");
	fact_targets(s);
	if (s->blind) {
		helper_only_facts(s);
		return;
	}
	probes_report_start(s);
	fact_libraries(s);
}

void targets_processes(struct session *s)
{
	for (size_t i = 0; i < s->plan->o->n_pids; i++)
		if (!s->err)
			s->err = pipeline_describe(&s->tap, (pid_t)s->plan->o->pids[i], 0);
	for (size_t i = 0; i < s->chosen.n; i++)
		if (!s->err)
			s->err = pipeline_describe(&s->tap, s->chosen.v[i], 0);
}

/* ---- session select ------------------------------------------------------------------------ */

/*
 * Targets chosen by what is known of processes: who matches when the session begins, with everybody
 * below; who begins to match later joins them (target_match.c). One watch of the host, and the set
 * of pids in BPF decides who is recorded.
 */

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
	const struct target_match target_match = {
		.selector = s->plan->o->selector, .loader = s->loader,
		.below = !s->plan->o->isolate,
	};

	scan->filter = s->chosen.n == 1 ? s->chosen.v[0] : 0;
	worker_choose(s->worker, &target_match, scan->filter);
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
		log_warn("%u of these could not be read: permission denied, CAP_SYS_PTRACE is "
			 "needed",
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

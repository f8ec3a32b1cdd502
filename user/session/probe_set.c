// SPDX-License-Identifier: BSD-3-Clause
/*
 * How targets are probed: -p gives each process its own links with the kernel's pid filter; -a
 * and -- CMD give each library one unfiltered link, and for CMD and selectors the set of pids in
 * BPF decides which are recorded.
 */
#include "session/probe_set.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "catalog/catalog.h"
#include "inject/injectable.h"
#include "target/selection.h"
#include "target/target.h"

extern char **environ;

/* ---- the files of one process ---------------------------------------------------------------- */

static int follow(const struct probe_set *p, pid_t pid)
{
	int err = loader_follow(p->loader, pid);

	if (err)
		log_error("cannot follow process %d: %s; %s", pid, strerror(-err), err == -E2BIG ?
			  "choose fewer than 65,536 processes, or give -a" : "see gpuprof doctor");
	return err;
}

struct scan {			/* over processes that are attached to */
	struct probe_set *p;
	pid_t filter;		/* of the probes that are made; 0: none */
	unsigned int denied;	/* processes that could not be read */
	bool uses;		/* the process that is being read has something to probe */
	int err;		/* of attaching, logged; ends the scan */
};

static int on_file(void *ctx, const struct target_file *file)
{
	struct scan *scan = ctx;
	struct attach_result result;

	scan->err = attach_file(scan->p->attach, file, scan->filter, &result);
	scan->uses |= !scan->err && attach_wants(scan->p->attach, file);
	return scan->err;
}

/* It may have a helper, which is woken once the probes are made. */
static int note_user(struct probe_set *p, pid_t pid)
{
	pid_t *slot = VEC_PUSH(&p->targets->users);

	if (!slot)
		return -ENOMEM;
	*slot = pid;
	return 0;
}

/* 0 or -errno: ESRCH, an error of attaching. */
static int attach_pid(struct scan *scan, pid_t pid)
{
	int err;

	scan->uses = false;
	err = target_each_file(pid, on_file, scan);
	if (!err && scan->uses && scan->p->inflight)
		err = inflight_add(scan->p->inflight, pid);
	if (!err && scan->uses)
		err = note_user(scan->p, pid);
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

/* ---- -p: processes and all that is below them ------------------------------------------------ */

/* More than these are probed without filters: each filter looks at every hit of the others. */
#define WATCHES_MAX 16
#define FILTERS_MAX 4	/* named processes that use one library, before it is probed for all */

#define WALKS_MAX 8	/* over processes that keep forking */

/* New members are followed before their children are looked for. */
static int follow_member(void *ctx, pid_t pid)
{
	return follow(ctx, pid);
}

/* Until a walk finds no new process: BPF follows a member's child once the member is followed. */
static int walk_family(const struct probe_set *p, struct family *f)
{
	const struct session_options *o = p->targets->o;
	size_t before = SIZE_MAX;
	int err = family_add(f, o->pids, o->n_pids, false);

	for (int i = 0; i < WALKS_MAX && !err && !o->isolate && f->members.n != before; i++) {
		before = f->members.n;
		err = family_add(f, o->pids, o->n_pids, true);
	}
	return err;
}

/* A child that ended meanwhile is no error. */
static int watch_members(struct probe_set *p, const struct family *f)
{
	int err = 0;

	for (size_t i = 0; i < f->members.n && !err; i++) {
		const struct family_member *m = &f->members.v[i];

		err = worker_watch(p->worker, m->pid, m->named);
		if (err == -ESRCH && m->pid != m->named)
			err = 0;
		else if (err == -ESRCH)
			log_error("process %d ended before it could be profiled", m->pid);
	}
	return err;
}

static int watch_family(struct probe_set *p, struct family *f)
{
	int err = walk_family(p, f);

	if (err)
		return err;
	if (p->targets->o->isolate || f->members.n <= WATCHES_MAX)
		return watch_members(p, f);
	err = worker_watch(p->worker, -1, 0);
	worker_only_followed(p->worker);
	if (!err)
		err = attach_hand_over(p->attach);
	return err ? err : walk_family(p, f);	/* born before there was a watch */
}

static int is_wanted(void *ctx, const struct target_file *file)
{
	return attach_wants(ctx, file);
}

static bool uses_library(const struct probe_set *p, pid_t pid)
{
	return target_each_file(pid, is_wanted, p->attach) > 0;
}

/* One process that uses a library, or few that were named: filters keep all others free of probes.
 */
static int choose_filters(struct probe_set *p, const struct family *f)
{
	unsigned int users = 0, below = 0;

	if (p->targets->o->isolate || f->members.n < 2)
		return 0;
	for (size_t i = 0; i < f->members.n; i++) {
		const struct family_member *m = &f->members.v[i];

		if (!uses_library(p, m->pid))
			continue;
		users++;
		below += m->pid != m->named;
	}
	return (below && users > 1) || users > FILTERS_MAX ? attach_hand_over(p->attach) : 0;
}

static int cannot_read(pid_t pid)
{
	log_error("cannot read what process %d maps: permission denied; %s", pid, denied_reading());
	return -EPERM;
}

static int attach_members(struct probe_set *p, const struct family *f)
{
	struct scan below = { 0 };
	int err = 0;

	for (size_t i = 0; i < f->members.n && !err; i++) {
		const struct family_member *m = &f->members.v[i];
		struct scan scan = { .p = p, .filter = m->pid };

		err = attach_pid(&scan, m->pid);
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
		live_push_note(p->sink, NOTE_PROCESSES_UNREADABLE, 0,
			       "%u child processes could not be read: permission denied, "
			       "CAP_SYS_PTRACE is needed", below.denied);
	return err;
}

static int attach_named(struct probe_set *p)
{
	struct family f = { .on_new = follow_member, .ctx = p };
	int err;

	if (!p->targets->o->isolate)
		worker_follow_children(p->worker);
	err = watch_family(p, &f);
	if (!err)
		err = choose_filters(p, &f);
	if (!err)
		err = attach_members(p, &f);
	family_free(&f);
	return err;
}

/* ---- -a, -- CMD ------------------------------------------------------------------------------ */

static int attach_all(struct probe_set *p)
{
	struct scan scan = { .p = p };
	int err = worker_watch(p->worker, -1, 0);

	if (!err)
		err = target_each_pid(on_host_pid, &scan);
	if (scan.denied)
		live_push_note(p->sink, NOTE_PROCESSES_UNREADABLE, 0,
			       "%u process%s could not be read: permission denied, "
			       "CAP_SYS_PTRACE is needed; libraries used by no other are not "
			       "probed", scan.denied, scan.denied == 1 ? "" : "es");
	return err;
}

static int attach_command(struct probe_set *p)
{
	const char *name = p->targets->o->cmd[0];
	struct scan scan = { .p = p };
	int err = follow(p, p->targets->command.pid);

	if (!err)
		err = worker_watch(p->worker, p->targets->command.pid, 0);
	if (err)
		return err;
	err = target_expect(p->targets->o->cmd, environ, catalog_wants_file, on_file, &scan);
	if (err == -ENOENT) {
		bool there = strchr(name, '/') && !access(name, F_OK);

		return command_cannot_run(&p->targets->command, name, there ? -EACCES : -ENOENT);
	}
	/* Unreadable files are noticed when they are mapped, and exec reports a command that
	 * cannot be run. */
	return err == -ENOMEM ? err : scan.err;
}

/* ---- selectors ------------------------------------------------------------------------------- */

/*
 * Processes that match when the session begins are attached with all below them; those that
 * begin to match later join them (probe/recheck.h). One watch of the host; the set of pids in
 * BPF decides which are recorded.
 */

/* Those that use a library now: they have a name in the report, calls or not. */
static int list_users(struct probe_set *p, const struct selection *found)
{
	for (size_t i = 0; i < found->all.n; i++) {
		pid_t pid = found->all.v[i].pid, *slot;

		if (!uses_library(p, pid))
			continue;
		slot = VEC_PUSH(&p->targets->chosen);
		if (!slot)
			return -ENOMEM;
		*slot = pid;
	}
	return 0;
}

/* While one process uses a library, the kernel keeps probes out of all others. */
static int choose_filter(struct scan *scan)
{
	const struct probe_set *p = scan->p;
	const struct target_match target_match = {
		.selector = p->targets->o->selector, .loader = p->loader,
		.below = !p->targets->o->isolate,
	};

	scan->filter = p->targets->chosen.n == 1 ? p->targets->chosen.v[0] : 0;
	worker_choose(p->worker, &target_match, scan->filter);
	return scan->filter ? 0 : attach_hand_over(p->attach);
}

static int attach_chosen(struct scan *scan, const struct selection *found)
{
	int err = 0;

	for (size_t i = 0; i < found->all.n && !err; i++) {
		err = attach_pid(scan, found->all.v[i].pid);
		err = err == -ESRCH ? 0 : err;
	}
	return err;
}

static void report_selection(const struct scan *scan, const struct selection *found)
{
	const struct session_options *o = scan->p->targets->o;
	struct strbuf sb = STRBUF_INIT;

	selection_describe(found, o->selector, &sb);
	if (found->matches)
		log_info("%s", sb.s);
	else
		log_info("%s yet; waiting for one to start, %s", sb.s,
			 o->duration_ns ? "as long as -d says" : "until Ctrl-C");
	strbuf_free(&sb);
	if (found->denied)
		live_push_note(scan->p->sink, NOTE_MATCH_UNKNOWN, 0,
			       "of %u process%s it cannot be told whether they match: permission "
			       "denied, CAP_SYS_PTRACE is needed", found->denied,
			       found->denied == 1 ? "" : "es");
	if (scan->denied)
		live_push_note(scan->p->sink, NOTE_PROCESSES_UNREADABLE, 0,
			       "%u of these could not be read: permission denied, CAP_SYS_PTRACE "
			       "is needed", scan->denied);
}

static int follow_selection(const struct probe_set *p, const struct selection *found)
{
	int err = 0;

	for (size_t i = 0; i < found->all.n && !err; i++)
		err = follow(p, found->all.v[i].pid);
	return err;
}

static int attach_selected(struct probe_set *p)
{
	const struct session_options *o = p->targets->o;
	struct selection found = { .denied = 0 };
	struct scan scan = { .p = p };
	int err = worker_watch(p->worker, -1, 0);

	worker_only_followed(p->worker);
	if (!o->isolate)
		worker_follow_children(p->worker);
	if (!err)
		err = selection_find(&found, o->selector, !o->isolate);
	if (!err)
		err = follow_selection(p, &found);
	if (!err)
		err = list_users(p, &found);
	if (!err)
		err = choose_filter(&scan);
	if (!err)
		err = attach_chosen(&scan, &found);
	if (!err)
		report_selection(&scan, &found);
	selection_free(&found);
	return err;
}

/* ---- all targets ----------------------------------------------------------------------------- */

int probe_set_attach(struct probe_set *p)
{
	const struct session_options *o = p->targets->o;

	int err = o->n_pids   ? attach_named(p) :
		  o->selector ? attach_selected(p) :
		  o->cmd      ? attach_command(p) :
				attach_all(p);

	return err ? err : attach_begin(p->attach);
}

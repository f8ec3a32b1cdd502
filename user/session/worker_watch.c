// SPDX-License-Identifier: BSD-3-Clause
/*
 * Follows processes: executable mapping -> file -> probes, and who is to be measured at all. Knows
 * nothing of the thread it runs in.
 */
#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "base/map.h"
#include "base/str.h"
#include "base/time.h"
#include "session/worker_internal.h"
#include "catalog/catalog.h"

/* So long a child may take to exec before it is looked at; most do so within a few. */
#define NEWBORN_NS (50 * NS_PER_MS)

/* A process that may yet open a device is looked at first after so long. */
#define DEVICE_NS (100 * NS_PER_MS)

struct arrival {		/* one mapping on its way to being probed */
	struct worker *w;
	const struct watch *watch;
	uint64_t time_ns;
	bool dull;		/* its file has nothing to probe */
};

/* Who a process is can be read now; at its first call that is seen it may have ended. */
static void announce(struct worker *w, const struct target_file *file)
{
	if (file->pid == w->announced || !attach_wants(w->attach, file))
		return;
	w->announced = file->pid;
	worker_tell(w, &(struct event){ .kind = EVENT_PROCESS, .pid = (uint32_t)file->pid,
				 .tid = (uint32_t)file->pid });
}

static int on_file(void *ctx, const struct target_file *file)
{
	struct arrival *ar = ctx;
	pid_t filter = ar->watch->filter ? file->pid : 0;
	struct attach_result result;
	int err = attach_file(ar->w->attach, file, filter, &result);

	announce(ar->w, file);
	ar->dull = !err && !attach_wants(ar->w->attach, file) && dull_may_be(file);
	if (err)
		worker_note_left_out(ar->w);
	if (err || !result.probes)
		return 0;		/* logged by attach; other files still matter */
	if (filter != ar->watch->filter)
		attach_hand_over(ar->w->attach);
	log_info("attached to %s in process %d: %u functions", file->path, file->pid,
		 result.probes);
	ar->w->armed_ns = time_now_ns();
	worker_note_left_out(ar->w);
	worker_tell(ar->w, &(struct event){ .kind = EVENT_UNARMED, .pid = (uint32_t)file->pid,
				     .start_ns = ar->time_ns, .end_ns = ar->w->armed_ns });
	if (ar->w->inside)
		inflight_add(ar->w->inside, file->pid);	/* it may be in a call by now */
	return 0;
}

static bool is_ours(const struct worker *w, pid_t pid)
{
	return !w->only_followed || attach_follows(w->attach, pid);
}

/* As if it had just mapped all that it maps. */
static void attach_to(void *ctx, pid_t pid)
{
	target_each_file(pid, on_file, ctx);
}

/* Somebody new, who may be in a call by now. */
static void take_in(void *ctx, pid_t pid)
{
	struct arrival *ar = ctx;
	struct worker *w = ar->w;

	attach_to(ar, pid);
	if (!w->inside || w->announced != pid)
		return;		/* it uses no library */
	w->armed_ns = time_now_ns();
	inflight_add(w->inside, pid);
}

/* Attaches to a process that is followed or, if it is meant, will be. */
static int rescan_pid(void *ctx, pid_t pid)
{
	struct arrival *ar = ctx;

	if (is_ours(ar->w, pid))
		attach_to(ar, pid);
	else if (ar->w->newcomers.selector)
		newcomers_take(&ar->w->newcomers, pid, take_in, ar);
	return 0;
}

/* ---- what is looked at later ----------------------------------------------------------------- */

static void look_later(const struct arrival *ar, pid_t pid, uint64_t after_ns, uint64_t again_ns)
{
	later_add(&ar->w->later, &(struct later_look){
		.pid = pid, .time_ns = ar->time_ns, .due_ns = ar->time_ns + after_ns,
		.again_ns = again_ns, .watch = ar->watch });
}

/* A child that has not run another program yet: it may use what its parent had mapped, and may have
 * become another user's, or another group's, since. */
static void note_newborn(const struct arrival *ar, const struct target_event *ev)
{
	const struct worker *w = ar->w;

	if (w->newcomers.selector || (ar->watch->filter && w->follow_children))
		look_later(ar, ev->child, NEWBORN_NS, 0);
}

void worker_look_at_due(struct worker *w)
{
	struct later_look look;

	while (later_take(&w->later, time_now_ns(), &look)) {
		struct arrival ar = { .w = w, .watch = look.watch, .time_ns = look.time_ns };

		if (look.again_ns && is_ours(w, look.pid))
			later_forget(&w->later, look.pid);
		else
			rescan_pid(&ar, look.pid);
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Somebody whom nobody asked for until now. What he does matters when he runs a program, or loads what
 * can be probed. */
static void on_stranger(struct arrival *ar, const struct target_event *ev)
{
	struct worker *w = ar->w;

	if (!w->newcomers.selector)
		return;
	if (ev->kind == TARGET_FORK)
		note_newborn(ar, ev);
	if (ev->kind == TARGET_EXIT || ev->kind == TARGET_EXEC)
		later_forget(&w->later, ev->pid);
	if (ev->kind == TARGET_EXEC)
		rescan_pid(ar, ev->pid);
	if (ev->kind != TARGET_MMAP || !catalog_wants_file(str_basename(ev->text)))
		return;
	rescan_pid(ar, ev->pid);
	if (selector_waits(w->newcomers.selector) && !is_ours(w, ev->pid)) {
		later_forget(&w->later, ev->pid);
		look_later(ar, ev->pid, DEVICE_NS, DEVICE_NS);
	}
}

/* It has ended before that could be read (else it has unmapped it). Nobody saw its calls but where a library
 * of that name was probed: which may be the same. Of cublas and cudnn none is looked for without --tier 1. */
static void on_gone(const struct arrival *ar, const struct target_event *ev)
{
	const char *name = str_basename(ev->text);
	struct worker *w = ar->w;

	if (!catalog_has_tier(name, attach_tier(w->attach)) || !target_process_ended((pid_t)ev->pid))
		return;
	for (size_t i = 0; i < attach_count(w->attach); i++)
		if (!strcmp(str_basename(attach_get(w->attach, i)->path), name))
			return;
	w->missed = true;
	worker_tell(w, &(struct event){ .kind = EVENT_UNARMED, .pid = (uint32_t)ev->pid,
				 .start_ns = ev->time_ns, .end_ns = time_now_ns() });
	worker_tell(w, &(struct event){ .kind = EVENT_IDENTITY, .pid = (uint32_t)ev->pid,
				 .tid = (uint32_t)ev->pid, .fact.key = "ended",
				 .fact.value = "yes" });
}

static void on_mapped(struct arrival *ar, const struct target_event *ev)
{
	int err;

	if (dull_is(&ar->w->dull, ev))
		return;
	err = target_mapped_file(ev->pid, ev->start, ev->len, ev->text, on_file, ar);
	if (err == -ESRCH || err == -ENOENT)
		on_gone(ar, ev);
	else if (ar->dull)
		dull_note(&ar->w->dull, ev);
}

/* Born before its parent was chosen, or as it was: BPF has not followed it. */
static void on_fork(struct arrival *ar, const struct target_event *ev)
{
	struct newcomers *n = &ar->w->newcomers;

	if (n->selector && n->below && !is_ours(ar->w, ev->child))
		newcomers_follow(n, ev->child);
	note_newborn(ar, ev);
}

static bool is_left_alone(const struct worker_turn *t, pid_t pid)
{
	return t->watch->filter && t->watch->pid != -1 && !t->w->follow_children && pid &&
	       pid != t->watch->filter;
}

/* Several processes may share what watches the host for them. */
static const struct watch *watch_of(const struct worker *w, pid_t root, const struct watch *read)
{
	for (size_t i = 0; i < w->watches.n; i++)
		if (root && w->watches.v[i].pid == root)
			return &w->watches.v[i];
	return read;
}

bool worker_missed(const struct worker *w)
{
	return w->missed;
}

/* ---- after events were lost ------------------------------------------------------------------ */

struct rescan {			/* each process once, whoever it is below */
	struct arrival ar;
	struct target_tree *tree;	/* NULL: not needed yet */
	struct map seen;
};

static int rescan_once(void *ctx, pid_t pid)
{
	struct rescan *r = ctx;
	bool is_new;

	if (map_put(&r->seen, (uint64_t)pid, &is_new) && !is_new)
		return 0;
	return rescan_pid(&r->ar, pid);
}

static void rescan(struct rescan *r)
{
	pid_t root = r->ar.watch->pid;

	if (root == -1) {
		target_each_pid(rescan_once, r);
		return;
	}
	rescan_once(r, root);
	if (r->ar.watch->filter && !r->ar.w->follow_children)
		return;
	if (!r->tree)
		r->tree = target_tree_read();
	if (r->tree)
		target_tree_each_below(r->tree, root, rescan_once, r);
}

static void rescan_all(struct worker *w, const struct watch *read, uint64_t since_ns)
{
	struct rescan r = { .ar = { .w = w, .time_ns = since_ns } };

	for (size_t i = 0; i < w->watches.n; i++) {
		r.ar.watch = &w->watches.v[i];
		if (r.ar.watch == read || !r.ar.watch->tw)
			rescan(&r);
	}
	target_tree_free(r.tree);
	map_free(&r.seen);
}

/* ---- events ---------------------------------------------------------------------------------- */

void worker_on_event(void *ctx, const struct target_event *ev)
{
	const struct worker_turn *read = ctx;
	const struct worker_turn turn = { read->w, watch_of(read->w, ev->root, read->watch) };
	const struct worker_turn *t = &turn;
	struct arrival ar = { .w = t->w, .watch = t->watch, .time_ns = ev->time_ns };

	t->w->heard = true;
	if (is_left_alone(t, ev->pid))
		return;			/* a child: named by BPF, not followed */
	if (ev->kind == TARGET_EXEC && ev->pid == t->w->announced)
		t->w->announced = 0;
	if (ev->pid && !is_ours(t->w, ev->pid)) {
		on_stranger(&ar, ev);
		return;
	}
	if (t->w->feed)
		stack_feed_event(t->w->feed, ev, t->watch->pid);
	switch (ev->kind) {
	case TARGET_MMAP:
		on_mapped(&ar, ev);
		break;
	case TARGET_FORK:
		on_fork(&ar, ev);
		break;
	case TARGET_EXEC:
	case TARGET_EXIT:
		later_forget(&t->w->later, ev->pid);
		break;
	case TARGET_MISSED:
		rescan_all(t->w, read->watch, ev->time_ns);
		break;
	default:
		break;
	}
}

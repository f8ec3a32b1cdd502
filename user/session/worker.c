// SPDX-License-Identifier: BSD-3-Clause
/* Stacks of calls; processes that are followed; the thread with its queues and the blocks of the
 * capture. */
#include "session/worker.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/map.h"
#include "base/num.h"
#include "base/str.h"
#include "base/time.h"
#include "base/vec.h"
#include "catalog/catalog.h"
#include "probe/plan.h"
#include "probe/recheck.h"
#include "source/bpf/ring.h"
#include "stack/callstacks.h"
#include "session/live_source.h"
#include "target/target_watch.h"

struct watch {
	struct target_watch *tw;	/* NULL: its events come with those of the first one */
	pid_t pid, filter;
};

struct unnamed {			/* a mapping whose file is read when there is time */
	struct target_event ev;		/* TARGET_MMAP; owns its text */
	const struct watch *watch;
};

#define WORKER_BLOCKS 64	/* of at most 1 MiB; then the engine waits, and the rings fill */

struct worker {
	struct attach *attach;
	struct inflight *inside;		/* NULL: nothing is looked at */
	uint64_t armed_ns;		/* when probes were made last */
	struct recheck later;
	/* selector NULL: no process is selected by its properties */
	struct worker_rules rules;
	struct scan_cache empty_files;
	/* target_event.file -> since when calls of all that come are seen */
	struct map armed_files;
	VEC(struct unnamed) unnamed;
	bool heard;			/* the last reading of a watch had events */
	bool missed;			/* a process had a library, and exited too soon */
	VEC(struct watch) watches;
	struct pollfd *fds;
	struct capture_sink *keep;		/* NULL: none */
	struct stack_feed *feed;	/* NULL: no stacks are taken */
	bool feed_failed;		/* with a message */
	pid_t announced;		/* last */
	int stop_fd, event_fd, block_fd;
	pthread_t thread;
	bool running;

	/* Under lock. */
	pthread_mutex_t lock;
	pthread_cond_t room;
	VEC(struct event *) events;	/* clones */
	struct capture_block *block[WORKER_BLOCKS];	/* to store, the oldest first */
	size_t blocks;
	unsigned int noted;		/* times that outcomes were */
	uint8_t outcomes[GP_ROWS_MAX];	/* PLAN_* bits */
	struct attach_launches launches;	/* as they are */
	struct attach_launches wish;		/* the engine's: until, stays */
};

/* ---- what the engine reads ------------------------------------------------------------------- */

/* To the engine. An event_sink.push. */
static int worker_push(void *ctx, const struct event *ev)
{
	struct worker *w = ctx;
	struct event *own = event_clone(ev), **slot;

	pthread_mutex_lock(&w->lock);
	slot = own ? VEC_PUSH(&w->events) : NULL;
	if (slot)
		*slot = own;
	pthread_mutex_unlock(&w->lock);
	io_notify(w->event_fd);
	if (slot)
		return 0;
	free(own);
	return -ENOMEM;
}

/* The names of operators that were found in files since the last time. Without memory for one the
 * operator is shown by its id. */
static void worker_push_ops(struct worker *w)
{
	struct attach_op op;

	while (attach_next_op(w->attach, &op))
		worker_push(w, &(struct event){ .kind = EVENT_FRAME, .frame.number = op.id,
						.frame.function = op.name,
						.frame.flags = FRAME_OP });
}

static void worker_note_outcomes(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	for (unsigned int row = 1; row < catalog_n_rows(); row++)
		w->outcomes[row] = attach_outcome(w->attach, row);
	w->noted++;
	pthread_mutex_unlock(&w->lock);
}

/* Returns the engine's wish. */
static struct attach_launches worker_note_launches(struct worker *w)
{
	const struct attach_launches now = attach_launches(w->attach);
	struct attach_launches wish;

	pthread_mutex_lock(&w->lock);
	if (now.returns != w->launches.returns)
		w->wish = now;	/* an attach_file has brought all back */
	w->launches = now;
	wish = w->wish;
	pthread_mutex_unlock(&w->lock);
	return wish;
}

static void worker_change_launches(struct worker *w)
{
	const struct attach_launches wish = worker_note_launches(w),
				     now = attach_launches(w->attach);

	if (wish.until == now.until && wish.stays == now.stays)
		return;
	attach_set_launches(w->attach, wish.until, wish.stays);
	worker_note_outcomes(w);	/* of those that are probed again, one may have failed */
	worker_note_launches(w);
}

void worker_set_launches(struct worker *w, const struct attach_launches *now,
			 enum plan_part until, bool stays)
{
	pthread_mutex_lock(&w->lock);
	if (now->returns == w->launches.returns)
		w->wish = (struct attach_launches){ .until = until, .stays = stays };
	pthread_mutex_unlock(&w->lock);
	io_notify(w->block_fd);
}

/* ---- stacks of calls ------------------------------------------------------------------------- */

/*
 * --stacks: from the ring of copied stacks, and from events of processes, to EVENT_FRAMEs and
 * EVENT_STACKs. A copy is looked at after the mappings that were made before it: the ring's
 * position is noted, then the events are read, then the maps, and then the ring up to there.
 */

#define STACK_FEED_MS 10		/* between looks into the ring ... */
#define STACK_FEED_QUIET_MS 80	/* ... at most, while no stacks come */
#define READ_NS (5 * NS_PER_MS)
#define PUSH_NS (100 * NS_PER_MS)
#define PUSH_SHARE 10 /* a pass over large symbol tables takes some 10 ms: no more of its time */

struct stack_feed {
	struct loader *loader;
	struct callstacks *stacks;
	struct ring *ring;
	VEC(pid_t) mapped;	/* processes that have mapped something */
	uint64_t limit;		/* the ring's end before this round's events were read */
	bool has_more;		/* since the limit before */
	int wait_ms;		/* to the next round */
	uint64_t read_ns, pushed_ns, cost_ns;
	int err;
};

static void set_code(void *ctx, pid_t pid, const struct gp_code *code)
{
	loader_set_code(ctx, pid, code);
}

static void stack_feed_free(struct stack_feed *f)
{
	if (!f)
		return;
	ring_close(f->ring);
	callstacks_free(f->stacks);
	VEC_FREE(&f->mapped);
	free(f);
}

static struct stack_feed *stack_feed_new(struct loader *l)
{
	struct stack_feed *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->wait_ms = STACK_FEED_MS;
	f->loader = l;
	f->stacks = callstacks_new(set_code, l);
	f->ring = f->stacks ? ring_open(loader_facts(l).stacks_fd) : NULL;
	if (f->ring)
		return f;
	stack_feed_free(f);
	return NULL;
}

static void keep_error(struct stack_feed *f, int err)
{
	if (!f->err)
		f->err = err;
}

static int on_copy(void *ctx, const void *rec, size_t len)
{
	struct stack_feed *f = ctx;

	keep_error(f, callstacks_take(f->stacks, rec, len));
	return 0;
}

static void note_mapped(struct stack_feed *f, pid_t pid)
{
	pid_t *place;

	if (f->mapped.n && f->mapped.v[f->mapped.n - 1] == pid)
		return;
	place = VEC_PUSH(&f->mapped);
	if (place)
		*place = pid;
	else
		keep_error(f, -ENOMEM);
}

static void read_mapped(struct stack_feed *f)
{
	struct map seen = { 0 };
	bool is_new;

	for (size_t i = 0; i < f->mapped.n; i++)
		if (map_put(&seen, (uint64_t)f->mapped.v[i], &is_new) && is_new)
			keep_error(f, callstacks_mapped(f->stacks, f->mapped.v[i]));
	f->mapped.n = 0;
	f->read_ns = time_now_ns();
	map_free(&seen);
}

static void stack_feed_event(struct stack_feed *f, const struct target_event *ev, pid_t target)
{
	switch (ev->kind) {
	case TARGET_MMAP:
		if (ev->pid == target || callstacks_knows(f->stacks, ev->pid) ||
		    catalog_wants_file(str_basename(ev->text)))
			note_mapped(f, ev->pid);
		/* It may end before all events are read, but not each of them is worth a look. */
		if (time_now_ns() - f->read_ns >= READ_NS)
			read_mapped(f);
		break;
	case TARGET_EXEC:
		callstacks_exec(f->stacks, ev->pid, ev->time_ns);
		break;
	case TARGET_EXIT:
		callstacks_exit(f->stacks, ev->pid, ev->time_ns);
		break;
	default:
		break;
	}
}

/* Reads new mappings, then the ring up to where it was when the round began; pushes new stacks
 * if the last time was long ago, or now. 0, -ENOMEM or the error of to, which stays. */
static int stack_feed_round(struct stack_feed *f, const struct event_sink *to, bool now)
{
	uint64_t now_ns = time_now_ns();

	read_mapped(f);
	ring_consume(f->ring, f->limit, on_copy, f);
	if (!f->err && (now || now_ns - f->pushed_ns >= PUSH_NS + PUSH_SHARE * f->cost_ns)) {
		f->pushed_ns = now_ns;
		keep_error(f, callstacks_send(f->stacks, to));
		f->cost_ns = time_now_ns() - now_ns;
	}
	return f->err;
}

/* ---- worker watch ---------------------------------------------------------------------------- */

/*
 * Follows processes: executable mapping -> file -> probes, and which are to be measured at all.
 * Knows nothing of the thread it runs in.
 */

/* So long a child may take to exec before it is looked at; most do so within a few. */
#define NEWBORN_NS (50 * NS_PER_MS)

#define UNNAMED_NS (2 * NS_PER_MS)	/* in which files of no known name are read */

/* A process that may yet open a device is looked at first after so long. */
#define DEVICE_NS (100 * NS_PER_MS)

struct arrival {		/* one mapping on its way to being probed */
	struct worker *w;
	const struct watch *watch;
	uint64_t time_ns;
	bool gone;		/* it is mapped no longer, or its process has ended */
	bool empty;		/* its file has nothing to probe */
	uint64_t armed_ns;	/* the file has probes since; 0: it has none */
};

static void push_unarmed(const struct arrival *ar, pid_t pid, uint64_t end_ns)
{
	worker_push(ar->w, &(struct event){ .kind = EVENT_UNARMED, .pid = (uint32_t)pid,
					    .start_ns = ar->time_ns, .end_ns = end_ns });
}

/* Also of a file that was probed for another process, but after this one had mapped it. */
static void note_unarmed(const struct arrival *ar, pid_t pid)
{
	struct worker *w = ar->w;

	w->armed_ns = num_max(w->armed_ns, ar->armed_ns);
	push_unarmed(ar, pid, ar->armed_ns);
	if (w->inside)
		inflight_add(w->inside, pid);	/* it may be in a call by now */
}

/* Whose probes are made for a process that the watch sees: its own, or (0) those for all. */
static pid_t filter_for(const struct arrival *ar, pid_t pid)
{
	return ar->watch->filter && (!ar->gone || pid == ar->watch->filter) ? pid : 0;
}

static int on_file(void *ctx, const struct target_file *file)
{
	struct arrival *ar = ctx;
	struct worker *w = ar->w;
	pid_t filter = filter_for(ar, file->pid);
	struct attach_result result;
	int err = attach_file(w->attach, file, filter, &result);

	worker_push_ops(w);
	if (file->pid != w->announced && result.has_calls && !ar->gone) {
		/* Its identity can be read now; at its first recorded call it may have exited. */
		w->announced = file->pid;
		worker_push(w, &(struct event){ .kind = EVENT_PROCESS, .pid = (uint32_t)file->pid,
						.tid = (uint32_t)file->pid });
	}
	ar->empty = !err && !result.has_probes && scan_cache_may_add(file);
	if (err)
		worker_note_outcomes(w);
	if (err)
		return 0;		/* logged by attach; other files still matter */
	ar->armed_ns = result.armed_ns;
	if (result.probes) {
		if (filter != ar->watch->filter)
			attach_hand_over(w->attach);
		log_debug("attached to %s in process %d: %u functions", file->path, file->pid,
			  result.probes);
		ar->armed_ns = time_now_ns();
		worker_note_outcomes(w);
	}
	if (!result.has_calls)
		return 0;
	if (!ar->gone && ar->armed_ns > ar->time_ns)
		note_unarmed(ar, file->pid);
	return 0;
}

static bool is_ours(const struct worker *w, pid_t pid)
{
	return !w->rules.only_followed || attach_follows(w->attach, pid);
}

/* A new process, which may be in a call by now. */
static void take_in(void *ctx, pid_t pid)
{
	struct arrival *ar = ctx;
	struct worker *w = ar->w;

	target_each_file(pid, on_file, ar);
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
		target_each_file(pid, on_file, ar);	/* as if it had just mapped them */
	else if (ar->w->rules.match.selector)
		target_match_take(&ar->w->rules.match, pid, take_in, ar);
	return 0;
}

/* ---- rechecks -------------------------------------------------------------------------------- */

static void look_later(const struct arrival *ar, pid_t pid, uint64_t after_ns, uint64_t again_ns)
{
	recheck_add(&ar->w->later, &(struct recheck_entry){
		.pid = pid, .time_ns = ar->time_ns, .due_ns = ar->time_ns + after_ns,
		.again_ns = again_ns, .watch = ar->watch });
}

/* A child that has not run another program yet: it may use what its parent had mapped, and may have
 * become another user's, or another group's, since. */
static void note_newborn(const struct arrival *ar, const struct target_event *ev)
{
	const struct worker *w = ar->w;

	if (w->rules.match.selector || (ar->watch->filter && w->rules.follow_children))
		look_later(ar, ev->child, NEWBORN_NS, 0);
}

static void worker_look_at_due(struct worker *w)
{
	struct recheck_entry look;

	while (recheck_take(&w->later, time_now_ns(), &look)) {
		struct arrival ar = { .w = w, .watch = look.watch, .time_ns = look.time_ns };

		if (look.again_ns && is_ours(w, look.pid))
			recheck_forget(&w->later, look.pid);
		else
			rescan_pid(&ar, look.pid);
	}
}

/* ---- events ---------------------------------------------------------------------------------- */

/* A process that did not match until now. Its events matter when it runs a program, or loads a
 * file that can be probed. */
static void on_stranger(struct arrival *ar, const struct target_event *ev)
{
	struct worker *w = ar->w;

	if (!w->rules.match.selector)
		return;
	if (ev->kind == TARGET_FORK)
		note_newborn(ar, ev);
	if (ev->kind == TARGET_EXIT || ev->kind == TARGET_EXEC)
		recheck_forget(&w->later, ev->pid);
	if (ev->kind == TARGET_EXEC)
		rescan_pid(ar, ev->pid);
	if (ev->kind != TARGET_MMAP || !catalog_wants_file(str_basename(ev->text)))
		return;
	rescan_pid(ar, ev->pid);
	if (selector_waits(w->rules.match.selector) && !is_ours(w, ev->pid)) {
		recheck_forget(&w->later, ev->pid);
		look_later(ar, ev->pid, DEVICE_NS, DEVICE_NS);
	}
}

static void remember_armed(const struct arrival *ar, const struct target_event *ev)
{
	struct map_slot *slot = ar->armed_ns && ev->file && ev->pid != ar->watch->filter ?
				map_put(&ar->w->armed_files, ev->file, NULL) : NULL;

	if (slot)
		slot->value = ar->armed_ns;
}

/* Of one that was met before, its process's root may have gone, too. */
static void find_gone(struct arrival *ar, const struct target_event *ev)
{
	const struct map_slot *known = map_find(&ar->w->armed_files, ev->file);

	if (known) {
		ar->armed_ns = known->value;
		return;
	}
	if (ar->watch->filter && ar->watch->filter != ev->pid)
		attach_hand_over(ar->w->attach);
	target_unmapped_file(ev->pid, ev->ino, ev->text, on_file, ar);
	remember_armed(ar, ev);
}

/*
 * It exited, ran another program or unmapped the library before that could be read. The file is
 * probed for those that come. Without --tier 1 cublas and cudnn have no probes.
 */
static void on_gone(struct arrival *ar, const struct target_event *ev)
{
	struct worker *w = ar->w;

	if (!catalog_has_tier(str_basename(ev->text), attach_tier(w->attach)))
		return;
	ar->gone = true;
	find_gone(ar, ev);
	if (ar->empty || (ar->armed_ns && ar->armed_ns <= ev->time_ns))
		return;			/* it missed nothing */
	w->missed = true;
	push_unarmed(ar, ev->pid, ar->armed_ns ? ar->armed_ns : time_now_ns());
	if (target_process_ended(ev->pid))
		worker_push(w, &(struct event){ .kind = EVENT_IDENTITY, .pid = (uint32_t)ev->pid,
					 .tid = (uint32_t)ev->pid, .fact.key = "ended",
					 .fact.value = "yes" });
}

static void read_mapped_file(struct arrival *ar, const struct target_event *ev)
{
	int err = target_mapped_file(ev->pid, ev->start, ev->len, ev->text, on_file, ar);

	if (err == -ESRCH || err == -ENOENT)
		on_gone(ar, ev);
	else if (ar->empty)
		scan_cache_add(&ar->w->empty_files, ev);
	else
		remember_armed(ar, ev);
}

/*
 * A file of any name may hold a static runtime, but it takes 100 ms to see that PyTorch's largest
 * does not: those that are named as a library of the catalogue are probed first.
 */
static void on_mapped(struct arrival *ar, const struct target_event *ev)
{
	struct unnamed *slot;

	if (scan_cache_has(&ar->w->empty_files, ev))
		return;
	if (catalog_wants_file(str_basename(ev->text))) {
		read_mapped_file(ar, ev);
		return;
	}
	slot = VEC_PUSH(&ar->w->unnamed);
	if (!slot)
		return;
	*slot = (struct unnamed){ *ev, ar->watch };
	slot->ev.text = strdup(ev->text);
}

/* For a short time, since events may have come meanwhile. */
static void read_unnamed(struct worker *w)
{
	uint64_t begin_ns = time_now_ns();
	size_t done = 0;

	while (done < w->unnamed.n && time_now_ns() - begin_ns < UNNAMED_NS) {
		struct unnamed *one = &w->unnamed.v[done++];
		struct arrival ar = { .w = w, .watch = one->watch, .time_ns = one->ev.time_ns };

		if (one->ev.text && !scan_cache_has(&w->empty_files, &one->ev))
			read_mapped_file(&ar, &one->ev);
		free((char *)one->ev.text);
	}
	VEC_DROP_FIRST(&w->unnamed, done);
}

/* Its mappings are gone. */
static void forget_unnamed(struct worker *w, pid_t pid)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->unnamed.n; i++)
		if (w->unnamed.v[i].ev.pid == pid)
			free((char *)w->unnamed.v[i].ev.text);
		else
			w->unnamed.v[kept++] = w->unnamed.v[i];
	w->unnamed.n = kept;
}

/* Several processes may share what watches the host for them. */
static const struct watch *watch_of(const struct worker *w, pid_t root, const struct watch *read)
{
	for (size_t i = 0; i < w->watches.n; i++)
		if (root && w->watches.v[i].pid == root)
			return &w->watches.v[i];
	return read;
}

/* ---- after events were lost ------------------------------------------------------------------ */

struct rescan {			/* each process once, whatever roots it is below */
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
	if (r->ar.watch->filter && !r->ar.w->rules.follow_children)
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

static void worker_on_event(void *ctx, const struct target_event *ev)
{
	const struct arrival *read = ctx;
	struct worker *w = read->w;
	const struct watch *watch = watch_of(w, ev->root, read->watch);
	struct target_match *match = &w->rules.match;
	struct arrival ar = { .w = w, .watch = watch, .time_ns = ev->time_ns };

	w->heard = true;
	if (watch->filter && watch->pid != -1 && !w->rules.follow_children && ev->pid &&
	    ev->pid != watch->filter)
		return;			/* a child: named by BPF, not followed */
	if (ev->kind == TARGET_EXEC && ev->pid == w->announced)
		w->announced = 0;
	if (ev->kind == TARGET_EXEC || ev->kind == TARGET_EXIT)
		forget_unnamed(w, ev->pid);
	if (ev->pid && !is_ours(w, ev->pid)) {
		on_stranger(&ar, ev);
		return;
	}
	if (w->feed)
		stack_feed_event(w->feed, ev, watch->pid);
	switch (ev->kind) {
	case TARGET_MMAP:
		on_mapped(&ar, ev);
		break;
	case TARGET_FORK:
		/* Born before its parent was chosen, or as it was: BPF has not followed it. */
		if (match->selector && match->below && !is_ours(w, ev->child))
			target_match_follow(match, ev->child);
		note_newborn(&ar, ev);
		break;
	case TARGET_EXEC:
	case TARGET_EXIT:
		recheck_forget(&w->later, ev->pid);
		break;
	case TARGET_MISSED:
		rescan_all(w, read->watch, ev->time_ns);
		break;
	default:
		break;
	}
}

struct worker *worker_new(struct attach *a, struct inflight *inside, struct loader *stacks)
{
	struct worker *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->attach = a;
	w->inside = inside;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->room, NULL);
	w->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->block_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->feed = stacks ? stack_feed_new(stacks) : NULL;
	if (w->stop_fd >= 0 && w->event_fd >= 0 && w->block_fd >= 0 && (w->feed || !stacks))
		return w;
	worker_free(w);
	return NULL;
}

int worker_watch(struct worker *w, pid_t pid, pid_t filter)
{
	struct watch *watch = VEC_PUSH(&w->watches);
	struct target_watch *first = w->watches.n > 1 ? w->watches.v[0].tw : NULL;
	int err;

	if (!watch)
		return -ENOMEM;
	*watch = (struct watch){ .pid = pid, .filter = filter };
	/* With the first one, if that can take more; else a watch of its own. */
	err = first && pid > 0 ? target_watch_add(first, pid) : -EINVAL;
	if (err == -EINVAL) {
		watch->tw = target_watch_new(pid);
		err = watch->tw ? 0 : errno ? -errno : -ENOMEM;
	}
	if (err)
		w->watches.n--;
	return err;
}

/* ---- the capture's blocks -------------------------------------------------------------------- */

/* The engine has a full block. capture_sink_store remembers its own errors for the next push. */
static void take_block(void *ctx, struct capture_block *b)
{
	struct worker *w = ctx;

	if (!w->running) {
		capture_sink_store(w->keep, b);
		return;
	}
	pthread_mutex_lock(&w->lock);
	while (w->blocks == WORKER_BLOCKS)
		pthread_cond_wait(&w->room, &w->lock);
	w->block[w->blocks++] = b;
	pthread_mutex_unlock(&w->lock);
	io_notify(w->block_fd);
}

static void store_blocks(struct worker *w)
{
	struct capture_block *got[WORKER_BLOCKS];
	size_t n;

	io_clear(w->block_fd);
	pthread_mutex_lock(&w->lock);
	n = w->blocks;
	memcpy(got, w->block, n * sizeof(*got));
	w->blocks = 0;
	pthread_cond_signal(&w->room);
	pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < n; i++)
		capture_sink_store(w->keep, got[i]);
}

/* The time until something is due without an event; -1: never. */
static int wait_ms(const struct worker *w)
{
	int ms = w->unnamed.n ? 0 : recheck_timeout_ms(&w->later, time_now_ns());
	int inside = w->inside ? inflight_timeout_ms(w->inside) : -1;

	if (ms < 0 || (inside >= 0 && inside < ms))
		ms = inside;
	return w->feed && (ms < 0 || ms > w->feed->wait_ms) ? w->feed->wait_ms : ms;
}

static void begin_feed_round(struct stack_feed *f)
{
	const uint64_t end = ring_produced(f->ring);

	f->has_more = end != f->limit;
	f->wait_ms = f->has_more ? STACK_FEED_MS :
				   (int)num_min(2 * (uint64_t)f->wait_ms, STACK_FEED_QUIET_MS);
	f->limit = end;
}

/* Stacks that were sent wait for the engine, which has to know them. When no more can be sent,
 * copies are still taken: received must add up. */
static void feed_stacks(struct worker *w, bool now)
{
	struct event_sink to = { worker_push, w };
	int err = w->feed ? stack_feed_round(w->feed, &to, now) : 0;

	if (err && !w->feed_failed)
		live_push_note(&to, NOTE_STACKS_FAILED, 0,
			       "cannot tell more stacks of calls: %s", strerror(-err));
	w->feed_failed = err;
}

/* A host's activity comes in bursts: a program that starts maps several files. */
#define GATHER_US 2000

/* Activity of unmatched processes is gathered, so that a busy host is not read event by event. */
static void read_watch(struct worker *w, const struct watch *watch, bool readable)
{
	struct arrival read = { .w = w, .watch = watch };

	if (!watch->tw || !(readable || (w->feed && w->feed->has_more)))
		return;
	if (readable && (watch->pid == -1 || !w->heard) && !w->feed)
		usleep(GATHER_US);
	w->heard = false;
	/* Mappings must be known before stacks in them are unwound. */
	target_watch_read(watch->tw, worker_on_event, &read);
}

static void *worker_main(void *ctx)
{
	struct worker *w = ctx;
	struct event_sink sink = { worker_push, w };
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	while (!w->fds[w->watches.n].revents) {
		if (poll(w->fds, w->watches.n + 2, wait_ms(w)) < 0)
			continue;
		if (w->feed)
			begin_feed_round(w->feed);
		worker_look_at_due(w);
		if (w->fds[w->watches.n + 1].revents)
			store_blocks(w);
		for (size_t i = 0; i < w->watches.n; i++)
			read_watch(w, &w->watches.v[i], w->fds[i].revents);
		read_unnamed(w);
		worker_change_launches(w);
		if (w->inside) {	/* calls that began before their probes */
			inflight_find(w->inside, w->armed_ns, &sink);
			inflight_work(w->inside, &sink);
		}
		feed_stacks(w, false);
	}
	return NULL;
}

int worker_run(struct worker *w, const struct worker_rules *rules, struct capture_sink *keep)
{
	size_t n = w->watches.n;
	int err;

	/* A target's maps are read now, another process's with its first stack. */
	for (size_t i = 0; i < n && w->feed; i++)
		if (w->watches.v[i].pid > 0)
			keep_error(w->feed,
				   callstacks_mapped(w->feed->stacks, w->watches.v[i].pid));
	w->fds = calloc(n + 2, sizeof(*w->fds));
	if (!w->fds)
		return live_cannot("probe what is mapped later", ENOMEM);
	w->rules = *rules;
	w->armed_ns = num_max(w->armed_ns, rules->armed_ns);
	if (rules->match.selector)
		w->watches.v[0].filter = rules->filter;
	w->keep = keep;
	if (keep)
		capture_sink_defer(keep, take_block, w);
	for (size_t i = 0; i < n; i++)
		w->fds[i] = (struct pollfd){ .fd = w->watches.v[i].tw ?
						   target_watch_fd(w->watches.v[i].tw) : -1,
					     .events = POLLIN };
	w->heard = true;
	worker_push_ops(w);
	worker_note_outcomes(w);
	w->wish = attach_launches(w->attach);
	attach_set_launches(w->attach, w->wish.until, w->wish.stays);	/* since now */
	worker_note_launches(w);
	w->fds[n] = (struct pollfd){ .fd = w->stop_fd, .events = POLLIN };
	w->fds[n + 1] = (struct pollfd){ .fd = w->block_fd, .events = POLLIN };
	err = pthread_create(&w->thread, NULL, worker_main, w);
	w->running = !err;
	return err ? live_cannot("probe what is mapped later", err) : 0;
}

void worker_finish_stacks(struct worker *w)
{
	struct event_sink to = { worker_push, w };
	uint64_t over;

	if (!w->feed)
		return;
	w->feed->limit = ring_produced(w->feed->ring);
	feed_stacks(w, true);
	over = callstacks_counts(w->feed->stacks)->over;
	if (over)
		live_push_note(&to, NOTE_STACKS_LIMIT, 0,
			       "%llu stacks are not told: more than %u different ones, or %u "
			       "frames, are not kept", (unsigned long long)over, STACKS_MAX,
			       STACKS_FRAMES_MAX);
}

struct worker_facts worker_facts(struct worker *w)
{
	struct worker_facts facts = { .fd = w->event_fd, .missed = !w->running && w->missed };

	for (int k = 0; w->feed && k < GP_KINDS; k++)
		facts.stacks_received[k] = __atomic_load_n(
			&callstacks_counts(w->feed->stacks)->received[k], __ATOMIC_RELAXED);
	pthread_mutex_lock(&w->lock);
	facts.noted = w->noted;
	facts.launches = w->launches;
	memcpy(facts.outcomes, w->outcomes, sizeof(facts.outcomes));
	pthread_mutex_unlock(&w->lock);
	return facts;
}

int worker_pump(struct worker *w, const struct event_sink *sink)
{
	VEC(struct event *) got;
	int err = 0;

	io_clear(w->event_fd);
	pthread_mutex_lock(&w->lock);
	memcpy(&got, &w->events, sizeof(got));
	memset(&w->events, 0, sizeof(w->events));
	pthread_mutex_unlock(&w->lock);
	for (size_t i = 0; i < got.n; i++) {
		if (!err)
			err = sink->push(sink->ctx, got.v[i]);
		free(got.v[i]);
	}
	VEC_FREE(&got);
	return err;
}

void worker_stop(struct worker *w)
{
	if (!w->running)
		return;
	io_notify(w->stop_fd);
	pthread_join(w->thread, NULL);
	w->running = false;
	store_blocks(w);
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	worker_stop(w);
	for (size_t i = 0; i < w->watches.n; i++)
		target_watch_free(w->watches.v[i].tw);
	VEC_FREE(&w->watches);
	recheck_free(&w->later);
	for (size_t i = 0; i < w->events.n; i++)
		free(w->events.v[i]);
	VEC_FREE(&w->events);
	stack_feed_free(w->feed);
	scan_cache_free(&w->empty_files);
	map_free(&w->armed_files);
	for (size_t i = 0; i < w->unnamed.n; i++)
		free((char *)w->unnamed.v[i].ev.text);
	VEC_FREE(&w->unnamed);
	free(w->fds);
	io_close(&w->stop_fd);
	io_close(&w->event_fd);
	io_close(&w->block_fd);
	pthread_cond_destroy(&w->room);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

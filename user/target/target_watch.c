// SPDX-License-Identifier: BSD-3-Clause
/*
 * Who maps, runs, forks and ends from now on, as perf's side-band records tell it. Owns the order
 * of events in time, whom a watch follows, and when a process has ended. Must not know why
 * anybody watches, nor open the files that are mapped.
 */
#include "target/target_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "base/time.h"
#include "base/vec.h"
#include "target/target_family.h"
#include "target/target_walk.h"
#include "target/perf_ring.h"

#define ROUNDS_MAX 16		/* of draining, for events that arrive meanwhile */
#define LEAVE_MIN_NS (5 * NS_PER_MS)
#define LEAVE_MAX_NS NS_PER_SEC
#define MISSED_MIN_NS NS_PER_SEC	/* from one look at what was missed to the next */
/* and so many times what the look took, whose rings fill meanwhile */
#define MISSED_SHARE 4

struct leaving {		/* its first thread has ended, perhaps not its last */
	pid_t pid, root;
	uint64_t time_ns;	/* of the last thread's end so far */
};

struct target_watch {
	pid_t pid;		/* -1: all */
	struct target_family family;	/* to pick from the whole host */
	struct perf_set perf;
	VEC(struct perf_record) held;
	VEC(struct leaving) leaving;
	uint64_t leave_ns;	/* until the next look at `leaving` */
	uint64_t missed;	/* events, not told yet */
	uint64_t missed_since_ns, missed_next_ns;	/* told not before */
	uint64_t order;
	int timer_fd;
	void *raw;
};

/* ---- life --------------------------------------------------------------------------------- */

static void set_timer(struct target_watch *w, uint64_t ns)
{
	struct itimerspec in = {
		.it_value = { (time_t)(ns / NS_PER_SEC), (long)(ns % NS_PER_SEC) },
	};

	timerfd_settime(w->timer_fd, 0, &in, NULL);
}

int target_watch_add(struct target_watch *w, pid_t pid)
{
	if (w->pid < 0)
		return -EINVAL;
	return target_process_ended(pid) ? -ESRCH : target_family_add_root(&w->family, pid);
}

static int start(struct target_watch *w)
{
	int rc;

	w->raw = malloc(PERF_RING_RECORD_MAX);
	if (!w->raw)
		return -ENOMEM;
	w->perf.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	w->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->perf.epoll_fd < 0 || w->timer_fd < 0) {
		rc = -errno;
		log_error("cannot wait for events: %s; raise the limit of open files (ulimit -n)",
			  strerror(-rc));
		return rc;
	}
	rc = epoll_ctl(w->perf.epoll_fd, EPOLL_CTL_ADD, w->timer_fd,
		       &(struct epoll_event){ .events = EPOLLIN, .data.fd = w->timer_fd });
	if (rc)
		return -errno;
	rc = perf_set_open(&w->perf);
	if (!rc && w->pid > 0)
		rc = target_watch_add(w, w->pid);
	/*
	 * Polling a perf event takes its readiness away, and adding our epoll fd to another polls.
	 * Whatever happened until then must be read: so the first wait returns at once.
	 */
	set_timer(w, 1);
	return rc;
}

struct target_watch *target_watch_new(pid_t pid)
{
	struct target_watch *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return NULL;
	w->pid = pid > 0 ? pid : -1;
	w->perf.epoll_fd = w->timer_fd = -1;
	rc = start(w);
	if (!rc)
		return w;
	target_watch_free(w);
	errno = -rc;
	return NULL;
}

int target_watch_fd(const struct target_watch *w)
{
	return w->perf.epoll_fd;
}

void target_watch_free(struct target_watch *w)
{
	if (!w)
		return;
	perf_set_close(&w->perf);
	for (size_t i = 0; i < w->held.n; i++)
		free((char *)w->held.v[i].ev.text);
	VEC_FREE(&w->held);
	VEC_FREE(&w->leaving);
	target_family_free(&w->family);
	if (w->perf.epoll_fd >= 0)
		close(w->perf.epoll_fd);
	if (w->timer_fd >= 0)
		close(w->timer_fd);
	free(w->raw);
	free(w);
}

/* ---- reading ------------------------------------------------------------------------------ */

/* An event of a CPU that was switched off may stay readable for ever; the rings are drained
 * anyway. */
static void clear_readiness(struct target_watch *w)
{
	struct epoll_event ev[64];
	uint64_t ticks;
	int n;

	do {
		n = epoll_wait(w->perf.epoll_fd, ev, 64, 0);
		for (int i = 0; i < n; i++) {
			if (ev[i].data.fd == w->timer_fd && read(w->timer_fd, &ticks, 8) == 8)
				continue;
			if (ev[i].events & (EPOLLHUP | EPOLLERR))
				epoll_ctl(w->perf.epoll_fd, EPOLL_CTL_DEL, ev[i].data.fd, NULL);
		}
	} while (n == 64);
}

static int drain(struct target_watch *w, struct perf_cpu *cpu)
{
	struct perf_record rec, *slot;
	int rc = 0;

	while (cpu->ring.page && rc >= 0 && (rc = perf_ring_next(&cpu->ring, w->raw, &rec)) > 0) {
		rec.order = w->order++;
		slot = VEC_PUSH(&w->held);
		if (slot) {
			*slot = rec;
			continue;
		}
		free((char *)rec.ev.text);
		rc = -ENOMEM;
	}
	return rc;
}

static int compare_records(const void *a, const void *b)
{
	const struct perf_record *x = a, *y = b;
	int c = num_compare(x->ev.time_ns, y->ev.time_ns);

	return c ? c : num_compare(x->order, y->order);
}

struct listener {
	void (*fn)(void *ctx, const struct target_event *ev);
	void *ctx;
};

static struct leaving *find_leaving(struct target_watch *w, pid_t pid)
{
	for (size_t i = 0; i < w->leaving.n; i++)
		if (w->leaving.v[i].pid == pid)
			return &w->leaving.v[i];
	return NULL;
}

static void forget_leaving(struct target_watch *w, struct leaving *l)
{
	*l = w->leaving.v[--w->leaving.n];
}

/* True: the process of l has ended, this was told, and l is forgotten. */
static bool finish_leaving(struct target_watch *w, struct leaving *l, const struct listener *to)
{
	struct target_event ev = { .kind = TARGET_EXIT, .pid = l->pid, .root = l->root,
				   .time_ns = l->time_ns };

	if (!target_process_ended(l->pid))
		return false;
	forget_leaving(w, l);
	target_family_forget(&w->family, ev.pid);
	to->fn(to->ctx, &ev);
	return true;
}

static struct leaving *begin_leaving(struct target_watch *w, pid_t pid, pid_t root)
{
	struct leaving *l = VEC_PUSH(&w->leaving);

	if (l)
		*l = (struct leaving){ .pid = pid, .root = root };
	w->leave_ns = LEAVE_MIN_NS;
	return l;
}

/*
 * A process ends with its last thread, and its first thread may go before: by pthread_exit in
 * main, or because another thread called exec and takes its place.
 */
static void handle_exit(struct target_watch *w, const struct perf_record *rec,
			const struct listener *to)
{
	struct leaving *l = find_leaving(w, rec->ev.pid);

	if (!l && rec->tid == rec->ev.pid)
		l = begin_leaving(w, rec->ev.pid, rec->ev.root);
	if (!l)
		return;
	l->time_ns = rec->ev.time_ns;
	finish_leaving(w, l, to);
}

struct lost_ends {
	struct target_watch *w;
	const struct listener *to;
};

/* What it did before may wait in a ring: so its end is told after the next reading. */
static void on_lost_end(void *ctx, pid_t pid, pid_t root, bool is_other)
{
	const struct lost_ends *e = ctx;
	struct target_event ev = { .kind = TARGET_EXIT, .pid = pid, .root = root,
				   .time_ns = time_now_ns() };
	struct leaving *l = find_leaving(e->w, pid);

	if (is_other) {
		if (l)
			forget_leaving(e->w, l);
		e->to->fn(e->to->ctx, &ev);
	} else if (!l) {
		l = begin_leaving(e->w, pid, root);
		if (l)
			l->time_ns = ev.time_ns;
	}
}

/* Of a process that is watched; says for whom. */
static bool follows(struct target_watch *w, struct perf_record *rec)
{
	if (w->pid < 0)
		return true;
	rec->ev.root = target_family_root(&w->family, rec->ev.pid);
	if (rec->ev.kind == TARGET_FORK && rec->ev.root)
		target_family_add(&w->family, rec->ev.child, rec->ev.root, rec->ev.time_ns);
	else if (rec->ev.kind == TARGET_FORK)
		target_family_note_other(&w->family, rec->ev.child, rec->ev.time_ns);
	return rec->ev.root;
}

static void note_missed(struct target_watch *w, const struct target_event *ev)
{
	if (!w->missed)
		w->missed_since_ns = ev->time_ns;
	w->missed += ev->missed;
}

static void deliver(struct target_watch *w, struct perf_record *rec, const struct listener *to)
{
	struct leaving *l;

	if (rec->ev.kind == TARGET_MISSED) {
		note_missed(w, &rec->ev);
		return;
	}
	if (rec->of_thread || !follows(w, rec))
		return;
	if (rec->ev.kind == TARGET_EXIT) {
		handle_exit(w, rec, to);
		return;
	}
	l = rec->ev.kind == TARGET_EXEC ? find_leaving(w, rec->ev.pid) : NULL;
	if (l)
		forget_leaving(w, l);
	to->fn(to->ctx, &rec->ev);
}

/* Delivers what happened before cutoff; the rest stays held. */
static void deliver_held(struct target_watch *w, uint64_t cutoff_ns, const struct listener *to)
{
	size_t done = 0;

	if (w->held.n)
		qsort(w->held.v, w->held.n, sizeof(w->held.v[0]), compare_records);
	for (; done < w->held.n && w->held.v[done].ev.time_ns <= cutoff_ns; done++) {
		deliver(w, &w->held.v[done], to);
		free((char *)w->held.v[done].ev.text);
	}
	VEC_DROP_FIRST(&w->held, done);
}

static void check_leaving(struct target_watch *w, const struct listener *to)
{
	for (size_t i = 0; i < w->leaving.n;)
		i += !finish_leaving(w, &w->leaving.v[i], to);
}

/*
 * Who hears of it looks at every process, and what others do may fill the rings of all CPUs again
 * and again: so all is told together, and not at once again.
 */
static void tell_missed(struct target_watch *w, const struct listener *to)
{
	uint64_t begin_ns = time_now_ns(), took_ns;
	struct target_event ev = { .kind = TARGET_MISSED, .missed = w->missed,
				   .time_ns = w->missed_since_ns };

	if (!w->missed || begin_ns < w->missed_next_ns)
		return;
	w->missed = 0;
	if (w->pid > 0)
		target_family_read(&w->family, on_lost_end, &(struct lost_ends){ w, to });
	to->fn(to->ctx, &ev);
	took_ns = time_now_ns() - begin_ns;
	w->missed_next_ns = begin_ns + took_ns + num_max(MISSED_MIN_NS, MISSED_SHARE * took_ns);
}

/* For what waits here, of which no ring tells. */
static void set_next(struct target_watch *w)
{
	uint64_t now_ns = time_now_ns(), ns = UINT64_MAX;

	if (w->leaving.n) {
		ns = w->leave_ns;
		if (w->leave_ns < LEAVE_MAX_NS)
			w->leave_ns *= 2;
	}
	if (w->missed)
		ns = num_min(ns, w->missed_next_ns > now_ns ? w->missed_next_ns - now_ns : 1);
	if (w->held.n)
		ns = 1;
	if (ns != UINT64_MAX)
		set_timer(w, ns);
}

/*
 * Rings are drained one after the other, so what is newer than the start of a round may have an
 * elder in a ring already passed: it waits for the next round. So a fork, which is told before its
 * child runs, comes before all that the child does.
 */
int target_watch_read(struct target_watch *w,
		      void (*fn)(void *ctx, const struct target_event *ev), void *ctx)
{
	struct listener to = { .fn = fn, .ctx = ctx };
	int rc = 0;

	clear_readiness(w);
	for (int round = 0; round < ROUNDS_MAX && (!round || w->held.n); round++) {
		uint64_t cutoff_ns = time_now_ns();

		for (size_t i = 0; i < w->perf.cpus.n && !rc; i++)
			rc = drain(w, &w->perf.cpus.v[i]);
		deliver_held(w, rc ? UINT64_MAX : cutoff_ns, &to);
	}
	check_leaving(w, &to);
	tell_missed(w, &to);
	set_next(w);
	return rc;
}

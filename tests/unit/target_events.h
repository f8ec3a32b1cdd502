/* SPDX-License-Identifier: BSD-3-Clause */
/* What a watch reported, to be searched. Included once per test program. */
#ifndef TESTS_TARGET_EVENTS_H
#define TESTS_TARGET_EVENTS_H

#include "lib/cmocka.h"
#include "target_child.h"

#include <sys/epoll.h>

#include "base/time.h"
#include "target/target_watch.h"

#define EVENTS_MAX 16384	/* a ring has fewer */
#define PATIENCE_MS 10000

struct log {
	size_t n;
	struct target_event ev[EVENTS_MAX];
	char text[EVENTS_MAX][128];
	uint64_t missed;
};

static struct log events;

static void note(void *ctx, const struct target_event *ev)
{
	struct log *l = ctx;

	l->missed += ev->kind == TARGET_MISSED ? ev->missed : 0;
	if (l->n == EVENTS_MAX)
		return;
	l->ev[l->n] = *ev;
	snprintf(l->text[l->n++], sizeof(l->text[0]), "%s", ev->text ? ev->text : "");
}

/* The index of the first such event from `from` on, or -1. text: the end of it. */
static int find(const struct log *l, int from, uint8_t kind, pid_t pid, const char *text)
{
	for (size_t i = (size_t)from; i < l->n; i++) {
		size_t len = strlen(l->text[i]), want = text ? strlen(text) : 0;

		if (l->ev[i].kind == kind && l->ev[i].pid == pid && len >= want &&
		    (!text || !strcmp(l->text[i] + len - want, text)))
			return (int)i;
	}
	return -1;
}

static UNUSED size_t count(const struct log *l, uint8_t kind, pid_t pid, const char *text)
{
	size_t n = 0;

	for (int i = -1; (i = find(l, i + 1, kind, pid, text)) >= 0;)
		n++;
	return n;
}

/* As a consumer: the watch's descriptor sits in an epoll of its own. Until is_there says so. */
static inline bool read_on(struct target_watch *w, bool (*is_there)(const void *), const void *what)
{
	int ep = epoll_create1(EPOLL_CLOEXEC);
	struct epoll_event ev = { .events = EPOLLIN };
	uint64_t end_ns = time_now_ns() + PATIENCE_MS * NS_PER_MS;
	bool found = false;

	assert_int_equal(epoll_ctl(ep, EPOLL_CTL_ADD, target_watch_fd(w), &ev), 0);
	do {
		assert_int_equal(target_watch_read(w, note, &events), 0);
		found = is_there(what);
	} while (!found && time_now_ns() < end_ns && epoll_wait(ep, &ev, 1, PATIENCE_MS) > 0);
	close(ep);
	return found;
}

static inline bool has_event(const void *what)
{
	const struct target_event *ev = what;

	return find(&events, 0, ev->kind, ev->pid, NULL) >= 0;
}

static UNUSED bool read_until(struct target_watch *w, uint8_t kind, pid_t pid)
{
	return read_on(w, has_event, &(struct target_event){ .kind = kind, .pid = pid });
}

static inline bool has_missed(const void *what)
{
	return events.missed > *(const uint64_t *)what;
}

/* More than n: what a full ring lost may be reported in parts, a second apart. */
static UNUSED bool read_until_missed(struct target_watch *w, uint64_t n)
{
	return read_on(w, has_missed, &n);
}

static UNUSED struct target_watch *watch(pid_t pid)
{
	struct target_watch *w;

	events = (struct log){ 0 };
	w = target_watch_new(pid);
	if (w)
		return w;
	print_message("perf_event_open is not permitted here: %s\n", strerror(errno));
	skip();
	return NULL;
}

/* ---- one process that is watched, and a file with code for it to map -------------------------- */

struct stage {
	struct scratch scratch;
	char path[512];
	struct child c;
	struct target_watch *w;
};

/* The process runs `play` and waits for its first turn. */
static UNUSED void stage_open(struct stage *s, int (*play)(struct child *me, void *path))
{
	scratch_make(&s->scratch);
	write_page(scratch_path(&s->scratch, "planted.so", s->path));
	s->c = child_start(play, s->path);
	assert_true(child_await(&s->c));
	s->w = watch(s->c.pid);
}

/* It goes on until it waits again; what was reported until then is read. */
static UNUSED void stage_turn(struct stage *s)
{
	assert_true(child_signal(&s->c));
	assert_true(child_await(&s->c));
	assert_int_equal(target_watch_read(s->w, note, &events), 0);
}

static UNUSED void stage_last_turn(struct stage *s)
{
	assert_true(child_signal(&s->c));
	assert_int_equal(child_end(&s->c), 0);
	assert_true(read_until(s->w, TARGET_EXIT, s->c.pid));
}

static UNUSED void stage_close(struct stage *s)
{
	target_watch_free(s->w);
	scratch_remove(&s->scratch);
}

/* What children of the process have mapped, reported as below it. */
static UNUSED size_t mapped_below(const struct stage *s)
{
	size_t n = 0;

	for (size_t i = 0; i < events.n; i++)
		n += events.ev[i].kind == TARGET_MMAP && events.ev[i].pid != s->c.pid &&
		     events.ev[i].root == s->c.pid;
	return n;
}

#endif

// SPDX-License-Identifier: BSD-3-Clause
/* Walks /proc/PID/task; a thread's files are read when its number is met first. */
#include "source/helper/threads.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/map.h"
#include "base/vec.h"
#include "host/proc.h"

#define TASKS_MAX 65536		/* looked at in a walk */

struct helper_threads {
	pid_t pid;
	bool own_numbers;	/* the process lives in a pid namespace */
	bool looked_again;	/* since the last look */
	uint64_t now_ns, walk;
	uint64_t guessed;
	VEC(struct helper_thread) all;
	/* -> index + 1; of a number that was used again, the newest */
	struct map by_tid, by_own;
};

struct helper_threads *helper_threads_new(pid_t pid, pid_t own_pid)
{
	struct helper_threads *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->pid = pid;
	t->own_numbers = pid != own_pid;
	return t;
}

void helper_threads_free(struct helper_threads *t)
{
	if (!t)
		return;
	VEC_FREE(&t->all);
	map_free(&t->by_tid);
	map_free(&t->by_own);
	free(t);
}

static struct helper_thread *known(const struct helper_threads *t, const struct map *by,
				   uint32_t number)
{
	const struct map_slot *slot = map_find(by, number);

	return slot && slot->value ? &t->all.v[slot->value - 1] : NULL;
}

static int add(struct helper_threads *t, const struct helper_thread *thread)
{
	struct map_slot *slot = map_put(&t->by_tid, thread->tid, NULL);
	struct helper_thread *at = slot ? VEC_PUSH(&t->all) : NULL;

	if (!at)
		return -ENOMEM;
	*at = *thread;
	slot->value = t->all.n;
	slot = map_put(&t->by_own, thread->own_tid, NULL);
	if (!slot)
		return -ENOMEM;
	slot->value = t->all.n;
	return 0;
}

int helper_threads_add(struct helper_threads *t, const struct helper_thread *thread)
{
	const struct helper_thread *had = known(t, &t->by_tid, thread->tid);

	if (t->all.n >= HELPER_THREADS_MAX || (had && had->own_tid == thread->own_tid))
		return 0;
	return add(t, thread);
}

/* ---- procfs --------------------------------------------------------------------------------- */

static char *read_file(int tasks, uint32_t tid, const char *name)
{
	char path[40], *text;
	size_t len;
	int fd;

	snprintf(path, sizeof(path), "%u/%s", tid, name);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	text = io_read_start(fd, 16384, &len);
	io_close(&fd);
	return text;
}

/* False: it has just ended. */
static bool read_thread(const struct helper_threads *t, int tasks, uint32_t tid,
			struct helper_thread *out)
{
	char *stat = read_file(tasks, tid, "stat");
	char *status = t->own_numbers ? read_file(tasks, tid, "status") : NULL;
	struct proc_stat s;
	bool ok = stat && !proc_parse_stat(stat, &s) && (status || !t->own_numbers);

	if (ok) {
		*out = (struct helper_thread){ .tid = tid, .own_tid = tid, .birth_ns = s.start_ns };
		memcpy(out->comm, s.comm, sizeof(out->comm));
		if (status && proc_inner_pid(status))
			out->own_tid = proc_inner_pid(status);
	}
	free(stat);
	free(status);
	return ok;
}

static int meet(struct helper_threads *t, int tasks, uint32_t tid)
{
	struct helper_thread *thread = known(t, &t->by_tid, tid), is_new;

	if (thread && !thread->gone_ns) {
		thread->walk = t->walk;
		return 0;
	}
	if (t->all.n >= HELPER_THREADS_MAX || !read_thread(t, tasks, tid, &is_new))
		return 0;
	is_new.walk = t->walk;
	return add(t, &is_new);
}

static int walk(struct helper_threads *t)
{
	const struct dirent *entry;
	char path[40];
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", t->pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	t->walk++;
	for (int i = 0; i < TASKS_MAX && !err && (entry = readdir(dir)); i++)
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			err = meet(t, dirfd(dir), (uint32_t)strtoul(entry->d_name, NULL, 10));
	closedir(dir);
	return err;
}

int helper_threads_look(struct helper_threads *t, uint64_t now_ns)
{
	uint64_t before_ns = t->now_ns, before = t->walk;
	int err = walk(t);

	t->now_ns = now_ns;
	t->looked_again = false;
	for (size_t i = 0; i < t->all.n && t->walk != before; i++) {
		struct helper_thread *thread = &t->all.v[i];

		if (!thread->gone_ns && thread->walk && thread->walk <= before)
			thread->gone_ns = before_ns;
	}
	return err;
}

/* ---- lookup --------------------------------------------------------------------------------- */

static const struct helper_thread *guess(struct helper_threads *t, uint32_t tid)
{
	if (t->own_numbers || !tid || tid > INT32_MAX || t->guessed >= HELPER_THREADS_GUESSED ||
	    t->all.n >= HELPER_THREADS_MAX)
		return NULL;
	t->guessed++;
	if (add(t, &(struct helper_thread){ .tid = tid, .own_tid = tid }))
		return NULL;
	return &t->all.v[t->all.n - 1];
}

const struct helper_thread *helper_threads_find(struct helper_threads *t, uint32_t own_tid)
{
	const struct helper_thread *thread = known(t, &t->by_own, own_tid);

	if (!thread && !t->looked_again) {
		t->looked_again = true;
		walk(t);
		thread = known(t, &t->by_own, own_tid);
	}
	return thread ? thread : guess(t, own_tid);
}

const struct helper_thread *helper_threads_of(const struct helper_threads *t, uint32_t tid)
{
	return known(t, &t->by_tid, tid);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes and threads in procfs: names, parents, ages, lists, the processes below another. Knows
 * nothing of mappings.
 */
#include "target/target.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "host/proc.h"

#define STAT_MAX 4096

/* Reading a file of a dying process gives ENOENT or ESRCH: both mean that it is gone. */
static int proc_error(int err)
{
	return err == ENOENT ? -ESRCH : -err;
}

static int read_stat(struct proc *p, struct proc_stat *out)
{
	const char *text = proc_read(p, PROC_STAT, NULL);

	return text ? proc_parse_stat(text, out) : -errno;
}

/* The real user id; -ESRCH when it is a thread of another process. */
static int read_status(struct proc *p, uid_t *uid)
{
	const char *text = proc_read(p, PROC_STATUS, NULL), *tgid, *user;

	if (!text)
		return -errno;
	tgid = proc_status_field(text, "Tgid");
	user = proc_status_field(text, "Uid");
	if (!tgid || !user || sscanf(user, "%u", uid) != 1)
		return -EBADMSG;
	return atoi(tgid) == p->pid ? 0 : -ESRCH;
}

/* Arguments joined by spaces, cut. */
static void read_cmdline(struct proc *p, char *out, size_t size)
{
	size_t n = 0;
	const char *text = proc_read(p, PROC_CMDLINE, &n);

	if (n >= size)
		n = size - 1;
	if (n)
		memcpy(out, text, n);
	while (n && (out[n - 1] == '\0' || out[n - 1] == ' '))
		n--;
	for (size_t i = 0; i < n; i++)
		if (out[i] == '\0')
			out[i] = ' ';
	out[n] = '\0';
}

int target_process_from(struct proc *p, struct target_process *out)
{
	struct proc_stat stat;
	int rc = read_stat(p, &stat);

	*out = (struct target_process){ .pid = p->pid };
	if (!rc)
		rc = read_status(p, &out->uid);
	if (rc)
		return rc;
	out->ppid = stat.ppid;
	out->threads = stat.threads;
	out->ended = stat.state == 'Z' || stat.state == 'X';
	out->start_ns = stat.start_ns;
	memcpy(out->comm, stat.comm, sizeof(out->comm));
	read_cmdline(p, out->cmdline, sizeof(out->cmdline));
	return 0;
}

int target_process_read(pid_t pid, struct target_process *out)
{
	struct proc p;
	int rc = proc_open(&p, pid);

	if (!rc)
		rc = target_process_from(&p, out);
	proc_close(&p);
	return rc;
}

/* Calls fn for every entry of dir that is a number. 0, fn's value, or -errno. */
static int each_number(const char *dir, int (*fn)(void *ctx, pid_t id), void *ctx)
{
	struct dirent *entry;
	DIR *d = opendir(dir);
	int rc = 0;

	if (!d)
		return proc_error(errno);
	while (!rc && (entry = readdir(d)))
		if (isdigit((unsigned char)entry->d_name[0]))
			rc = fn(ctx, (pid_t)strtol(entry->d_name, NULL, 10));
	closedir(d);
	return rc;
}

int target_each_pid(int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	return each_number("/proc", fn, ctx);
}

struct thread_walk {
	pid_t pid;
	int (*fn)(void *ctx, pid_t tid, uint64_t start_ns, const char *comm);
	void *ctx;
};

static int read_thread(pid_t pid, pid_t tid, struct proc_stat *stat)
{
	char path[64], *text;
	int rc;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	text = io_read_file(path, STAT_MAX, NULL);
	if (!text)
		return proc_error(errno);
	rc = proc_parse_stat(text, stat);
	free(text);
	return rc;
}

static int visit_thread(void *ctx, pid_t tid)
{
	struct thread_walk *tw = ctx;
	struct proc_stat stat;
	int rc = read_thread(tw->pid, tid, &stat);

	if (rc)
		return rc == -ESRCH ? 0 : rc;	/* ended meanwhile */
	return tw->fn(tw->ctx, tid, stat.start_ns, stat.comm);
}

int target_each_thread(pid_t pid,
		       int (*fn)(void *ctx, pid_t tid, uint64_t start_ns, const char *comm),
		       void *ctx)
{
	struct thread_walk tw = { .pid = pid, .fn = fn, .ctx = ctx };
	char dir[40];

	if (pid <= 0)
		return -ESRCH;
	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	return each_number(dir, visit_thread, &tw);
}

/* A thread that went away while it was looked at counts as alive: it may have a new number. */
static int visit_state(void *ctx, pid_t tid)
{
	struct proc_stat stat;

	if (read_thread(*(const pid_t *)ctx, tid, &stat))
		return 1;
	return stat.state != 'Z' && stat.state != 'X';
}

/*
 * A thread that calls exec takes the place of the first one in a single step: a walk across this
 * step meets neither, a second walk meets the new one.
 */
bool target_process_ended(pid_t pid)
{
	bool alive = false;
	char dir[40];

	snprintf(dir, sizeof(dir), "/proc/%d/task", pid);
	for (int walk = 0; walk < 2 && !alive; walk++)
		alive = each_number(dir, visit_state, &pid) > 0;
	return !alive;
}

/* ---- processes below others ------------------------------------------------------------------ */

static int note_link(void *ctx, pid_t pid)
{
	struct target_tree *tree = ctx;
	struct target_link *link;
	struct proc_stat stat;
	struct proc p;
	bool gone = proc_open(&p, pid) || read_stat(&p, &stat);

	proc_close(&p);
	if (gone)
		return 0;
	link = VEC_PUSH(&tree->links);
	if (!link)
		return -ENOMEM;
	*link = (struct target_link){ .pid = pid, .parent = stat.ppid, .start_ns = stat.start_ns,
				      .has_ended = stat.state == 'Z' || stat.state == 'X' };
	return 0;
}

struct target_tree *target_tree_read(void)
{
	struct target_tree *tree = calloc(1, sizeof(*tree));
	int err = tree ? target_each_pid(note_link, tree) : -ENOMEM;

	if (!err)
		return tree;
	target_tree_free(tree);
	errno = -err;
	return NULL;
}

void target_tree_free(struct target_tree *tree)
{
	if (!tree)
		return;
	VEC_FREE(&tree->links);
	free(tree);
}

/* Until a pass finds no new process: pids are not in the order of birth. */
int target_tree_each_below(const struct target_tree *tree, pid_t pid,
			   int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct map below = { 0 };
	int err = map_put(&below, (uint64_t)pid, NULL) ? 0 : -ENOMEM;
	bool is_new;
	size_t before;

	do {
		before = below.n;
		for (size_t i = 0; i < tree->links.n && !err; i++) {
			const struct target_link *l = &tree->links.v[i];

			if (!map_find(&below, (uint64_t)l->parent))
				continue;
			if (!map_put(&below, (uint64_t)l->pid, &is_new))
				err = -ENOMEM;
			else if (is_new)
				err = fn(ctx, l->pid);
		}
	} while (!err && below.n != before);
	map_free(&below);
	return err;
}

int target_each_descendant(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct target_tree *tree = target_tree_read();
	int err = tree ? target_tree_each_below(tree, pid, fn, ctx) : -errno;

	target_tree_free(tree);
	return err;
}

/* ---- children ------------------------------------------------------------------------------- */

#define CHILDREN_MAX (1u << 20)

struct children {
	pid_t pid;
	int (*fn)(void *ctx, pid_t pid);
	void *ctx;
};

static int visit_parent(void *ctx, pid_t tid, uint64_t start_ns, const char *comm)
{
	const struct children *c = ctx;
	char path[64], *text, *end;
	int rc = 0;

	(void)start_ns, (void)comm;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", c->pid, tid);
	text = io_read_file(path, CHILDREN_MAX, NULL);
	if (!text)
		return errno == ENOENT && !access("/proc/thread-self/children", F_OK) ? 0 : -errno;
	/* "12 13 14 " */
	for (long pid, at = 0; !rc && (pid = strtol(text + at, &end, 10)) > 0; at = end - text)
		rc = c->fn(c->ctx, (pid_t)pid);
	free(text);
	return rc;
}

int target_each_child(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct children c = { .pid = pid, .fn = fn, .ctx = ctx };

	return target_each_thread(pid, visit_parent, &c);
}

// SPDX-License-Identifier: BSD-3-Clause
/* The processes below a process, as one reading of /proc shows them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "base/vec.h"
#include "host/proc.h"
#include "target/target.h"
#include "target/target_internal.h"

struct target_tree {
	VEC(struct target_link) links;
};

static int note_link(void *ctx, pid_t pid)
{
	struct target_tree *tree = ctx;
	struct target_link *link;
	struct proc_stat stat;

	if (target_process_stat(pid, &stat))
		return 0;		/* gone meanwhile */
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

const struct target_link *target_tree_links(const struct target_tree *tree, size_t *n)
{
	*n = tree->links.n;
	return tree->links.v;
}

/* Marks and visits every process whose parent is marked, until a pass finds no more. Pids are in no
 * order that says who came first. */
static int visit(const struct target_tree *tree, struct map *below, int (*fn)(void *, pid_t),
		 void *ctx)
{
	bool more = true, is_new;
	int err;

	while (more) {
		more = false;
		for (size_t i = 0; i < tree->links.n; i++) {
			const struct target_link *l = &tree->links.v[i];

			if (!map_find(below, (uint64_t)l->parent))
				continue;
			if (!map_put(below, (uint64_t)l->pid, &is_new))
				return -ENOMEM;
			if (!is_new)
				continue;
			more = true;
			err = fn(ctx, l->pid);
			if (err)
				return err;
		}
	}
	return 0;
}

int target_tree_each_below(const struct target_tree *tree, pid_t pid,
			   int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct map below = { 0 };
	int err = map_put(&below, (uint64_t)pid, NULL) ? visit(tree, &below, fn, ctx) : -ENOMEM;

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

/* "12 13 14 " */
static int each_listed(const char *text, const struct children *c)
{
	int rc = 0;
	char *end;

	for (long pid; !rc && (pid = strtol(text, &end, 10)) > 0; text = end)
		rc = c->fn(c->ctx, (pid_t)pid);
	return rc;
}

static int visit_parent(void *ctx, pid_t tid, uint64_t start_ns, const char *comm)
{
	const struct children *c = ctx;
	char path[64], *text;
	int rc;

	(void)start_ns, (void)comm;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", c->pid, tid);
	text = io_read_file(path, CHILDREN_MAX, NULL);
	if (!text)
		return errno == ENOENT && !access("/proc/thread-self/children", F_OK) ? 0 : -errno;
	rc = each_listed(text, c);
	free(text);
	return rc;
}

int target_each_child(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct children c = { .pid = pid, .fn = fn, .ctx = ctx };

	return target_each_thread(pid, visit_parent, &c);
}

// SPDX-License-Identifier: BSD-3-Clause
/* The processes below a process, as one reading of /proc shows them. */
#include <errno.h>

#include "base/map.h"
#include "base/vec.h"
#include "probe/target.h"

struct link_up {
	pid_t pid, parent;
};

struct tree {
	VEC(struct link_up) links;
};

static int note_link(void *ctx, pid_t pid)
{
	struct tree *tree = ctx;
	struct target_process p;
	struct link_up *link;

	if (target_process_read(pid, &p))
		return 0;		/* gone meanwhile */
	link = VEC_PUSH(&tree->links);
	if (!link)
		return -ENOMEM;
	*link = (struct link_up){ .pid = pid, .parent = p.ppid };
	return 0;
}

/* Marks and visits every process whose parent is marked, until a pass finds no more. Pids are in no
 * order that says who came first. */
static int visit(const struct tree *tree, struct map *below, int (*fn)(void *, pid_t), void *ctx)
{
	bool more = true, is_new;
	int err;

	while (more) {
		more = false;
		for (size_t i = 0; i < tree->links.n; i++) {
			const struct link_up *l = &tree->links.v[i];

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

int target_each_descendant(pid_t pid, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	struct tree tree = { 0 };
	struct map below = { 0 };
	int err = target_each_pid(note_link, &tree);

	if (!err && !map_put(&below, (uint64_t)pid, NULL))
		err = -ENOMEM;
	if (!err)
		err = visit(&tree, &below, fn, ctx);
	VEC_FREE(&tree.links);
	map_free(&below);
	return err;
}

// SPDX-License-Identifier: BSD-3-Clause
/* See the header. */
#include "target/target_family.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "base/map.h"
#include "base/time.h"
#include "base/vec.h"
#include "host/proc.h"
#include "target/target.h"
#include "target/target_walk.h"

struct target_link {		/* a process and whose child it is */
	pid_t pid, parent;
	uint64_t start_ns;
	bool has_ended;		/* its first thread */
};

/* ---- target tree --------------------------------------------------------------------------- */

/* The processes below a process, as one reading of /proc shows them. */

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

static const struct target_link *target_tree_links(const struct target_tree *tree, size_t *n)
{
	*n = tree->links.n;
	return tree->links.v;
}

/* Marks and visits every process whose parent is marked, until a pass finds no more. Pids are
 * not in the order of birth. */
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

/* A process that begins so long after a member was known has reused its number; procfs has
 * starts to 10 ms. */
#define OTHER_NS (100 * NS_PER_MS)

pid_t target_family_root(const struct target_family *f, pid_t pid)
{
	const struct map_slot *slot = map_find(&f->root_of, (uint64_t)pid);

	return slot ? (pid_t)slot->value : 0;
}

int target_family_add(struct target_family *f, pid_t pid, pid_t root, uint64_t known_ns)
{
	struct map_slot *of = map_put(&f->root_of, (uint64_t)pid, NULL);
	struct map_slot *known = map_put(&f->known_ns, (uint64_t)pid, NULL);

	if (!of || !known) {
		target_family_forget(f, pid);
		return -ENOMEM;
	}
	of->value = (uint64_t)root;
	known->value = known_ns;
	return 0;
}

void target_family_note_other(struct target_family *f, pid_t pid, uint64_t made_ns)
{
	const struct map_slot *known = map_find(&f->known_ns, (uint64_t)pid);

	if (known && known->value < made_ns)
		target_family_forget(f, pid);
}

/* ---- processes already below a root ---------------------------------------------------------- */

struct joining {
	struct target_family *f;
	pid_t root;
	VEC(pid_t) new;		/* whose children are to be looked for */
};

static int join(void *ctx, pid_t pid)
{
	struct joining *j = ctx;
	pid_t *slot;

	if (target_family_root(j->f, pid))
		return 0;
	slot = VEC_PUSH(&j->new);
	if (!slot)
		return -ENOMEM;
	*slot = pid;
	return target_family_add(j->f, pid, j->root, time_now_ns());
}

/* The children of each are less to read than /proc; where the kernel does not list them that is
 * read. */
int target_family_add_root(struct target_family *f, pid_t pid)
{
	struct joining j = { .f = f, .root = pid };
	int err = target_family_add(f, pid, pid, time_now_ns());

	if (!err)
		err = target_each_child(pid, join, &j);
	for (size_t i = 0; i < j.new.n && err != -ENOMEM && err != -ENOENT; i++)
		err = target_each_child(j.new.v[i], join, &j);
	if (err == -ENOENT)
		err = target_each_descendant(pid, join, &j);
	VEC_FREE(&j.new);
	return err == -ENOMEM ? err : 0;
}

/* ---- after a loss ---------------------------------------------------------------------------- */

enum outcome { GONE, THERE, FIRST_THREAD_GONE, ANOTHER };

static enum outcome outcome_of(const struct target_family *f, const struct target_link *l)
{
	const struct map_slot *known = map_find(&f->known_ns, (uint64_t)l->pid);

	if (known && l->start_ns > known->value + OTHER_NS)
		return ANOTHER;
	return l->has_ended ? FIRST_THREAD_GONE : THERE;
}

struct look {
	struct target_family *f;
	const struct target_link *link;
	size_t n;
	VEC(pid_t) members;	/* that were before */
	struct map outcomes;
};

static int read_outcomes(struct look *k)
{
	const struct map *all = &k->f->root_of;

	for (size_t i = 0; i < k->n; i++) {
		struct map_slot *outcome;

		if (!target_family_root(k->f, k->link[i].pid))
			continue;
		outcome = map_put(&k->outcomes, (uint64_t)k->link[i].pid, NULL);
		if (!outcome)
			return -ENOMEM;
		outcome->value = outcome_of(k->f, &k->link[i]);
	}
	for (size_t i = 0; i < all->cap; i++) {
		pid_t *member = all->slot[i].used ? VEC_PUSH(&k->members) : NULL;

		if (!member && all->slot[i].used)
			return -ENOMEM;
		if (member)
			*member = (pid_t)all->slot[i].key;
	}
	return 0;
}

static void report_exit(struct look *k, void (*ended)(void *, pid_t, pid_t, bool), void *ctx)
{
	for (size_t i = 0; i < k->members.n; i++) {
		pid_t pid = k->members.v[i], root = target_family_root(k->f, pid);
		const struct map_slot *outcome = map_find(&k->outcomes, (uint64_t)pid);

		if (outcome && outcome->value == THERE)
			continue;
		if (outcome && outcome->value == ANOTHER)
			target_family_forget(k->f, pid);
		ended(ctx, pid, root, outcome && outcome->value == ANOTHER);
	}
}

/* Until a pass finds no new process: pids are not in the order of birth. */
static int add_below(struct look *k)
{
	uint64_t now_ns = time_now_ns();
	size_t before;
	int err = 0;

	do {
		before = k->f->root_of.n;
		for (size_t i = 0; i < k->n && !err; i++) {
			pid_t root = target_family_root(k->f, k->link[i].parent);

			if (root && !target_family_root(k->f, k->link[i].pid))
				err = target_family_add(k->f, k->link[i].pid, root, now_ns);
		}
	} while (!err && k->f->root_of.n != before);
	return err;
}

int target_family_read(struct target_family *f,
		       void (*ended)(void *ctx, pid_t pid, pid_t root, bool is_other), void *ctx)
{
	struct target_tree *tree = target_tree_read();
	struct look k = { .f = f };
	int err;

	if (!tree)
		return -errno;
	k.link = target_tree_links(tree, &k.n);
	err = read_outcomes(&k);
	if (!err)
		report_exit(&k, ended, ctx);
	if (!err)
		err = add_below(&k);
	VEC_FREE(&k.members);
	map_free(&k.outcomes);
	target_tree_free(tree);
	return err;
}

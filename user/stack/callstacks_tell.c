// SPDX-License-Identifier: BSD-3-Clause
/*
 * Frames as events, with names: asked for when they are told, for many of one file at once. Frames
 * come before the stacks that they are of.
 */
#include <errno.h>
#include <stdlib.h>

#include "elf/demangle.h"
#include "catalog/catalog.h"
#include "stack/callstacks_internal.h"
#include "stack/perfmap.h"

static int compare_files(const void *a, const void *b)
{
	const struct node *x = *(const struct node *const *)a, *y = *(const struct node *const *)b;
	int c = (x->image > y->image) - (x->image < y->image);

	return c ? c : (x->pid > y->pid) - (x->pid < y->pid);
}

static int keep_own(struct callstacks *cs, struct process *p, struct perfmap_query *q)
{
	struct map_slot *slot = map_put(&p->own, q->address, NULL);

	if (slot && q->name)
		slot->value = (uintptr_t)elf_demangle_kept(cs->names, q->name);
	return slot && (!q->name || slot->value) ? 0 : -ENOMEM;
}

/* Code of no file: what the process itself says of it, in one pass over its map. */
static int name_own(struct callstacks *cs, const struct node *const *group, size_t n)
{
	struct process *p = callstacks_find(cs, (pid_t)group[0]->pid);
	struct perfmap_query *q;
	int err = 0;

	if (p)
		callstacks_open_perfmap(p);
	if (!p || p->perfmap_fd < 0)
		return 0;
	q = calloc(n, sizeof(*q));
	if (!q)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		q[i].address = group[i]->offset;
	if (perfmap_name(p->perfmap_fd, q, n) == -ENOMEM)
		err = -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!err)
			err = keep_own(cs, p, &q[i]);
		free(q[i].name);
	}
	free(q);
	return err;
}

/* New nodes of the same image, one after another. */
static int name_group(struct callstacks *cs, const struct node *const *group, size_t n)
{
	uint64_t *vaddrs = calloc(n, sizeof(*vaddrs));
	int err;

	if (!vaddrs)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		vaddrs[i] = group[i]->offset;
	err = images_name(cs->images, group[0]->image, vaddrs, n);
	free(vaddrs);
	return err;
}

static int name_nodes(struct callstacks *cs)
{
	size_t n = cs->nodes.n - cs->told, k;
	const struct node **new = n ? calloc(n, sizeof(*new)) : NULL;
	int err = new || !n ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !err; i++)
		new[i] = &cs->nodes.v[cs->told + i];
	if (n && !err)
		qsort(new, n, sizeof(*new), compare_files);
	for (size_t i = 0; i < n && !err; i += k) {
		for (k = 1; i + k < n && !compare_files(&new[i + k], &new[i]); k++)
			;
		err = new[i]->image ? name_group(cs, &new[i], k) : name_own(cs, &new[i], k);
	}
	free(new);
	return err;
}

static const char *own_name(const struct callstacks *cs, const struct node *n)
{
	const struct process *p = callstacks_find(cs, (pid_t)n->pid);
	const struct map_slot *slot = p ? map_find(&p->own, n->offset) : NULL;

	return slot ? (const char *)(uintptr_t)slot->value : NULL;
}

static int tell_node(struct callstacks *cs, size_t i, const struct event_sink *to)
{
	const struct node *n = &cs->nodes.v[i];
	const char *own = n->image ? NULL : own_name(cs, n);
	struct event ev = { .kind = EVENT_FRAME, .dir = n->flags, .text = own };

	FRAME_NUMBER(&ev) = i + 1;
	FRAME_CALLER(&ev) = n->caller;
	FRAME_OFFSET(&ev) = n->offset;
	if (n->row)
		ev.text = catalog_row(n->row)->name;
	else if (n->image)
		ev.text = images_function(cs->images, n->image, n->offset);
	ev.text2 = n->image ? images_file(cs->images, n->image) : own ? "- [jit]" : NULL;
	return to->push(to->ctx, &ev);
}

static void forget_ended(struct callstacks *cs)
{
	for (size_t i = 0; i < cs->processes.cap;) {
		struct map_slot *slot = &cs->processes.slot[i];
		struct process *p = slot->used ? (struct process *)(uintptr_t)slot->value : NULL;

		if (p && p->ended) {
			map_del(&cs->processes, slot->key);
			callstacks_free_process(p);
		} else {
			i++;	/* else another one has moved here */
		}
	}
}

int callstacks_tell(struct callstacks *cs, const struct event_sink *to)
{
	int err = name_nodes(cs);

	for (; cs->told < cs->nodes.n && !err; cs->told++)
		err = tell_node(cs, cs->told, to);
	for (size_t i = 0; i < cs->stacks.n && !err; i++)
		err = to->push(to->ctx, &cs->stacks.v[i]);
	cs->stacks.n = 0;
	forget_ended(cs);
	return err;
}

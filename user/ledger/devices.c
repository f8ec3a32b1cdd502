// SPDX-License-Identifier: BSD-3-Clause
/* One device after the other in a list, found by (pid, ordinal); kernels by the hash of their names. */
#include "ledger/devices.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/vec.h"

struct entry {
	struct device_state state;	/* kernel: points into kernels */
	VEC(struct kernel_stats *) kernels;
	struct map by_name;		/* hash of the name -> index; chains go on by adding 1 */
};

struct devices {
	VEC(struct entry *) all;
	struct map by_process;		/* pid << 32 | device -> struct entry */
};

const char *device_bucket_name(unsigned int bucket)
{
	static const char *const names[DEVICE_BUCKETS_END] = {
		[DEVICE_GRAPHS] = "graph",
		[DEVICE_COPIES + COPY_H2H] = "copy-h2h", [DEVICE_COPIES + COPY_H2D] = "copy-h2d",
		[DEVICE_COPIES + COPY_D2H] = "copy-d2h", [DEVICE_COPIES + COPY_D2D] = "copy-d2d",
		[DEVICE_COPIES + COPY_DEFAULT] = "copy", [DEVICE_COPIES_PEER] = "copy-p2p",
		[DEVICE_SETS] = "set",
	};

	if (bucket < DEVICE_GRAPHS)
		return kernel_class_name(bucket);
	return bucket < DEVICE_BUCKETS_END ? names[bucket] : "?";
}

const char *device_state_name(unsigned int bucket)
{
	if (bucket == DEVICE_KERNELS + KERNEL_COMM)
		return "comm";
	if (bucket <= DEVICE_GRAPHS)
		return "compute";
	return bucket < DEVICE_SETS ? "copy" : "set";
}

struct devices *devices_new(void)
{
	return calloc(1, sizeof(struct devices));
}

static void entry_free(struct entry *e)
{
	for (size_t i = 0; i < e->kernels.n; i++) {
		free((char *)(uintptr_t)e->kernels.v[i]->name);
		hist_free(&e->kernels.v[i]->time);
		hist_free(&e->kernels.v[i]->queue);
		free(e->kernels.v[i]);
	}
	VEC_FREE(&e->kernels);
	map_free(&e->by_name);
	device_book_free(e->state.book);
	free(e);
}

void devices_free(struct devices *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->all.n; i++)
		entry_free(d->all.v[i]);
	VEC_FREE(&d->all);
	map_free(&d->by_process);
	free(d);
}

static struct entry *find(struct devices *d, uint32_t pid, uint32_t device, uint64_t open_ns)
{
	struct map_slot *slot = map_put(&d->by_process, (uint64_t)pid << 32 | device, NULL);
	struct entry *e = slot ? (void *)(uintptr_t)slot->value : NULL, **at;

	if (!slot || e)
		return e;
	e = calloc(1, sizeof(*e));
	if (e)
		e->state.book = device_book_new(open_ns);
	at = e && e->state.book ? VEC_PUSH(&d->all) : NULL;
	if (!at) {
		if (e)
			entry_free(e);
		map_del(&d->by_process, (uint64_t)pid << 32 | device);
		return NULL;
	}
	e->state.pid = pid;
	e->state.device = device;
	*at = e;
	slot->value = (uintptr_t)e;
	return e;
}

/* ---- kernels -------------------------------------------------------------------------------- */

static uint64_t hash_name(const char *name)
{
	uint64_t hash = 14695981039346656037ull;

	for (; name && *name; name++)
		hash = (hash ^ (uint8_t)*name) * 1099511628211ull;
	return hash;
}

static bool has_name(const struct kernel_stats *k, const char *name)
{
	return name && k->name ? !strcmp(k->name, name) : name == k->name;
}

static struct kernel_stats *new_kernel(struct entry *e, const char *name)
{
	struct kernel_stats *k = calloc(1, sizeof(*k)), **at = k ? VEC_PUSH(&e->kernels) : NULL;

	if (at && name) {
		k->name = strdup(name);
		if (!k->name) {
			e->kernels.n--;
			at = NULL;
		}
	}
	if (!at) {
		free(k);
		return NULL;
	}
	k->class = kernel_class_of(name);
	*at = k;
	e->state.kernel = e->kernels.v;
	e->state.kernels = e->kernels.n;
	return k;
}

/* The kernel of that name, or NULL and the key under which it would be. */
static struct kernel_stats *known_kernel(const struct entry *e, const char *name, uint64_t *key)
{
	const struct map_slot *slot;

	for (*key = hash_name(name); (slot = map_find(&e->by_name, *key)); ++*key)
		if (has_name(e->kernels.v[slot->value], name))
			return e->kernels.v[slot->value];
	return NULL;
}

static struct kernel_stats *find_kernel(struct entry *e, const char *name)
{
	static const char others[] = "(others)";
	struct map_slot *slot;
	uint64_t key;
	struct kernel_stats *k = known_kernel(e, name, &key);

	if (!k && e->kernels.n >= DEVICES_KERNELS_MAX) {
		name = others;
		k = known_kernel(e, name, &key);
	}
	if (k)
		return k;
	slot = map_put(&e->by_name, key, NULL);
	k = slot ? new_kernel(e, name) : NULL;
	if (k)
		slot->value = e->kernels.n - 1;
	else if (slot)
		map_del(&e->by_name, key);
	return k;
}

static int count_kernel(struct kernel_stats *k, const struct event *ev, const struct launch *l)
{
	const struct work *w = ev->work;
	int err = 0;

	if (k->time.count && (memcmp(w->grid, k->last.grid, sizeof(w->grid)) ||
			      memcmp(w->block, k->last.block, sizeof(w->block))))
		k->mixed = true;
	k->last = *w;
	if (l)
		err = hist_add(&k->queue, ev->start_ns > l->end_ns ? ev->start_ns - l->end_ns : 0);
	return err ? err : hist_add(&k->time, ev->end_ns - ev->start_ns);
}

/* ---- works ---------------------------------------------------------------------------------- */

static void count_copy(struct copy_stats *c, const struct event *ev)
{
	c->count++;
	c->bytes += ev->work->bytes;
	c->total_ns += ev->end_ns - ev->start_ns;
}

/* Which bucket and state, and the statistics beside the book. 0 or -ENOMEM. */
static int classify(struct entry *e, const struct event *ev, const struct launch *launch,
		    struct device_work *out)
{
	const struct work *w = ev->work;
	unsigned int dir = w->kind == WORK_KIND_PEER ? COPY_DEFAULT + 1 :
			   w->has & WORK_HAS_DIR && w->dir < COPY_DEFAULT ? w->dir : COPY_DEFAULT;
	struct kernel_stats *k;

	switch (w->kind) {
	case WORK_KIND_KERNEL:
		k = find_kernel(e, ev->text);
		if (!k)
			return -ENOMEM;
		out->bucket = (uint16_t)(DEVICE_KERNELS + k->class);
		out->state = k->class == KERNEL_COMM ? WORK_COMM : WORK_COMPUTE;
		return count_kernel(k, ev, launch);
	case WORK_KIND_GRAPH:
		out->bucket = DEVICE_GRAPHS;
		out->state = WORK_COMPUTE;
		return 0;
	case WORK_KIND_SET:
		out->bucket = DEVICE_SETS;
		out->state = WORK_SET;
		count_copy(&e->state.sets, ev);
		return 0;
	default:
		out->bucket = (uint16_t)(DEVICE_COPIES + dir);
		out->state = WORK_COPY;
		count_copy(&e->state.copies[dir][w->memory > MEMORY_PINNED ? 0 : w->memory], ev);
		return 0;
	}
}

int devices_push_work(struct devices *d, const struct event *ev, const struct launch *launch,
		      uint64_t open_ns)
{
	struct entry *e = find(d, ev->pid, ev->work->device, open_ns);
	struct device_work work = {
		.start_ns = ev->start_ns, .end_ns = ev->end_ns,
		.lane = (uint64_t)ev->work->context << 32 | ev->work->stream,
		.id = ev->work->correlation,
	};
	int err = e ? classify(e, ev, launch, &work) : -ENOMEM;

	if (launch) {
		work.has_launch = true;
		work.launch_tid = launch->tid;
		work.launch_start_ns = launch->start_ns;
		work.launch_end_ns = launch->end_ns;
	}
	return err ? err : device_book_push(e->state.book, &work);
}

int devices_push_facts(struct devices *d, const struct event *ev, uint64_t open_ns)
{
	struct entry *e = find(d, ev->pid, ev->device->device, open_ns);

	if (!e)
		return -ENOMEM;
	e->state.facts = *ev->device;
	e->state.has_facts = true;
	snprintf(e->state.name, sizeof(e->state.name), "%s", ev->text ? ev->text : "");
	return 0;
}

/* ---- idle time ------------------------------------------------------------------------------ */

struct dividing {
	const struct devices_divide *by;
	uint32_t pid;
	uint64_t *ns;
};

static void on_gap(void *ctx, const struct device_gap *gap)
{
	const struct dividing *d = ctx;

	d->by->divide(d->by->ctx, d->pid, gap, d->ns);
}

int devices_settle(struct devices *d, uint32_t pid, uint64_t horizon_ns,
		   const struct devices_divide *by)
{
	int err = 0;

	for (size_t i = 0; i < d->all.n && !err; i++) {
		struct device_state *s = &d->all.v[i]->state;
		struct dividing dividing = { by, pid, s->idle_ns };

		if (s->pid == pid)
			err = device_book_settle(s->book, horizon_ns, on_gap, &dividing);
	}
	return err;
}

int devices_read(const struct device_state *s, uint64_t now_ns, const struct devices_divide *by,
		 struct device_sum *sum, uint64_t idle_ns[IDLE_CAUSES])
{
	struct dividing dividing = { by, s->pid, idle_ns };

	memcpy(idle_ns, s->idle_ns, sizeof(s->idle_ns));
	return device_book_read(s->book, now_ns, sum, on_gap, &dividing);
}

size_t devices_count(const struct devices *d)
{
	return d->all.n;
}

const struct device_state *devices_get(const struct devices *d, size_t i)
{
	return &d->all.v[i]->state;
}

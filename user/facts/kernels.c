// SPDX-License-Identifier: BSD-3-Clause
/*
 * Found by the name's hash, without a look at the name.
 */
#include "facts/kernels.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What a row is counted as, whether its histograms need it or not yet. */
#define ROW_BYTES (sizeof(struct kernel_stats) + 4 * sizeof(struct map_slot) + sizeof(void *))
/* Twelve octaves of each histogram, a factor of 4096, with counters of 2 bytes. */
#define HISTS_BYTES (2 * 12 * HIST_SUB * sizeof(uint16_t))
#define CLASS_MASK 0xffull

static size_t hists_of(const struct kernel_stats *k)
{
	size_t bytes = hist_bytes(&k->time) + hist_bytes(&k->queue);

	return bytes > HISTS_BYTES ? bytes : HISTS_BYTES;
}

static size_t bytes_of(const struct kernel_stats *k)
{
	return ROW_BYTES + (k->name ? strlen(k->name) + 1 : 0) + hists_of(k);
}

static void take(struct kernels_room *room, size_t bytes)
{
	room->left_bytes -= bytes < room->left_bytes ? bytes : room->left_bytes;
}

static void kernel_free(struct kernel_stats *k)
{
	free((char *)(uintptr_t)k->name);
	hist_free(&k->time);
	hist_free(&k->queue);
	free(k);
}

/* ---- finding -------------------------------------------------------------------------------- */

/* Of that name and class (KERNEL_CLASSES: any), or NULL and the key under which it would be. Names of one
 * hash are one: to compare them would be to wait for what is in no cache. */
static struct kernel_stats *known(const struct kernels *ks, uint64_t hash, enum kernel_class class,
				  uint64_t *key)
{
	const struct map_slot *slot;

	for (*key = hash; (slot = map_find(&ks->by_name, *key)); ++*key) {
		struct kernel_stats *k = (void *)(uintptr_t)slot->value;

		if (k->hash == hash && (class == KERNEL_CLASSES || k->class == class))
			return k;
	}
	return NULL;
}

static struct kernel_stats *make(struct kernels *ks, struct kernels_room *room, const char *name,
				 uint64_t hash, uint64_t key)
{
	struct kernel_stats *k = aligned_alloc(_Alignof(struct kernel_stats), sizeof(*k)), **at = NULL;
	struct map_slot *slot;

	if (k)
		*k = (struct kernel_stats){ .hash = hash };
	if (k && name)
		k->name = strdup(name);
	slot = k && (k->name || !name) ? map_put(&ks->by_name, key, NULL) : NULL;
	if (slot)
		at = VEC_PUSH(&ks->all);
	if (!at) {
		if (slot)
			map_del(&ks->by_name, key);
		if (k)
			kernel_free(k);
		return NULL;
	}
	*at = k;
	slot->value = (uintptr_t)k;
	take(room, bytes_of(k));
	return k;
}

/* The class of a name that gets no row of its own. */
static enum kernel_class class_of(struct kernels_room *room, const char *name, uint64_t hash)
{
	uint64_t *way = room->classes[hash >> 8 & (KERNELS_CLASSES - 1)], tag = hash & ~CLASS_MASK;

	for (int i = 0; i < KERNELS_WAYS; i++)
		if ((way[i] & ~CLASS_MASK) == tag && tag)
			return way[i] & CLASS_MASK;
	memmove(&way[1], &way[0], (KERNELS_WAYS - 1) * sizeof(*way));
	way[0] = tag | kernel_class_of(name);
	return way[0] & CLASS_MASK;
}

static struct kernel_stats *find_other(struct kernels *ks, struct kernels_room *room,
				       enum kernel_class class)
{
	const uint64_t hash = event_text_hash(KERNELS_OTHER);
	struct kernel_stats *k = ks->other[class];
	uint64_t key;

	if (k)
		return k;
	k = known(ks, hash, class, &key);
	if (!k)
		k = make(ks, room, KERNELS_OTHER, hash, key);
	if (!k)
		return NULL;
	k->class = class;
	ks->other[class] = k;
	return k;
}

struct kernel_stats *kernels_find(struct kernels *ks, struct kernels_room *room, const struct event *work)
{
	uint64_t hash = work->text_hash ? work->text_hash : event_text_hash(work->text), key;
	struct kernel_stats *k = known(ks, hash, KERNEL_CLASSES, &key);

	if (k)
		return k;
	if (room->left_bytes < ROW_BYTES + HISTS_BYTES + (work->text ? strlen(work->text) : 0))
		return find_other(ks, room, class_of(room, work->text, hash));
	k = make(ks, room, work->text, hash, key);
	if (k)
		k->class = kernel_class_of(work->text);
	return k;
}

/* ---- counting ------------------------------------------------------------------------------- */

static bool has_octave(const struct hist *h, uint64_t v)
{
	return hist_has(h, hist_octave(v));
}

int kernels_count(struct kernels *ks, struct kernels_room *room, struct kernel_stats *k,
		  const struct event *work, const uint64_t *queue_ns)
{
	uint64_t time_ns = work->end_ns - work->start_ns;
	const struct work *w = work->work;
	size_t before;
	int err = 0;

	if (__builtin_expect(!room->left_bytes, 0) &&
	    (!has_octave(&k->time, time_ns) || (queue_ns && !has_octave(&k->queue, *queue_ns))))
		k = find_other(ks, room, k->class);
	if (!k)
		return -ENOMEM;
	before = hists_of(k);
	k->mixed |= k->time.count && !kernel_launch_is_like(&k->last, w->grid, w->block);
	kernel_launch_of(&k->last, w);
	if (queue_ns)
		err = hist_add(&k->queue, *queue_ns);
	if (!err)
		err = hist_add(&k->time, time_ns);
	take(room, hists_of(k) - before);
	return err;
}

static int add_to(struct kernel_stats *k, struct kernels_room *room, const struct kernel_stats *of)
{
	size_t before = hists_of(k);
	int err;

	k->mixed |= of->mixed ||
		    (k->time.count && !kernel_launch_is_like(&k->last, of->last.grid, of->last.block));
	k->last = of->last;
	err = hist_merge(&k->time, &of->time);
	if (!err)
		err = hist_merge(&k->queue, &of->queue);
	take(room, hists_of(k) - before);
	return err;
}

/* The row goes over as it is: the room that it takes is the same. */
static int take_over(struct kernels *ks, struct kernel_stats *k, uint64_t key)
{
	struct map_slot *slot = map_put(&ks->by_name, key, NULL);
	struct kernel_stats **at = slot ? VEC_PUSH(&ks->all) : NULL;

	if (!at) {
		if (slot)
			map_del(&ks->by_name, key);
		return -ENOMEM;
	}
	*at = k;
	slot->value = (uintptr_t)k;
	return 0;
}

int kernels_merge(struct kernels *ks, struct kernels_room *room, struct kernels *from)
{
	int err = 0;

	while (from->all.n && !err) {
		struct kernel_stats *of = from->all.v[from->all.n - 1], *k;
		uint64_t key;
		bool has_room = ks->all.n < KERNELS_MERGED || room->left_bytes >= KERNELS_ROOM_BYTES / 2;

		k = known(ks, of->hash, of->class, &key);
		if (!k && has_room) {
			err = take_over(ks, of, key);
			from->all.n -= !err;
			continue;
		}
		k = k ? k : find_other(ks, room, of->class);
		err = k ? add_to(k, room, of) : -ENOMEM;
		if (err)
			break;
		room->left_bytes += bytes_of(of);
		kernel_free(of);
		from->all.n--;
	}
	kernels_free(from);
	return err;
}

/* Every key anew. There are not more than before, so there is memory. */
static void index_all(struct kernels *ks)
{
	map_clear(&ks->by_name);
	for (size_t i = 0; i < ks->all.n; i++) {
		struct kernel_stats *k = ks->all.v[i];
		uint64_t key = k->hash;

		while (map_find(&ks->by_name, key))
			key++;
		map_put(&ks->by_name, key, NULL)->value = (uintptr_t)k;
	}
}

void kernels_cut(struct kernels *ks, struct kernels_room *room)
{
	size_t kept = 0, n = ks->all.n;

	for (size_t i = 0; i < n; i++) {
		struct kernel_stats *k = ks->all.v[i];

		if (!k->time.count) {
			room->left_bytes += bytes_of(k);
			if (ks->other[k->class] == k)
				ks->other[k->class] = NULL;
			kernel_free(k);
			continue;
		}
		hist_reset(&k->time);
		hist_reset(&k->queue);
		k->mixed = false;
		ks->all.v[kept++] = k;
	}
	ks->all.n = kept;
	if (kept < n)
		index_all(ks);
}

void kernels_drop(struct kernels *ks, struct kernels_room *room)
{
	for (size_t i = 0; i < ks->all.n; i++)
		room->left_bytes += bytes_of(ks->all.v[i]);
	kernels_free(ks);
}

void kernels_free(struct kernels *ks)
{
	for (size_t i = 0; i < ks->all.n; i++)
		kernel_free(ks->all.v[i]);
	VEC_FREE(&ks->all);
	map_free(&ks->by_name);
}

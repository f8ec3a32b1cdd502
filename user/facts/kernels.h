/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of kernels by name, of one device. All devices share the room that they may take: names
 * that come when it is used up are one row "[other]" for each class of kernels. Knows nothing of
 * books or of who launched; copies the names.
 */
#ifndef FACTS_KERNELS_H
#define FACTS_KERNELS_H

#include <stdbool.h>

#include "base/map.h"
#include "base/vec.h"
#include "bucket/kernel_class.h"
#include "event/event.h"
#include "facts/hist.h"
#include "facts/kernel_launch.h"

#define KERNELS_ROOM_BYTES (16u << 20)	/* of all devices; some thousand names */
#define KERNELS_OTHER "[other]"

struct kernels;

/* Three lines of the cache, because each work touches all of one. */
struct kernel_stats {
	struct hist time;		/* ns */
	uint64_t hash;			/* of the name */
	struct hist queue;		/* ns from the launch's return; of those whose launch is known */
	const char *name;		/* NULL: unknown */
	struct kernel_launch last;	/* of the latest one */
	enum kernel_class class;
	bool mixed;			/* not all had that grid and block */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct kernel_stats) == 192, "three lines");

/* What all share. Start with left_bytes set and the rest zeroed. */
#define KERNELS_CLASSES 2048
#define KERNELS_WAYS 4

struct kernels_room {
	size_t left_bytes;
	/* Hashes of names that have no row, with their classes in the low byte: telling one takes
	 * microseconds. */
	uint64_t classes[KERNELS_CLASSES][KERNELS_WAYS];
};

struct kernels {
	VEC(struct kernel_stats *) all;
	struct map by_name;		/* hash of the name -> row; chains of classes go on by adding 1 */
	struct kernel_stats *other[KERNEL_CLASSES];	/* rows "[other]"; NULL: none yet */
};

/* The row of that work's name (NULL: unknown), stable until it is freed or dropped. NULL on ENOMEM. */
struct kernel_stats *kernels_find(struct kernels *ks, struct kernels_room *room, const struct event *work);

/* A work of that kernel of ks; queue_ns NULL: unknown. Without room for what its histograms need it
 * counts as "[other]". 0 or -ENOMEM. */
int kernels_count(struct kernels *ks, struct kernels_room *room, struct kernel_stats *k,
		  const struct event *work, const uint64_t *queue_ns);

/* All that from counts is ks's from now on, as if its kernels had been of ks; from is freed. Rows whose name ks
 * does not have go over to it, but when it has KERNELS_MERGED and half of the room is used: then they are
 * "[other]". 0, or -ENOMEM: both are of no use. */
#define KERNELS_MERGED 256
int kernels_merge(struct kernels *ks, struct kernels_room *room, struct kernels *from);

/* A new interval: counts to zero; names that had none are dropped. */
void kernels_cut(struct kernels *ks, struct kernels_room *room);
void kernels_drop(struct kernels *ks, struct kernels_room *room);	/* frees; others may use its room */
void kernels_free(struct kernels *ks);

#endif

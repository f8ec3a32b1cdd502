/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Statistics of kernels by name, of one device of one process. All devices share a budget of
 * memory: names that come when it is used up share one row "[other]" per class of kernels. Two
 * names of one hash are one kernel: comparing them would wait for memory that is in no cache. Knows
 * nothing of books or of threads; copies the names.
 */
#ifndef FACTS_KERNELS_H
#define FACTS_KERNELS_H

#include <stdbool.h>
#include <string.h>

#include "base/num.h"
#include "base/rows.h"
#include "bucket/kernel_class.h"
#include "event/event.h"
#include "base/hist.h"

#define KERNELS_BUDGET_BYTES (16u << 20)	/* of all devices; some thousand names */
#define KERNELS_OTHER "[other]"

/* How a kernel was launched, as its work reports it. */
struct kernel_launch {
	uint32_t grid[3], block[3], cluster[3];
	uint32_t static_shared, dynamic_shared, shared_executed;	/* bytes */
	uint16_t registers;		/* per thread */
	uint8_t has;			/* WORK_HAS_* */
	uint8_t kind;			/* enum work_kind; 0: it is of several */
};

static inline void kernel_launch_of(struct kernel_launch *l, const struct work *w)
{
	memcpy(l->grid, w->grid, sizeof(l->grid));
	memcpy(l->block, w->block, sizeof(l->block));
	memcpy(l->cluster, w->cluster, sizeof(l->cluster));
	l->static_shared = w->static_shared;
	l->dynamic_shared = w->dynamic_shared;
	l->shared_executed = w->shared_executed;
	l->registers = w->registers;
	l->has = w->has;
	l->kind = w->kind;
}

/* Three cache lines, because each work touches all of one row. */
struct kernel_stats {
	uint64_t key;			/* event_text_hash of the name; of "[other]" rows, by
					 * class */
	struct hist time;		/* ns */
	struct hist queue;		/* ns from the launch's return, where the launch is known */
	const char *name;		/* NULL: unknown */
	struct kernel_launch last;	/* of the latest one */
	enum kernel_class class;
	bool mixed;			/* not all had that grid and block */
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct kernel_stats) == 192, "three lines");

/* Shared by all devices. Start with left_bytes set and the rest zeroed. */
#define KERNELS_CLASSES 2048
#define KERNELS_WAYS 4

struct kernels_budget {
	size_t left_bytes;
	/* Hashes of names without a row, with their class in the low byte: classifying one takes
	 * microseconds. */
	uint64_t classes[KERNELS_CLASSES][KERNELS_WAYS];
};

struct kernels {
	struct rows rows;		/* struct kernel_stats */
	struct kernel_stats *other[KERNEL_CLASSES];	/* rows "[other]"; NULL: none yet */
};

static inline size_t kernels_count(const struct kernels *ks)
{
	return ks->rows.n;
}

static inline const struct kernel_stats *kernels_at(const struct kernels *ks, size_t i)
{
	return ks->rows.v[i];
}

static inline uint64_t kernels_total_ns(const struct kernels *ks)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < ks->rows.n; i++)
		ns = num_add(ns, kernels_at(ks, i)->time.total);
	return ns;
}

/* The row of a work's name (NULL: unknown); stable until it is freed or dropped. NULL on ENOMEM. */
struct kernel_stats *kernels_find(struct kernels *ks, struct kernels_budget *budget,
				  const struct event *work);

/* Adds a work to row k of ks; queue_ns NULL: unknown. Without budget for its histograms the work
 * counts as "[other]". 0 or -ENOMEM. */
int kernels_add(struct kernels *ks, struct kernels_budget *budget, struct kernel_stats *k,
		const struct event *work, const uint64_t *queue_ns);

/* Moves all of from into ks, and frees from. Rows of names that ks lacks move as they are, but when
 * ks has KERNELS_MERGED and half of the budget is used they are "[other]". 0, or -ENOMEM: both are
 * of no use. */
#define KERNELS_MERGED 256
int kernels_merge(struct kernels *ks, struct kernels_budget *budget, struct kernels *from);

/* Subtracts what an earlier copy of `from` has, and names that have nothing left. What moved to
 * "[other]" since then is taken from there. `last` and `mixed` stay. */
void kernels_subtract(struct kernels *from, const struct kernels *earlier);

/* frees, and returns its budget */
void kernels_drop(struct kernels *ks, struct kernels_budget *budget);

#endif

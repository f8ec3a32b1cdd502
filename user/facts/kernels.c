// SPDX-License-Identifier: BSD-3-Clause
/* Rows of kernels, and their part of the budget. */
#include "facts/kernels.h"

#include <errno.h>
#include <stdlib.h>

#include "base/num.h"

/* The part of the budget that a row takes before it has histograms. */
#define ROW_BYTES (sizeof(struct kernel_stats) + 4 * sizeof(struct rows_slot) + sizeof(void *))
/* Twelve octaves of each histogram, a factor of 4096, with counters of 2 bytes. */
#define HISTS_BYTES (2 * 12 * HIST_OCTAVE * sizeof(uint16_t))
#define CLASS_MASK 0xffull

static const struct rows_type type = {
	ROWS_OF(struct kernel_stats), ROWS_TEXTS(struct kernel_stats, name, name),
	ROWS_HISTS(struct kernel_stats, time, queue),
};

static size_t hists_of(const struct kernel_stats *k)
{
	return num_max(hist_bytes(&k->time) + hist_bytes(&k->queue), HISTS_BYTES);
}

static size_t bytes_of(const struct kernel_stats *k)
{
	return ROW_BYTES + (k->name ? strlen(k->name) + 1 : 0) + hists_of(k);
}

static void take(struct kernels_budget *budget, size_t bytes)
{
	budget->left_bytes = num_sub(budget->left_bytes, bytes);
}

/* ---- finding -------------------------------------------------------------------------------- */

static struct kernel_stats *add_kernel(struct kernels *ks, struct kernels_budget *budget,
				       uint64_t key, const char *name, enum kernel_class class)
{
	char *copy = name ? strdup(name) : NULL;
	struct kernel_stats *k = copy || !name ? rows_get(&ks->rows, &type, &key, NULL) : NULL;

	if (!k) {
		free(copy);
		return NULL;
	}
	k->name = copy;
	k->class = class;
	take(budget, bytes_of(k));
	return k;
}

/* The class of a name that gets no row of its own. */
static enum kernel_class class_of(struct kernels_budget *budget, const char *name, uint64_t hash)
{
	uint64_t *way = budget->classes[hash >> 8 & (KERNELS_CLASSES - 1)],
		 tag = hash & ~CLASS_MASK;

	for (int i = 0; i < KERNELS_WAYS; i++)
		if ((way[i] & ~CLASS_MASK) == tag && tag)
			return way[i] & CLASS_MASK;
	memmove(&way[1], &way[0], (KERNELS_WAYS - 1) * sizeof(*way));
	way[0] = tag | kernel_class_of(name);
	return way[0] & CLASS_MASK;
}

static uint64_t other_key(enum kernel_class class)
{
	return event_text_hash(KERNELS_OTHER) + 1 + class;
}

static struct kernel_stats *find_other(struct kernels *ks, struct kernels_budget *budget,
				       enum kernel_class class)
{
	const uint64_t key = other_key(class);
	struct kernel_stats *k = ks->other[class];

	if (!k)
		k = rows_find(&ks->rows, &type, &key);
	if (!k)
		k = add_kernel(ks, budget, key, KERNELS_OTHER, class);
	ks->other[class] = k;
	return k;
}

struct kernel_stats *kernels_find(struct kernels *ks, struct kernels_budget *budget,
				  const struct event *work)
{
	uint64_t hash = work->work.name_hash ? work->work.name_hash :
					       event_text_hash(work->work.name);
	struct kernel_stats *k = rows_find(&ks->rows, &type, &hash);

	if (k)
		return k;
	if (budget->left_bytes <
	    ROW_BYTES + HISTS_BYTES + (work->work.name ? strlen(work->work.name) : 0))
		return find_other(ks, budget, class_of(budget, work->work.name, hash));
	return add_kernel(ks, budget, hash, work->work.name, kernel_class_of(work->work.name));
}

/* ---- adding --------------------------------------------------------------------------------- */

static bool is_like(const struct kernel_launch *l, const uint32_t grid[3], const uint32_t block[3])
{
	return !memcmp(l->grid, grid, sizeof(l->grid)) &&
	       !memcmp(l->block, block, sizeof(l->block));
}

int kernels_add(struct kernels *ks, struct kernels_budget *budget, struct kernel_stats *k,
		const struct event *work, const uint64_t *queue_ns)
{
	uint64_t time_ns = work->end_ns - work->start_ns;
	const struct work *w = &work->work;
	size_t before;
	int err = 0;

	if (__builtin_expect(!budget->left_bytes, 0) &&
	    (!hist_has(&k->time, hist_counter(time_ns)) ||
	     (queue_ns && !hist_has(&k->queue, hist_counter(*queue_ns)))))
		k = find_other(ks, budget, k->class);
	if (!k)
		return -ENOMEM;
	before = hists_of(k);
	k->mixed |= k->time.count && !is_like(&k->last, w->grid, w->block);
	kernel_launch_of(&k->last, w);
	if (queue_ns)
		err = hist_add(&k->queue, *queue_ns);
	if (!err)
		err = hist_add(&k->time, time_ns);
	take(budget, hists_of(k) - before);
	return err;
}

static int add_row(struct kernel_stats *k, struct kernels_budget *budget,
		   const struct kernel_stats *from)
{
	size_t before = hists_of(k);
	int err;

	k->mixed |= from->mixed ||
		    (k->time.count && !is_like(&k->last, from->last.grid, from->last.block));
	k->last = from->last;
	err = hist_merge(&k->time, &from->time);
	if (!err)
		err = hist_merge(&k->queue, &from->queue);
	take(budget, hists_of(k) - before);
	return err;
}

int kernels_merge(struct kernels *ks, struct kernels_budget *budget, struct kernels *from)
{
	int err = 0;

	for (; from->rows.n && !err; from->rows.n -= !err) {
		struct kernel_stats *last = from->rows.v[from->rows.n - 1];
		struct kernel_stats *k = rows_find(&ks->rows, &type, &last->key);

		if (!k && (kernels_count(ks) < KERNELS_MERGED ||
			   budget->left_bytes >= KERNELS_BUDGET_BYTES / 2)) {
			err = rows_take(&ks->rows, &type, last);
			continue;
		}
		k = k ? k : find_other(ks, budget, last->class);
		err = k ? add_row(k, budget, last) : -ENOMEM;
		if (err)
			continue;
		budget->left_bytes += bytes_of(last);
		rows_free_row(&type, last);
	}
	rows_free(&from->rows);
	return err;
}

/* ---- the table ------------------------------------------------------------------------------ */

static bool was_launched(void *ctx, void *row)
{
	(void)ctx;
	return ((const struct kernel_stats *)row)->time.count;
}

void kernels_subtract(struct kernels *from, const struct kernels *earlier)
{
	for (size_t i = 0; i < kernels_count(earlier); i++) {
		const struct kernel_stats *less = kernels_at(earlier, i);
		const uint64_t other = other_key(less->class);
		struct kernel_stats *k = rows_find(&from->rows, &type, &less->key);

		k = k ? k : rows_find(&from->rows, &type, &other);
		if (!k)
			continue;
		hist_subtract(&k->time, &less->time);
		hist_subtract(&k->queue, &less->queue);
	}
	rows_keep(&from->rows, was_launched, NULL);
}

void kernels_drop(struct kernels *ks, struct kernels_budget *budget)
{
	for (size_t i = 0; i < kernels_count(ks); i++)
		budget->left_bytes += bytes_of(ks->rows.v[i]);
	rows_free(&ks->rows);
}

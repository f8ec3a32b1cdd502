// SPDX-License-Identifier: BSD-3-Clause
/* Ranks what is planned and cuts the list. */
#include "probe/plan_core.h"

#include <errno.h>
#include <stdlib.h>

#include "base/vec.h"
#include "catalog/catalog.h"

struct candidate {
	unsigned int rank;
	size_t plan;		/* whose */
	uint64_t offset, row;
};

struct candidates {
	struct candidate *v;
	size_t n, cap;
};

static int collect(struct candidates *all, const struct plan *plan, size_t index)
{
	for (size_t i = 0; i < plan->n; i++) {
		unsigned int rank = catalog_core_rank((unsigned int)plan->rows[i]);
		struct candidate *c = rank ? VEC_PUSH(all) : NULL;

		if (rank && !c)
			return -ENOMEM;
		if (c)
			*c = (struct candidate){ rank, index, plan->offsets[i], plan->rows[i] };
	}
	return 0;
}

/* Files that were met first come first, where the function is the same. */
static int by_rank(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->plan < y->plan ? -1 : x->plan > y->plan;
}

static void leave_out(struct plan *plan)
{
	for (size_t i = 0; i < plan->n_all; i++)
		plan->fate[plan->rows[i]] |= PLAN_LEFT_OUT;
	plan->left_out += (unsigned int)plan->n_all;
	plan->n = 0;
	plan->n_all = 0;
}

static void take_in(struct plan *plan, const struct candidate *c)
{
	plan->fate[c->row] &= (uint8_t)~PLAN_LEFT_OUT;
	plan->left_out--;
	plan->offsets[plan->n] = c->offset;
	plan->rows[plan->n++] = c->row;
	plan->n_all = plan->n;
}

int plan_keep_core(struct plan *const *plans, size_t n, size_t max)
{
	struct candidates all = { 0 };
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = collect(&all, plans[i], i);
	if (err) {
		VEC_FREE(&all);
		return err;
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_rank);
	for (size_t i = 0; i < n; i++)
		leave_out(plans[i]);
	for (size_t i = 0; i < all.n && i < max; i++)
		take_in(plans[all.v[i].plan], &all.v[i]);
	VEC_FREE(&all);
	return 0;
}

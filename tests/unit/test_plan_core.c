// SPDX-License-Identifier: BSD-3-Clause
/* What is probed where only a few functions can be: which they are, and how files share them. */
#include <stdlib.h>
#include <string.h>

#include "catalog/catalog.c"
#include "lib/test.h"
#include "probe/plan.h"

#define PERF_MAX 32	/* WAY_PERF's */

static unsigned int row_of(const char *name)
{
	for (unsigned int i = 1; i < catalog_n_rows(); i++)
		if (!strcmp(catalog_row(i)->name, name))
			return i;
	return 0;
}

TEST(core_is_in_the_catalogue)
{
	for (unsigned int rank = 1; rank <= sizeof(core) / sizeof(core[0]); rank++) {
		const char *name = core[rank - 1];
		unsigned int row = row_of(name);

		if (!row)
			fail_msg("%s is no row", name);
		if (catalog_row(row)->tier)
			fail_msg("%s is not of tier 0", name);
		if (catalog_core_rank(row) != rank)
			fail_msg("%s stands there twice", name);
	}
	assert_int_equal(catalog_core_rank(row_of("cudaEventRecord")), 0);
	assert_int_equal(catalog_core_rank(0), 0);
}

TEST(best_are_of_every_kind)
{
	static const uint8_t wanted[] = { CLASS_LAUNCH, CLASS_SYNC, CLASS_COPY, CLASS_ALLOC,
					  CLASS_FREE, CLASS_COLLECTIVE };
	unsigned int of_class[CLASS_END] = { 0 }, of_library[3] = { 0 };

	for (unsigned int rank = 1; rank <= PERF_MAX; rank++) {
		unsigned int row = row_of(core[rank - 1]);

		of_class[catalog_row(row)->class]++;
		for (unsigned int i = 0; i < 3; i++)
			of_library[i] += row >= catalog_first_row(i) && row < catalog_first_row(i + 1);
	}
	for (size_t i = 0; i < sizeof(wanted); i++)
		assert_true(of_class[wanted[i]] > 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_true(of_library[i] >= 6);
}

/* A plan with these functions; row numbers + base are their offsets. */
static struct plan *plan_of(uint64_t base, const char *const *names)
{
	struct plan *plan = calloc(1, sizeof(*plan));

	assert_non_null(plan);
	for (; *names; names++) {
		const size_t n = plan_size(plan);

		plan->rows[n] = row_of(*names);
		plan->offsets[n] = base + plan->rows[n];
		assert_int_not_equal(plan->rows[n], 0);
		for (unsigned int part = 0; part < PLAN_PARTS; part++)
			plan->end[part]++;
	}
	return plan;
}

static bool has(const struct plan *plan, uint64_t base, const char *name)
{
	for (size_t i = 0; i < plan_size(plan); i++)
		if (plan->rows[i] == row_of(name))
			return plan->offsets[i] == base + plan->rows[i];
	return false;
}

static const char *const runtime[] = { "cudaEventRecord", "cudaFree", "cudaMemcpyAsync",
				       "cudaLaunchKernel", "cudaStreamCreate", NULL };
static const char *const nccl[] = { "ncclCommDestroy", "ncclAllReduce", NULL };

TEST(best_of_all_files_are_kept)
{
	struct plan *plans[] = { plan_of(0, runtime), plan_of(1 << 20, nccl), plan_of(2 << 20, runtime) };

	assert_int_equal(plan_keep_core(plans, 3, PLAN_DRIVER_LAUNCHES, 5), 0);
	/* Two launches, two copies, one all-reduce; not the frees, and never an event. */
	assert_int_equal(plan_size(plans[0]), 2);
	assert_true(has(plans[0], 0, "cudaLaunchKernel") && has(plans[0], 0, "cudaMemcpyAsync"));
	assert_int_equal(plan_size(plans[1]), 1);
	assert_true(has(plans[1], 1 << 20, "ncclAllReduce"));
	assert_int_equal(plan_size(plans[2]), 2);
	assert_true(has(plans[2], 2 << 20, "cudaLaunchKernel"));
	assert_int_equal(plans[0]->outcome[row_of("cudaLaunchKernel")], 0);
	assert_int_equal(plans[0]->outcome[row_of("cudaFree")], PLAN_LEFT_OUT);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(plans[i]->left_out, i == 1 ? 1 : 3);
		free(plans[i]);
	}
}

TEST(fewer_than_the_limit_all_stay)
{
	struct plan *plans[] = { plan_of(0, runtime) };

	assert_int_equal(plan_keep_core(plans, 1, PLAN_DRIVER_LAUNCHES, PERF_MAX), 0);
	assert_int_equal(plan_size(plans[0]), 3);
	assert_int_equal(plans[0]->left_out, 2);
	free(plans[0]);
}

TEST(nothing_is_left_where_the_limit_is_reached)
{
	struct plan *plans[] = { plan_of(0, runtime) };

	assert_int_equal(plan_keep_core(plans, 1, PLAN_DRIVER_LAUNCHES, 0), 0);
	assert_int_equal(plan_size(plans[0]), 0);
	assert_int_equal(plans[0]->left_out, 5);
	assert_int_equal(plan_keep_core(plans, 0, PLAN_DRIVER_LAUNCHES, 5), 0);
	free(plans[0]);
}

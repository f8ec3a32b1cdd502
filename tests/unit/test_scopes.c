// SPDX-License-Identifier: BSD-3-Clause
/* Scopes of a thread: the worked example of the header, forgetting, the bounds, the budget. */
#include "facts/scopes.h"
#include "lib/test.h"

#define BUDGET 1024

/* The row of the innermost scope at ns, 0: none; UINT32_MAX: forgotten. */
static uint32_t row_at(const struct scopes *s, uint64_t ns)
{
	bool forgotten;
	const struct scope *scope = scopes_at(s, ns, &forgotten);

	return forgotten ? UINT32_MAX : scope ? scope->row : 0;
}

static void open_at(struct scopes *s, uint32_t row, uint64_t ns, size_t *budget)
{
	assert_int_equal(scopes_open(s, &(struct scope){ .row = row, .start_ns = ns }, budget), 0);
}

static void close_row(struct scopes *s, uint32_t row, uint64_t ns, size_t *budget)
{
	const struct scope *scope = s->top;

	while (scope && scope->row != row)
		scope = scope->below;
	assert_non_null(scope);
	assert_int_equal(scopes_close(s, scope, ns, budget), 0);
}

TEST(scopes_open_at_a_past_time_are_known)
{
	size_t budget = BUDGET;
	struct scopes s = { 0 };
	bool forgotten;

	open_at(&s, 1, 10, &budget);
	open_at(&s, 2, 20, &budget);
	assert_int_equal(s.depth, 2);
	close_row(&s, 1, 30, &budget);
	close_row(&s, 2, 40, &budget);
	assert_int_equal(row_at(&s, 9), 0);
	assert_int_equal(row_at(&s, 15), 1);
	assert_int_equal(row_at(&s, 25), 2);
	assert_int_equal(scopes_at(&s, 25, &forgotten)->below->row, 1);
	assert_int_equal(row_at(&s, 35), 2);
	assert_null(scopes_at(&s, 35, &forgotten)->below);
	assert_int_equal(row_at(&s, 45), 0);
	assert_null(s.top);
	scopes_free(&s, &budget);
	assert_int_equal(budget, BUDGET);
}

TEST(times_before_a_horizon_are_forgotten_and_their_memory_given_back)
{
	size_t budget = BUDGET;
	struct scopes s = { 0 };

	open_at(&s, 1, 10, &budget);
	open_at(&s, 2, 20, &budget);
	scopes_forget(&s, 25, &budget);
	assert_int_equal(row_at(&s, 15), UINT32_MAX);
	assert_int_equal(row_at(&s, 25), 2);
	close_row(&s, 2, 30, &budget);
	close_row(&s, 1, 40, &budget);
	scopes_forget(&s, 50, &budget);
	assert_int_equal(budget, BUDGET);
	scopes_free(&s, &budget);
}

TEST(without_budget_the_stack_goes_on_and_its_history_does_not)
{
	size_t budget = 16;
	struct scopes s = { 0 }, poor = { 0 };

	for (uint32_t i = 1; i <= 100; i++)
		open_at(&s, i, 10 * i, &budget);
	assert_int_equal(s.depth, 100);
	assert_int_equal(row_at(&s, 105), UINT32_MAX);
	assert_int_equal(row_at(&s, 995), 99);
	assert_int_equal(budget, 0);
	open_at(&poor, 1, 10, &budget);
	assert_int_equal(poor.top->row, 1);
	assert_int_equal(row_at(&poor, 15), UINT32_MAX);
	scopes_free(&poor, &budget);
	scopes_free(&s, &budget);
	assert_int_equal(budget, 16);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Scopes of a process: the worked examples of the header, forgetting, the bounds, the budget; and
 * that a list which a launch holds stays what it was.
 */
#include <errno.h>

#include "join/scopes.h"
#include "lib/random.h"
#include "lib/test.h"

#define KIND SCOPE_PUSHED_RANGE
#define FORGOTTEN UINT32_MAX

static struct scopes s;
static unsigned int left;

static int leave(void *ctx, struct scope_stack *of, const struct scope *scope)
{
	(void)ctx;
	left++;
	return scopes_close(&s, of, scope, of->exit_ns);
}

BEFORE_EACH
{
	s = (struct scopes){ .owner = { [KIND] = { leave, NULL } } };
	left = 0;
}

/* All memory for changes is given back. */
AFTER_EACH
{
	scopes_free(&s);
	assert_true(s.remembered == 0 || s.remembered == SCOPES_BUDGET - 16);
}

/* The row of the innermost scope of thread 1 at ns, 0: none. */
static uint32_t row_at(uint64_t ns)
{
	const struct scope *scope = scopes_at(&s, 1, ns);

	return !scope ? 0 : scope->kind == SCOPE_FORGOTTEN ? FORGOTTEN : scope->row;
}

static int open_at(uint32_t tid, uint32_t row, uint64_t ns)
{
	const struct scope scope = { .kind = KIND, .row = row, .start_ns = ns };

	return scopes_open(&s, scopes_of(&s, tid, ns), &scope);
}

static void close_row(uint32_t row, uint64_t ns)
{
	struct scope_stack *of = scopes_of(&s, 1, ns);
	const struct scope *scope = of->top;

	while (scope && scope->row != row)
		scope = scope->below;
	assert_non_null(scope);
	assert_int_equal(scopes_close(&s, of, scope, ns), 0);
}

TEST(scopes_open_at_a_past_time_are_known)
{
	open_at(1, 1, 10);
	open_at(1, 2, 20);
	assert_int_equal(scopes_of(&s, 1, 20)->depth, 2);
	close_row(1, 30);
	close_row(2, 40);
	assert_int_equal(row_at(9), 0);
	assert_int_equal(row_at(15), 1);
	assert_int_equal(row_at(25), 2);
	assert_int_equal(scopes_at(&s, 1, 25)->below->row, 1);
	assert_int_equal(row_at(35), 2);
	assert_null(scopes_at(&s, 1, 35)->below);
	assert_int_equal(row_at(45), 0);
	assert_null(scopes_of(&s, 1, 45)->top);
	assert_null(scopes_at(&s, 2, 25));
}

TEST(times_before_a_horizon_are_forgotten_and_their_memory_given_back)
{
	open_at(1, 1, 10);
	open_at(1, 2, 20);
	scopes_settle(&s, 25);
	assert_int_equal(row_at(15), FORGOTTEN);
	assert_null(scopes_at(&s, 1, 15)->below);
	assert_int_equal(row_at(25), 2);
	close_row(2, 30);
	close_row(1, 40);
	scopes_settle(&s, 50);
	assert_int_equal(s.remembered, 0);
	scope_release(scope_hold(scopes_at(&s, 1, 15)));	/* as any other */
}

/* Of a launch that met its first work, others may come when its time is forgotten. */
TEST(what_a_launch_holds_stays_as_it_was)
{
	struct scope *held, *alone;

	open_at(1, 1, 10);
	alone = scope_hold(scopes_at(&s, 1, 15));
	open_at(1, 2, 20);
	held = scope_hold(scopes_at(&s, 1, 25));
	close_row(1, 30);
	close_row(2, 40);
	scopes_settle(&s, 50);
	assert_int_equal(row_at(25), FORGOTTEN);
	scopes_free(&s);
	assert_int_equal(held->row, 2);
	assert_ptr_equal(held->below, alone);
	assert_null(alone->below);
	scope_release(alone);
	assert_int_equal(held->below->row, 1);
	scope_release(held);
	s = (struct scopes){ 0 };
}

TEST(a_thread_leaves_its_scopes_when_its_number_is_used_again_or_all_is_settled)
{
	open_at(1, 1, 10);
	open_at(2, 2, 10);
	scopes_exit(&s, 1, 30);
	close_row(1, 20);		/* what it did before comes later */
	open_at(1, 3, 25);
	open_at(1, 4, 40);
	assert_int_equal(left, 1);
	assert_int_equal(scopes_of(&s, 1, 40)->depth, 1);
	assert_int_equal(row_at(28), 3);
	assert_int_equal(row_at(35), 0);
	assert_int_equal(row_at(45), 4);
	scopes_exit(&s, 0, 50);
	scopes_settle(&s, 45);
	assert_int_equal(left, 1);
	scopes_settle(&s, UINT64_MAX);
	assert_int_equal(left, 3);
	scopes_settle(&s, 60);
	scopes_settle(&s, 60);
	assert_int_equal(s.remembered, 0);
}

TEST(threads_and_depth_are_bounded)
{
	for (uint32_t i = 1; i <= SCOPES_DEPTH_MAX; i++)
		assert_int_equal(open_at(1, i, i), 0);
	assert_int_equal(open_at(1, 1, 1000), -ENOSPC);
	assert_int_equal(scopes_of(&s, 1, 0)->depth, SCOPES_DEPTH_MAX);
	assert_null(scopes_of(&s, 0, 10));
	assert_int_equal(errno, EINVAL);
	for (uint32_t tid = 2; tid <= SCOPES_THREADS_MAX; tid++)
		assert_non_null(scopes_of(&s, tid, 10));
	assert_null(scopes_of(&s, SCOPES_THREADS_MAX + 1, 10));
	assert_int_equal(errno, EINVAL);
}

TEST(without_budget_the_stack_goes_on_and_its_history_does_not)
{
	s.remembered = SCOPES_BUDGET - 16;
	for (uint32_t i = 1; i <= 100; i++)
		assert_int_equal(open_at(1, i, 10 * i), 0);
	assert_int_equal(scopes_of(&s, 1, 0)->depth, 100);
	assert_int_equal(row_at(105), FORGOTTEN);
	assert_int_equal(row_at(995), 99);
	assert_int_equal(s.remembered, SCOPES_BUDGET);
	open_at(2, 1, 10);
	assert_int_equal(scopes_of(&s, 2, 0)->top->row, 1);
	assert_int_equal(scopes_at(&s, 2, 15)->kind, SCOPE_FORGOTTEN);
}

/* Held lists against copies of them, whatever opens, closes, ends and is forgotten. */
TEST(any_list_that_is_held_is_what_was_open_at_its_time)
{
	enum { HELD = 64 };
	struct {
		struct scope *list;
		uint32_t row[4];
	} held[HELD] = { 0 };
	uint64_t ns = 100;

	for (int i = 0; i < random_rounds(20000); i++) {
		struct scope_stack *of = scopes_of(&s, (uint32_t)(1 + below(3)), ns += below(10));
		size_t h = below(HELD), n = 0;

		if (of->depth < 4 && below(2)) {
			open_at(of->tid, (uint32_t)(1 + below(9)), ns);
		} else if (of->top) {
			const struct scope *any = of->top;

			while (any->below && below(2))
				any = any->below;
			assert_int_equal(scopes_close(&s, of, any, ns), 0);
		}
		for (const struct scope *at = held[h].list; at; at = at->below)
			assert_int_equal(at->row, held[h].row[n++]);
		assert_true(n == 4 || !held[h].row[n]);
		scope_release(held[h].list);
		memset(&held[h], 0, sizeof(held[h]));
		held[h].list = scope_hold(scopes_at(&s, of->tid, ns));
		assert_ptr_equal(held[h].list, of->top);
		n = 0;
		for (const struct scope *at = of->top; at; at = at->below)
			held[h].row[n++] = at->row;
		if (!below(100))
			scopes_settle(&s, ns - below(ns));
		if (!below(500))
			scopes_exit(&s, (uint32_t)below(4), ns);
	}
	for (size_t h = 0; h < HELD; h++)
		scope_release(held[h].list);
}

TEST_GROUP(random_seed, NULL);

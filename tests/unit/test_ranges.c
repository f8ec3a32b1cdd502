// SPDX-License-Identifier: BSD-3-Clause
/*
 * Ranges: each row's times and launches are those of the worked examples of facts/ranges.h, whatever
 * is nested, overlaps, crosses threads, or was open before and after; and any bytes leave it in one piece.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "facts/ranges.h"
#include "lib/random.h"
#include "lib/test.h"

static struct scopes scopes;
static struct ranges *r;

BEFORE_EACH
{
	scopes = (struct scopes){ 0 };
	r = ranges_new(5, &scopes);
}

AFTER_EACH
{
	scopes_free(&scopes);
	ranges_free(r);
}

static int at(unsigned int what, const char *name, uint32_t tid, uint64_t ns)
{
	struct event ev = { .kind = EVENT_RANGE, .range.what = (uint8_t)what, .tid = tid,
			    .start_ns = ns, .range.name = name };

	return ranges_push(r, &ev);
}

static int in_domain(unsigned int what, const char *domain, const char *name, uint64_t ns)
{
	struct event ev = { .kind = EVENT_RANGE, .range.what = (uint8_t)what, .tid = 1,
			    .start_ns = ns, .range.name = name, .range.domain = domain };

	return ranges_push(r, &ev);
}

static int with_id(unsigned int what, const char *name, uint32_t tid, uint64_t ns,
		   uint64_t id)
{
	struct event ev = { .kind = EVENT_RANGE, .range.what = (uint8_t)what, .tid = tid,
			    .start_ns = ns, .range.name = name, .range.id = id };

	return ranges_push(r, &ev);
}

/* A launch at ns whose kernel takes 7. */
static void launch(uint32_t tid, uint64_t ns, uint32_t works)
{
	const struct event work = { .start_ns = 1000, .end_ns = 1007 };
	const struct launch by = { .tid = tid, .works = works,
				   .scope = scope_hold(scopes_at(&scopes, tid, ns)) };

	ranges_work(r, &work, &by);
	scope_release(by.scope);
}

static struct range_sum row(const char *domain, const char *name, bool before,
			    uint64_t now)
{
	struct range_sum s = { 0 };

	for (size_t i = 0; i < ranges_count(r); i++) {
		ranges_read(r, i, now, &s);
		if (s.before == before && !strcmp(s.name ? s.name : "", name ? name : "") &&
		    !strcmp(s.domain ? s.domain : "", domain ? domain : ""))
			return s;
	}
	fail_msg("no range %s", name);
	return s;
}

static void is(struct range_sum s, uint64_t count, uint64_t wall, uint64_t host, uint64_t device)
{
	assert_int_equal(s.count, count);
	assert_int_equal(s.wall_ns, wall);
	assert_int_equal(s.host_ns, host);
	assert_int_equal(s.device_ns, device);
	assert_int_equal(s.open, 0);
}

TEST(a_launch_is_in_all_that_its_thread_had_open)
{
	at(RANGE_PUSH, "a", 1, 10);
	at(RANGE_PUSH, "b", 1, 20);
	launch(1, 25, 0);
	launch(1, 25, 1);	/* another work of the same launch */
	launch(2, 25, 0);	/* another thread's */
	at(RANGE_POP, NULL, 1, 30);
	launch(1, 35, 0);
	at(RANGE_POP, NULL, 1, 50);
	launch(1, 60, 0);
	launch(1, 22, 0);	/* works come late */
	is(row(NULL, "a", false, 100), 1, 40, 40, 28);
	is(row(NULL, "b", false, 100), 1, 10, 10, 21);
	assert_int_equal(row(NULL, "a", false, 100).launches, 3);
	assert_int_equal(row(NULL, "b", false, 100).launches, 2);
}

/* A thread reports its end: no interval counts what it left open beyond that. */
TEST(a_pushed_range_ends_with_its_thread)
{
	at(RANGE_PUSH, "a", 1, 10);
	with_id(RANGE_START, "s", 1, 12, 77);
	at(RANGE_PUSH, "a", 1, 20);
	at(RANGE_PUSH, "a", 2, 20);
	launch(1, 25, 0);
	at(RANGE_LEAVE, NULL, 1, 30);
	launch(1, 35, 0);
	launch(1, 29, 0);
	at(RANGE_POP, NULL, 2, 40);
	is(row(NULL, "a", false, 100), 3, 30, 40, 14);
	assert_int_equal(row(NULL, "a", false, 100).left, 2);
	with_id(RANGE_END, NULL, 2, 50, 77);
	is(row(NULL, "s", false, 100), 1, 38, 38, 21);
	at(RANGE_PUSH, "b", 1, 60);	/* the number is another thread's */
	at(RANGE_POP, NULL, 1, 65);
	is(row(NULL, "b", false, 100), 1, 5, 5, 0);
}

TEST(a_range_that_was_started_is_its_threads_wherever_it_ends)
{
	with_id(RANGE_START, "a", 1, 10, 77);
	at(RANGE_PUSH, "b", 1, 20);
	with_id(RANGE_END, NULL, 2, 30, 77);
	launch(1, 35, 0);
	launch(1, 25, 0);
	at(RANGE_POP, NULL, 1, 40);
	is(row(NULL, "a", false, 100), 1, 20, 20, 7);
	is(row(NULL, "b", false, 100), 1, 20, 20, 14);
	assert_int_equal(row(NULL, "a", false, 100).kind, RANGE_KIND_START);
}

TEST(one_inside_another_of_its_name_adds_nothing_but_itself)
{
	at(RANGE_PUSH, "a", 1, 10);
	at(RANGE_PUSH, "a", 1, 20);
	launch(1, 25, 0);
	at(RANGE_POP, NULL, 1, 30);
	at(RANGE_POP, NULL, 1, 40);
	is(row(NULL, "a", false, 100), 2, 30, 30, 7);
	with_id(RANGE_START, "s", 1, 10, 1);
	with_id(RANGE_START, "s", 1, 20, 2);
	with_id(RANGE_END, NULL, 1, 30, 1);	/* the outer one ends first */
	with_id(RANGE_END, NULL, 1, 45, 2);
	is(row(NULL, "s", false, 100), 2, 35, 35, 0);
}

TEST(ranges_of_two_threads_share_the_wall_and_not_the_host)
{
	at(RANGE_PUSH, "a", 1, 10);
	at(RANGE_PUSH, "a", 2, 20);
	at(RANGE_POP, NULL, 1, 30);
	at(RANGE_POP, NULL, 2, 40);
	is(row(NULL, "a", false, 100), 2, 30, 40, 0);
}

/* A thread may have no CPU between its time and its word of it. */
TEST(the_wall_reaches_the_latest_end_in_any_order_of_threads)
{
	at(RANGE_PUSH, "a", 1, 10);
	at(RANGE_PUSH, "a", 2, 20);
	at(RANGE_POP, NULL, 2, 40);
	at(RANGE_POP, NULL, 1, 30);
	is(row(NULL, "a", false, 100), 2, 30, 40, 0);
}

TEST(the_wall_has_no_time_between_ranges_in_any_order_of_threads)
{
	at(RANGE_PUSH, "a", 1, 30);
	at(RANGE_PUSH, "a", 2, 10);
	at(RANGE_POP, NULL, 2, 12);
	assert_int_equal(row(NULL, "a", false, 33).wall_ns, 5);
	at(RANGE_POP, NULL, 1, 40);
	is(row(NULL, "a", false, 100), 2, 12, 12, 0);
}

/* One thread is a little behind the other, which is in its ranges for one ns of ten. */
TEST(the_wall_is_exact_over_many_ranges)
{
	enum { N = 10000 };

	for (uint64_t i = 1; i <= N; i++) {
		at(RANGE_PUSH, "a", 1, i * 10);
		at(RANGE_PUSH, "b", 1, i * 10);
		at(RANGE_POP, NULL, 1, i * 10 + 1);
		at(RANGE_POP, NULL, 1, i * 10 + 1);
		at(RANGE_PUSH, "a", 2, i * 10 - 5);
		at(RANGE_POP, NULL, 2, i * 10 - 4);
		if (i == 1)
			at(RANGE_PUSH, "b", 3, 7);
	}
	is(row(NULL, "a", false, N * 11), 2 * N, 2 * N, 2 * N, 0);
	assert_int_equal(row(NULL, "b", false, N * 11).wall_ns, N * 11 - 7);
	at(RANGE_POP, NULL, 3, N * 11);
	is(row(NULL, "b", false, N * 12), N + 1, N * 11 - 7, N + N * 11 - 7, 0);
}

TEST(domains_have_stacks_of_their_own)
{
	in_domain(RANGE_PUSH, "x", "a", 10);
	in_domain(RANGE_PUSH, NULL, "a", 20);
	in_domain(RANGE_POP, "x", NULL, 30);
	launch(1, 35, 0);
	in_domain(RANGE_MARK, "x", "m", 36);
	in_domain(RANGE_POP, NULL, NULL, 40);
	is(row("x", "a", false, 100), 1, 20, 20, 0);
	is(row(NULL, "a", false, 100), 1, 20, 20, 7);
	is(row("x", "m", false, 100), 1, 0, 0, 0);
}

/* XLA's, of its own domain alone; those of modules and thunks have their names. */
TEST(the_passes_of_a_compiler_share_a_row)
{
	static const char *const names[] = {
		"XlaPass:#name=dce,module=jit_f#", "XlaPass:#name=cse,module=jit_f#",
		"XlaPassPipeline:#name=layout,module=jit_f#", "XlaModule:#hlo_module=jit_f#",
	};

	for (size_t i = 0; i < 4; i++) {
		in_domain(RANGE_PUSH, "TSL", names[i], 10 * (i + 1));
		in_domain(RANGE_POP, "TSL", NULL, 10 * (i + 1) + 3);
	}
	in_domain(RANGE_MARK, "x", names[0], 70);
	assert_int_equal(ranges_count(r), 4);
	is(row("TSL", "XlaPass", false, 100), 2, 6, 6, 0);
	is(row("TSL", "XlaPassPipeline", false, 100), 1, 3, 3, 0);
	is(row("TSL", names[3], false, 100), 1, 3, 3, 0);
	is(row("x", names[0], false, 100), 1, 0, 0, 0);
}

TEST(ranges_open_before_and_after_are_reported)
{
	at(RANGE_POP, NULL, 1, 20);
	with_id(RANGE_END, NULL, 1, 25, 9);
	at(RANGE_PUSH, "a", 1, 30);
	assert_int_equal(row(NULL, "a", false, 50).open, 1);
	assert_int_equal(row(NULL, "a", false, 50).wall_ns, 20);
	ranges_stop(r, 100);
	assert_int_equal(row(NULL, "a", false, 200).wall_ns, 70);
	at(RANGE_PUSH, "late", 1, 101);	/* the session is over */
	at(RANGE_POP, NULL, 1, 120);
	assert_int_equal(ranges_count(r), 3);
	is(row(NULL, "a", false, 200), 1, 70, 70, 0);
	assert_int_equal(row(NULL, NULL, true, 200).wall_ns, 15);
}

TEST(an_exiting_thread_closes_its_ranges)
{
	at(RANGE_PUSH, "a", 1, 10);
	at(RANGE_PUSH, "b", 1, 20);
	scopes_exit(&scopes, 1, 50);
	at(RANGE_POP, NULL, 1, 40);		/* what it did before comes later */
	at(RANGE_PUSH, "c", 1, 60);		/* its number is another's */
	scopes_exit(&scopes, 0, 70);
	scopes_settle(&scopes, UINT64_MAX);
	assert_int_equal(row(NULL, "a", false, 100).wall_ns, 40);
	assert_int_equal(row(NULL, "a", false, 100).left, 1);	/* it never ended */
	is(row(NULL, "b", false, 100), 1, 20, 20, 0);
	assert_int_equal(row(NULL, "c", false, 100).host_ns, 10);
	assert_int_equal(row(NULL, "c", false, 100).left, 1);
}

TEST(an_interval_has_its_part_of_open_ranges)
{
	struct range_sum before, sum;

	at(RANGE_PUSH, "a", 1, 10);
	before = row(NULL, "a", false, 30);
	at(RANGE_PUSH, "a", 2, 50);
	sum = row(NULL, "a", false, 60);
	range_sums_subtract(&sum, 1, &before, 1);
	assert_int_equal(sum.count, 1);
	assert_int_equal(sum.wall_ns, 30);
	assert_int_equal(sum.host_ns, 40);
	assert_int_equal(sum.open, 2);
	at(RANGE_POP, NULL, 1, 70);
	at(RANGE_POP, NULL, 2, 80);
	sum = row(NULL, "a", false, 100);
	range_sums_subtract(&sum, 1, &before, 1);
	is(sum, 1, 50, 70, 0);
}

TEST(open_scopes_are_known_until_settled)
{
	at(RANGE_PUSH, "a", 1, 10);
	at(RANGE_POP, NULL, 1, 20);
	at(RANGE_PUSH, "b", 1, 30);
	scopes_settle(&scopes, 25);
	launch(1, 15, 0);
	assert_int_equal(ranges_unplaced(r), 1);
	launch(1, 35, 0);
	is(row(NULL, "a", false, 100), 1, 10, 10, 0);
	assert_int_equal(row(NULL, "b", false, 100).launches, 1);
}

TEST(names_threads_and_depth_are_bounded)
{
	char name[32];

	for (unsigned int i = 0; i < 2 * RANGES_ROWS_MAX; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_int_equal(at(RANGE_MARK, name, 1, 10 + i), 0);
	}
	assert_true(ranges_count(r) <= RANGES_ROWS_MAX + 1);
	assert_int_equal(row(NULL, RANGES_OTHERS, false, 100).count, RANGES_ROWS_MAX);
	for (unsigned int i = 0; i < 2 * SCOPES_DEPTH_MAX; i++)
		at(RANGE_PUSH, "name 1", 1, 10);
	for (unsigned int i = 0; i < 2 * SCOPES_DEPTH_MAX; i++)
		at(RANGE_POP, NULL, 1, 20);
	assert_int_equal(row(NULL, "name 1", false, 100).open, 0);
	for (uint32_t tid = 2; tid <= SCOPES_THREADS_MAX; tid++)
		assert_int_equal(at(RANGE_PUSH, "name 1", tid, 10), 0);
	assert_int_equal(at(RANGE_PUSH, "name 1", SCOPES_THREADS_MAX + 1, 10), -EINVAL);
	assert_int_equal(at(RANGE_PUSH, "name 1", 0, 10), -EINVAL);
}

/* The wall of a row is never more than the session, nor the host more than that of its threads. */
TEST(any_events_leave_sums_that_can_be)
{
	static const char *const names[] = { "a", "b", "c", NULL };
	struct range_sum s;

	ranges_free(r);
	r = ranges_new(1000, &scopes);
	for (int i = 0; i < random_rounds(200000); i++) {
		struct event ev = { .kind = EVENT_RANGE, .range.what = (uint8_t)below(7),
				    .tid = (uint32_t)below(6), .start_ns = below(100000),
				    .range.name = names[below(4)], .range.domain = names[below(4)],
				    .range.id = below(16) };

		ranges_push(r, &ev);
		launch((uint32_t)below(6), 1 + below(100000), 0);
		if (below(1000) == 0)
			scopes_settle(&scopes, below(100000));
		if (below(1000) == 0)
			scopes_exit(&scopes, (uint32_t)below(6), below(100000));
	}
	ranges_stop(r, 100000);
	for (size_t i = 0; i < ranges_count(r); i++) {
		ranges_read(r, i, UINT64_MAX, &s);
		assert_true(s.wall_ns <= 99000);
		assert_true(s.open <= s.count);
	}
}

TEST_GROUP(random_seed, NULL);

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
#include "facts/scopes.h"
#include "lib/test.h"

static int at(struct ranges *r, unsigned int what, const char *name, uint32_t tid, uint64_t ns)
{
	struct event ev = { .kind = EVENT_RANGE, .range.what = (uint8_t)what, .tid = tid,
			    .start_ns = ns,
			    .range.name = name };

	return ranges_push(r, &ev);
}

static int in_domain(struct ranges *r, unsigned int what, const char *domain, const char *name, uint64_t ns)
{
	struct event ev = { .kind = EVENT_RANGE, .range.what = (uint8_t)what, .tid = 1,
			    .start_ns = ns,
			    .range.name = name, .range.domain = domain };

	return ranges_push(r, &ev);
}

static int with_id(struct ranges *r, unsigned int what, const char *name, uint32_t tid, uint64_t ns,
		   uint64_t id)
{
	struct event ev = { .kind = EVENT_RANGE, .range.what = (uint8_t)what, .tid = tid,
			    .start_ns = ns,
			    .range.name = name, .range.id = id };

	return ranges_push(r, &ev);
}

/* A launch in [ns - 1, ns + 1] whose kernel takes 7. */
static void launch(struct ranges *r, uint32_t tid, uint64_t ns, uint32_t works)
{
	const struct event work = { .start_ns = 1000, .end_ns = 1007 };
	const struct launch by = { .tid = tid, .start_ns = ns - 1, .end_ns = ns + 1, .works = works };

	ranges_work(r, &work, &by);
}

static struct range_sum row(const struct ranges *r, const char *domain, const char *name, bool before,
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
	struct ranges *r = ranges_new(5);

	at(r, RANGE_PUSH, "a", 1, 10);
	at(r, RANGE_PUSH, "b", 1, 20);
	launch(r, 1, 25, 0);
	launch(r, 1, 25, 1);	/* another work of the same launch */
	launch(r, 2, 25, 0);	/* another thread's */
	at(r, RANGE_POP, NULL, 1, 30);
	launch(r, 1, 35, 0);
	at(r, RANGE_POP, NULL, 1, 50);
	launch(r, 1, 60, 0);
	launch(r, 1, 22, 0);	/* works come late */
	is(row(r, NULL, "a", false, 100), 1, 40, 40, 28);
	is(row(r, NULL, "b", false, 100), 1, 10, 10, 21);
	assert_int_equal(row(r, NULL, "a", false, 100).launches, 3);
	assert_int_equal(row(r, NULL, "b", false, 100).launches, 2);
	ranges_free(r);
}

TEST(a_range_that_was_started_is_its_threads_wherever_it_ends)
{
	struct ranges *r = ranges_new(5);

	with_id(r, RANGE_START, "a", 1, 10, 77);
	at(r, RANGE_PUSH, "b", 1, 20);
	with_id(r, RANGE_END, NULL, 2, 30, 77);
	launch(r, 1, 35, 0);
	launch(r, 1, 25, 0);
	at(r, RANGE_POP, NULL, 1, 40);
	is(row(r, NULL, "a", false, 100), 1, 20, 20, 7);
	is(row(r, NULL, "b", false, 100), 1, 20, 20, 14);
	assert_int_equal(row(r, NULL, "a", false, 100).kind, RANGE_KIND_START);
	ranges_free(r);
}

TEST(one_inside_another_of_its_name_adds_nothing_but_itself)
{
	struct ranges *r = ranges_new(5);

	at(r, RANGE_PUSH, "a", 1, 10);
	at(r, RANGE_PUSH, "a", 1, 20);
	launch(r, 1, 25, 0);
	at(r, RANGE_POP, NULL, 1, 30);
	at(r, RANGE_POP, NULL, 1, 40);
	is(row(r, NULL, "a", false, 100), 2, 30, 30, 7);
	with_id(r, RANGE_START, "s", 1, 10, 1);
	with_id(r, RANGE_START, "s", 1, 20, 2);
	with_id(r, RANGE_END, NULL, 1, 30, 1);	/* the outer one ends first */
	with_id(r, RANGE_END, NULL, 1, 45, 2);
	is(row(r, NULL, "s", false, 100), 2, 35, 35, 0);
	ranges_free(r);
}

TEST(ranges_of_two_threads_share_the_wall_and_not_the_host)
{
	struct ranges *r = ranges_new(5);

	at(r, RANGE_PUSH, "a", 1, 10);
	at(r, RANGE_PUSH, "a", 2, 20);
	at(r, RANGE_POP, NULL, 1, 30);
	at(r, RANGE_POP, NULL, 2, 40);
	is(row(r, NULL, "a", false, 100), 2, 30, 40, 0);
	ranges_free(r);
}

/* A thread may have no CPU between its time and its word of it. */
TEST(the_wall_reaches_the_latest_end_in_any_order_of_threads)
{
	struct ranges *r = ranges_new(5);

	at(r, RANGE_PUSH, "a", 1, 10);
	at(r, RANGE_PUSH, "a", 2, 20);
	at(r, RANGE_POP, NULL, 2, 40);
	at(r, RANGE_POP, NULL, 1, 30);
	is(row(r, NULL, "a", false, 100), 2, 30, 40, 0);
	ranges_free(r);
}

TEST(domains_have_stacks_of_their_own)
{
	struct ranges *r = ranges_new(5);

	in_domain(r, RANGE_PUSH, "x", "a", 10);
	in_domain(r, RANGE_PUSH, NULL, "a", 20);
	in_domain(r, RANGE_POP, "x", NULL, 30);
	launch(r, 1, 35, 0);
	in_domain(r, RANGE_MARK, "x", "m", 36);
	in_domain(r, RANGE_POP, NULL, NULL, 40);
	is(row(r, "x", "a", false, 100), 1, 20, 20, 0);
	is(row(r, NULL, "a", false, 100), 1, 20, 20, 7);
	is(row(r, "x", "m", false, 100), 1, 0, 0, 0);
	ranges_free(r);
}

TEST(ranges_open_before_and_after_are_reported)
{
	struct ranges *r = ranges_new(5);

	at(r, RANGE_POP, NULL, 1, 20);
	with_id(r, RANGE_END, NULL, 1, 25, 9);
	at(r, RANGE_PUSH, "a", 1, 30);
	assert_int_equal(row(r, NULL, "a", false, 50).open, 1);
	assert_int_equal(row(r, NULL, "a", false, 50).wall_ns, 20);
	ranges_stop(r, 100);
	assert_int_equal(row(r, NULL, "a", false, 200).wall_ns, 70);
	at(r, RANGE_PUSH, "late", 1, 101);	/* the session is over */
	at(r, RANGE_POP, NULL, 1, 120);
	assert_int_equal(ranges_count(r), 3);
	is(row(r, NULL, "a", false, 200), 1, 70, 70, 0);
	assert_int_equal(row(r, NULL, NULL, true, 200).wall_ns, 15);
	ranges_free(r);
}

TEST(an_exiting_thread_closes_its_ranges)
{
	struct ranges *r = ranges_new(5);

	at(r, RANGE_PUSH, "a", 1, 10);
	at(r, RANGE_PUSH, "b", 1, 20);
	ranges_exit(r, 1, 50);
	at(r, RANGE_POP, NULL, 1, 40);		/* what it did before comes later */
	at(r, RANGE_PUSH, "c", 1, 60);		/* its number is another's */
	ranges_exit(r, 0, 70);
	ranges_settle(r, UINT64_MAX);
	assert_int_equal(row(r, NULL, "a", false, 100).wall_ns, 40);
	assert_int_equal(row(r, NULL, "a", false, 100).open, 1);	/* it never ended */
	is(row(r, NULL, "b", false, 100), 1, 20, 20, 0);
	assert_int_equal(row(r, NULL, "c", false, 100).host_ns, 10);
	assert_int_equal(row(r, NULL, "c", false, 100).open, 1);
	ranges_free(r);
}

TEST(an_interval_has_its_part_of_open_ranges)
{
	struct ranges *r = ranges_new(5);

	at(r, RANGE_PUSH, "a", 1, 10);
	ranges_cut(r, 30);
	at(r, RANGE_PUSH, "a", 2, 50);
	assert_int_equal(row(r, NULL, "a", false, 60).count, 1);
	assert_int_equal(row(r, NULL, "a", false, 60).wall_ns, 30);
	assert_int_equal(row(r, NULL, "a", false, 60).host_ns, 40);
	at(r, RANGE_POP, NULL, 1, 70);
	at(r, RANGE_POP, NULL, 2, 80);
	is(row(r, NULL, "a", false, 100), 1, 50, 70, 0);
	ranges_free(r);
}

TEST(open_scopes_are_known_until_settled)
{
	struct ranges *r = ranges_new(5);

	at(r, RANGE_PUSH, "a", 1, 10);
	at(r, RANGE_POP, NULL, 1, 20);
	at(r, RANGE_PUSH, "b", 1, 30);
	ranges_settle(r, 25);
	launch(r, 1, 15, 0);
	assert_int_equal(ranges_unplaced(r), 1);
	launch(r, 1, 35, 0);
	is(row(r, NULL, "a", false, 100), 1, 10, 10, 0);
	assert_int_equal(row(r, NULL, "b", false, 100).launches, 1);
	ranges_free(r);
}

TEST(names_threads_and_depth_are_bounded)
{
	struct ranges *r = ranges_new(5);
	char name[32];

	for (unsigned int i = 0; i < 2 * RANGES_ROWS_MAX; i++) {
		snprintf(name, sizeof(name), "name %u", i);
		assert_int_equal(at(r, RANGE_MARK, name, 1, 10 + i), 0);
	}
	assert_true(ranges_count(r) <= RANGES_ROWS_MAX + 1);
	assert_int_equal(row(r, NULL, RANGES_OTHERS, false, 100).count, RANGES_ROWS_MAX);
	for (unsigned int i = 0; i < 2 * SCOPES_DEPTH_MAX; i++)
		at(r, RANGE_PUSH, "name 1", 1, 10);
	for (unsigned int i = 0; i < 2 * SCOPES_DEPTH_MAX; i++)
		at(r, RANGE_POP, NULL, 1, 20);
	assert_int_equal(row(r, NULL, "name 1", false, 100).open, 0);
	for (uint32_t tid = 2; tid <= RANGES_THREADS_MAX; tid++)
		assert_int_equal(at(r, RANGE_PUSH, "name 1", tid, 10), 0);
	assert_int_equal(at(r, RANGE_PUSH, "name 1", RANGES_THREADS_MAX + 1, 10), -EINVAL);
	assert_int_equal(at(r, RANGE_PUSH, "name 1", 0, 10), -EINVAL);
	ranges_free(r);
}

/* The wall of a row is never more than the session, nor the host more than that of its threads. */
TEST(any_events_leave_sums_that_can_be)
{
	static const char *const names[] = { "a", "b", "c", NULL };
	struct ranges *r = ranges_new(1000);
	struct range_sum s;

	for (int i = 0; i < random_rounds(200000); i++) {
		struct event ev = { .kind = EVENT_RANGE, .range.what = (uint8_t)below(7),
				    .tid = (uint32_t)below(6), .start_ns = below(100000),
				    .range.name = names[below(4)], .range.domain = names[below(4)],
				    .range.id = below(16) };

		ranges_push(r, &ev);
		launch(r, (uint32_t)below(6), 1 + below(100000), 0);
		if (below(1000) == 0)
			ranges_settle(r, below(100000));
		if (below(1000) == 0)
			ranges_exit(r, (uint32_t)below(6), below(100000));
	}
	ranges_stop(r, 100000);
	for (size_t i = 0; i < ranges_count(r); i++) {
		ranges_read(r, i, UINT64_MAX, &s);
		assert_true(s.wall_ns <= 99000);
		assert_true(s.open <= s.count);
	}
	ranges_free(r);
}

TEST_GROUP(random_seed, NULL);

// SPDX-License-Identifier: BSD-3-Clause
/* The thread book: the worked examples of its header, its counters, its intervals. */
#include "book_room.h"
#include "lib/test.h"

/* The examples of book.h; times there begin at 0. */
struct example {
	const char *what;
	struct event ev[3];
	uint64_t launch, sync, lost, unarmed, other;
};

static void example_check(const struct example *e)
{
	struct book_sum sum;
	size_t n = 0;

	while (n < 3 && e->ev[n].kind)
		n++;
	print_message("  %s\n", e->what);
	book_of(e->ev, n, &sum);
	assert_int_equal(sum.ns[CLASS_LAUNCH], e->launch);
	assert_int_equal(sum.ns[CLASS_SYNC], e->sync);
	assert_int_equal(sum.ns[BUCKET_LOST], e->lost);
	assert_int_equal(sum.ns[BUCKET_UNARMED], e->unarmed);
	assert_int_equal(sum.ns[CLASS_OTHER], e->other);
}

TEST(test_examples)
{
	const struct example examples[] = {
		{ "two launches", { call(1, L, T(10), T(15)), call(2, L, T(20), T(25)) },
		  .launch = 10, .other = 90 },
		{ "a hole has a place", { call(1, L, T(10), T(15)), call(3, L, T(40), T(45)) },
		  .launch = 10, .lost = 25, .other = 65 },
		{ "the first event is missing", { begun(EVENT_ENTER, 2, S, T(30)),
						  call(3, S, T(30), T(50)) },
		  .sync = 20, .lost = 30, .other = 50 },
		{ "only the enter is missing", { call(1, L, T(10), T(15)), call(3, S, T(30), T(50)) },
		  .launch = 5, .sync = 20, .other = 75 },
		{ "open until the close", { begun(EVENT_ENTER, 1, S, T(30)) },
		  .sync = 70, .other = 30 },
		{ "left without a return", { begun(EVENT_ENTER, 1, S, T(30)),
					     call(2, L, T(60), T(65)) },
		  .launch = 5, .lost = 30, .other = 65 },
		{ "lost at the end", { call(1, L, T(10), T(15)), at(EVENT_TAIL, 4, 0, 0) },
		  .launch = 5, .lost = 85, .other = 10 },
		{ "lost up to an open call", { call(1, L, T(10), T(15)), at(EVENT_TAIL, 4, 0, 0),
					       begun(EVENT_OPEN, 4, S, T(70)) },
		  .launch = 5, .lost = 55, .sync = 30, .other = 10 },
		{ "killed inside", { begun(EVENT_ENTER, 1, S, T(30)), at(EVENT_EXIT, 2, 0, T(80)) },
		  .sync = 50, .other = 30 },
		{ "birth and unarmed", { at(EVENT_THREAD, 0, T(40), 0), call(1, L, T(50), T(60)),
					 at(EVENT_UNARMED, 0, T(0), T(45)) },
		  .launch = 10, .unarmed = 5, .other = 45 },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		example_check(&examples[i]);
}

TEST(test_counts)
{
	const struct event ev[] = {
		call(1, L, T(10), T(20)), call(1, L, T(30), T(40)),	/* out of order */
		call(2, L, T(15), T(30)),				/* skew: 5 clipped */
		call(3, L, T(50), T(45)),				/* ends before it starts */
		begun(EVENT_ENTER, 4, S, T(60)), call(5, L, T(70), T(75)),	/* abandoned */
		call(9, L, T(80), T(85)),				/* three lost */
	};
	struct book_counts c;
	struct book_sum sum;

	c = book_of(ev, sizeof(ev) / sizeof(ev[0]), &sum);
	assert_int_equal(c.invalid, 2);
	assert_int_equal(c.skew, 1);
	assert_int_equal(c.abandoned, 1);
	assert_int_equal(c.lost, 3);
	assert_int_equal(sum.ns[CLASS_LAUNCH], 10 + 10 + 5 + 5);
	/* 30-60: an unusable record; 60-70: abandoned; 75-80: the hole */
	assert_int_equal(sum.ns[BUCKET_LOST], 30 + 10 + 5);
}

TEST(test_numbers_wrap)
{
	struct run r = { 0 };
	struct event ev = call(UINT32_MAX, L, T(10), T(20));

	book_init(&r.book, BASE, NULL);
	r.book.seq = UINT32_MAX - 1;
	apply(&r, &ev);
	ev = call(0, L, T(20), T(30));
	apply(&r, &ev);
	ev = call(1, L, T(30), T(40));
	apply(&r, &ev);
	assert_int_equal(r.book.counts.invalid + r.book.counts.lost, 0);
	assert_int_equal(r.book.ns[CLASS_LAUNCH], 20 + 10);
}

TEST(test_stop_divides)
{
	const struct event ev[] = { call(1, L, T(10), T(20)), at(EVENT_STOP, 0, 0, T(50)),
				    call(2, S, T(40), T(70)), call(3, L, T(80), T(90)) };
	struct book_sum sum;

	book_of(ev, 4, &sum);
	assert_int_equal(sum.close_ns, T(50));
	assert_int_equal(sum.ns[CLASS_SYNC], 10);
	assert_int_equal(sum.ns[CLASS_LAUNCH], 10);
}

/* ---- intervals ---------------------------------------------------------------------------- */

TEST(test_an_open_call_is_in_both_intervals)
{
	struct run r = { 0 };
	struct event ev = begun(EVENT_ENTER, 1, S, T(30));
	struct readings readings = { 0 };
	struct book_sum first, second;

	book_init(&r.book, BASE, NULL);
	apply(&r, &ev);
	read_on(&readings, &r.book, T(50), &first);
	ev = call(2, S, T(30), T(70));
	apply(&r, &ev);
	read_on(&readings, &r.book, T(100), &second);
	assert_int_equal(first.ns[CLASS_SYNC], 20);
	assert_int_equal(second.ns[CLASS_SYNC], 20);
	assert_int_equal(second.ns[CLASS_OTHER], 30);
	assert_int_equal(readings.late_ns, 0);
}

/* Its first 10 were `other` by the first reading: they are a part of the second. */
TEST(test_a_call_that_is_reported_at_its_end)
{
	struct run r = { 0 };
	struct event ev = call(1, L, T(0), T(10));
	struct readings readings = { 0 };
	struct book_sum first, second;

	book_init(&r.book, BASE, NULL);
	apply(&r, &ev);
	read_on(&readings, &r.book, T(50), &first);
	ev = call(2, L, T(40), T(70));
	apply(&r, &ev);
	read_on(&readings, &r.book, T(100), &second);
	assert_int_equal(first.ns[CLASS_OTHER], 40);
	assert_int_equal(second.ns[CLASS_LAUNCH], 30);
	assert_int_equal(second.ns[CLASS_OTHER], 20);
	assert_int_equal(readings.late_ns, 0);
	assert_int_equal(r.book.counts.skew, 0);
}

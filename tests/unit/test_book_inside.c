// SPDX-License-Identifier: BSD-3-Clause
/*
 * The thread book with a call that began before the session: the worked examples of its header,
 * the intervals, and what comes too late. (That it obeys the law is in test_book.c.)
 */
#include <string.h>

#include "ledger/thread_book.h"
#include "lib/book_spec.h"
#include "lib/test.h"

enum { L, S };

static const struct funcs funcs = {
	.n = 2,
	.v = { [L] = { "launch", "t", CLASS_LAUNCH, 0 }, [S] = { "sync", "t", CLASS_SYNC, 1 } },
};

#define BASE 1000
#define T(ns) (BASE + (ns))

static struct event inside(uint64_t end, bool watched)
{
	return (struct event){ .kind = EVENT_INSIDE, .func = S, .start_ns = T(0), .end_ns = end,
			       .has = watched ? HAS_END : 0 };
}

static struct event left(uint32_t seq, uint64_t end)
{
	return (struct event){ .kind = EVENT_LEFT, .seq = seq, .func = S, .start_ns = T(0),
			       .end_ns = end, .has = HAS_END };
}

static struct event gone(uint64_t end)
{
	return (struct event){ .kind = EVENT_GONE, .func = S, .start_ns = T(0), .end_ns = end };
}

static struct event launch(uint32_t seq, uint64_t start, uint64_t end)
{
	return (struct event){ .kind = EVENT_CALL, .seq = seq, .func = L, .start_ns = start,
			       .end_ns = end };
}

static struct event at(uint8_t kind, uint32_t seq, uint64_t end)
{
	return (struct event){ .kind = kind, .seq = seq, .end_ns = end };
}

static void push(struct book *b, struct event ev)
{
	if (ev.kind == EVENT_STOP)
		book_stop(b, ev.end_ns);
	else
		book_push(b, &ev, &funcs.v[ev.func]);
}

struct example {
	const char *what;
	struct event ev[3];
	uint64_t sync, unknown, launch, lost, other;
};

static void check(const struct example *e)
{
	struct spec_input in = { e->ev, 0, &funcs, BASE, T(100) };
	static struct spec_book spec;
	struct book_sum sum, expected;
	struct book b;

	print_message("  %s\n", e->what);
	book_init(&b, BASE, NULL);
	while (in.n < 3 && e->ev[in.n].kind)
		push(&b, e->ev[in.n++]);
	book_read(&b, T(100), &sum);
	spec_book(&in, &spec);
	spec_sum(&spec, 0, UINT64_MAX, &expected);
	/* What such a call was blocked for is not known. */
	expected.unseen = e->ev[0].kind == EVENT_INSIDE ? 1u << CLASS_SYNC : 0;
	memcpy(expected.calls, sum.calls, sizeof(sum.calls));	/* no time, and of no law */
	assert_memory_equal(&sum, &expected, sizeof(sum));
	assert_int_equal(sum.ns[CLASS_SYNC], e->sync);
	assert_int_equal(sum.ns[BUCKET_UNKNOWN], e->unknown);
	assert_int_equal(sum.ns[CLASS_LAUNCH], e->launch);
	assert_int_equal(sum.ns[BUCKET_LOST], e->lost);
	assert_int_equal(sum.ns[CLASS_OTHER], e->other);
	assert_int_equal(b.counts.abandoned, 0);
}

TEST(test_examples)
{
	const struct example examples[] = {
		{ "what is not watched may be over", { inside(T(20), false) },
		  .sync = 20, .unknown = 80 },
		{ "it is looked at again", { inside(T(20), false), inside(T(60), false) },
		  .sync = 60, .unknown = 40 },
		{ "it ended unseen before the next call", { inside(T(20), false),
							    launch(1, T(60), T(65)) },
		  .sync = 20, .unknown = 40, .launch = 5, .other = 35 },
		{ "it was gone at the next look", { inside(T(20), false), gone(T(50)) },
		  .sync = 20, .unknown = 30, .other = 50 },
		{ "watched: until the close", { inside(T(20), true) }, .sync = 100 },
		{ "watched: until its return", { inside(T(20), true), left(1, T(50)) },
		  .sync = 50, .other = 50 },
		{ "watched after a second look", { inside(T(0), false), inside(T(30), true),
						   left(1, T(50)) }, .sync = 50, .other = 50 },
		{ "killed inside", { inside(T(20), true), at(EVENT_EXIT, 1, T(70)) }, .sync = 70 },
		{ "ended unseen, then killed", { inside(T(20), false), at(EVENT_EXIT, 1, T(70)) },
		  .sync = 20, .unknown = 50 },
		{ "its return was lost", { inside(T(20), true), launch(2, T(60), T(70)) },
		  .sync = 20, .lost = 40, .launch = 10, .other = 30 },
		{ "a return whose beginning never came", { left(1, T(40)) },
		  .sync = 40, .other = 60 },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		check(&examples[i]);
}

TEST(test_late_news_change_nothing)
{
	struct book_sum sum;
	struct book b;

	book_init(&b, BASE, NULL);
	push(&b, launch(1, T(10), T(20)));
	push(&b, inside(T(50), true));		/* it has made a call since */
	push(&b, gone(T(60)));
	book_read(&b, T(100), &sum);
	assert_int_equal(sum.ns[CLASS_LAUNCH], 10);
	assert_int_equal(sum.ns[CLASS_OTHER], 90);
	assert_int_equal(b.counts.late, 2);
	assert_int_equal(b.counts.late_ns, 0);
}

TEST(test_intervals)
{
	struct book_sum first, second;
	struct book b;

	book_init(&b, BASE, NULL);
	push(&b, inside(T(10), false));
	book_read(&b, T(40), &first);		/* 30 of it unknown then */
	push(&b, inside(T(60), true));		/* known now: 30 were late news */
	push(&b, left(1, T(70)));
	book_read(&b, T(100), &second);
	assert_int_equal(book_sum_subtract(&second, &first), 30);
	assert_int_equal(first.ns[CLASS_SYNC], 10);
	assert_int_equal(first.ns[BUCKET_UNKNOWN], 30);
	assert_int_equal(second.ns[CLASS_SYNC], 30);
	assert_int_equal(second.ns[CLASS_OTHER], 30);
}

TEST(test_open_call_is_distinct)
{
	struct book b;

	book_init(&b, BASE, NULL);
	push(&b, inside(T(10), true));
	assert_true(b.has_open && b.before);
	push(&b, (struct event){ .kind = EVENT_OPEN, .func = S, .start_ns = T(0),
				 .end_ns = T(90) });
	assert_true(b.has_open && b.before);
	push(&b, left(1, T(95)));
	assert_false(b.has_open || b.before);
}

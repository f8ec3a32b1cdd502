// SPDX-License-Identifier: BSD-3-Clause
/* The thread book of a thread that was off the CPU: the worked examples, and its intervals. (That it
 * obeys the law is in test_book_laws.c.) */
#include "book_room.h"
#include "lib/test.h"

#define RUNQUEUE (BUCKET_OFF_0 + OFF_RUNQUEUE)
#define LOCK (BUCKET_OFF_0 + OFF_LOCK)
#define SLEEP (BUCKET_OFF_0 + OFF_SLEEP)

static struct event off(uint32_t seq, uint8_t reason, uint64_t start, uint64_t end)
{
	return (struct event){ .kind = EVENT_OFF, .seq = seq, .off.reason = reason,
			       .start_ns = start, .end_ns = end, .has = HAS_END };
}

static struct event woken(struct event ev, uint64_t ns)
{
	ev.off.woken_ns = ns;
	return ev;
}

static struct event still(struct event ev)
{
	ev.has = 0;
	return ev;
}

static struct event blocked(struct event ev, uint64_t ns)
{
	*(ev.kind == EVENT_OFF ? &ev.off.blocked_ns : &ev.call.blocked_ns) = ns;
	return ev;
}

struct part {
	unsigned int bucket;
	uint64_t ns;
};

static void add_parts(const struct part *parts, struct book_sum *sum)
{
	for (int i = 0; i < 4; i++)
		sum->ns[parts[i].bucket] += parts[i].ns;
}

TEST(the_examples_hold)
{
	const struct {
		const char *what;
		struct event ev[3];
		struct part parts[4];
		uint64_t blocked_ns;
	} examples[] = {
		{ "woken, then waiting for a CPU",
		  { woken(off(1, OFF_LOCK, T(10), T(40)), 5), call(2, L, T(50), T(55)) },
		  { { LOCK, 25 }, { RUNQUEUE, 5 }, { CLASS_LAUNCH, 5 }, { CLASS_OTHER, 65 } }, 0 },
		{ "still asleep",
		  { call(1, L, T(0), T(5)), still(off(1, OFF_SLEEP, T(20), T(60))) },
		  { { CLASS_LAUNCH, 5 }, { CLASS_OTHER, 15 }, { SLEEP, 80 } }, 0 },
		{ "one lost",
		  { call(1, L, T(0), T(5)), off(3, OFF_LOCK, T(40), T(50)) },
		  { { CLASS_LAUNCH, 5 }, { BUCKET_LOST, 35 }, { LOCK, 10 }, { CLASS_OTHER, 50 } },
		  0 },
		{ "when it was back the kernel did not tell",
		  { call(1, L, T(0), T(5)), off(2, OFF_NO_END, T(40), T(50)) },
		  { { CLASS_LAUNCH, 5 }, { BUCKET_LOST, 10 }, { CLASS_OTHER, 85 } }, 0 },
		{ "blocked in a call",
		  { begun(EVENT_ENTER, 1, S, T(30)), blocked(call(2, S, T(30), T(90)), 50) },
		  { { CLASS_SYNC, 60 }, { CLASS_OTHER, 40 } }, 50 },
		{ "blocked so far",
		  { begun(EVENT_ENTER, 1, S, T(30)),
		    still(blocked(off(1, OFF_CALL, T(30), T(60)), 25)) },
		  { { CLASS_SYNC, 70 }, { CLASS_OTHER, 30 } }, 25 },
		{ "never more than the call has",
		  { blocked(call(1, S, T(30), T(40)), 50) },
		  { { CLASS_SYNC, 10 }, { CLASS_OTHER, 90 } }, 10 },
		{ "a reading that is ahead of its thread's records",
		  { call(1, L, T(0), T(5)), still(off(4, OFF_SLEEP, T(20), T(60))) },
		  { { CLASS_LAUNCH, 5 }, { CLASS_OTHER, 95 } }, 0 },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct book_sum sum, want = { 0 };
		size_t n = 0;

		while (n < 3 && examples[i].ev[n].kind)
			n++;
		print_message("  %s\n", examples[i].what);
		book_of(examples[i].ev, n, &sum);
		add_parts(examples[i].parts, &want);
		assert_memory_equal(sum.ns, want.ns, sizeof(want.ns));
		assert_int_equal(sum.blocked_ns[CLASS_SYNC], examples[i].blocked_ns);
	}
}

struct two {			/* intervals of a run, or more */
	struct run run;
	struct readings readings;
};

/* Applies an event and a reading, and ends an interval at ns. */
static void begin_with(struct two *r, const struct event *first, const struct event *reading,
		       uint64_t ns, struct book_sum *sum)
{
	*r = (struct two){ 0 };
	book_init(&r->run.book, BASE, NULL);
	apply(&r->run, first);
	apply(&r->run, reading);
	read_on(&r->readings, &r->run.book, ns, sum);
}

static void end_with(struct two *r, const struct event *last, struct book_sum *sum)
{
	apply(&r->run, last);
	read_on(&r->readings, &r->run.book, T(100), sum);
}

/* A thread that sleeps through the ends of two intervals, at which the session reads that it does. */
TEST(a_sleep_is_in_each_interval)
{
	const struct event first = call(1, L, T(0), T(5)), last = off(2, OFF_SLEEP, T(20), T(70));
	const struct event reading = still(off(1, OFF_SLEEP, T(20), T(40)));
	struct book_sum sum;
	struct two r;

	begin_with(&r, &first, &reading, T(40), &sum);
	assert_int_equal(sum.ns[SLEEP], 20);
	read_on(&r.readings, &r.run.book, T(60), &sum);
	assert_int_equal(sum.ns[SLEEP], 20);
	end_with(&r, &last, &sum);
	assert_int_equal(sum.ns[SLEEP], 10);
	assert_int_equal(sum.ns[CLASS_OTHER], 30);
	assert_int_equal(r.readings.late_ns, 0);
	assert_int_equal(r.run.book.counts.skew + r.run.book.counts.abandoned, 0);
}

/* Its record says less than what was read of it: what a cut booked after that was wrong. */
TEST(an_end_before_the_read_position_is_late)
{
	const struct event first = call(1, L, T(0), T(5)), last = off(2, OFF_SLEEP, T(20), T(30));
	const struct event reading = still(off(1, OFF_SLEEP, T(20), T(40)));
	struct book_sum sum;
	struct two r;

	begin_with(&r, &first, &reading, T(60), &sum);
	assert_int_equal(sum.ns[SLEEP], 40);
	end_with(&r, &last, &sum);
	assert_int_equal(sum.ns[CLASS_OTHER], 40);
	assert_int_equal(r.readings.late_ns, 20);
}

/* Late time in a call of [30, 90): an interval has no more of it than of the call. */
TEST(a_call_has_the_time_of_its_late_wait)
{
	static const struct { uint64_t blocked, late, after, cut, want; } examples[] = {
		{ 50, 20, 5, 0, 20 }, { 50, 20, 5, 70, 20 }, { 50, 20, 5, 88, 2 },
		{ 10, 20, 5, 0, 10 }, { 0, 20, 5, 0, 0 }, { 60, 100, 5, 0, 55 },
		{ 50, UINT32_MAX, UINT32_MAX, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct event enter = begun(EVENT_ENTER, 1, S, T(30));
		struct event leave = blocked(call(2, S, T(30), T(90)), examples[i].blocked);
		struct readings readings = { 0 };
		struct book_sum sum;
		struct book b;

		leave.call.late_ns = (uint32_t)examples[i].late;
		leave.call.after_late_ns = (uint32_t)examples[i].after;
		book_init(&b, T(0), NULL);
		book_push(&b, &enter, &funcs.v[S]);
		if (examples[i].cut)
			read_on(&readings, &b, T(examples[i].cut), &sum);
		book_push(&b, &leave, &funcs.v[S]);
		read_on(&readings, &b, T(100), &sum);
		assert_int_equal(sum.late_ns[CLASS_SYNC], examples[i].want);
	}
}

TEST(a_calls_blocked_time_is_in_both_intervals)
{
	const struct event enter = begun(EVENT_ENTER, 1, S, T(10));
	const struct event reading = still(blocked(off(1, OFF_CALL, T(10), T(50)), 30));
	const struct event leave = blocked(call(2, S, T(10), T(80)), 55);
	struct book_sum sum;
	struct two r;

	begin_with(&r, &enter, &reading, T(50), &sum);
	assert_int_equal(sum.blocked_ns[CLASS_SYNC], 30);
	end_with(&r, &leave, &sum);
	assert_int_equal(sum.ns[CLASS_SYNC], 30);
	assert_int_equal(sum.blocked_ns[CLASS_SYNC], 25);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The thread book: the worked examples of its header, and the law that every nanosecond has one
 * bucket, on random and hostile streams, against the specification. TEST_SEED repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/time.h"
#include "ledger/book.h"
#include "lib/book_spec.h"

enum { L, S, K, O, BAD };	/* functions: launch, sync (two), copy (two), class other, bad class */

static const struct funcs funcs = {
	.n = 5,
	.v = {
		[L] = { "launch", "t", CLASS_LAUNCH, 0 },
		[S] = { "sync", "t", CLASS_SYNC, 1 },
		[K] = { "copy", "t", CLASS_COPY, 1 },
		[O] = { "other", "t", CLASS_OTHER, 0 },
		[BAD] = { "bad", "t", CLASS_END, 0 },
	},
};

static struct event call(uint32_t seq, uint16_t func, uint64_t start, uint64_t end)
{
	return (struct event){ .kind = EVENT_CALL, .seq = seq, .func = func, .start_ns = start,
			       .end_ns = end };
}

static struct event begun(uint8_t kind, uint32_t seq, uint16_t func, uint64_t start)
{
	return (struct event){ .kind = kind, .seq = seq, .func = func, .start_ns = start };
}

static struct event at(uint8_t kind, uint32_t seq, uint64_t start, uint64_t end)
{
	return (struct event){ .kind = kind, .seq = seq, .start_ns = start, .end_ns = end };
}

static struct event cut(uint64_t ns)
{
	return at(0, 0, 0, ns);
}

struct run {
	struct book book;
	struct spans unarmed;
};

static void apply(struct run *r, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_THREAD:
		book_birth(&r->book, ev->start_ns);
		break;
	case EVENT_STOP:
		book_stop(&r->book, ev->end_ns);
		break;
	case EVENT_UNARMED:
		if (!spans_add(&r->unarmed, ev->start_ns, ev->end_ns))
			book_unarmed(&r->book, ev->start_ns, ev->end_ns);
		break;
	default:
		book_push(&r->book, ev, ev->func < funcs.n ? &funcs.v[ev->func] : NULL);
	}
}

static void assert_balanced(const struct book_sum *sum)
{
	uint64_t total = 0;

	for (int i = 0; i < BUCKET_END; i++)
		total += sum->ns[i];
	assert_true(sum->open_ns <= sum->close_ns);
	assert_int_equal(total, sum->close_ns - sum->open_ns);
}

static void trace(const struct event *events, size_t n)
{
	for (size_t i = 0; getenv("TEST_TRACE") && i < n; i++)
		print_message("  %s #%u f%u %llu %llu\n", event_kind_name(events[i].kind),
			      events[i].seq, events[i].func, (unsigned long long)events[i].start_ns,
			      (unsigned long long)events[i].end_ns);
}

static void assert_same(const struct book_sum *a, const struct book_sum *b)
{
	assert_int_equal(a->open_ns, b->open_ns);
	assert_int_equal(a->close_ns, b->close_ns);
	for (int i = 0; i < BUCKET_END; i++)
		assert_int_equal(a->ns[i], b->ns[i]);
}

/* Runs both books over the events, in a session [1000, 1000 + 100) whose end is `now`. */
#define BASE 1000
#define NOW (BASE + 100)

static struct book_counts book_of(const struct event *events, size_t n, struct book_sum *sum)
{
	struct spec_input in = { events, n, &funcs, BASE, NOW };
	static struct spec_book spec;
	struct book_sum expected;
	struct run r = { 0 };

	trace(events, n);
	book_init(&r.book, BASE, &r.unarmed);
	for (size_t i = 0; i < n; i++)
		apply(&r, &events[i]);
	book_read(&r.book, NOW, sum);
	spec_book(&in, &spec);
	spec_sum(&spec, 0, UINT64_MAX, &expected);
	assert_balanced(sum);
	assert_balanced(&expected);
	assert_same(sum, &expected);
	assert_memory_equal(&r.book.counts, &spec.counts, sizeof(spec.counts));
	spans_free(&r.unarmed);
	return spec.counts;
}

/* The examples of book.h; times there begin at 0. */
struct example {
	const char *what;
	struct event ev[3];
	uint64_t launch, sync, lost, unarmed, other;
};

#define T(ns) (BASE + (ns))

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

static void test_examples(void **state)
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

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		example_check(&examples[i]);
}

static void test_counts(void **state)
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

	(void)state;
	c = book_of(ev, sizeof(ev) / sizeof(ev[0]), &sum);
	assert_int_equal(c.invalid, 2);
	assert_int_equal(c.skew, 1);
	assert_int_equal(c.abandoned, 1);
	assert_int_equal(c.lost, 3);
	assert_int_equal(sum.ns[CLASS_LAUNCH], 10 + 10 + 5 + 5);
	/* 30-60: an unusable record; 60-70: abandoned; 75-80: the hole */
	assert_int_equal(sum.ns[BUCKET_LOST], 30 + 10 + 5);
}

static void test_numbers_wrap(void **state)
{
	struct run r = { 0 };
	struct event ev = call(UINT32_MAX, L, T(10), T(20));

	(void)state;
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

static void test_stop_divides(void **state)
{
	const struct event ev[] = { call(1, L, T(10), T(20)), at(EVENT_STOP, 0, 0, T(50)),
				    call(2, S, T(40), T(70)), call(3, L, T(80), T(90)) };
	struct book_sum sum;

	(void)state;
	book_of(ev, 4, &sum);
	assert_int_equal(sum.close_ns, T(50));
	assert_int_equal(sum.ns[CLASS_SYNC], 10);
	assert_int_equal(sum.ns[CLASS_LAUNCH], 10);
}

/* ---- intervals ---------------------------------------------------------------------------- */

static void test_cut_divides_an_open_call(void **state)
{
	struct run r = { 0 };
	struct event ev = begun(EVENT_ENTER, 1, S, T(30));
	struct book_sum first, second;

	(void)state;
	book_init(&r.book, BASE, NULL);
	apply(&r, &ev);
	book_cut(&r.book, T(50), &first);
	ev = call(2, S, T(30), T(70));
	apply(&r, &ev);
	book_read(&r.book, T(100), &second);
	assert_balanced(&first);
	assert_balanced(&second);
	assert_int_equal(first.ns[CLASS_SYNC], 20);
	assert_int_equal(second.ns[CLASS_SYNC], 20);
	assert_int_equal(second.ns[CLASS_OTHER], 30);
	assert_int_equal(r.book.counts.late_ns, 0);
}

static void test_cut_in_an_unknown_call_is_late(void **state)
{
	struct run r = { 0 };
	struct event ev = call(1, L, T(0), T(10));
	struct book_sum first, second;

	(void)state;
	book_init(&r.book, BASE, NULL);
	apply(&r, &ev);
	book_cut(&r.book, T(50), &first);
	ev = call(2, L, T(40), T(70));
	apply(&r, &ev);
	book_read(&r.book, T(100), &second);
	assert_int_equal(first.ns[CLASS_OTHER], 40);
	assert_int_equal(second.ns[CLASS_LAUNCH], 20);
	assert_int_equal(second.close_ns - second.open_ns, 50);
	assert_int_equal(r.book.counts.late_ns, 10);
	assert_int_equal(r.book.counts.skew, 0);
}

/* ---- the law ------------------------------------------------------------------------------- */

static uint64_t seed;

static uint64_t draw(uint64_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (seed * 0x2545f4914f6cdd1dull >> 32) % n;
}

static uint64_t draw_time(uint64_t now)
{
	switch (draw(24)) {
	case 0:
		return UINT64_MAX - draw(3);
	case 1:
		return draw(BASE + 20);
	default:
		return now + draw(60) - 20;
	}
}

/* Anything, but near enough to sense that every rule is reached. */
static size_t draw_hostile(struct event *ev, size_t max, bool cuts)
{
	static const uint8_t kinds[] = {
		EVENT_CALL, EVENT_CALL, EVENT_CALL, EVENT_ENTER, EVENT_ENTER, EVENT_OPEN,
		EVENT_TAIL, EVENT_UNARMED, EVENT_THREAD, EVENT_STOP, EVENT_EXIT, 0,
		EVENT_INSIDE, EVENT_LEFT, EVENT_GONE,
	};
	uint64_t now = BASE + draw(40);
	size_t n = 1 + draw(max - 1);
	uint32_t seq = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t kind = kinds[draw(sizeof(kinds))];

		if ((!kind && !cuts) || ((kind == EVENT_STOP || kind == EVENT_EXIT) && draw(4)))
			kind = EVENT_CALL;
		if (!i && !draw(3))
			kind = EVENT_INSIDE;
		seq += draw(5) ? 1 : (uint32_t)draw(4);
		if (!draw(40))
			seq -= (uint32_t)draw(3);
		ev[i] = (struct event){ .kind = kind, .seq = seq, .func = (uint16_t)draw(3),
					.has = draw(2) ? HAS_END : 0,
					.start_ns = draw_time(now), .end_ns = draw_time(now) };
		if (kind >= EVENT_CALL && kind <= EVENT_OPEN && !draw(15))
			ev[i].func = (uint16_t)draw(7);
		/* Often the end of what the record before began. */
		if (i && draw(2) && (kind == EVENT_CALL || kind >= EVENT_OPEN)) {
			ev[i].func = ev[i - 1].func;
			ev[i].start_ns = ev[i - 1].start_ns;
		}
		if ((kind == EVENT_CALL || kind >= EVENT_INSIDE) && draw(12))
			ev[i].end_ns = ev[i].start_ns + draw(20);
		if (kind == EVENT_CALL && ev[i].end_ns < UINT64_MAX / 2 && draw(8))
			now = now > ev[i].end_ns ? now : ev[i].end_ns;
		if (kind == EVENT_TAIL)
			seq = draw(3) ? seq : seq + 1;
	}
	return n;
}

static void test_law_hostile(void **state)
{
	static struct event ev[SPEC_EVENTS_MAX];

	(void)state;
	for (int round = 0; round < 60000; round++) {
		uint64_t was = seed;
		size_t n = draw_hostile(ev, round % 20 ? 12 : 60, false);
		struct book_sum sum;

		if (getenv("TEST_TRACE"))
			print_message("round %d TEST_SEED=%llu\n", round, (unsigned long long)was);
		book_of(ev, n, &sum);
	}
}

/* A thread that makes calls as BPF reports them, of which some are lost. */
static size_t draw_true(struct event *ev, size_t max, uint64_t *booked)
{
	uint64_t now = BASE;
	size_t n = 0;
	uint32_t seq = 0;

	*booked = 0;
	while (n + 3 < max) {
		uint16_t func = (uint16_t)draw(3);
		uint64_t start = now + draw(5), end = start + draw(9);

		if (funcs.v[func].two && (seq++, draw(10)))
			ev[n++] = begun(EVENT_ENTER, seq, func, start);
		seq++;
		if (draw(10)) {
			ev[n++] = call(seq, func, start, end);
			*booked += end - start;
		}
		now = end;
	}
	ev[n++] = at(EVENT_STOP, 0, 0, now + draw(5));
	ev[n++] = at(EVENT_TAIL, seq, 0, 0);
	return n;
}

static void test_law_true_streams(void **state)
{
	static struct event ev[SPEC_EVENTS_MAX];

	(void)state;
	for (int round = 0; round < 2000; round++) {
		uint64_t calls, in_calls = 0;
		size_t n = draw_true(ev, 40, &calls);
		struct book_sum sum;
		struct book_counts c = book_of(ev, n, &sum);

		for (int i = CLASS_LAUNCH; i < CLASS_END; i++)
			in_calls += sum.ns[i];
		assert_int_equal(in_calls, calls);
		assert_int_equal(c.invalid + c.skew, 0);
	}
}

/* Each interval is the part after the last cut of what was known at its own; together, the whole. */
static void check_cuts(struct event *ev, size_t n)
{
	static struct spec_book spec, now_known;
	struct spec_input in = { ev, 0, &funcs, BASE, 0 };
	struct book_sum sum, expected;
	uint64_t from = 0, wrong = 0, open = 0, latest = BASE;
	static uint8_t booked[400], is_booked[400];
	struct run r = { 0 };

	trace(ev, n);
	memset(is_booked, 0, sizeof(is_booked));
	book_init(&r.book, BASE, &r.unarmed);
	for (size_t i = 0; i <= n; i++) {
		bool end = i == n;

		if (!end && ev[i].kind) {
			apply(&r, &ev[i]);
			continue;
		}
		in.n = i;
		in.now = latest += draw(40);
		spec_book(&in, &spec);
		spec_sum(&spec, from, UINT64_MAX, &expected);
		if (end)
			book_read(&r.book, in.now, &sum);
		else
			book_cut(&r.book, in.now, &sum);
		assert_balanced(&sum);
		assert_same(&sum, &expected);
		if (!from)
			open = sum.open_ns;
		else
			assert_int_equal(sum.open_ns, from);
		for (size_t s = 0; s < spec.n; s++)
			for (uint64_t t = spec.segment[s].start;
			     t < spec.segment[s].end && t < BASE + 400; t++)
				if (t >= from && t >= BASE) {
					booked[t - BASE] = (uint8_t)spec.segment[s].bucket;
					is_booked[t - BASE] = !end;
				}
		from = sum.close_ns;
		if (!end)
			ev[i] = cut(from);
	}
	in.n = n;
	spec_book(&in, &now_known);
	for (size_t s = 0; s < now_known.n; s++)
		for (uint64_t t = now_known.segment[s].start;
		     t < now_known.segment[s].end && t < BASE + 400; t++)
			wrong += is_booked[t - BASE] &&
				 booked[t - BASE] != now_known.segment[s].bucket;
	assert_true(r.book.counts.late_ns >= wrong);
	assert_true(open >= BASE);
	spans_free(&r.unarmed);
}

static void test_law_intervals(void **state)
{
	static struct event ev[SPEC_EVENTS_MAX];

	(void)state;
	for (int round = 0; round < 60000; round++) {
		uint64_t was = seed;
		size_t n = draw_hostile(ev, round % 20 ? 14 : 60, true);

		if (getenv("TEST_TRACE"))
			print_message("round %d TEST_SEED=%llu\n", round, (unsigned long long)was);
		check_cuts(ev, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_numbers_wrap),
		cmocka_unit_test(test_stop_divides),
		cmocka_unit_test(test_cut_divides_an_open_call),
		cmocka_unit_test(test_cut_in_an_unknown_call_is_late),
		cmocka_unit_test(test_law_true_streams),
		cmocka_unit_test(test_law_hostile),
		cmocka_unit_test(test_law_intervals),
	};
	const char *given = getenv("TEST_SEED");

	seed = given ? strtoull(given, NULL, 0) : time_now_ns() | 1;
	print_message("TEST_SEED=%llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The law of the thread book: every nanosecond has one bucket, on random and hostile streams, as the
 * specification says. TEST_SEED repeats a run, TEST_TRACE shows its events.
 */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "book_room.h"
#include "lib/random.h"
#include "lib/test.h"

/* ---- the law ------------------------------------------------------------------------------- */

static uint64_t draw_time(uint64_t now)
{
	switch (below(24)) {
	case 0:
		return UINT64_MAX - below(3);
	case 1:
		return below(BASE + 20);
	default:
		return now + below(60) - 20;
	}
}

/* A reading takes no number. */
static void draw_off(struct event *ev, uint32_t *seq)
{
	ev->off.reason = (uint8_t)(below(20) ? below(OFF_REASON_END) : OFF_REASON_END + below(3));
	ev->off.woken_ns = below(3) ? 0 : below(12);
	if (!below(8))
		ev->off.reason = OFF_NO_END;
	if (ev->has & HAS_END)
		return;
	*seq -= below(8) != 0;
	ev->seq = *seq;
	if (!below(2))
		ev->off.reason = OFF_CALL;
}

/* Anything, but near enough to sense that every rule is reached. */
static size_t draw_hostile(struct event *ev, size_t max, bool readings)
{
	static const uint8_t kinds[] = {
		EVENT_CALL, EVENT_CALL, EVENT_CALL, EVENT_ENTER, EVENT_ENTER, EVENT_OPEN,
		EVENT_TAIL, EVENT_UNARMED, EVENT_THREAD, EVENT_STOP, EVENT_EXIT, 0,
		EVENT_INSIDE, EVENT_LEFT, EVENT_GONE, EVENT_OFF, EVENT_OFF, EVENT_OFF,
	};
	uint64_t now = BASE + below(40);
	size_t n = 1 + below(max - 1);
	uint32_t seq = 0;

	for (size_t i = 0; i < n; i++) {
		uint8_t kind = kinds[below(sizeof(kinds))];

		if ((!kind && !readings) || ((kind == EVENT_STOP || kind == EVENT_EXIT) && below(4)))
			kind = EVENT_CALL;
		if (!i && !below(3))
			kind = EVENT_INSIDE;
		if (i && !below(8))
			kind = EVENT_OFF;
		seq += below(5) ? 1 : (uint32_t)below(4);
		if (!below(40))
			seq -= (uint32_t)below(3);
		ev[i] = (struct event){ .kind = kind, .seq = seq, .func = (uint16_t)below(3),
					.has = below(2) ? HAS_END : 0,
					.start_ns = draw_time(now), .end_ns = draw_time(now),
					.call.blocked_ns = below(3) ? 0 : below(40),
					.call.late_why = below(4) ? OFF_RUNQUEUE : OFF_STOPPED,
					.call.late_ns = (uint32_t)below(20),
					.call.after_late_ns = (uint32_t)below(5) };
		if (kind == EVENT_OFF)
			draw_off(&ev[i], &seq);
		if (kind >= EVENT_CALL && kind <= EVENT_OPEN && !below(15))
			ev[i].func = (uint16_t)below(7);
		/* Often the end of what the record before began. */
		if (i && below(2) && (kind == EVENT_CALL || kind >= EVENT_OPEN)) {
			ev[i].func = ev[i - 1].func;
			ev[i].start_ns = ev[i - 1].start_ns;
		}
		if ((kind == EVENT_CALL || (kind >= EVENT_INSIDE && kind <= EVENT_GONE) ||
		     kind == EVENT_OFF) && below(12))
			ev[i].end_ns = ev[i].start_ns + below(20);
		if (kind == EVENT_CALL && ev[i].end_ns < UINT64_MAX / 2 && below(8))
			now = now > ev[i].end_ns ? now : ev[i].end_ns;
		if (kind == EVENT_TAIL)
			seq = below(3) ? seq : seq + 1;
	}
	return n;
}

TEST(test_law_hostile)
{
	static struct event ev[SPEC_EVENTS_MAX];

	for (int round = 0; round < random_rounds(60000); round++) {
		uint64_t was = random_state;
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
		uint16_t func = (uint16_t)below(3);
		uint64_t start = now + below(5), end = start + below(9);

		if (funcs.v[func].two && (seq++, below(10)))
			ev[n++] = begun(EVENT_ENTER, seq, func, start);
		seq++;
		if (below(10)) {
			ev[n++] = call(seq, func, start, end);
			*booked += end - start;
		}
		now = end;
	}
	ev[n++] = at(EVENT_STOP, 0, 0, now + below(5));
	ev[n++] = at(EVENT_TAIL, seq, 0, 0);
	return n;
}

TEST(test_law_true_streams)
{
	static struct event ev[SPEC_EVENTS_MAX];

	for (int round = 0; round < random_rounds(2000); round++) {
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

/* A reading is the whole of what was known then; what came since the one before adds up to the whole,
 * but for time that the earlier ones had in another bucket. */
static void check_readings(const struct event *ev, size_t n)
{
	static struct spec_book spec;
	struct spec_input in = { ev, 0, &funcs, BASE, 0 };
	struct book_sum sum, all = { 0 }, whole;
	struct readings readings = { 0 };
	struct run r = { 0 };
	uint64_t latest = BASE, moved = 0;

	trace(ev, n);
	book_init(&r.book, BASE, &r.unarmed);
	for (size_t i = 0; i <= n; i++) {
		if (i < n && ev[i].kind) {
			apply(&r, &ev[i]);
			continue;
		}
		in.n = i;
		in.now = latest += below(40);
		spec_book(&in, &spec);
		spec_sum(&spec, 0, UINT64_MAX, &whole);
		read_on(&readings, &r.book, in.now, &sum);
		assert_same(&readings.last, &whole);
		book_sum_add(&all, &sum);
	}
	for (int i = 0; i < BUCKET_END; i++)
		moved += num_sub(all.ns[i], whole.ns[i]) + num_sub(whole.ns[i], all.ns[i]);
	assert_true(moved / 2 <= readings.late_ns);
	intervals_free(&r.unarmed);
}

TEST(test_law_readings)
{
	static struct event ev[SPEC_EVENTS_MAX];

	for (int round = 0; round < random_rounds(60000); round++) {
		uint64_t was = random_state;
		size_t n = draw_hostile(ev, round % 20 ? 14 : 60, true);

		if (getenv("TEST_TRACE"))
			print_message("round %d TEST_SEED=%llu\n", round, (unsigned long long)was);
		check_readings(ev, n);
	}
}

TEST_GROUP(random_seed, NULL);

// SPDX-License-Identifier: BSD-3-Clause
/*
 * A thread's time off the CPU as procfs's accounts give it: the examples of the header, and that whatever the
 * accounts are, no more of a kind is placed than was counted, once and in its time, and gaps still add up.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/time.h"
#include "ledger/sampled.h"
#include "lib/random.h"
#include "lib/test.h"

#define MS 1000000ull
#define BASE (1000 * MS)	/* of all times here */
#define CALLS 4
#define PLACED 4

static struct timeline_room room = { .left = 1 << 20 };

struct part {
	uint64_t from, to;	/* ms */
	uint8_t bucket;
};

static void add_call(struct timeline *t, const struct part *call)
{
	timeline_add(t, &room, &(struct timeline_span){
		.start_ns = BASE + call->from * MS, .end_ns = BASE + call->to * MS, .bucket = call->bucket });
}

static struct event account(uint64_t from_ns, uint64_t to_ns, struct event_sched sched)
{
	return (struct event){ .kind = EVENT_SCHED, .start_ns = from_ns, .end_ns = to_ns, .sched = sched };
}

/* ---- the examples of the header ------------------------------------------------------------ */

#define L(from, to) { from, to, CLASS_LAUNCH }
#define S(from, to) { from, to, CLASS_SYNC }
#define OFF(from, to, reason) { from, to, BUCKET_OFF_0 + (reason) }

static const struct example {
	struct part calls[CALLS];
	struct event_sched sched;	/* ms */
	struct part placed[PLACED];
} examples[] = {
	{ .sched = { 0, 0, OFF_STOPPED, OFF_STOPPED }, .placed = { OFF(0, 100, OFF_STOPPED) } },
	{ .calls = { L(10, 11) }, .sched = { 20, 0, OFF_RUNQUEUE, OFF_STOPPED },
	  .placed = { OFF(20, 100, OFF_STOPPED) } },
	{ .calls = { L(30, 31) }, .sched = { 31, 0, OFF_RUNQUEUE, OFF_STOPPED },
	  .placed = { OFF(31, 100, OFF_STOPPED) } },
	{ .calls = { L(60, 61) }, .sched = { 40, 0, OFF_STOPPED, OFF_RUNQUEUE },
	  .placed = { OFF(0, 60, OFF_STOPPED) } },
	{ .calls = { L(10, 11), L(70, 71) }, .sched = { 50, 50, OFF_RUNQUEUE, OFF_RUNQUEUE },
	  .placed = { OFF(20, 70, OFF_RUNQUEUE) } },
	{ .calls = { S(10, 60) }, .sched = { 20, 0, OFF_RUNQUEUE, OFF_LOCK },
	  .placed = { OFF(0, 10, OFF_LOCK), OFF(60, 100, OFF_LOCK) } },
	{ .calls = { S(10, 100) }, .sched = { 30, 0, OFF_RUNQUEUE, OFF_LOCK } },
	/* a stop in a call, and what is left of the time after it */
	{ .calls = { S(10, 90) }, .sched = { 10, 0, OFF_STOPPED, OFF_STOPPED },
	  .placed = { OFF(0, 10, OFF_STOPPED), OFF(90, 100, OFF_STOPPED) } },
	/* woken, and then without a CPU */
	{ .calls = { L(90, 91) }, .sched = { 30, 20, OFF_RUNQUEUE, OFF_IO },
	  .placed = { OFF(20, 70, OFF_IO), OFF(70, 90, OFF_RUNQUEUE) } },
};

struct found {
	struct timeline_span v[256];
	size_t n;
};

static void keep(void *ctx, const struct timeline_span *span)
{
	struct found *f = ctx;

	f->v[f->n++ % 256] = *span;
}

TEST(the_examples_of_the_header)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *e = &examples[i];
		struct event_sched sched = e->sched;
		struct timeline t = { 0 };
		struct sampled s = { .end_ns = 0 };
		const struct idle_thread who = { .timeline = &t, .now_ns = BASE + 200 * MS };
		struct found found = { .n = 0 };
		struct event ev;

		sched.ran_ns *= MS;
		sched.delayed_ns *= MS;
		ev = account(BASE, BASE + 100 * MS, sched);
		for (size_t k = 0; k < CALLS && e->calls[k].to; k++)
			add_call(&t, &e->calls[k]);
		assert_true(sampled_add(&s, &room, &who, &ev));
		timeline_each(&s.spans, 0, UINT64_MAX, keep, &found);
		for (size_t k = 0; k < PLACED; k++) {
			const struct part *want = &e->placed[k];

			assert_int_equal(k < found.n, want->to > 0);
			if (!want->to)
				break;
			assert_int_equal(found.v[k].bucket, want->bucket);
			assert_in_range(found.v[k].start_ns, BASE + want->from * MS, BASE + want->from * MS + 2);
			assert_int_equal(found.v[k].end_ns, BASE + want->to * MS);
		}
		timeline_free(&t, &room);
		timeline_free(&s.spans, &room);
	}
}

/* The thread is in a call that has not returned: it sleeps there. */
TEST(time_asleep_in_an_open_call_is_not_placed)
{
	struct timeline t = { 0 };
	struct sampled s = { .end_ns = 0 };
	const struct idle_thread who = { .timeline = &t, .now_ns = BASE + 20 * MS, .now = CLASS_SYNC };
	const struct event ev =
		account(BASE, BASE + 100 * MS, (struct event_sched){ 20 * MS, 0, OFF_RUNQUEUE, OFF_LOCK });
	struct found found = { .n = 0 };

	assert_true(sampled_add(&s, &room, &who, &ev));
	timeline_each(&s.spans, 0, UINT64_MAX, keep, &found);
	assert_int_equal(found.n, 0);
	timeline_free(&s.spans, &room);
}

/* It runs for half of each account and sleeps for half of it, in a call at every second reading. */
TEST(time_asleep_is_divided_as_readings_found_it)
{
	struct timeline t = { 0 };
	struct sampled s = { .end_ns = 0 };
	const struct idle_thread who = { .timeline = &t, .now_ns = UINT64_MAX };
	uint64_t ns[BUCKET_END] = { 0 };

	for (uint64_t at = 0; at < 4000; at += 50) {
		const struct event ev = account(BASE + at * MS, BASE + (at + 50) * MS,
						(struct event_sched){ 25 * MS, 0, OFF_LOCK, OFF_LOCK });

		if (at % 100 == 0)
			add_call(&t, &(struct part)S(at + 25, at + 75));
		assert_true(sampled_add(&s, &room, &who, &ev));
	}
	timeline_sum(&s.spans, BASE, BASE + 4000 * MS, NULL, ns);
	assert_in_range(ns[BUCKET_OFF_0 + OFF_LOCK], 950 * MS, 1050 * MS);
	timeline_free(&t, &room);
	timeline_free(&s.spans, &room);
}

/* ---- laws ------------------------------------------------------------------------------------ */

#define SPANS 400

static void random_calls(struct timeline *t)
{
	uint64_t at = BASE;

	for (size_t n = below(SPANS); n; n--) {
		at += below(3) ? below(200000) : below(20 * MS);
		timeline_add(t, &room, &(struct timeline_span){
			.start_ns = at, .end_ns = at + 1 + below(below(4) ? 50000 : 10 * MS),
			.bucket = (uint8_t)(1 + below(BUCKET_END - 1)) });
		at += 10 * MS;
	}
}

static struct event random_account(uint64_t from)
{
	const uint64_t wall = 1 + below(300 * MS), ran = below(wall + 1);

	return account(from, from + wall, (struct event_sched){
		ran, below(wall - ran + 1), (uint8_t)below(OFF_REASON_END), (uint8_t)below(OFF_REASON_END) });
}

static void hold_gap(const struct idle_thread *who)
{
	struct device_work by = { .has_launch = true, .launch_start_ns = BASE + below(2000 * MS) };
	struct device_gap gap = { .start_ns = BASE + below(2000 * MS), .ended_by = &by };
	uint64_t ns[IDLE_CAUSES] = { 0 }, total = 0;

	by.launch_end_ns = by.launch_start_ns + below(MS);
	gap.end_ns = gap.start_ns + below(500 * MS);
	idle_divide(&gap, who, ns);
	for (unsigned int i = 0; i < IDLE_CAUSES; i++)
		total += ns[i];
	assert_int_equal(total, gap.end_ns - gap.start_ns);
}

TEST(no_more_is_placed_than_was_counted_and_gaps_add_up)
{
	for (int round = 0; round < random_rounds(2000); round++) {
		struct timeline t = { 0 };
		struct sampled s = { .end_ns = 0 };
		const struct idle_thread who = { .timeline = &t, .now_ns = BASE + below(4000 * MS),
						 .now = (uint8_t)below(BUCKET_UNKNOWN + 1),
						 .sampled = &s.spans };
		uint64_t at = BASE;

		random_calls(&t);
		for (int i = 0; i < 8; i++) {
			const struct event ev = random_account(at);
			const struct event_sched *sched = &ev.sched;
			uint64_t ns[BUCKET_END] = { 0 }, off = 0;

			assert_true(sampled_add(&s, &room, &who, &ev));
			timeline_sum(&s.spans, ev.start_ns, ev.end_ns, NULL, ns);
			for (unsigned int k = BUCKET_OFF_0; k < BUCKET_END; k++)
				off += ns[k];
			assert_true(ns[BUCKET_OFF_0 + OFF_RUNQUEUE] <= sched->delayed_ns);
			assert_true(off <= ev.end_ns - ev.start_ns - sched->ran_ns);
			assert_int_equal(off + ns[CLASS_OTHER], ev.end_ns - ev.start_ns);
			at = ev.end_ns + below(2) * below(MS);
		}
		for (int i = 0; i < 20; i++)
			hold_gap(&who);
		timeline_free(&t, &room);
		timeline_free(&s.spans, &room);
	}
}

TEST(an_account_that_contradicts_itself_is_refused)
{
	const struct event_sched slept = { 0, 0, OFF_LOCK, OFF_LOCK };
	const struct event wrong[] = {
		account(BASE + 9, BASE + 20, slept),	/* before the end of the one before */
		account(BASE + 20, BASE + 20, slept),
		account(BASE + 30, BASE + 20, slept),
		account(BASE + 20, BASE + 30, (struct event_sched){ 11, 0, OFF_LOCK, OFF_LOCK }),
		account(BASE + 20, BASE + 30, (struct event_sched){ 6, 5, OFF_LOCK, OFF_LOCK }),
		account(BASE + 20, BASE + 30, (struct event_sched){ UINT64_MAX, UINT64_MAX, OFF_LOCK, OFF_LOCK }),
		account(BASE + 20, BASE + 30, (struct event_sched){ 0, 0, OFF_REASON_END, OFF_LOCK }),
		account(BASE + 20, BASE + 30, (struct event_sched){ 0, 0, OFF_LOCK, OFF_CALL }),
	};
	const struct event first = account(BASE, BASE + 10, slept);
	struct timeline t = { 0 };
	const struct idle_thread who = { .timeline = &t, .now_ns = UINT64_MAX };
	struct sampled s = { .end_ns = 0 };

	assert_true(sampled_add(&s, &room, &who, &first));
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_false(sampled_add(&s, &room, &who, &wrong[i]));
	timeline_free(&s.spans, &room);
}

TEST_GROUP(random_seed, NULL);

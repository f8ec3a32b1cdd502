// SPDX-License-Identifier: BSD-3-Clause
/*
 * Timelines and causes of idleness: the worked examples of the headers, and on random gaps and
 * threads the same as the specification, every nanosecond once. TEST_SEED repeats a run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "lib/idle_spec.h"
#include "lib/random.h"
#include "lib/test.h"

static struct timeline_room room = { .left = 1 << 20 };

static void add(struct timeline *t, uint64_t start, uint64_t end, uint8_t bucket)
{
	timeline_add(t, &room, &(struct timeline_span){
		.start_ns = start, .end_ns = end, .bucket = bucket });
}

/* ---- the examples of the headers ------------------------------------------------------------ */

TEST(a_timeline_adds_up_its_spans)
{
	struct timeline_span found;
	struct timeline t = { 0 };
	uint64_t ns[BUCKET_END] = { 0 };

	add(&t, 10, 20, CLASS_SYNC);
	timeline_sum(&t, 0, 100, NULL, ns);
	assert_int_equal(ns[CLASS_OTHER], 90);
	assert_int_equal(ns[CLASS_SYNC], 10);
	add(&t, 20, 50, BUCKET_LOST);
	add(&t, 50, 60, CLASS_SYNC);
	memset(ns, 0, sizeof(ns));
	timeline_sum(&t, 0, 100, NULL, ns);
	assert_int_equal(ns[CLASS_OTHER], 50);
	assert_int_equal(ns[CLASS_SYNC], 20);
	assert_int_equal(ns[BUCKET_LOST], 30);
	assert_true(timeline_find(&t, 20, &found) && found.bucket == BUCKET_LOST);
	assert_false(timeline_find(&t, 60, &found));
	timeline_free(&t, &room);
}

TEST(a_call_that_was_late_is_divided)
{
	const struct timeline_span s = { .start_ns = 10, .end_ns = 60, .bucket = CLASS_SYNC,
					 .late_ns = 20, .after_late_ns = 5 };
	static const struct { uint64_t from, to, sync, late; } parts[] = {
		{ 0, 100, 30, 20 }, { 10, 35, 25, 0 }, { 35, 55, 0, 20 }, { 55, 60, 5, 0 },
		{ 40, 50, 0, 10 }, { 0, 40, 25, 5 }, { 50, 70, 5, 5 }, { 60, 100, 0, 0 },
	};
	struct timeline t = { 0 };

	timeline_add(&t, &room, &s);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		uint64_t ns[BUCKET_END] = { 0 };

		timeline_sum(&t, parts[i].from, parts[i].to, NULL, ns);
		assert_int_equal(ns[CLASS_SYNC], parts[i].sync);
		assert_int_equal(ns[BUCKET_OFF_0 + OFF_RUNQUEUE], parts[i].late);
		assert_int_equal(ns[CLASS_OTHER] + ns[CLASS_SYNC] + ns[BUCKET_OFF_0 + OFF_RUNQUEUE],
				 parts[i].to - parts[i].from);
	}
	timeline_free(&t, &room);
}

TEST(evicted_spans_are_unknown_and_their_space_is_reused)
{
	struct timeline_room small = { .left = 4 };
	struct timeline t = { 0 }, none = { 0 };
	uint64_t ns[BUCKET_END] = { 0 }, forgotten;

	for (uint64_t i = 0; i < 1000; i++)
		timeline_add(&t, &small, &(struct timeline_span){
			.start_ns = 10 + 20 * i, .end_ns = 20 + 20 * i, .bucket = CLASS_SYNC });
	timeline_add(&none, &small, &(struct timeline_span){
		.start_ns = 10, .end_ns = 20, .bucket = CLASS_SYNC });
	forgotten = t.forgotten_ns;
	assert_in_range(forgotten, 10000, 19000);
	assert_int_equal(forgotten % 20, 0);
	timeline_sum(&t, 0, 20000, NULL, ns);
	assert_int_equal(ns[BUCKET_UNKNOWN], forgotten);
	assert_int_equal(ns[CLASS_SYNC], (20000 - forgotten) / 2);
	assert_int_equal(ns[CLASS_OTHER], (20000 - forgotten) / 2);
	ns[BUCKET_UNKNOWN] = 0;
	timeline_sum(&none, 0, 100, NULL, ns);
	assert_int_equal(ns[BUCKET_UNKNOWN], 20);
	timeline_free(&t, &small);
	assert_int_equal(small.left, 4);
}

/* What spans are made of, at its largest and in any order: as it was put in. */
TEST(spans_come_back_as_they_were_put_in)
{
	static struct timeline_span spans[400];
	struct timeline t = { 0 };
	uint64_t at = 0;

	for (int i = 0; i < 400; i++) {
		const uint64_t length = 1 + (below(2) ? below(1000) : (uint64_t)below(1u << 30) << below(30));

		at += below(3) ? below(100) : (uint64_t)below(1u << 30) << below(20);
		spans[i] = (struct timeline_span){ .start_ns = at, .end_ns = at + length,
			.bucket = (uint8_t)(1 + below(BUCKET_END - 1)), .func = (uint16_t)below(65536),
			.large = below(2), .late_why = (uint8_t)below(8) };
		if (below(4) && i >= 3) {
			const struct timeline_span *like = &spans[i - 1 - below(3)];

			spans[i].bucket = like->bucket;
			spans[i].func = like->func;
			spans[i].large = like->large;
			spans[i].late_why = like->late_why;
		}
		spans[i].late_ns = below(2) ? 0 : length - length / 3;
		spans[i].after_late_ns = spans[i].late_ns ? length / 3 : 0;
		at += length;
		timeline_add(&t, &room, &spans[i]);
	}
	for (int i = 0; i < 400; i++) {
		struct timeline_span got;

		assert_true(timeline_find(&t, spans[i].start_ns, &got));
		assert_int_equal(got.start_ns, spans[i].start_ns);
		assert_int_equal(got.end_ns, spans[i].end_ns);
		assert_int_equal(got.bucket, spans[i].bucket);
		assert_int_equal(got.func, spans[i].func);
		assert_int_equal(got.large, spans[i].large);
		assert_int_equal(got.late_why, spans[i].late_why);
		assert_int_equal(got.late_ns, spans[i].late_ns);
		assert_int_equal(got.after_late_ns, spans[i].after_late_ns);
		assert_true(timeline_find(&t, spans[i].end_ns - 1, &got) && got.end_ns == spans[i].end_ns);
	}
	timeline_free(&t, &room);
}

/* Spans are added and reached in turn, mostly a little later than the last time; some are forgotten. */
TEST(a_span_is_reached_from_where_the_last_one_was)
{
	struct timeline_room few = { .left = 8 };
	struct timeline t = { 0 };
	uint64_t end_ns = 0;

	for (int i = 0; i < 20000; i++) {
		uint64_t ns = below(8) ? end_ns - num_min(end_ns, below(200)) : below((uint32_t)end_ns + 1);
		struct timeline_span got, want;

		if (below(2)) {
			timeline_add(&t, &few, &(struct timeline_span){
				.start_ns = end_ns + below(20), .end_ns = end_ns + 20 + below(20),
				.bucket = CLASS_SYNC, .func = (uint16_t)below(4), .captured = below(2) });
			end_ns = end_ns + 40;
			continue;
		}
		ns = num_max(ns, t.forgotten_ns);
		if (!timeline_reach(&t, ns, &got)) {
			assert_false(timeline_find(&t, ns, &want));
			continue;
		}
		assert_true(got.end_ns > ns);
		assert_int_equal(timeline_find(&t, ns, &want), got.start_ns <= ns);
		if (got.start_ns > ns)
			continue;
		assert_int_equal(got.start_ns, want.start_ns);
		assert_int_equal(got.captured, want.captured);
	}
	timeline_free(&t, &few);
}

/* As many calls as a thread can make while it is probed, for longer than works are late; two take turns. */
TEST(the_last_second_of_a_thread_is_known)
{
	enum { CALLS = 450000, NS = 2200 };
	struct timeline_room all = { .left = TIMELINE_MAX };
	struct timeline t = { 0 };

	for (uint64_t i = 0; i < CALLS; i++)
		timeline_add(&t, &all, &(struct timeline_span){
			.start_ns = 1000 + i * NS, .end_ns = 1000 + i * NS + 900 + below(1200),
			.bucket = below(20) ? CLASS_LAUNCH : CLASS_SYNC, .func = below(20) ? 7 + (i & 1) : 9 });
	assert_int_equal(t.forgotten_ns, 0);
	assert_true(t.ring.cap <= TIMELINE_MAX);
	timeline_free(&t, &all);
}

/* The launch has the call that the middle of its record lies in, if that has returned. */
static void meet_call(struct device_work *by, const struct timeline_span *spans, size_t n)
{
	const uint64_t middle = num_middle(by->launch_start_ns, by->launch_end_ns);

	for (size_t i = 0; i < n && by->has_launch; i++) {
		const struct timeline_span *s = &spans[i];

		if (s->start_ns > middle || middle >= s->end_ns || s->bucket >= CLASS_END || s->end_ns == UINT64_MAX)
			continue;
		by->call_class = s->bucket;
		by->call_before_ns = (int32_t)(by->launch_start_ns - s->start_ns);
		by->call_after_ns = (int32_t)(s->end_ns - by->launch_end_ns);
	}
}

struct example {
	struct timeline_span spans[2];
	bool no_thread;
	struct device_work by;
	struct {
		enum idle_cause cause;
		uint64_t ns;
	} parts[5];
};

#define LAUNCHED(from, to) { .has_launch = true, .launch_start_ns = from, .launch_end_ns = to }

#define SPAN(from, to, class) { .start_ns = from, .end_ns = to, .bucket = class }
#define LATE(from, to, class, ns, after) \
	{ .start_ns = from, .end_ns = to, .bucket = class, .late_ns = ns, .after_late_ns = after }

#define STOPPED(from, to, class, ns, after) \
	{ .start_ns = from, .end_ns = to, .bucket = class, .late_why = OFF_STOPPED, .late_ns = ns, \
	  .after_late_ns = after }

static const struct example examples[] = {
	{ .spans = { STOPPED(0, 40, CLASS_SYNC, 15, 5), STOPPED(60, 70, CLASS_LAUNCH, 8, 1) },
	  .by = LAUNCHED(62, 68),
	  .parts = { { IDLE_SYNC, 25 }, { IDLE_STOPPED, 23 }, { IDLE_OTHER, 20 },
		     { IDLE_LAUNCH, 2 }, { IDLE_QUEUED, 30 } } },
	{ .spans = { LATE(0, 40, CLASS_SYNC, 15, 5), SPAN(60, 70, CLASS_LAUNCH) },
	  .by = LAUNCHED(62, 68),
	  .parts = { { IDLE_SYNC, 25 }, { IDLE_RUNQUEUE, 15 }, { IDLE_OTHER, 20 },
		     { IDLE_LAUNCH, 10 }, { IDLE_QUEUED, 30 } } },
	{ .spans = { LATE(60, 120, CLASS_COPY, 30, 10) }, .by = LAUNCHED(62, 110),
	  .parts = { { IDLE_OTHER, 60 }, { IDLE_COPY_HOST, 20 }, { IDLE_RUNQUEUE, 20 } } },
	{ .spans = { SPAN(0, 40, CLASS_SYNC), SPAN(60, 70, CLASS_LAUNCH) }, .by = LAUNCHED(62, 68),
	  .parts = { { IDLE_SYNC, 40 }, { IDLE_OTHER, 20 }, { IDLE_LAUNCH, 10 }, { IDLE_QUEUED, 30 } } },
	{ .spans = { SPAN(0, 40, CLASS_SYNC) }, .by = LAUNCHED(62, 68),
	  .parts = { { IDLE_SYNC, 40 }, { IDLE_OTHER, 22 }, { IDLE_LAUNCH, 6 }, { IDLE_QUEUED, 32 } } },
	{ .spans = { SPAN(60, 120, CLASS_LAUNCH) }, .by = LAUNCHED(62, 110),
	  .parts = { { IDLE_OTHER, 60 }, { IDLE_LAUNCH, 40 } } },
	{ .spans = { SPAN(60, 120, CLASS_COPY) }, .by = LAUNCHED(62, 110),
	  .parts = { { IDLE_OTHER, 60 }, { IDLE_COPY_HOST, 40 } } },
	{ .spans = { SPAN(60, 70, CLASS_COLLECTIVE) }, .by = LAUNCHED(62, 64),
	  .parts = { { IDLE_OTHER, 60 }, { IDLE_COMM_HOST, 10 }, { IDLE_QUEUED, 30 } } },
	{ .spans = { SPAN(0, 40, CLASS_FREE) }, .parts = { { IDLE_UNKNOWN, 100 } } },
	{ .no_thread = true, .by = LAUNCHED(62, 68),
	  .parts = { { IDLE_UNKNOWN, 62 }, { IDLE_LAUNCH, 6 }, { IDLE_QUEUED, 32 } } },
};

TEST(the_examples_of_the_header)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *e = &examples[i];
		struct device_work by = e->by;
		const struct device_gap gap = { 0, 100, &by };
		uint64_t ns[IDLE_CAUSES] = { 0 }, want[IDLE_CAUSES] = { 0 };
		struct timeline t = { 0 };
		struct idle_thread who = { .timeline = &t, .now_ns = 1000, .now = CLASS_OTHER };

		meet_call(&by, e->spans, 2);
		for (int k = 0; k < 2; k++)
			timeline_add(&t, &room, &e->spans[k]);
		for (int k = 0; k < 5; k++)
			want[e->parts[k].cause] += e->parts[k].ns;
		idle_divide(&gap, e->no_thread ? NULL : &who, ns);
		assert_memory_equal(ns, want, sizeof(ns));
		timeline_free(&t, &room);
	}
}

TEST(what_samples_say_comes_before_calls)
{
	struct device_work by = LAUNCHED(62, 68);
	const struct device_gap gap = { 0, 100, &by };
	const struct timeline_span spans[2] = { SPAN(0, 62, CLASS_SYNC), SPAN(62, 70, CLASS_LAUNCH) };
	uint64_t ns[IDLE_CAUSES] = { 0 };
	struct timeline t = { 0 }, sampled = { 0 };
	struct idle_thread who = { .timeline = &t, .now_ns = 1000, .sampled = &sampled };

	meet_call(&by, spans, 2);
	for (int k = 0; k < 2; k++)
		timeline_add(&t, &room, &spans[k]);
	add(&sampled, 30, 60, BUCKET_OFF_0 + OFF_STOPPED);
	add(&sampled, 90, 95, BUCKET_OFF_0 + OFF_STOPPED);	/* it is queued then, whatever the thread does */
	idle_divide(&gap, &who, ns);
	assert_int_equal(ns[IDLE_SYNC], 32);
	assert_int_equal(ns[IDLE_STOPPED], 30);
	assert_int_equal(ns[IDLE_LAUNCH], 8);
	assert_int_equal(ns[IDLE_QUEUED], 30);
	timeline_free(&t, &room);
	timeline_free(&sampled, &room);
}

/* A thread that is in a call right now: its end is not known yet. */
TEST(an_open_call_lasts_until_now)
{
	struct device_work by = LAUNCHED(50, 52);
	const struct device_gap gap = { 0, 100, &by }, last = { 0, 100, NULL };
	uint64_t ns[IDLE_CAUSES] = { 0 };
	struct timeline t = { 0 };
	struct idle_thread who = { &t, 30, CLASS_COLLECTIVE, NULL, NULL, NULL };

	idle_divide(&gap, &who, ns);
	assert_int_equal(ns[IDLE_OTHER], 30);
	assert_int_equal(ns[IDLE_COMM_HOST], 70);
	idle_divide(&last, &who, ns);
	assert_int_equal(ns[IDLE_NO_WORK], 100);
}

/* ---- laws ------------------------------------------------------------------------------------ */

#define SPANS 200

/* Calls only are late. */
static void random_late(struct timeline_span *span)
{
	uint64_t ns = span->end_ns - span->start_ns;

	if (span->bucket >= CLASS_END || below(2))
		return;
	span->late_ns = below((uint32_t)ns + 1);
	span->after_late_ns = span->late_ns ? below((uint32_t)(ns - span->late_ns) + 1) : 0;
	span->late_why = below(2) ? OFF_STOPPED : OFF_RUNQUEUE;
}

/* Spans of any bucket but other and unarmed; the last may be open. */
static size_t random_spans(struct timeline_span *spans)
{
	size_t n = below(SPANS);
	uint64_t at = below(50);

	for (size_t i = 0; i < n; i++) {
		uint8_t bucket = (uint8_t)(1 + below(BUCKET_END - 1));

		at += below(4) ? below(10) : 0;
		spans[i] = (struct timeline_span){
			.start_ns = at, .end_ns = at + 1 + below(12),
			.bucket = bucket == BUCKET_UNARMED ? BUCKET_LOST : bucket };
		random_late(&spans[i]);
		at = spans[i].end_ns;
	}
	if (n && !below(3)) {
		spans[n - 1].end_ns = UINT64_MAX;
		spans[n - 1].late_ns = spans[n - 1].after_late_ns = 0;	/* not known yet */
	}
	return n;
}

static void random_gap(struct device_gap *gap, struct device_work *by)
{
	*by = (struct device_work){ .has_launch = below(10) != 0, .launch_start_ns = below(2000) };
	by->launch_end_ns = by->launch_start_ns + below(30);
	gap->start_ns = below(2000);
	gap->end_ns = below(4) ? by->launch_start_ns + below(40) : gap->start_ns + below(500);
	gap->end_ns = num_max(gap->end_ns, gap->start_ns);
	gap->ended_by = below(20) ? by : NULL;
}

TEST(random_gaps_are_as_specified_and_add_up)
{
	static struct timeline_span spans[SPANS];

	for (int round = 0; round < random_rounds(3000); round++) {
		struct timeline_room little = { .left = 4u << below(4) };
		struct timeline t = { 0 };
		size_t n = random_spans(spans);
		bool open = n && spans[n - 1].end_ns == UINT64_MAX;
		struct intervals unarmed = { 0 };
		struct idle_thread who = { .timeline = &t, .now = CLASS_OTHER, .unarmed = &unarmed };
		struct idle_spec_thread spec = { .spans = spans, .n = n, .unarmed = &unarmed };

		for (int i = 0; i < 4; i++) {
			uint64_t start = below(2000);

			assert_int_equal(intervals_add(&unarmed, start, start + below(100)), 0);
		}
		for (size_t i = 0; i < n - open; i++)
			timeline_add(&t, &little, &spans[i]);
		who.now_ns = open ? spans[n - 1].start_ns : n ? spans[n - 1].end_ns : 0;
		who.now = open ? spans[n - 1].bucket : CLASS_OTHER;
		spec.forgotten_ns = t.forgotten_ns;
		for (int i = 0; i < 20; i++) {
			uint64_t ns[IDLE_CAUSES] = { 0 }, want[IDLE_CAUSES] = { 0 }, total = 0;
			bool known = below(10);
			struct device_work by;
			struct device_gap gap;

			random_gap(&gap, &by);
			meet_call(&by, spans, n);
			idle_divide(&gap, known ? &who : NULL, ns);
			idle_spec(&gap, known ? &spec : NULL, want);
			assert_memory_equal(ns, want, sizeof(ns));
			for (int k = 0; k < IDLE_CAUSES; k++)
				total += ns[k];
			assert_int_equal(total, gap.end_ns - gap.start_ns);
		}
		timeline_free(&t, &little);
		intervals_free(&unarmed);
	}
}

TEST_GROUP(random_seed, NULL);

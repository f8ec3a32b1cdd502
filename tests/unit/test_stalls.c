// SPDX-License-Identifier: BSD-3-Clause
/*
 * What ran a device dry: the worked examples of the header, whose call it was, that rows are bounded,
 * and that stalls are never more than the gaps they are made of. TEST_SEED repeats a run.
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ledger/stalls.h"
#include "lib/random.h"
#include "lib/test.h"

#define MS 1000000ull
#define BASE (1000 * MS)	/* so that a call may begin before the gap */

enum { SYNC_FUNC = 3, COPY_FUNC = 4 };

static struct timeline_room room = { .left = 1 << 20 };

struct call {
	double start_ms, end_ms;
	uint8_t bucket;
	bool large;
};

struct example {
	struct call calls[4];
	double launch_ms[2];
	double want_ms[STALL_KINDS];
};

static uint64_t at(double ms)
{
	return BASE + (uint64_t)(int64_t)(ms * (double)MS);
}

/* The join's part: the call that holds the launch's middle is the launch's own. */
static void meet(struct device_work *by, const struct timeline *t)
{
	struct timeline_span call;

	if (!timeline_find(t, num_middle(by->launch_start_ns, by->launch_end_ns), &call) ||
	    call.bucket >= CLASS_END)
		return;
	by->call_class = call.bucket;
	by->call_before_ns = (int32_t)(by->launch_start_ns - call.start_ns);
	by->call_after_ns = (int32_t)(call.end_ns - by->launch_end_ns);
}

/* The stalls of one gap of [0, 10 ms). */
static void lose(struct stalls *l, const struct example *e)
{
	struct device_work by = { .has_launch = true, .launch_tid = 8,
				  .launch_start_ns = at(e->launch_ms[0]),
				  .launch_end_ns = at(e->launch_ms[1]) };
	const struct device_gap gap = { at(0), at(10), &by };
	struct timeline t = { 0 };
	struct idle_thread who = { .timeline = &t, .now_ns = at(1000), .now = CLASS_OTHER };
	uint64_t ns[IDLE_CAUSES] = { 0 };

	for (int i = 0; i < 4 && e->calls[i].bucket; i++)
		timeline_add(&t, &room, &(struct timeline_span){
			.start_ns = at(e->calls[i].start_ms), .end_ns = at(e->calls[i].end_ms),
			.bucket = e->calls[i].bucket, .large = e->calls[i].large,
			.func = e->calls[i].bucket == CLASS_SYNC ? SYNC_FUNC : COPY_FUNC });
	meet(&by, &t);
	idle_divide(&gap, &who, ns);
	assert_int_equal(stalls_add(l, &gap, &who, ns), 0);
	timeline_free(&t, &room);
}

static uint64_t sum_of(const struct stalls *l, unsigned int kind)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < stalls_count(l); i++)
		ns += stalls_at(l, i)->key.kind == kind ? stalls_at(l, i)->ns : 0;
	return ns;
}

static const struct example examples[] = {
	{ { { -5, 2, CLASS_SYNC, 0 }, { 3, 4, CLASS_LAUNCH, 0 } }, { 3.2, 3.8 },
	  { [STALL_SYNC] = 3, [STALL_HOST] = 1, [STALL_WAITED] = 6 } },
	{ { { -5, 2, CLASS_SYNC, 0 }, { 2.5, 10, CLASS_LAUNCH, 0 } }, { 3.2, 3.8 },
	  { [STALL_SYNC] = 10 } },
	{ { { 3, 4, CLASS_LAUNCH, 0 } }, { 3.2, 3.8 },
	  { [STALL_HOST] = 3, [STALL_LAUNCH] = 1, [STALL_WAITED] = 6 } },
	{ { { 0.5, 9.9, CLASS_LAUNCH, 0 } }, { 3.2, 3.8 }, { [STALL_LAUNCH] = 10 } },
	{ { { 1, 2, CLASS_SYNC, 0 }, { 3, 10, CLASS_LAUNCH, 0 } }, { 3.2, 3.8 },
	  { [STALL_SYNC] = 1, [STALL_HOST] = 2, [STALL_LAUNCH] = 7 } },
	{ { { -2, -1, CLASS_LAUNCH, 0 } }, { -1.8, -1.2 }, { [STALL_WAITED] = 10 } },
	{ { { -5, 2, CLASS_COPY, true }, { 2.5, 10, CLASS_LAUNCH, 0 } }, { 3.2, 3.8 },
	  { [STALL_COPY] = 10 } },
	{ { { -5, 2, CLASS_COPY, false }, { 2.5, 10, CLASS_LAUNCH, 0 } }, { 3.2, 3.8 },
	  { [STALL_COPY_SMALL] = 10 } },
	{ { { -5, 2, CLASS_FREE, 0 }, { 2.5, 10, CLASS_LAUNCH, 0 } }, { 3.2, 3.8 },
	  { [STALL_ALLOC] = 10 } },
	{ { { 0.5, 2, CLASS_COMPILE, 0 }, { 2.2, 10, CLASS_LAUNCH, 0 } }, { 3.2, 3.8 },
	  { [STALL_COMPILE] = 1.5, [STALL_LAUNCH] = 8.5 } },
	{ { { -5, 1, CLASS_SYNC, 0 }, { 1, 3, BUCKET_OFF_0 + OFF_LOCK, 0 },
	    { 3, 4, BUCKET_OFF_0 + OFF_RUNQUEUE, 0 }, { 4, 10, CLASS_LAUNCH, 0 } }, { 4.2, 4.8 },
	  { [STALL_SYNC] = 7, [STALL_HOST] = 2, [STALL_RUNQUEUE] = 1 } },
	{ { { 0.5, 9.9, CLASS_COLLECTIVE, 0 } }, { 3.2, 3.8 },
	  { [STALL_COLLECTIVE] = 9.4, [STALL_LAUNCH] = 0.6 } },
};

/* A device takes a while to begin what was launched long ago: that is no wait. */
TEST(between_launched_works_the_device_only_takes_time)
{
	const struct device_work by = { .has_launch = true, .launch_tid = 8,
					.launch_start_ns = at(-1), .launch_end_ns = at(-1) + 10 };
	const struct device_gap gap = { at(0), at(0) + STALL_WAIT_NS - 1, &by };
	struct timeline t = { 0 };
	struct idle_thread who = { .timeline = &t, .now_ns = at(1000), .now = CLASS_OTHER };
	uint64_t ns[IDLE_CAUSES] = { 0 };
	struct stalls l = { 0 };

	idle_divide(&gap, &who, ns);
	assert_int_equal(stalls_add(&l, &gap, &who, ns), 0);
	assert_int_equal(sum_of(&l, STALL_QUEUED), STALL_WAIT_NS - 1);
	stalls_free(&l);
}

TEST(the_examples_of_the_header)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct stalls l = { 0 };

		lose(&l, &examples[i]);
		for (unsigned int kind = 0; kind < STALL_KINDS; kind++) {
			uint64_t want = at(examples[i].want_ms[kind]) - BASE;

			if (sum_of(&l, kind) != want)
				print_message("example %zu, kind %u\n", i, kind);
			assert_int_equal(sum_of(&l, kind), want);
		}
		stalls_free(&l);
	}
}

/* Sync in [-5, 6) of which it was late in [2, 5), launch in [6.5, 10). */
TEST(that_a_sync_had_no_cpu_is_no_loss_by_the_sync)
{
	struct device_work by = { .has_launch = true, .launch_tid = 8,
				  .launch_start_ns = at(7), .launch_end_ns = at(7.5) };
	const struct device_gap gap = { at(0), at(10), &by };
	struct timeline t = { 0 };
	struct idle_thread who = { .timeline = &t, .now_ns = at(1000), .now = CLASS_OTHER };
	uint64_t ns[IDLE_CAUSES] = { 0 };
	struct stalls l = { 0 };

	timeline_add(&t, &room, &(struct timeline_span){
		.start_ns = at(-5), .end_ns = at(6), .bucket = CLASS_SYNC, .func = SYNC_FUNC,
		.late_ns = 3 * (uint32_t)MS, .after_late_ns = (uint32_t)MS });
	timeline_add(&t, &room, &(struct timeline_span){
		.start_ns = at(6.5), .end_ns = at(10), .bucket = CLASS_LAUNCH });
	meet(&by, &t);
	idle_divide(&gap, &who, ns);
	assert_int_equal(stalls_add(&l, &gap, &who, ns), 0);
	assert_int_equal(sum_of(&l, STALL_SYNC), 7 * MS);
	assert_int_equal(sum_of(&l, STALL_RUNQUEUE), 3 * MS);
	timeline_free(&t, &room);
	stalls_free(&l);
}

TEST(a_row_has_the_call_its_count_and_its_cause)
{
	struct stalls l = { 0 };

	lose(&l, &examples[1]);
	lose(&l, &examples[0]);
	lose(&l, &examples[1]);
	assert_int_equal(stalls_count(&l), 3);
	assert_int_equal(stalls_at(&l, 0)->key.tid, 8);
	assert_int_equal(stalls_at(&l, 0)->key.kind, STALL_SYNC);
	assert_int_equal(stalls_at(&l, 0)->key.func, SYNC_FUNC);
	assert_int_equal(stalls_at(&l, 0)->gaps, 3);
	assert_int_equal(stalls_at(&l, 0)->longest_ns, 10 * MS);
	assert_int_equal(stalls_at(&l, 0)->cause_ns[IDLE_SYNC], 6 * MS);
	assert_int_equal(stalls_at(&l, 0)->cause_ns[IDLE_OTHER], MS);
	assert_int_equal(stalls_at(&l, 1)->key.kind, STALL_HOST);
	assert_int_equal(stalls_at(&l, 2)->key.kind, STALL_WAITED);
	assert_int_equal(stalls_at(&l, 1)->key.func, TIMELINE_NO_FUNC);
	stalls_free(&l);
}

/* A gap of [0, 10 ms) behind a sync with this stack, if the thread's stacks are these. */
static void lose_at(struct stalls *l, uint16_t stack, const uint64_t *stacks)
{
	struct device_work by = { .has_launch = true, .launch_tid = 8, .launch_start_ns = at(4),
				  .launch_end_ns = at(9) };
	const struct device_gap gap = { at(0), at(10), &by };
	struct timeline t = { 0 };
	struct idle_thread who = { .timeline = &t, .now_ns = at(1000), .now = CLASS_OTHER,
				   .stacks = stacks };
	uint64_t ns[IDLE_CAUSES] = { 0 };

	timeline_add(&t, &room, &(struct timeline_span){
		.start_ns = at(-5), .end_ns = at(2), .bucket = CLASS_SYNC, .stack = stack });
	timeline_add(&t, &room, &(struct timeline_span){
		.start_ns = at(2), .end_ns = at(10), .bucket = CLASS_LAUNCH });
	meet(&by, &t);
	idle_divide(&gap, &who, ns);
	assert_int_equal(stalls_add(l, &gap, &who, ns), 0);
	timeline_free(&t, &room);
}

TEST(a_place_has_the_time_of_calls_from_there)
{
	static const uint64_t stacks[] = { 0, 111, 222 };
	struct stalls l = { 0 }, earlier = { 0 };
	const struct stall_place *place;

	lose_at(&l, 2, stacks);
	assert_int_equal(stalls_copy(&earlier, &l), 0);
	lose_at(&l, 1, stacks);
	lose_at(&l, 2, stacks);
	lose_at(&l, 0, stacks);
	lose_at(&l, 1, NULL);
	assert_int_equal(l.places.n, 2);
	place = l.places.v[0];
	assert_int_equal(place->key.stack, 222);
	assert_int_equal(place->key.kind, STALL_SYNC);
	assert_int_equal(place->ns, 20 * MS);
	assert_int_equal(sum_of(&l, STALL_SYNC), 50 * MS);
	stalls_subtract(&l, &earlier);
	assert_int_equal(place->ns, 10 * MS);
	stalls_free(&l);
	stalls_free(&earlier);
}

TEST(places_are_bounded)
{
	uint64_t stacks[STALL_PLACES + 100], sum = 0;
	struct stalls l = { 0 };

	for (uint16_t i = 1; i < STALL_PLACES + 100; i++) {
		stacks[i] = i;
		lose_at(&l, i, stacks);
	}
	assert_int_equal(l.places.n, STALL_PLACES + 1);
	for (size_t i = 0; i < l.places.n; i++)
		sum += ((const struct stall_place *)l.places.v[i])->ns;
	assert_int_equal(sum, (STALL_PLACES + 99) * 10 * MS);
	stalls_free(&l);
}

static struct device_work by_thread(uint32_t tid, uint64_t launch_ns)
{
	return (struct device_work){ .has_launch = true, .launch_tid = tid,
				     .launch_start_ns = launch_ns, .launch_end_ns = launch_ns + 10 };
}

TEST(rows_are_bounded_and_lose_no_time)
{
	struct timeline t = { 0 };
	struct idle_thread who = { .timeline = &t, .now_ns = UINT64_MAX, .now = CLASS_OTHER };
	struct stalls l = { 0 }, copy = { 0 };
	uint64_t sum = 0;

	for (uint32_t tid = 1; tid <= 1000; tid++) {
		const struct device_work by = by_thread(tid, BASE + tid * MS + 500);
		const struct device_gap gap = { BASE + tid * MS, BASE + tid * MS + 1000, &by };
		uint64_t ns[IDLE_CAUSES] = { 0 };

		idle_divide(&gap, &who, ns);
		assert_int_equal(stalls_add(&l, &gap, &who, ns), 0);
	}
	assert_true(stalls_count(&l) <= STALL_ROWS + STALL_KINDS);
	assert_int_equal(stalls_copy(&copy, &l), 0);
	stalls_free(&l);
	for (size_t i = 0; i < stalls_count(&copy); i++)
		sum += stalls_at(&copy, i)->ns;
	assert_int_equal(sum, 1000 * 1000);
	stalls_free(&copy);
}

/* One gap a second for a thousand seconds: the later half of them is late, to an epoch. */
TEST(late_and_early_losses_are_separate)
{
	struct timeline t = { 0 };
	struct idle_thread who = { .timeline = &t, .now_ns = UINT64_MAX, .now = CLASS_OTHER };
	struct stalls l = { 0 };
	uint64_t late;

	for (uint64_t i = 0; i < 1000; i++) {
		const struct device_work by = by_thread(8, BASE + i * 1000 * MS + 500);
		const struct device_gap gap = { BASE + i * 1000 * MS, BASE + i * 1000 * MS + 1000, &by };
		uint64_t ns[IDLE_CAUSES] = { 0 };

		idle_divide(&gap, &who, ns);
		assert_int_equal(stalls_add(&l, &gap, &who, ns), 0);
		if (i == 9)
			assert_in_range(stalls_late_ns(&l, stalls_at(&l, 0), BASE + 1000000 * MS), 0, 0);
	}
	late = stalls_late_ns(&l, stalls_at(&l, 0), BASE + 1000000 * MS);
	assert_in_range(late, 1000 * 1000 / 2 - 1000 * 1000 / 8, 1000 * 1000 / 2);
	stalls_free(&l);
}

TEST(random_gaps_lose_at_most_their_length)
{
	for (int round = 0; round < random_rounds(20000); round++) {
		struct timeline t = { 0 };
		struct idle_thread who = { .timeline = &t, .now_ns = below(3 * MS), .now = CLASS_SYNC };
		uint64_t start = below(MS), ns[IDLE_CAUSES] = { 0 }, lost = 0, not_lost, now = 0;
		const struct device_work by = by_thread(8, below(5 * MS));
		const struct device_gap gap = { start, start + 1 + below(4 * MS), &by };
		struct stalls l = { 0 };

		for (int i = 0; i < 6; i++) {
			uint64_t from = now + below(MS / 2);

			now = from + below(MS / 2);
			timeline_add(&t, &room, &(struct timeline_span){
				.start_ns = from, .end_ns = now, .func = 1, .large = below(2),
				.bucket = (uint8_t)(1 + below(CLASS_END - 1)),
				.late_ns = below(2) ? below((uint32_t)(now - from) + 1) : 0 });
		}
		who.now_ns = num_max(who.now_ns, now);
		idle_divide(&gap, &who, ns);
		assert_int_equal(stalls_add(&l, &gap, &who, ns), 0);
		for (size_t i = 0; i < stalls_count(&l); i++)
			lost += stalls_at(&l, i)->ns;
		not_lost = ns[IDLE_UNKNOWN] + ns[IDLE_INIT] + ns[IDLE_LOST] + ns[IDLE_UNARMED];
		assert_int_equal(lost + not_lost, gap.end_ns - gap.start_ns);
		stalls_free(&l);
		timeline_free(&t, &room);
	}
}

TEST_GROUP(random_seed, NULL);

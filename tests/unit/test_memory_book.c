// SPDX-License-Identifier: BSD-3-Clause
/*
 * What memory a process has: the examples of the header, and on random programs what the
 * specification says of what really happened, whichever of two sources reports it, in whatever order.
 * TEST_SEED repeats a run.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/memory_spec.h"
#include "lib/random.h"
#include "lib/test.h"

#define BASE 1000000000000ull
#define MS 1000000ull
#define ACTS 200
#define ADDRESSES 12

static struct memory_room room = { .left = MEMORY_ROOM };

static struct memory_book *book(void)
{
	struct memory_book *b = memory_book_new(&room, 0);

	assert_non_null(b);
	return b;
}

static const struct memory_sums *row(const struct memory_book *b, uint32_t device, uint8_t kind)
{
	static const struct memory_sums none;

	for (size_t i = 0; i < memory_book_rows(b); i++) {
		const struct memory_sums *s = memory_book_row(b, i);

		if (s->key.device == device && s->key.kind == kind && !s->key.by_stack)
			return s;
	}
	return &none;
}

/* ---- the examples of the header; times there are ms ------------------------------------------- */

#define CALL(what, where, from, to) \
	{ .op = what, .address = where, .start_ns = BASE + (uint64_t)((from) * MS), \
	  .end_ns = BASE + (uint64_t)((to) * MS), \
	  .bytes = 10, .has_bytes = true, .device = MEMORY_NO_DEVICE, .kind = MEMORY_KIND_DEVICE }
#define RECORD(what, where, at) \
	{ .op = what, .address = where, .start_ns = BASE + (uint64_t)((at) * MS), \
	  .end_ns = BASE + (uint64_t)((at) * MS), \
	  .bytes = 10, .has_bytes = true, .kind = MEMORY_KIND_DEVICE, .is_record = true }
#define A MEMORY_ALLOC
#define F MEMORY_FREE

static const struct {
	struct memory_act acts[4];
	uint32_t device;
	uint64_t allocs, frees, live, peak, before;
	bool also;	/* another device has the rest */
} examples[] = {
	{ { CALL(A, 1, 10, 20), CALL(F, 1, 30, 40) }, MEMORY_NO_DEVICE, 1, 1, 0, 10, 0, false },
	{ { CALL(A, 1, 10, 20), RECORD(A, 1, 15) }, 0, 1, 0, 10, 10, 0, false },
	{ { RECORD(A, 1, 15), RECORD(A, 2, 16), RECORD(F, 1, 17) }, 0, 2, 1, 10, 20, 0, false },
	{ { CALL(F, 9, 10, 20) }, MEMORY_NO_DEVICE, 0, 0, 0, 0, 1, false },
	{ { RECORD(A, 1, 15), RECORD(A, 1, 25) }, 0, 2, 0, 10, 10, 0, false },
	{ { CALL(A, 1, 0, .1), CALL(F, 1, .2, .3), CALL(A, 1, .4, .5), RECORD(A, 1, .4) }, 0, 1, 0, 10, 10, 0, true },
	{ { CALL(A, 1, 0, .1), CALL(F, 1, .2, .3), CALL(A, 1, .4, .5), RECORD(A, 1, .4) },
	  MEMORY_NO_DEVICE, 1, 1, 0, 10, 0, true },
};

TEST(the_examples_of_the_header)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct memory_book *b = book();
		const struct memory_sums *s;

		for (int k = 0; k < 4 && examples[i].acts[k].op; k++)
			assert_int_equal(memory_book_push(b, &examples[i].acts[k]), 0);
		assert_int_equal(memory_book_settle(b, UINT64_MAX), 0);
		s = row(b, examples[i].device, MEMORY_KIND_DEVICE);
		assert_int_equal(s->allocs, examples[i].allocs);
		assert_int_equal(s->frees, examples[i].frees);
		assert_int_equal(s->live_bytes, examples[i].live);
		assert_int_equal(s->live, examples[i].live / 10);
		assert_int_equal(s->peak_bytes, examples[i].peak);
		assert_int_equal(s->frees_before, examples[i].before);
		assert_int_equal(memory_book_rows(b), 1 + examples[i].also);
		memory_book_free(b);
	}
	assert_int_equal(room.left, MEMORY_ROOM);
}

TEST(stacks_are_parts_of_their_device_and_kind)
{
	struct memory_act a = CALL(A, 1, 10, 20), c = CALL(A, 2, 30, 40), f = CALL(F, 1, 50, 60);
	struct memory_book *b = book();
	const struct memory_sums *s;
	struct memory_sums later, earlier;

	a.stack = 77;
	c.stack = 78;
	assert_int_equal(memory_book_push(b, &a), 0);
	assert_int_equal(memory_book_push(b, &c), 0);
	assert_int_equal(memory_book_push(b, &f), 0);
	assert_int_equal(memory_book_fail(b, MEMORY_KIND_DEVICE, 78), 0);
	assert_int_equal(memory_book_settle(b, UINT64_MAX), 0);
	assert_int_equal(memory_book_rows(b), 3);
	s = row(b, MEMORY_NO_DEVICE, MEMORY_KIND_DEVICE);
	assert_int_equal(s->peak_bytes, 20);
	assert_int_equal(s->live_bytes, 10);
	assert_int_equal(s->failed, 1);
	for (size_t i = 0; i < 3; i++) {
		s = memory_book_row(b, i);
		if (s->key.by_stack)
			assert_int_equal(s->live_bytes, s->key.stack == 77 ? 0 : 10);
		if (s->key.by_stack)
			assert_int_equal(s->peak_bytes, 10);
	}
	later = earlier = *row(b, MEMORY_NO_DEVICE, MEMORY_KIND_DEVICE);
	memory_sums_subtract(&later, 1, &earlier, 1);
	assert_int_equal(later.peak_bytes, 10);		/* at least that: it lives */
	assert_int_equal(later.allocs, 0);
	later.peak_bytes = 30;
	memory_sums_subtract(&later, 1, &earlier, 1);
	assert_int_equal(later.peak_bytes, 30);
	memory_book_free(b);
}

/* One of before anybody looked, one seen: the program's end does not forget them. */
TEST(live_allocations_are_exact_whatever_was_counted)
{
	struct memory_act again = RECORD(A, 1, 15), seen = RECORD(A, 2, 16), freed = RECORD(F, 1, 30);
	struct memory_book *b = book();
	const struct memory_sums *s;

	again.again = true;
	assert_int_equal(memory_book_push(b, &again), 0);
	assert_int_equal(memory_book_push(b, &seen), 0);
	assert_int_equal(memory_book_settle(b, BASE + 20 * MS), 0);
	s = row(b, 0, MEMORY_KIND_DEVICE);
	assert_int_equal(s->allocs, 1);
	assert_int_equal(s->live, 2);
	assert_int_equal(memory_book_push(b, &freed), 0);
	assert_int_equal(memory_book_settle(b, UINT64_MAX), 0);
	assert_int_equal(s->live, 1);
	memory_book_end(b);
	assert_int_equal(s->live, 0);
	assert_int_equal(s->leaked, 1);
	assert_int_equal(s->leaked_bytes, 10);
	memory_book_free(b);
}

TEST(allocations_over_the_limit_are_counted)
{
	struct memory_room small = { .left = 2 };
	struct memory_book *b = memory_book_new(&small, 0);
	const struct memory_sums *s;

	for (uint64_t i = 1; i <= 3; i++) {
		struct memory_act a = CALL(A, i, 10 * i, 10 * i + 5);

		assert_int_equal(memory_book_push(b, &a), 0);
	}
	assert_int_equal(memory_book_settle(b, UINT64_MAX), 0);
	s = row(b, MEMORY_NO_DEVICE, MEMORY_KIND_DEVICE);
	assert_int_equal(s->allocs, 3);
	assert_int_equal(s->untracked, 1);
	assert_int_equal(s->live_bytes, 20);
	memory_book_free(b);
	assert_int_equal(small.left, 2);
}

/* ---- laws ------------------------------------------------------------------------------------ */

struct reported {
	struct memory_act act;
	uint64_t arrives_ns;
};

struct script {
	struct memory_act acts[ACTS];	/* what happened */
	size_t n;
	struct reported reported[2 * ACTS];
	size_t n_reported;
};

enum { CALLS = 1, RECORDS = 2, SOME_CALLS = 4, SOME_RECORDS = 8 };

static void report(struct script *s, const struct memory_act *act, bool record, uint64_t before,
		 uint64_t after)
{
	struct reported *t = &s->reported[s->n_reported++];

	t->act = *act;
	t->act.is_record = record;
	t->act.start_ns -= before;
	t->act.end_ns += after;
	/* Records come a second late, calls when they have ended. */
	t->arrives_ns = t->act.end_ns + (record ? 50 * MS + below(900 * MS) : 0);
}

/* One thing after the other; with records, calls of several threads overlap. */
static void make_script(struct script *s, unsigned int sources)
{
	bool lives[ADDRESSES] = { false };
	uint64_t ns = BASE;

	*s = (struct script){ .n = 0 };
	while (s->n < ACTS) {
		size_t at = below(ADDRESSES);
		struct memory_act *a = &s->acts[s->n++];
		uint64_t before = below(2000), after = below(2000);

		ns += sources & RECORDS && !(sources & SOME_RECORDS) ? 1 + below(below(2) ? 1000 : 20 * MS) : 4000 + below(20 * MS);
		*a = (struct memory_act){ .start_ns = ns, .end_ns = ns, .address = 64 + at,
					  .op = lives[at] || !below(10) ? F : A,
					  .device = (uint32_t)below(MEMORY_SPEC_DEVICES),
					  .kind = MEMORY_KIND_DEVICE + (uint8_t)below(2),
					  .bytes = below(1000), .has_bytes = true };
		lives[at] = a->op == A;
		if (sources & RECORDS && (!(sources & SOME_RECORDS) || below(3)))
			report(s, a, true, 0, 0);
		if (sources & CALLS || (sources & SOME_CALLS && below(3)))
			report(s, a, false, before, after);
	}
}

static int by_arrival(const void *a, const void *b)
{
	const struct reported *x = a, *y = b;

	return (x->arrives_ns > y->arrives_ns) - (x->arrives_ns < y->arrives_ns);
}

static void assert_as_specified(const struct script *s, const struct memory_book *b)
{
	struct memory_sums want[MEMORY_SPEC_DEVICES][MEMORY_KIND_END];

	memory_spec(s->acts, s->n, want);
	for (uint32_t d = 0; d < MEMORY_SPEC_DEVICES; d++)
		for (unsigned int k = 0; k < MEMORY_KIND_END; k++) {
			const struct memory_sums *got = row(b, d, (uint8_t)k), *w = &want[d][k];

			assert_int_equal(got->allocs, w->allocs);
			assert_int_equal(got->frees, w->frees);
			assert_int_equal(got->frees_before, w->frees_before);
			assert_int_equal(got->live_bytes, w->live_bytes);
			assert_int_equal(got->peak_bytes, w->peak_bytes);
		}
}

/* Calls whose records were lost know no device: what all together have is exact. */
static void assert_sums_as_specified(const struct script *s, const struct memory_book *b)
{
	struct memory_sums want[MEMORY_SPEC_DEVICES][MEMORY_KIND_END], all = { 0 }, real = { 0 };

	memory_spec(s->acts, s->n, want);
	for (uint32_t d = 0; d < MEMORY_SPEC_DEVICES; d++)
		for (unsigned int k = 0; k < MEMORY_KIND_END; k++) {
			real.allocs += want[d][k].allocs;
			real.frees += want[d][k].frees + want[d][k].frees_before;
			real.live_bytes += want[d][k].live_bytes;
		}
	for (size_t i = 0; i < memory_book_rows(b); i++) {
		all.allocs += memory_book_row(b, i)->allocs;
		all.frees += memory_book_row(b, i)->frees + memory_book_row(b, i)->frees_before;
		all.live_bytes += memory_book_row(b, i)->live_bytes;
	}
	assert_memory_equal(&all, &real, sizeof(all));
}

static void random_programs(unsigned int sources)
{
	static struct script s;

	for (int round = 0; round < random_rounds(1000); round++) {
		struct memory_book *b = book();
		struct memory_counts counts;
		uint64_t latest = BASE;

		make_script(&s, sources);
		qsort(s.reported, s.n_reported, sizeof(*s.reported), by_arrival);
		for (size_t i = 0; i < s.n_reported; i++) {
			latest = s.reported[i].arrives_ns;
			assert_int_equal(memory_book_push(b, &s.reported[i].act), 0);
			if (!below(5))
				assert_int_equal(memory_book_settle(b, latest - (sources & RECORDS ?
									    960 * MS : MS)), 0);
		}
		assert_int_equal(memory_book_settle(b, UINT64_MAX), 0);
		(sources & SOME_RECORDS ? assert_sums_as_specified : assert_as_specified)(&s, b);
		memory_book_counts(b, &counts);
		if (sources & CALLS)
			assert_int_equal(counts.alone, 0);
		assert_int_equal(counts.late, 0);
		assert_int_equal(counts.unseen_frees, 0);
		memory_book_free(b);
	}
	assert_int_equal(room.left, MEMORY_ROOM);
}

TEST(calls_alone_are_enough)
{
	random_programs(CALLS);
}

TEST(records_alone_are_enough)
{
	random_programs(RECORDS);
}

TEST(a_call_and_its_record_are_one)
{
	random_programs(CALLS | RECORDS);
}

TEST(records_without_a_call_that_was_seen_count_too)
{
	random_programs(RECORDS | SOME_CALLS);
}

TEST(calls_replace_lost_records)
{
	random_programs(CALLS | RECORDS | SOME_RECORDS);
}

TEST(hostile_acts_break_nothing)
{
	for (int round = 0; round < random_rounds(200); round++) {
		struct memory_book *b = book();

		for (int i = 0; i < 500; i++) {
			struct memory_act a = { .start_ns = below(2) ? below(1000) : below(UINT64_MAX),
						.address = 1 + below(5), .bytes = below(UINT64_MAX),
						.has_bytes = below(2), .op = (uint8_t)(1 + below(2)),
						.kind = (uint8_t)below(256), .stack = below(3),
						.device = (uint32_t)below(3), .is_record = below(2) };

			a.end_ns = a.is_record ? a.start_ns : a.start_ns + below(1000);
			if (a.end_ns < a.start_ns)
				a.end_ns = UINT64_MAX;
			assert_int_equal(memory_book_push(b, &a), 0);
			if (!below(20))
				assert_int_equal(memory_book_settle(b, below(2000)), 0);
		}
		assert_int_equal(memory_book_settle(b, UINT64_MAX), 0);
		memory_book_free(b);
	}
	assert_int_equal(room.left, MEMORY_ROOM);
}

TEST_GROUP(random_seed, NULL);

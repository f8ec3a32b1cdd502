// SPDX-License-Identifier: BSD-3-Clause
/*
 * The book of a device over several processes: the worked examples of its header, and the law that
 * it adds up to the wall clock, on random processes, against the specification, settled as they come.
 * TEST_SEED repeats a run.
 */
#include <stdlib.h>
#include <string.h>

#include "ledger/host_devices.c"
#include "base/num.h"
#include "lib/random.h"
#include "lib/share_spec.h"
#include "lib/test.h"

#define OPEN 1000
#define T(ns) (OPEN + (ns))
#define SPANS 64

static void assert_balanced(const struct share_book *b)
{
	struct share_sum sum;
	uint64_t total;

	share_book_sum(b, &sum);
	total = sum.shared_ns + sum.unknown_ns + sum.unwatched_ns + sum.idle_ns;
	for (size_t i = 0; i < b->members.n; i++)
		total += share_book_member(b, i).owned_ns;
	assert_int_equal(total, sum.close_ns - sum.open_ns);
}

/* ---- the examples of the header; times there begin at 0 -------------------------------------- */

struct example {
	struct share_spec_span spans[3];
	struct share_spec_change changes[2];
	uint64_t owned[2], waited[2], shared, unknown, unwatched, idle;
};

#define RUNS(member, from, to) { member, { T(from), T(to), SHARE_RUNS } }
#define UNSEEN(member, from, to) { member, { T(from), T(to), SHARE_UNSEEN } }
#define WAITS(member, from, to) { member, { T(from), T(to), SHARE_WAITS } }
enum { A, B };

static const struct example examples[] = {
	{ { RUNS(A, 10, 30), RUNS(B, 40, 60) }, .owned = { 20, 20 }, .idle = 60 },
	{ { RUNS(A, 10, 40), RUNS(B, 30, 60) }, .owned = { 20, 20 }, .shared = 10, .idle = 50 },
	{ { RUNS(A, 10, 40), WAITS(B, 20, 40), RUNS(B, 40, 50) }, .owned = { 30, 10 },
	  .waited = { 0, 20 }, .idle = 60 },
	{ { RUNS(A, 10, 40) }, .changes = { { T(30), true }, { T(70), false } }, .owned = { 30 },
	  .unwatched = 30, .idle = 40 },
	{ { RUNS(A, 10, 40), UNSEEN(B, 30, 60) }, .owned = { 30 }, .unknown = 20, .idle = 50 },
	{ { RUNS(A, 10, 40), UNSEEN(B, 30, 60) }, .changes = { { T(50), true }, { T(70), false } },
	  .owned = { 30 }, .unknown = 20, .unwatched = 10, .idle = 40 },
};

static void assert_example(const struct example *e, const struct share_sum *sum,
			   const struct share_member *a, const struct share_member *b)
{
	assert_int_equal(a->owned_ns, e->owned[A]);
	assert_int_equal(b->owned_ns, e->owned[B]);
	assert_int_equal(a->waited_ns, e->waited[A]);
	assert_int_equal(b->waited_ns, e->waited[B]);
	assert_int_equal(sum->shared_ns, e->shared);
	assert_int_equal(sum->unknown_ns, e->unknown);
	assert_int_equal(sum->unwatched_ns, e->unwatched);
	assert_int_equal(sum->idle_ns, e->idle);
}

TEST(the_examples_of_the_header)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *e = &examples[i];
		struct share_spec spec = { .sum = { .open_ns = OPEN, .close_ns = T(100) } };
		struct share_book *b = share_book_new(OPEN);
		struct share_sum sum;
		struct share_member members[2];

		assert_non_null(b);
		assert_int_equal(share_book_join(b), A);
		assert_int_equal(share_book_join(b), B);
		for (int k = 0; k < 3; k++)
			assert_int_equal(share_book_add(b, e->spans[k].member, &e->spans[k].span), 0);
		for (int k = 0; k < 2; k++)
			assert_int_equal(share_book_others(b, e->changes[k].at_ns,
							   e->changes[k].present, UINT64_MAX), 0);
		share_book_settle(b, A, T(100));
		share_book_settle(b, B, T(100));
		share_book_sum(b, &sum);
		members[A] = share_book_member(b, A);
		members[B] = share_book_member(b, B);
		assert_example(e, &sum, &members[A], &members[B]);
		assert_balanced(b);
		share_spec(e->spans, 3, e->changes, 2, &spec);
		assert_example(e, &spec.sum, &spec.member[A], &spec.member[B]);
		share_book_free(b);
	}
}

/* ---- laws ------------------------------------------------------------------------------------ */

struct script {			/* what each member does, one after the other */
	struct share_spec_span spans[SPANS * 4];
	size_t n, members;
	struct share_spec_change changes[8];
	size_t n_changes;
};

static void make_script(struct script *s)
{
	uint64_t at = OPEN;

	*s = (struct script){ .members = 1 + below(4) };
	for (size_t m = 0; m < s->members; m++) {
		uint64_t ns = OPEN + below(20);

		for (size_t i = below(SPANS); i; i--) {
			uint64_t start = ns + below(2) * below(10), end = start + below(12);

			s->spans[s->n++] = (struct share_spec_span){ m, { start, end,
								     (uint8_t)below(SHARE_STATES) } };
			ns = end;
		}
	}
	for (bool present = true; s->n_changes < below(8); present = !present) {
		at += below(200);
		s->changes[s->n_changes++] = (struct share_spec_change){ at, present };
	}
}

static void assert_as_specified(const struct script *s, const struct share_book *b)
{
	struct share_spec spec;

	assert_balanced(b);
	share_book_sum(b, &spec.sum);
	struct share_sum sum = spec.sum;

	share_spec(s->spans, s->n, s->changes, s->n_changes, &spec);
	assert_memory_equal(&sum, &spec.sum, sizeof(sum));
	for (size_t m = 0; m < s->members; m++) {
		struct share_member got = share_book_member(b, m);

		assert_memory_equal(&got, &spec.member[m], sizeof(got));
	}
	assert_int_equal(share_book_late_ns(b), 0);
}

/* Members take turns, each a few spans at a time, and say how far they are. */
static void play(const struct script *s, struct share_book *b)
{
	size_t next[SHARE_SPEC_MEMBERS], left = s->n;

	for (size_t m = 0; m < s->members; m++)
		for (next[m] = 0; next[m] < s->n && s->spans[next[m]].member != m; next[m]++)
			;
	while (left) {
		size_t m = below(s->members), more = 1 + below(5);

		for (; more && next[m] < s->n && s->spans[next[m]].member == m; more--, left--)
			assert_int_equal(share_book_add(b, m, &s->spans[next[m]++].span), 0);
		if (next[m] < s->n && s->spans[next[m]].member == m)
			share_book_settle(b, m, s->spans[next[m]].span.start_ns);
		else if (below(2))
			share_book_settle(b, m, T(5000));
		assert_balanced(b);
	}
}

TEST(random_processes_settled_as_they_come)
{
	static struct script s;

	for (int round = 0; round < random_rounds(2000); round++) {
		struct share_book *b = share_book_new(OPEN), *copy;
		uint64_t now = T(below(900));

		make_script(&s);
		for (size_t m = 0; m < s.members; m++)
			assert_int_equal(share_book_join(b), m);
		for (size_t i = 0; i < s.n_changes; i++)
			assert_int_equal(share_book_others(b, s.changes[i].at_ns,
							   s.changes[i].present, UINT64_MAX), 0);
		play(&s, b);
		copy = share_book_copy(b);
		assert_non_null(copy);
		share_book_settle_all(copy, now);
		assert_as_specified(&s, copy);
		share_book_settle_all(b, T(1000));
		assert_as_specified(&s, b);
		share_book_free(copy);
		share_book_free(b);
	}
}

/* ---- members that opened at different times ------------------------------------------------- */

TEST(it_opens_with_its_earliest_member_in_any_order)
{
	struct share_book *b = share_book_new(T(50));
	struct share_sum sum;

	assert_int_equal(share_book_join(b), A);
	assert_int_equal(share_book_add(b, A, &(struct share_span){ T(60), T(70), SHARE_RUNS }), 0);
	share_book_settle(b, A, T(80));
	assert_int_equal(share_book_open(b, OPEN), 0);
	assert_int_equal(share_book_join(b), B);
	assert_int_equal(share_book_add(b, B, &(struct share_span){ T(10), T(20), SHARE_RUNS }), 0);
	share_book_sum(b, &sum);
	assert_int_equal(sum.open_ns, T(50));	/* B may yet do more before */
	assert_balanced(b);
	share_book_settle_all(b, T(100));
	share_book_sum(b, &sum);
	assert_int_equal(sum.open_ns, OPEN);
	assert_int_equal(share_book_member(b, A).owned_ns, 10);
	assert_int_equal(share_book_member(b, B).owned_ns, 10);
	assert_int_equal(sum.idle_ns, 80);
	assert_balanced(b);
	assert_int_equal(share_book_late_ns(b), 0);
	share_book_free(b);
}

#define FIRST 300	/* when the one opened that joins first */
#define AFTER 900	/* all that it did is settled when others join */

/* The first member's, or another's: some before the first opened, some after what is settled. */
static void make_part(struct script *s, size_t member, uint64_t from, uint64_t to)
{
	for (uint64_t ns = from; ns < to;) {
		uint64_t start = ns + below(20), end = num_min(start + below(30), to);

		if (start >= to)
			return;
		s->spans[s->n++] = (struct share_spec_span){ member, { start, end, (uint8_t)below(SHARE_STATES) } };
		ns = num_max(end, start + 1);
	}
}

TEST(random_members_that_opened_before_others_were_settled)
{
	static struct script s;

	for (int round = 0; round < random_rounds(1000); round++) {
		struct share_book *b = share_book_new(T(FIRST)), *copy;
		size_t next, members = 2 + below(3);

		s = (struct script){ .members = members };
		make_part(&s, 0, T(FIRST), T(AFTER));
		assert_int_equal(share_book_join(b), 0);
		for (next = 0; next < s.n; next++)
			assert_int_equal(share_book_add(b, 0, &s.spans[next].span), 0);
		share_book_settle(b, 0, T(AFTER));
		for (size_t m = 1; m < members; m++) {
			uint64_t open_ns = T(below(FIRST + 50));

			assert_int_equal(share_book_open(b, open_ns), 0);
			assert_int_equal(share_book_join(b), m);
			make_part(&s, m, open_ns, T(FIRST));
			make_part(&s, m, T(AFTER), T(AFTER + 200));
		}
		for (; next < s.n; next++) {
			assert_int_equal(share_book_add(b, s.spans[next].member, &s.spans[next].span), 0);
			if (below(2))
				share_book_settle(b, s.spans[next].member, s.spans[next].span.start_ns);
			assert_balanced(b);
		}
		copy = share_book_copy(b);
		assert_non_null(copy);
		share_book_settle_all(copy, T(AFTER + 100));
		assert_as_specified(&s, copy);
		share_book_free(copy);
		for (size_t m = members; m-- > 0;)
			share_book_settle(b, m, T(AFTER + 200));
		assert_as_specified(&s, b);
		share_book_free(b);
	}
}

/* Who is behind is waited for only so long; what it says then is counted, and no sum breaks. */
TEST(one_that_is_behind_does_not_hold_memory)
{
	struct share_book *b = share_book_new(0);
	struct share_sum sum;

	assert_int_equal(share_book_join(b), A);
	assert_int_equal(share_book_join(b), B);
	for (uint64_t i = 0; i < 3 * SHARE_WAITING_MAX; i++)
		assert_int_equal(share_book_add(b, A, &(struct share_span){ 10 * i, 10 * i + 5,
									    SHARE_RUNS }), 0);
	share_book_sum(b, &sum);
	assert_true(sum.close_ns >= 2 * 10 * (uint64_t)(SHARE_WAITING_MAX - 1));
	assert_int_equal(share_book_add(b, B, &(struct share_span){ 3, 7, SHARE_RUNS }), 0);
	assert_int_equal(share_book_late_ns(b), 4);
	share_book_settle_all(b, 30 * (uint64_t)SHARE_WAITING_MAX);
	assert_balanced(b);
	assert_int_equal(share_book_member(b, A).owned_ns, 15 * (uint64_t)SHARE_WAITING_MAX);
	share_book_free(b);
}

TEST(unwatched_users_last_as_long_as_samples_report_them)
{
	struct share_book *b = share_book_new(0), *copy;
	struct share_sum sum;

	assert_int_equal(share_book_join(b), A);
	assert_int_equal(share_book_others(b, 10, true, 30), 0);
	assert_int_equal(share_book_others(b, 20, true, 40), 0);	/* said again */
	assert_int_equal(share_book_others(b, 60, true, 70), 0);	/* after a silence */
	copy = share_book_copy(b);
	share_book_settle_all(b, 100);
	share_book_settle_all(copy, 100);
	for (int i = 0; i < 2; i++) {
		share_book_sum(i ? copy : b, &sum);
		assert_int_equal(sum.unwatched_ns, 30 + 10);
		assert_int_equal(sum.idle_ns, 60);
	}
	share_book_free(copy);
	share_book_free(b);
}

TEST_GROUP(random_seed, NULL);

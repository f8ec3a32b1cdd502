// SPDX-License-Identifier: BSD-3-Clause
/* What probes may cost, and what is left out to keep that: probe/budget.h. */
#include "base/time.h"
#include "catalog/catalog.h"
#include "lib/random.h"
#include "lib/test.h"
#include "probe/budget.h"
#include "probe/plan.h"

TEST_GROUP(random_seed, NULL);

#define LOOK_NS (20 * NS_PER_MS)
#define CALL_NS 1000u
#define STEP_NS 16000u
#define SHARE 0.01

/* A session as it goes on: what is decided is done after delay_ns; records: CUPTI has them. */
struct session {
	struct budget *budget;
	struct budget_state state;
	uint64_t ns, delay_ns, off_ns, changed_ns;
	uint64_t nested, silent;
	const uint8_t *outcomes;
	bool probed, has_records, records;
	uint32_t seq[3];
	/* what was paid by thread 1, and the launches of it that were made and probed */
	uint64_t paid_ns, made, seen;
	unsigned int steps;		/* how often the step changed */
};

static uint16_t row_of(const char *function)
{
	for (unsigned int row = 1; row < catalog_n_rows(); row++)
		if (catalog_row(row) == catalog_find(function))
			return (uint16_t)row;
	fail();
	return 0;
}

static struct session begin(double share)
{
	const struct budget_rules rules = { share, CALL_NS, CALL_NS / 2, STEP_NS };
	struct session s = { .budget = budget_new(&rules, NS_PER_SEC), .ns = NS_PER_SEC,
			     .probed = true };

	assert_non_null(s.budget);
	s.state.probes = true;
	return s;
}

static void end(struct session *s)
{
	budget_free(s->budget);
}

static void push(struct session *s, uint32_t tid, uint16_t func)
{
	const struct event ev = { .kind = EVENT_CALL, .func = func, .pid = 1, .tid = tid,
				  .seq = ++s->seq[tid] };

	assert_int_equal(budget_push(s->budget, &ev), 0);
	s->paid_ns += tid == 1 ? CALL_NS : 0;
}

struct rates {			/* per second, of each thread */
	unsigned int launches, others, threads;
};

static bool has_records(void *ctx)
{
	return ((const struct session *)ctx)->has_records;
}

static void look(struct session *s)
{
	const enum budget_step before = s->state.step;
	const bool probes = s->state.probes;
	const struct budget_look l = { s->ns, s->nested, s->silent, s->outcomes, has_records, s };

	s->state = budget_look(s->budget, &l);
	s->steps += s->state.step != before;
	if (s->state.probes != probes)
		s->changed_ns = s->ns;
	if (s->ns >= s->changed_ns + s->delay_ns)
		s->probed = s->state.probes;
	s->records = s->state.step == BUDGET_RECORDS;
}

static void run(struct session *s, const struct rates *r, double seconds)
{
	static uint16_t launch, sync;
	const uint64_t end_ns = s->ns + (uint64_t)(seconds * (double)NS_PER_SEC);

	launch = launch ? launch : row_of("cudaLaunchKernel");
	sync = sync ? sync : row_of("cudaStreamSynchronize");
	while (s->ns < end_ns) {
		for (uint32_t tid = 1; tid <= (r->threads ? r->threads : 1); tid++) {
			const unsigned int n = r->launches / (unsigned int)(NS_PER_SEC / LOOK_NS);

			for (unsigned int i = 0; i < n && s->probed && !s->records; i++)
				push(s, tid, launch);
			s->made += tid == 1 ? n : 0;
			s->seen += tid == 1 && s->probed && !s->records ? n : 0;
			for (unsigned int i = 0; i < r->others / (NS_PER_SEC / LOOK_NS); i++)
				push(s, tid, sync);
		}
		s->ns += LOOK_NS;
		s->off_ns += s->probed ? 0 : LOOK_NS;
		look(s);
	}
}

/* ---- examples of the header ------------------------------------------------------------------ */

TEST_TITLED("budget: from the cost of launches to the step, as the table says", steps)
{
	static const struct {
		struct rates rates;
		double seconds;
		bool has_records;
		enum budget_step step;
	} cases[] = {
		{ { .launches = 8000 }, 600, false, BUDGET_ALL },
		{ { .launches = 8000, .threads = 2 }, 60, false, BUDGET_ALL },
		{ { .launches = 10000, .threads = 2 }, 60, false, BUDGET_PART },
		{ { .launches = 300000 }, 0.04, false, BUDGET_ALL },
		{ { .launches = 300000 }, 0.2, false, BUDGET_PART },
		{ { .launches = 300000 }, 60, false, BUDGET_PART },
		{ { .launches = 300000 }, 20, true, BUDGET_RECORDS },
		{ { .launches = 300000, .others = 10000 }, 20, false, BUDGET_PART },
		{ { .launches = 300000, .others = 10000 }, 60, false, BUDGET_NONE },
		{ { .others = 300000 }, 60, false, BUDGET_ALL },	/* nothing can be left out */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct session s = begin(SHARE);

		s.has_records = cases[i].has_records;
		run(&s, &cases[i].rates, cases[i].seconds);
		if (s.state.step != cases[i].step)
			fail_msg("case %zu: step %s, not %s", i, budget_step_name(s.state.step),
				 budget_step_name(cases[i].step));
		end(&s);
	}
}

TEST_TITLED("budget: a short burst is paid by what was saved, and all launches are seen",
	    burst_is_paid_by_what_was_saved)
{
	struct session s = begin(SHARE);

	for (int i = 0; i < 10; i++) {
		run(&s, &(struct rates){ .launches = 300000 }, 0.06);
		run(&s, &(struct rates){ .launches = 0 }, 2.5);
	}
	assert_int_equal(s.state.step, BUDGET_ALL);
	assert_int_equal(s.steps, 0);
	assert_int_equal(s.seen, s.made);
	end(&s);
}

TEST_TITLED("budget: a step names the thread that paid, how much, and when probes come back",
	    names_what_it_cost)
{
	struct session s = begin(SHARE);

	run(&s, &(struct rates){ .launches = 300000, .others = 5000 }, 0.2);
	assert_int_equal(s.state.pid, 1);
	assert_int_equal(s.state.tid, 1);
	assert_true(s.state.cost > 0.29 && s.state.cost < 0.32);
	assert_true(s.state.others > 0.004 && s.state.others < 0.006);
	assert_false(s.state.probes);
	assert_true(s.state.turn_ns > s.ns + NS_PER_SEC &&
		    s.state.turn_ns < s.ns + 10 * NS_PER_SEC);
	end(&s);
}

/* Looks that are 0.1 s apart are enough while it is far away. */
TEST_TITLED("budget: while probes are on, it is foreseen when the credit is used up", turn)
{
	struct session s = begin(SHARE);

	run(&s, &(struct rates){ .launches = 8000 }, 0.4);
	assert_int_equal(s.state.turn_ns, s.ns);	/* too early to say */
	run(&s, &(struct rates){ .launches = 8000 }, 0.6);
	assert_true(s.state.turn_ns > s.ns + 2 * NS_PER_SEC);
	run(&s, &(struct rates){ .launches = 300000 }, 0.02);
	assert_true(s.state.turn_ns > s.ns + 20 * NS_PER_MS);
	assert_true(s.state.turn_ns < s.ns + 60 * NS_PER_MS);
	run(&s, &(struct rates){ .launches = 0 }, 1);
	assert_true(s.state.turn_ns > s.ns + NS_PER_SEC);
	run(&s, &(struct rates){ .launches = 300000 }, 0.2);
	assert_false(s.state.probes);
	while (!s.state.probes)
		run(&s, &(struct rates){ .launches = 300000 }, 0.02);
	assert_int_equal(s.state.turn_ns, s.ns);
	end(&s);
}

/* ---- up again -------------------------------------------------------------------------------- */

TEST_TITLED("budget: all launches are probed again once that costs little for 30 s",
	    up_again_when_launches_are_few)
{
	struct session s = begin(SHARE);

	run(&s, &(struct rates){ .launches = 300000 }, 10);
	assert_int_equal(s.state.step, BUDGET_PART);
	run(&s, &(struct rates){ .launches = 1000 }, 25);
	assert_int_equal(s.state.step, BUDGET_PART);
	run(&s, &(struct rates){ .launches = 1000 }, 10);
	assert_int_equal(s.state.step, BUDGET_ALL);
	assert_int_equal(s.steps, 2);
	end(&s);
}

/* One that changes all the time: each fall from all doubles the time until the next. */
TEST_TITLED("budget: a rate that changes all the time changes the step a few times", does_not_flap)
{
	struct session s = begin(SHARE);

	for (int i = 0; i < 30; i++) {
		run(&s, &(struct rates){ .launches = 100000 }, 5);
		run(&s, &(struct rates){ .launches = 100 }, 55);
	}
	assert_in_range(s.steps, 1, 6);
	end(&s);
	s = begin(SHARE);
	run(&s, &(struct rates){ .launches = 9200 }, 1800);	/* 0.92 %: just above what is filled */
	assert_in_range(s.steps, 1, 8);
	end(&s);
}

TEST_TITLED("budget: launches are probed again when other calls leave them something",
	    none_ends_when_others_are_few)
{
	struct session s = begin(SHARE);

	run(&s, &(struct rates){ .launches = 300000, .others = 10000 }, 60);
	assert_int_equal(s.state.step, BUDGET_NONE);
	assert_false(s.probed);
	assert_int_equal(s.state.tid, 1);
	assert_true(s.state.cost > 0.29 && s.state.others > 0.009);
	run(&s, &(struct rates){ .launches = 300000, .others = 100 }, 10);
	assert_int_equal(s.state.step, BUDGET_PART);
	end(&s);
}

TEST_TITLED("budget: it is known when calls that cannot be left out cost more than the share",
	    passed_by_others)
{
	struct session s = begin(SHARE);

	run(&s, &(struct rates){ .launches = 1000, .others = 8000 }, 30);
	assert_false(s.state.is_passed);
	run(&s, &(struct rates){ .launches = 1000, .others = 30000 }, 4);
	assert_false(s.state.is_passed);
	run(&s, &(struct rates){ .launches = 1000, .others = 30000 }, 3);
	assert_true(s.state.is_passed);
	assert_true(s.state.others > 0.029 && s.state.others < 0.031);
	assert_int_equal(s.state.tid, 1);
	run(&s, &(struct rates){ .launches = 1000 }, 5);
	assert_false(s.state.is_passed);
	end(&s);
}

/* CUPTI's records end: a process without a helper comes. */
TEST_TITLED("budget: where CUPTI's records end, launches are probed for a part of the time",
	    part_after_records)
{
	struct session s = begin(SHARE);

	s.has_records = true;
	run(&s, &(struct rates){ .launches = 300000 }, 10);
	assert_int_equal(s.state.step, BUDGET_RECORDS);
	assert_true(s.state.probes);
	s.has_records = false;
	for (int i = 0; i < 20; i++) {	/* their probes come back, whatever is wished */
		s.records = false;
		run(&s, &(struct rates){ .launches = 300000 }, 0.02);
	}
	assert_int_equal(s.state.step, BUDGET_PART);
	assert_false(s.state.probes);
	end(&s);
}

/* ---- what holds of any ----------------------------------------------------------------------- */

/* No thread pays more than the share of any 20 s, but for what one fall comes too late for. */
TEST_TITLED("budget: no thread pays more than the share, at whatever rates", share_is_kept)
{
	static const double shares[] = { 0.0005, 0.005, 0.01, 0.05 };

	for (unsigned int i = 0; i < 40; i++) {
		const double share = shares[i % 4];
		struct session s = begin(share);

		s.delay_ns = i % 3 * 60 * NS_PER_MS;
		for (int k = 0; k < 10; k++) {
			const uint64_t before_ns = s.paid_ns, at_ns = s.ns;
			const struct rates rates = {
				.launches = (unsigned int)below(400000),
				.others = (unsigned int)below(
					(uint64_t)(share * 0.8 * NS_PER_SEC / CALL_NS)),
			};
			const double late = (double)rates.launches * CALL_NS / NS_PER_SEC *
					    (double)(s.delay_ns + 2 * LOOK_NS);

			run(&s, &rates, 20);
			assert_true((double)(s.paid_ns - before_ns) <=
				    share * (double)(s.ns - at_ns) + 2 * late + CALL_NS);
		}
		end(&s);
	}
}

/* What is lost, nested or silent costs, too. */
TEST_TITLED("budget: lost, nested and silent hits count", all_traps_count)
{
	struct session lost = begin(SHARE), nested = begin(SHARE), silent = begin(SHARE);

	for (int i = 0; i < 50; i++) {
		lost.seq[1] += 1000;
		run(&lost, &(struct rates){ .launches = 50 }, 0.02);
		nested.nested += 2000;
		run(&nested, &(struct rates){ .launches = 50 }, 0.02);
		silent.silent += 2000;
		run(&silent, &(struct rates){ .launches = 50 }, 0.02);
	}
	assert_int_equal(lost.state.step, BUDGET_PART);
	assert_int_equal(nested.state.step, BUDGET_PART);
	assert_int_equal(silent.state.step, BUDGET_PART);
	end(&lost);
	end(&nested);
	end(&silent);
}

TEST_TITLED("budget: a single step counts", single_steps_count)
{
	static uint8_t outcomes[GP_ROWS_MAX];
	struct session s = begin(SHARE);

	run(&s, &(struct rates){ .launches = 2000 }, 10);
	assert_int_equal(s.state.step, BUDGET_ALL);
	outcomes[row_of("cudaLaunchKernel")] = PLAN_STEPPED;
	s.outcomes = outcomes;
	run(&s, &(struct rates){ .launches = 2000 }, 10);
	assert_int_equal(s.state.step, BUDGET_PART);
	assert_true(s.state.cost > 0.03 && s.state.cost < 0.035);
	end(&s);
}

/* Threads come and go; their numbers are used again. */
TEST_TITLED("budget: threads that end are forgotten", threads_that_end_are_forgotten)
{
	struct session s = begin(SHARE);
	const uint16_t launch = row_of("cudaLaunchKernel");

	for (uint32_t i = 0; i < 100000; i++) {
		struct event ev = { .kind = EVENT_CALL, .func = launch, .pid = 1, .seq = 1,
				    .tid = 2 + i % 3000 };

		assert_int_equal(budget_push(s.budget, &ev), 0);
		ev.kind = EVENT_EXIT;
		ev.seq = 2;
		assert_int_equal(budget_push(s.budget, &ev), 0);
		if (i % 1000 == 999) {
			s.ns += LOOK_NS;
			look(&s);
		}
	}
	assert_int_equal(s.state.step, BUDGET_ALL);
	end(&s);
}

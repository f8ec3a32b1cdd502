// SPDX-License-Identifier: BSD-3-Clause
/* What gpuprof cost the threads: where it is taken from, and how findings blame it. */
#include <string.h>

#include "view/summary.h"
#include "findings/findings.h"
#include "model/own_cost.h"
#include "view_of.h"
#include "model_each.h"

#define MS 1000000ull

BEFORE_EACH
{
	restart(MS);
}

static void fact(const char *key, const char *value)
{
	push(m, (struct event){ .kind = EVENT_FACT, .fact.key = key, .fact.value = value });
}

/* ---- where it is taken from: the examples of own_cost.h ----------------------------------------- */

static const struct {
	uint64_t nested, launches, entries;
	uint64_t call_ns, nested_ns;
	uint64_t launch, other, gpuprof;
} examples[] = {
	{ 0, 10, 0, 6, 0, 70, 20, 60 },
	{ 40, 10, 0, 6, 2, 30, 20, 100 },
	{ 80, 10, 0, 6, 2, 20, 20, 110 },
	{ 0, 0, 10, 6, 0, 100, 0, 50 },
	{ 0, 10, 0, 0, 0, 100, 50, 0 },
	{ UINT64_MAX, 10, 10, UINT64_MAX, UINT64_MAX, 20, 0, 130 },
};

TEST_TITLED("own cost: of a hit half is taken from the call and half from what is around it, " "never more than was on a CPU",
	    what_a_hit_costs_is_taken_from_the_call_and_from_what_is_around_it)
{
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct own_cost c = { .calls = 20, .call_ns = examples[i].call_ns,
				      .nested = examples[i].nested, .nested_ns = examples[i].nested_ns };
		struct book_sum sum = { .open_ns = 0, .close_ns = 150 };

		sum.ns[CLASS_LAUNCH] = 100;
		sum.blocked_ns[CLASS_LAUNCH] = 20;
		sum.ns[CLASS_OTHER] = 50;
		sum.calls[CLASS_LAUNCH] = examples[i].launches;
		sum.calls[CLASS_OTHER] = examples[i].entries;
		own_cost_take(&c, &sum);
		assert_int_equal(sum.ns[CLASS_LAUNCH], examples[i].launch);
		assert_int_equal(sum.ns[CLASS_OTHER], examples[i].other);
		assert_int_equal(sum.ns[BUCKET_GPUPROF], examples[i].gpuprof);
		assert_int_equal(sum.own_ns[CLASS_LAUNCH], 100 - examples[i].launch);
		assert_int_equal(sum.own_ns[CLASS_OTHER], 50 - examples[i].other);
	}
}

/* n calls of 1 us, 10 us apart. */
static void calls(uint16_t func, uint32_t first, uint32_t n)
{
	for (uint32_t seq = first; seq < first + n; seq++)
		push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .func = func, .pid = 7,
					.tid = 7, .seq = seq, .start_ns = MS + seq * 10000ull,
					.end_ns = MS + seq * 10000ull + 1000 });
}

static uint64_t cell_of(const struct table *t, const char *bucket, const char *column)
{
	for (size_t i = 0; i < t->n_rows; i++) {
		const struct cell *row = table_cells(t, i);

		if (!strcmp(row[table_column(t, "bucket")].s, bucket))
			return row[table_column(t, column)].u;
	}
	fail_msg("no bucket %s", bucket);
	return 0;
}

TEST_TITLED("own cost: rows of a thread still add up to its wall time",
	    rows_of_a_thread_still_add_up_to_its_wall_time)
{
	uint64_t sum = 0, wall = 0;
	struct table *t;

	fact("cost_per_hit_ns", "600");
	fact("cost_per_nested_ns", "200");
	fact("nested", "10");
	calls(L, 1, 8);
	calls(S, 9, 2);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = MS + 200000 });
	t = view_at(&view_threads, m, MS + 200000);
	assert_non_null(t);
	for (size_t i = 0; i < t->n_rows; i++) {
		sum += table_cells(t, i)[table_column(t, "ns")].u;
		wall = table_cells(t, i)[table_column(t, "wall_ns")].u;
	}
	assert_int_equal(sum, wall);
	assert_int_equal(cell_of(t, "gpuprof", "ns"), 10 * 600 + 10 * 200);
	assert_int_equal(cell_of(t, "launch", "ns"), 8 * (1000 - 300 - 200));
	assert_int_equal(cell_of(t, "launch", "own_cost_ns"), 8 * (300 + 200));
	assert_int_equal(cell_of(t, "sync", "ns"), 2 * (1000 - 300 - 200));
	assert_int_equal(cell_of(t, "other", "own_cost_ns"), 10 * 300);
	table_free(t);
}

TEST_TITLED("own cost: each interval has that of its own calls",
	    each_interval_has_the_cost_of_its_own_calls)
{
	struct snapshot_thread t;
	struct own_cost c;

	fact("cost_per_hit_ns", "600");
	fact("cost_per_nested_ns", "200");
	calls(L, 1, 8);
	snap_cut(m, MS + 100000);
	calls(L, 10, 3);
	c = cost_of(m);
	assert_true(c.calls_only);
	t = snap_at(m, MS + 200000)->threads.v[0];
	own_cost_take(&c, &t.book);
	assert_int_equal(t.book.ns[BUCKET_GPUPROF], 3 * 600);
}

TEST_TITLED("own cost: an operator costs a call's, one whose return is not probed half of that",
	    operators_are_part_of_the_sum_and_in_no_thread)
{
	struct snapshot_thread t;
	struct own_cost c;
	struct event op = { .kind = EVENT_OP, .pid = 7, .tid = 7, .start_ns = MS + 100, .end_ns = MS + 200,
			    .op.id = 77 };

	fact("cost_per_hit_ns", "600");
	fact("cost_per_nested_ns", "200");
	fact("nested", "0");
	calls(L, 1, 8);
	for (int i = 0; i < 5; i++) {
		op.has = i < 3 ? HAS_END : 0;
		push(m, op);
	}
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = MS + 200000 });
	c = cost_of(m);
	assert_true(c.ops == 3 && c.entries == 2 && !c.calls_only);
	assert_int_equal(own_cost_ns(&c), (8 + 3) * 600 + 2 * 300);
	t = snap_at(m, MS + 200000)->threads.v[0];
	own_cost_take(&c, &t.book);
	assert_int_equal(t.book.ns[BUCKET_GPUPROF], 8 * 600);
}

/* Their bucket is empty: all that they cost is around them. */
TEST_TITLED("own cost: of calls seen at their entry only it is around them",
	    calls_seen_at_their_entry_only_cost_what_is_around_them)
{
	struct snapshot_thread t;

	calls(L, 1, 1);
	push(m, (struct event){ .kind = EVENT_CALL, .func = L, .pid = 7, .tid = 7, .seq = 2,
				.start_ns = MS + 20000, .end_ns = MS + 20000 });
	t = snap_at(m, MS + 30000)->threads.v[0];
	assert_int_equal(t.book.calls[CLASS_LAUNCH], 1);
	assert_int_equal(t.book.calls[CLASS_OTHER], 1);
}

/* ---- what is said of it --------------------------------------------------------------------------- */

static void foot_has(const char *words)
{
	struct strbuf foot = STRBUF_INIT;

	foot_of(&foot, m);
	if (!strstr(foot.s, words))
		fail_msg("'%s' is not in:\n%s", words, foot.s);
	strbuf_free(&foot);
}

TEST_TITLED("own cost: without the number of nested calls it is said to be at least",
	    what_is_not_known_before_the_end_makes_it_at_least)
{
	fact("cost_per_hit_ns", "10");
	fact("cost_per_nested_ns", "5");
	calls(L, 1, 10);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = 2 * MS });
	foot_has("gpuprof cost: at least ~0.01 % of the targets' thread time (estimated: 10 calls "
		 "x 10 ns; calls inside these are not in it: how many there were is known at the "
		 "end, of the whole session)");
	fact("nested", "10");
	foot_has("gpuprof cost: ~0.015 % of the targets' thread time (estimated: 10 calls x 10 ns "
		 "+ 10 nested x 5 ns)");
}

TEST_TITLED("own cost: its share has no exponent and is at most all there was",
	    its_share_has_no_exponent_and_is_not_above_all_there_was)
{
	static const struct {
		const char *each_ns, *words;
	} cases[] = {
		{ "1", "cost: less than 0.01 % of the targets' thread time (estimated" },
		{ "12340", "cost: ~12 % of the targets' thread time (estimated: 10 calls x 12340 ns; in "
			   "threads the bucket gpuprof)" },
		{ "99000", "cost: ~99 % of" },
		{ "110000", "cost: ~100 % of the targets' thread time (the estimate is above what the "
			    "threads had) (estimated: 10 calls" },
	};

	calls(L, 1, 10);
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = 2 * MS });
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fact("cost_per_hit_ns", cases[i].each_ns);
		foot_has(cases[i].words);
	}
}

/* ---- findings --------------------------------------------------------------------------------------- */

static struct finding_stall loss(uint32_t tid, enum stall_kind kind, uint64_t ns, uint64_t own_ns)
{
	return (struct finding_stall){
		.stall = { .key.tid = tid, .key.kind = (uint8_t)kind, .ns = ns, .gaps = 10, .longest_ns = ns },
		.comm = "train", .own_ns = own_ns,
	};
}

/* 2 ms and 1 ms lost by thread 13, 1 ms by thread 14, of 20 ms. */
static struct findings judge(uint64_t own_13_ns, uint64_t own_14_ns, uint64_t kernels)
{
	struct finding_stall rows[] = { loss(13, STALL_LAUNCH, 2 * MS, own_13_ns),
				       loss(13, STALL_LAUNCH, 1 * MS, own_13_ns),
				       loss(14, STALL_LAUNCH, 1 * MS, own_14_ns) };
	struct finding_book b = { .pid = 12, .target = { .pid = 12, .probes = true }, .wall_ns = 20 * MS,
				  .kernels = kernels, .kernels_ns = kernels * 3000, .stalls = rows,
				  .n_stalls = 3 };
	struct findings f = { 0 };

	assert_int_equal(findings_judge(&f, &b), 0);
	return f;
}

static void assert_gain(const struct finding *f, double share, double gain)
{
	assert_float_equal((float)f->share, (float)share, 1e-6f);
	assert_float_equal((float)f->gain_bound, (float)gain, 1e-6f);
}

TEST_TITLED("own cost: a finding says what of it is ours, and that it is not gained",
	    a_finding_says_what_of_it_is_ours_and_that_it_is_not_gained)
{
	struct findings f = judge(MS / 2, MS / 10, 0);

	assert_int_equal(f.all.n, 1);
	assert_gain(&f.all.v[0], 0.2, 0.17);
	assert_non_null(strstr(f.all.v[0].evidence.s,
			       "; up to 600.0 us of that is gpuprof's own cost (estimated)"));
	assert_non_null(strstr(f.all.v[0].next.s, "--filter Launch"));
	assert_string_equal(finding_severity(&f.all.v[0]), "medium");
	findings_free(&f);
	f = judge(MS / 100, 0, 0);		/* a hundredth of it would be worth a word */
	assert_gain(&f.all.v[0], 0.2, 0.2);
	assert_null(strstr(f.all.v[0].evidence.s, "gpuprof"));
	findings_free(&f);
}

TEST_TITLED("own cost: the next command without probes can be typed",
	    the_next_command_without_probes_can_be_typed)
{
	struct next_target target = { .pid = 12, .probes = true };
	struct strbuf out = STRBUF_INIT;

	next_add(&out, NEXT_UNPROBED, &target, NULL);
	assert_string_equal(out.s, "gpuprof stat --attach none -d 10s -p 12");
	strbuf_reset(&out);
	target.ended = true;
	next_add(&out, NEXT_UNPROBED, &target, NULL);
	assert_string_equal(out.s, "");
	target.command = "./train";
	next_add(&out, NEXT_UNPROBED, &target, NULL);
	assert_string_equal(out.s, "gpuprof stat --attach none -- ./train");
	strbuf_free(&out);
}

/* However much it is: not more than each thread lost. */
TEST_TITLED("own cost: what is mostly ours is not the program's fault, and Next goes without probes",
	    what_is_mostly_ours_is_not_the_programs_fault)
{
	struct findings f = judge(900 * MS, 0, 2000);

	assert_int_equal(f.all.n, 2);
	assert_gain(&f.all.v[0], 0.2, 0.05);
	assert_true(finding_is_own(&f.all.v[0]));
	assert_string_equal(finding_severity(&f.all.v[0]), "medium");
	assert_non_null(strstr(f.all.v[0].cause.s, "; most of that may be gpuprof's own cost"));
	assert_string_equal(f.all.v[0].next.s, "gpuprof stat --attach none -d 10s -p 12");
	assert_string_equal(f.all.v[1].name, "small-kernels");
	assert_gain(&f.all.v[1], 0, 0.05);
	findings_free(&f);
	f = judge(900 * MS, 900 * MS, 2000);	/* no small-kernels: a graph would gain nothing */
	assert_int_equal(f.all.n, 1);
	assert_gain(&f.all.v[0], 0.2, 0);
	assert_string_equal(finding_severity(&f.all.v[0]), "low");
	findings_free(&f);
}

#define SAYS(name, fn) { name, fn, NULL, NULL, NULL }

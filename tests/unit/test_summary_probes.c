// SPDX-License-Identifier: BSD-3-Clause
/* What the words under a report say of the probes: what they did not see, what the dear ones cost. */
#include <string.h>

#include "view/summary.h"
#include "view_of.h"
#include "lib/work_named.h"
#include "model_each.h"

BEFORE_EACH
{
	restart(1000000);
}

static void fact(const char *key, const char *value)
{
	push(m, (struct event){ .kind = EVENT_FACT, .fact.key = key, .fact.value = value });
}

/* n calls of func by thread pid of process pid, of 1 us each; without HAS_END at their entry only. */
static void calls(uint32_t pid, uint16_t func, unsigned int n, uint8_t has)
{
	struct event ev = { .kind = EVENT_CALL, .has = has, .func = func, .pid = pid, .tid = pid };

	for (ev.seq = 1; ev.seq <= n; ev.seq++) {
		ev.start_ns = 1000000 + ev.seq * 10000ull;
		ev.end_ns = ev.start_ns + (has & HAS_END ? 1000 : 0);
		push(m, ev);
	}
}

static void foot_has(const char *words, bool wanted)
{
	struct strbuf foot = STRBUF_INIT;

	foot_of(&foot, m);
	if (!!strstr(foot.s, words) != wanted)
		fail_msg("'%s' is %s in:\n%s", words, wanted ? "not" : "there", foot.s);
	strbuf_free(&foot);
}

TEST_TITLED("foot: calls that were seen at their entry only are named by process",
	    calls_seen_at_their_entry_only_are_named_by_process)
{
	fact("returns", "not under seccomp");
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .task.comm = "sand\x1b" "box" });
	calls(7, L, 3, HAS_BYTES);
	calls(8, L, 2, HAS_END | HAS_RESULT);
	foot_has("entry only: 3 calls of pid 7 (sand", true);
	foot_has("\x1b", false);
	foot_has("pid 8", false);
	fact("returns", "all");
	foot_has("entry only", false);
}

/* Within a call it stays the call's. */
TEST_TITLED("foot: time of which no end was told is a bound, not what is booked",
	    time_without_a_recorded_end_is_a_bound_not_a_sum_of_what_is_booked)
{
	push(m, (struct event){ .kind = EVENT_CALL, .has = HAS_END, .func = L, .pid = 7, .tid = 7, .seq = 1,
				.start_ns = 1010000, .end_ns = 1050000 });
	push(m, (struct event){ .kind = EVENT_OFF, .has = HAS_END, .off.reason = OFF_NO_END,
				.pid = 7, .tid = 7,
				.seq = 2, .start_ns = 1055000, .end_ns = 1092000 });
	foot_has("off-CPU: 1 time the kernel did not report that a thread was back on a CPU: for "
		 "at most 37.00 us it is not known whether it ran; what of them is outside calls "
		 "is booked as lost; no call is missing", true);
}

/* Not zero: unknown. */
TEST_TITLED("calls: times and results of such calls are unknown, not zero",
	    their_times_and_results_are_unknown_in_the_table)
{
	static const char *const unknown[] = { "total_ns", "avg_ns", "p99_ns", "max_ns", "errors" };
	struct table *t;

	calls(7, L, 3, HAS_BYTES);
	t = view_now(&view_calls, m);
	assert_non_null(t);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		assert_false(table_cells(t, 0)[table_column(t, unknown[i])].known);
	assert_int_equal(table_cells(t, 0)[table_column(t, "count")].u, 3);
	table_free(t);
}

TEST_TITLED("foot: functions that are not seen are named with the reason",
	    functions_that_are_not_seen_are_named_with_the_reason)
{
	foot_has("not seen: ", false);
	fact("too_dear", "cuA,cuB");
	fact("refused", "cuC");
	fact("cost_per_step_ns", "16100");
	foot_has("not seen: cuA, cuB: their probes would be single-stepped, which adds 16.1", true);
	foot_has("not seen: cuC: the kernel cannot probe how they begin", true);
	fact("too_dear", "a,b,c,d,e,f,g,h,i,j");
	foot_has("not seen: a, b, c, d, e, f, g, h and 2 more (json's not_seen names them): ",
		 true);
	fact("too_dear", "a,b,c,d,e,f,g,h,i,j,+1234 more");
	foot_has("not seen: a, b, c, d, e, f, g, h and 1,236 more (json's not_seen", true);
	fact("too_dear", "a,b,c,d,e,f,g,h,+99999999999999999999 more,+99999999999999999999");
	foot_has("not seen: a, b, c, d, e, f, g, h and 18,446,744,073,709,551,615 more", true);
	fact("too_dear", ",,,");
	foot_has("not seen: , , , : ", true);
}

TEST_TITLED("cost: single-stepped calls cost more, and are counted so",
	    single_stepped_calls_are_part_of_our_own_cost)
{
	struct own_cost cost;

	fact("cost_per_hit_ns", "1000");
	fact("cost_per_step_ns", "500");
	calls(7, L, 4, HAS_END);
	calls(8, C, 2, HAS_END);
	cost = cost_of(m);
	assert_int_equal(own_cost_ns(&cost), 6000);
	fact("stepped", "cudaMemcpyAsync,cudaMemcpy");
	cost = cost_of(m);
	assert_int_equal(cost.stepped, 2);
	assert_int_equal(own_cost_ns(&cost), 7000);
	foot_has("6 calls x 1000 ns + 2 single-stepped x 500 ns", true);
	fact("stepped", "cudaMemcpyAsync,cudaMemcp");
	assert_int_equal(cost_of(m).stepped, 0);
}

/* L and S are the runtime's; a model of its own has a launch of the driver, too. */
static const struct funcs both = {
	.n = 2,
	.v = {
		{ "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 },
		{ "cuLaunchKernel", "cuda", CLASS_LAUNCH, 0 },
	},
};

static void restart_with_both(void)
{
	model_free(m);
	m = model_new(&both);
	push(m, (struct event){ .kind = EVENT_START, .start_ns = 1000000 });
}

TEST_TITLED("foot: says for how long launches had no probes, and what is not seen then",
	    launches_without_probes_are_said)
{
	restart_with_both();
	fact("launch", "auto: of the runtime and of the driver, where they are needed");
	calls(7, 0, 4, HAS_END);
	foot_has("launch:", false);
	fact("launches_by_runtime_ns", "0");
	fact("launches_by_cupti_ns", "0");
	foot_has("launch:", false);
	fact("launches_by_runtime_ns", "2500000000");
	foot_has("launch: probed in the runtime alone for 2.500 s", true);
	foot_has("launch: not probed", false);
	fact("launches_by_cupti_ns", "1500000");
	foot_has("launch: not probed for 1.500 ms, as CUPTI recorded those of all processes", true);
}

TEST_TITLED("foot: says when --launch driver sees no launch",
	    launches_that_the_driver_does_not_show_are_missed_aloud)
{
	restart_with_both();
	fact("launch", "driver: of the driver alone");
	foot_has("launch:", false);
	calls(7, 0, 1, HAS_END);
	foot_has("launch: none was seen in the driver", true);
	calls(8, 1, 1, HAS_END);
	foot_has("launch:", false);
}

TEST_TITLED("foot: works outside of the session contradict nothing, and are said",
	    works_outside_of_the_session_contradict_nothing)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .correlation = 7 };

	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 7, .api.correlation = 7,
				.api.cbid = 211, .api.domain = 5,
				.start_ns = 890000, .end_ns = 891000 });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = 900000, .end_ns = 950000,
				.work = work_named(w, "sgemm") });
	foot_has("outside: 1 works of devices ran before the measuring began", true);
	foot_has("invalid: ", false);
}

/* A thread that no probe saw, and one call inside of which it did. */
TEST_TITLED("foot: calls that no probe saw are said to be in no thread's book",
	    calls_that_no_probe_saw_are_said_to_be_in_no_book)
{
	struct event got = { .kind = EVENT_CUPTI_CALL, .has = HAS_END | HAS_RESULT, .pid = 7, .tid = 7, .func = C,
			      .start_ns = 1010100, .end_ns = 1010200 };

	calls(7, L, 1, HAS_END);
	push(m, got);		/* it is that call */
	foot_has("told:", false);
	got.tid = 8;
	push(m, got);
	foot_has("told: 1 call of functions without a probe is what CUPTI recorded: in calls, and "
		 "in no thread's book", true);
}

// SPDX-License-Identifier: BSD-3-Clause
/* Nodes of graphs whose works did not come: the examples of join/graph_works.h, and what is kept of it. */
#include "join_room.h"

#define GRAPH_LAUNCH 311	/* cudaGraphLaunch */
#define SYNC_CBID 165

static void launch(struct join *j, uint32_t correlation, uint64_t start)
{
	push(j, &(struct event){ .kind = EVENT_API, .pid = 1, .tid = 5, .seq = correlation, .func = GRAPH_LAUNCH,
				 .dir = RUNTIME, .start_ns = start, .end_ns = start + 10 });
}

static void waited(struct join *j, uint64_t start)
{
	push(j, &(struct event){ .kind = EVENT_API, .pid = 1, .tid = 5, .seq = 9000, .func = SYNC_CBID,
				 .dir = RUNTIME, .start_ns = start, .end_ns = start + 1 });
}

static void node_of(struct join *j, uint32_t graph, uint32_t correlation, char id, uint64_t start)
{
	push(j, &(struct event){ .kind = EVENT_WORK, .pid = 1, .start_ns = start, .end_ns = start + 5,
				 .work = &(struct work){ .kind = WORK_KIND_KERNEL, .has = WORK_HAS_GRAPH,
		.correlation = correlation, .graph = graph, .graph_node = (uint64_t)id, .stream = 7,
		.context = 1 } });
}

/* A launch each 100 ns, whose nodes run from 20 ns later on, 10 ns after each other. */
static void run(struct join *j, uint32_t correlation, const char *nodes)
{
	const uint64_t at = BASE + 100 * (uint64_t)correlation;

	launch(j, correlation, at);
	for (size_t i = 0; nodes[i]; i++)
		node_of(j, 3, correlation, nodes[i], at + 20 + 10 * i);
}

static void run_lacking_one(struct join *j)
{
	run(j, 0, "abc");
	run(j, 1, "ac");
	run(j, 2, "abc");
}

static struct join *new_with(struct seen *seen, enum join_graphs graphs)
{
	struct join *j = new_join(seen);

	seen->graphs = graphs;
	push_time(j, EVENT_START, BASE - SEC);
	return j;
}

static void a_node_that_ran_in_another_launch_and_did_not_come_is_lost_once_the_launch_is_over(void **state)
{
	static const struct {
		const char *nodes[3];
		bool sync;
		unsigned int lost, open;
		uint64_t start, end;
	} cases[] = {
		{ { "abc", "ac", "abc" }, false, 1, 0, 100, 220 },
		{ { "ab", "abc", "abc" }, false, 1, 0, 0, 120 },
		{ { "a", "b", "abc" }, false, 4, 0, 0, 220 },
		{ { "abc", "ac", NULL }, false, 0, 1, 0, 0 },
		{ { "abc", "ac", NULL }, true, 1, 0, 100, 135 },
		{ { "ac", "ac", "ac" }, false, 0, 0, 0, 0 },
		{ { "abb", "ab", "abb" }, false, 0, 1, 0, 0 },
		{ { "abc", "", "abc" }, false, 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct seen seen;
		struct join *j = new_with(&seen, JOIN_GRAPHS_ALL);

		for (uint32_t k = 0; k < 3; k++)
			if (cases[i].nodes[k])
				run(j, k, cases[i].nodes[k]);
		if (cases[i].sync)
			waited(j, BASE + 300);
		assert_int_equal(counts_of(j).nodes_lost, 0);
		assert_int_equal(join_end(j), 0);
		assert_int_equal(counts_of(j).nodes_lost, cases[i].lost);
		assert_int_equal(counts_of(j).nodes_open, cases[i].open);
		assert_int_equal(counts_of(j).nodes_unsure, 0);
		if (cases[i].lost) {
			assert_int_equal(seen.untold_start, BASE + cases[i].start);
			assert_int_equal(seen.untold_end, BASE + cases[i].end);
		} else {
			assert_int_equal(seen.untold_end, 0);
		}
		join_free(j);
	}
}

static void where_a_node_need_not_run_or_nobody_knows_it_is_not_lost_but_counted(void **state)
{
	static const enum join_graphs graphs[] = { JOIN_GRAPHS_UNKNOWN, JOIN_GRAPHS_SOME };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct seen seen;
		struct join *j = new_with(&seen, graphs[i]);

		run(j, 0, "abc");
		run(j, 1, "a");
		run(j, 2, "abc");
		assert_int_equal(join_end(j), 0);
		assert_int_equal(counts_of(j).nodes, 7);
		assert_int_equal(counts_of(j).nodes_lost, 0);
		assert_int_equal(counts_of(j).nodes_unsure, i ? 0 : 2);
		assert_int_equal(counts_of(j).nodes_open, i ? 2 : 0);
		assert_int_equal(seen.untold_end, 0);
		join_free(j);
	}
}

static void a_launch_that_lacks_works_holds_the_horizon_up_by_the_window_at_most(void **state)
{
	struct seen seen;
	struct join *j = new_with(&seen, JOIN_GRAPHS_ALL);

	(void)state;
	run_lacking_one(j);
	push_time(j, EVENT_WATERMARK, BASE + 5 * SEC);
	assert_int_equal(seen.horizon, BASE + 100);
	assert_int_equal(counts_of(j).nodes_lost, 0);
	push_time(j, EVENT_WATERMARK, BASE + JOIN_WINDOW_NS + SEC);
	assert_int_equal(counts_of(j).nodes_lost, 1);
	assert_int_equal(seen.horizon, BASE + JOIN_WINDOW_NS);
	join_free(j);
}

static void a_node_that_comes_late_but_within_the_window_is_not_lost(void **state)
{
	struct seen seen;
	struct join *j = new_with(&seen, JOIN_GRAPHS_ALL);

	(void)state;
	run_lacking_one(j);
	push_time(j, EVENT_WATERMARK, BASE + 5 * SEC);
	node_of(j, 3, 1, 'b', BASE + 130);
	push_time(j, EVENT_WATERMARK, BASE + JOIN_WINDOW_NS + SEC);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(counts_of(j).nodes_lost, 0);
	assert_int_equal(counts_of(j).nodes, 9);
	join_free(j);
}

static void what_ran_before_the_session_and_what_is_told_elsewhere_is_not_missed(void **state)
{
	struct seen seen;
	struct join *j = new_join(&seen);

	(void)state;
	seen.graphs = JOIN_GRAPHS_ALL;
	push_time(j, EVENT_START, BASE + 125);
	run(j, 1, "bc");		/* a ended before */
	run(j, 2, "abc");
	run(j, 3, "abc");
	join_goes_on(j);
	run(j, 4, "ab");		/* c is in the next file */
	waited(j, BASE + 500);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(counts_of(j).nodes_lost, 0);
	join_free(j);
}

static void graphs_of_another_number_are_others_also_after_an_exec(void **state)
{
	struct seen seen;
	struct join *j = new_with(&seen, JOIN_GRAPHS_ALL);

	(void)state;
	run(j, 0, "abc");
	push(j, &(struct event){ .kind = EVENT_PROCESS, .pid = 1, .tid = 1, .end_ns = BASE + 90 });
	run(j, 1, "x");
	run(j, 2, "x");
	launch(j, 7, BASE + 300);
	node_of(j, 4, 7, 'z', BASE + 320);
	launch(j, 8, BASE + 400);
	node_of(j, 4, 8, 'z', BASE + 420);
	assert_int_equal(join_end(j), 0);
	assert_int_equal(counts_of(j).nodes_lost, 0);
	assert_int_equal(counts_of(j).nodes_open, 0);
	join_free(j);
}

/* As many as there is room for, and far more: nothing is missed that came, whatever is forgotten. */
static void whatever_comes_no_node_is_lost_that_came(void **state)
{
	struct seen seen;
	struct join *j = new_with(&seen, JOIN_GRAPHS_ALL);
	uint32_t lost = 0;

	(void)state;
	for (uint32_t k = 0; k < 40000; k++) {
		const uint32_t graph = 1 + k % 7, n = 1 + graph * 3;
		const uint64_t at = BASE + 1000 * (uint64_t)k;
		const bool loses = k > 100 && k < 39900 && below(50) == 0;

		launch(j, k, at);
		for (uint32_t i = loses; i < n; i++)
			node_of(j, graph, k, (char)(1 + i), at + 20 + 10 * i);
		lost += loses;
	}
	assert_int_equal(join_end(j), 0);
	assert_true(counts_of(j).nodes_lost + counts_of(j).nodes_open <= lost);
	assert_true(counts_of(j).nodes_lost >= lost - lost / 10);
	join_free(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_node_that_ran_in_another_launch_and_did_not_come_is_lost_once_the_launch_is_over),
		cmocka_unit_test(where_a_node_need_not_run_or_nobody_knows_it_is_not_lost_but_counted),
		cmocka_unit_test(a_launch_that_lacks_works_holds_the_horizon_up_by_the_window_at_most),
		cmocka_unit_test(a_node_that_comes_late_but_within_the_window_is_not_lost),
		cmocka_unit_test(what_ran_before_the_session_and_what_is_told_elsewhere_is_not_missed),
		cmocka_unit_test(graphs_of_another_number_are_others_also_after_an_exec),
		cmocka_unit_test(whatever_comes_no_node_is_lost_that_came),
	};

	return cmocka_run_group_tests(tests, random_seed, NULL);
}

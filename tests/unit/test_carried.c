// SPDX-License-Identifier: BSD-3-Clause
/*
 * What one who has read all of a process's calls says of its graphs' nodes is what another one says who was
 * told so, and read none of them: until the graph is another.
 */
#include "graphs_room.h"

static int tell(void *ctx, const struct graphs_known *known)
{
	return graphs_push_known(ctx, known);
}

/* A second one who was told what the first one knows. */
static void begin_told(struct play *p, const struct play *by, uint64_t since_ns)
{
	begin_play(p);
	p->now_ns = by->now_ns;
	assert_int_equal(graphs_each_known(by->g, since_ns, tell, p->g), 0);
}

static const struct node gemm = { 5, 50, "gemm", 4 }, relu = { 5, 51, "relu", 8 };

static void what_is_known_by_order_is_known_where_it_is_told(void **state)
{
	struct play first, later;
	struct launch l;
	uint64_t began[2];

	(void)state;
	begin_play(&first);
	capture_two(&first, began);
	make(&first, 200, 100);
	begin_told(&later, &first, 0);
	l = launch(&later, 200);
	assert_int_equal(of(&later, &l, gemm), 0);	/* it was not known yet */
	end_play(&later);
	is_of_two(&first, 200, 5, 50, began);
	begin_told(&later, &first, 0);
	l = launch(&later, 200);
	assert_int_equal(of(&later, &l, gemm), began[0]);
	assert_int_equal(of(&later, &l, relu), began[1]);
	assert_int_equal(of(&later, &l, (struct node){ 5, 51, "relu", 9 }), 0);	/* changed */
	assert_int_equal(of(&later, &l, (struct node){ 5, 52, "relu", 8 }), 0);
	end_play(&later);
	begin_told(&later, &first, first.now_ns);	/* nothing is as new */
	l = launch(&later, 200);
	assert_int_equal(of(&later, &l, gemm), 0);
	end_play(&later);
	end_play(&first);
}

static void what_changes_the_graph_ends_what_was_told(void **state)
{
	static const struct {
		enum graph_role role;
		struct event ev;
		bool ends;
	} changes[] = {
		{ ROLE_UPDATE, { .has = HAS_ENTITY, .entity = 200, .address = 101 }, true },
		{ ROLE_FORGET_EXEC, { .has = HAS_ENTITY, .entity = 200 }, true },
		{ ROLE_MAKE, { .has = HAS_ENTITY, .entity = 101, .address = 200 }, true },
		{ ROLE_UPDATE, { .has = HAS_ENTITY, .entity = 201, .address = 101 }, false },
		{ ROLE_FORGET_EXEC, { .has = HAS_ENTITY, .entity = 0 }, false },
		{ ROLE_FORGET, { .has = HAS_ENTITY, .entity = 100 }, false },
	};
	struct play first, later;
	uint64_t began[2];

	(void)state;
	begin_play(&first);
	capture_two(&first, began);
	make(&first, 200, 100);
	is_of_two(&first, 200, 5, 50, began);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct launch l;

		begin_told(&later, &first, 0);
		call(&later, changes[i].role, changes[i].ev);
		l = launch(&later, 200);
		assert_int_equal(of(&later, &l, gemm), changes[i].ends ? 0 : began[0]);
		end_play(&later);
	}
	begin_told(&later, &first, 0);
	graphs_exec(later.g, later.now_ns);
	assert_int_equal(later.room.made_left, GRAPHS_MADE_MAX);
	end_play(&later);
	/* Of a graph that was another once it is not said. */
	call(&first, changes[0].role, changes[0].ev);
	begin_told(&later, &first, 0);
	assert_int_equal(later.room.made_left, GRAPHS_MADE_MAX);
	end_play(&later);
	end_play(&first);
}

static void what_callbacks_told_goes_before_what_order_says(void **state)
{
	const struct graphs_known order = { .node = 50, .exec = 200, .evidence = EVIDENCE_ORDER,
					    .call = { .tid = 1, .settled = true } };
	struct graphs_known callback = { .node = 50, .evidence = EVIDENCE_CALLBACK,
					 .call = { .tid = 2, .settled = true } };
	const struct captured_call *call;
	struct play p;

	(void)state;
	begin_play(&p);
	assert_int_equal(graphs_push_known(p.g, &order), 0);
	assert_int_equal(graphs_find_node(p.g, 50, &call), EVIDENCE_ORDER);
	assert_int_equal(graphs_push_known(p.g, &callback), 0);
	assert_int_equal(graphs_push_known(p.g, &order), 0);
	assert_int_equal(graphs_find_node(p.g, 50, &call), EVIDENCE_CALLBACK);
	assert_int_equal(call->tid, 2);
	callback.call.tid = 3;			/* the newest */
	assert_int_equal(graphs_push_known(p.g, &callback), 0);
	assert_int_equal(graphs_find_node(p.g, 50, &call), EVIDENCE_CALLBACK);
	assert_int_equal(call->tid, 3);
	assert_int_equal(graphs_find_node(p.g, 51, &call), EVIDENCE_UNRESOLVED);
	end_play(&p);
}

static void what_has_no_room_is_not_known(void **state)
{
	struct graphs_known k = { .evidence = EVIDENCE_CALLBACK };
	const struct captured_call *call;
	struct play p;

	(void)state;
	begin_play(&p);
	p.room.made_left = 2;
	for (k.node = 1; k.node <= 3; k.node++)
		assert_int_equal(graphs_push_known(p.g, &k), 0);
	assert_int_equal(graphs_find_node(p.g, 2, &call), EVIDENCE_CALLBACK);
	assert_int_equal(graphs_find_node(p.g, 3, &call), EVIDENCE_UNRESOLVED);
	graphs_free(p.g);
	assert_int_equal(p.room.made_left, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_known_by_order_is_known_where_it_is_told),
		cmocka_unit_test(what_changes_the_graph_ends_what_was_told),
		cmocka_unit_test(what_callbacks_told_goes_before_what_order_says),
		cmocka_unit_test(what_has_no_room_is_not_known),
	};

	return cmocka_run_group_tests(tests, random_seed, NULL);
}

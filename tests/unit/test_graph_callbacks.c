// SPDX-License-Identifier: BSD-3-Clause
/*
 * Nodes of graphs and the calls that made them (join/graph_callbacks.h): the examples of its header, bounds,
 * and random programs against a list of all calls. TEST_SEED repeats a run.
 */
#include <stdlib.h>

#include "join/graphs.c"
#include "lib/random.h"
#include "lib/test.h"

#define SEC 1000000000ull

static uint32_t range_of(const void *ctx, uint32_t tid, uint64_t ns)
{
	(void)ctx;
	(void)ns;
	return tid + 100;
}

static struct graph_callbacks *begin(struct graphs_room *room)
{
	struct graph_callbacks *n;

	*room = (struct graphs_room){ .made_left = GRAPHS_MADE_MAX };
	n = graph_callbacks_new(room);
	assert_non_null(n);
	return n;
}

static void end(struct graph_callbacks *n, const struct graphs_room *room)
{
	graph_callbacks_free(n);
	assert_int_equal(room->made_left, GRAPHS_MADE_MAX);
}

static void node(struct graph_callbacks *n, uint64_t id, uint32_t tid, uint64_t ns)
{
	assert_int_equal(graph_callbacks_push_node(n, &(struct event){ .kind = EVENT_NODE,
								       .node.id = id,
								  .tid = tid, .start_ns = ns }), 0);
}

static void clone(struct graph_callbacks *n, uint64_t id, uint64_t original)
{
	assert_int_equal(graph_callbacks_push_node(n, &(struct event){ .kind = EVENT_NODE,
								       .node.id = id,
								  .node.original = original }), 0);
}

static int call(struct graph_callbacks *n, uint32_t tid, uint64_t start, bool captured)
{
	return graph_callbacks_push_call(n, &(struct event){ .kind = EVENT_CALL, .tid = tid, .start_ns = start,
							.end_ns = start + 10 }, ROLE_KERNEL, captured);
}

/* When its call began; 0: it is not known, 1: not yet. */
static uint64_t of(const struct graph_callbacks *n, uint64_t id)
{
	const struct captured_call *c;

	switch (graph_callbacks_find(n, id, &c)) {
	case EVIDENCE_CALLBACK:
		assert_int_equal(c->range, c->tid + 100);
		return c->start_ns;
	case EVIDENCE_PENDING:
		return 1;
	default:
		return 0;
	}
}

TEST(whichever_comes_first_a_node_is_of_the_call_that_its_thread_was_in)
{
	for (int nodes_first = 0; nodes_first < 2; nodes_first++) {
		struct graphs_room room;
		struct graph_callbacks *n = begin(&room);

		if (!nodes_first)
			assert_int_equal(call(n, 7, 1000, true), 0);
		node(n, 5, 7, 1003);
		clone(n, 6, 5);
		node(n, 8, 7, 1007);		/* a library's second */
		node(n, 9, 7, 1025);		/* after it */
		node(n, 10, 8, 1005);		/* another thread's */
		clone(n, 11, 4);		/* of no call */
		if (nodes_first)
			assert_int_equal(call(n, 7, 1000, false), 1);
		assert_true(n->waiting.n);
		graph_callbacks_settle(n, 2000, range_of, NULL);
		assert_int_equal(of(n, 5), 1);
		assert_int_equal(of(n, 9), 1);
		assert_int_equal(of(n, 11), 0);
		graph_callbacks_settle(n, 2 * SEC, range_of, NULL);
		assert_int_equal(of(n, 5), 1000);
		assert_int_equal(of(n, 8), 1000);
		assert_int_equal(of(n, 9), 0);
		assert_int_equal(of(n, 10), 0);
		assert_int_equal(of(n, 6), 1000);
		assert_false(n->waiting.n);
		end(n, &room);
	}
}

/* As CUPTI reports clones: they are made, by the call that instantiates, and then said to be clones. */
TEST(a_node_reported_as_a_clone_is_one)
{
	struct graphs_room room;
	struct graph_callbacks *n = begin(&room);

	node(n, 5, 7, 1003);
	assert_int_equal(call(n, 7, 1000, false), 1);
	node(n, 6, 7, 1500);
	clone(n, 6, 5);
	clone(n, 7, 6);
	clone(n, 7, 7);
	graph_callbacks_settle(n, 2 * SEC, range_of, NULL);
	assert_int_equal(of(n, 6), 1000);
	assert_int_equal(of(n, 7), 1000);
	end(n, &room);
}

TEST(the_oldest_nodes_make_room_for_new_ones)
{
	struct graphs_room room;
	struct graph_callbacks *n = begin(&room), *other = graph_callbacks_new(&room);

	room.made_left = 4;
	for (uint64_t i = 1; i <= 100; i++) {
		node(n, i, 7, 1000 * i + 5);
		assert_int_equal(call(n, 7, 1000 * i, false), 1);
	}
	node(other, 1, 7, 5);		/* has none to forget */
	clone(n, 200, 97);		/* the oldest, which is forgotten for it */
	graph_callbacks_settle(n, 2 * SEC, range_of, NULL);
	assert_int_equal(of(n, 96), 0);
	assert_int_equal(of(n, 97), 0);
	assert_int_equal(of(n, 98), 98000);
	assert_int_equal(of(n, 200), 97000);
	assert_int_equal(of(other, 1), 0);
	graph_callbacks_free(other);
	room.made_left += GRAPHS_MADE_MAX - 4;
	end(n, &room);
}

TEST(endless_input_needs_bounded_memory)
{
	struct graphs_room room;
	struct graph_callbacks *n = begin(&room);

	for (uint64_t i = 1; i < 400000; i++) {
		node(n, i, (uint32_t)below(3), SEC + below(1000000));	/* of no call */
		if (!(i % 3))
			assert_in_range(call(n, 4, SEC + i * 20, true), 0, 1);
		if (!(i % 100000))
			graph_callbacks_settle(n, SEC * (i / 100000), range_of, NULL);
	}
	end(n, &room);
}

#define CALLS 400

/* Each call's start, or 0. */
struct spec {
	uint64_t node[2 * CALLS];
};

TEST(random_programs_match_their_model)
{
	for (int round = 0; round < 50; round++) {
		struct graphs_room room;
		struct graph_callbacks *n = begin(&room);
		struct spec spec = { .node = { 0 } };
		uint64_t late_call[CALLS] = { 0 }, ids = 1, late = 0;

		for (uint64_t i = 0; i < CALLS; i++) {
			uint32_t tid = 1 + (uint32_t)(i % 3);
			uint64_t start = 1000 + 20 * i, id = ids;
			bool lost = !below(10), first = below(2);

			if (first && !lost)
				call(n, tid, start, true);
			if (below(4)) {
				node(n, ids++, tid, start + below(11));
				spec.node[id] = lost ? 0 : start;
			}
			if (ids > 2 && ids < 2 * CALLS - 2 && !below(3)) {
				uint64_t original = 1 + below(ids - 1);

				clone(n, ids, original);
				spec.node[ids++] = spec.node[original];
			}
			if (!first && !lost)
				late_call[late++] = i;
			while (late && (below(3) || i == CALLS - 1)) {
				uint64_t at = late_call[--late];

				call(n, 1 + (uint32_t)(at % 3), 1000 + 20 * at, false);
			}
		}
		graph_callbacks_settle(n, 3 * SEC, range_of, NULL);
		for (uint64_t id = 1; id < ids; id++)
			assert_int_equal(of(n, id), spec.node[id]);
		end(n, &room);
	}
}

TEST_GROUP(random_seed, NULL);

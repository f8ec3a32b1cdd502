// SPDX-License-Identifier: BSD-3-Clause
/*
 * Graphs: a node that is said to be of a captured call is of that one. The examples of join/graphs.h,
 * what becomes of graphs that are made again, updated, ended, and random programs whose records and
 * calls are lost: then nothing is said rather than anything wrong. TEST_SEED repeats a run.
 */
#include "graphs_room.h"
#include "join/graphs.h"
#include "lib/test.h"
#include "lib/work_named.h"

/* ---- worked examples -------------------------------------------------------------------------- */

static struct play p;

BEFORE_EACH
{
	begin_play(&p);
}

AFTER_EACH
{
	end_play(&p);
}

static void restart(void)
{
	end_play(&p);
	begin_play(&p);
}

/* The graph of two as the executable graph 200, whose nodes were seen. A launch of it. */
static struct launch play_two(uint64_t began[2])
{
	capture_two(&p, began);
	make(&p, 200, 100);
	is_of_two(&p, 200, 5, 50, began);
	return launch(&p, 200);
}

TEST(nodes_are_the_calls_in_their_order)
{
	struct launch l;
	uint64_t began[2];

	kernel(&p, 1, 0x10, 4);		/* not captured */
	capture_two(&p, began);
	kernel(&p, 1, 0x10, 4);
	make(&p, 200, 100);
	is_of_two(&p, 200, 5, 50, began);
	make(&p, 201, 100);		/* of the same capture */
	is_of_two(&p, 201, 6, 60, began);
	call(&p, ROLE_FORGET, (struct event){ .call.entity = 100 });
	l = launch(&p, 201);
	assert_int_equal(of(&p, &l, (struct node){ 6, 60, "gemm", 4 }), began[0]);
}

TEST(a_stream_that_waits_for_one_that_captures_captures_too)
{
	uint64_t began[3];
	struct launch l;

	record(&p, 0xe0, 3);		/* of no capture: who waits for it captures nothing */
	begin(&p, 1);
	began[0] = kernel(&p, 1, 0x10, 4);
	record(&p, 0xe1, 1);
	wait(&p, 2, 0xe1);
	wait(&p, 3, 0xe0);
	kernel(&p, 3, 0x30, 16);	/* runs at once */
	began[1] = kernel(&p, 2, 0x20, 8);
	record(&p, 0xe2, 2);
	wait(&p, 1, 0xe2);
	began[2] = copy(&p, 1, 4096);
	end(&p, 1, 100);
	make(&p, 200, 100);
	l = launch(&p, 200);
	of(&p, &l, (struct node){ 5, 50, "gemm", 4 });
	of(&p, &l, (struct node){ 5, 51, "relu", 8 });
	of(&p, &l, (struct node){ 5, 52, NULL, 4096 });
	l = launch(&p, 200);
	assert_int_equal(of(&p, &l, (struct node){ 5, 50, "gemm", 4 }), began[0]);
	assert_int_equal(of(&p, &l, (struct node){ 5, 51, "relu", 8 }), began[1]);
	assert_int_equal(of(&p, &l, (struct node){ 5, 52, NULL, 4096 }), began[2]);
	kernel(&p, 2, 0x20, 8);		/* the capture is over for S2 too */
}

TEST(inconsistent_records_are_rejected)
{
	static const struct node others[][2] = {
		{ { 5, 50, "gemm", 4 }, { 5, 51, "relu", 9 } },	/* another grid */
		{ { 5, 50, "gemm", 4 }, { 5, 51, NULL, 8 } },	/* a copy */
		{ { 5, 50, "relu", 8 }, { 5, 51, "gemm", 4 } },	/* another order */
	};

	for (size_t i = 0; i < 3; i++) {
		uint64_t began[2];
		struct launch l;

		restart();
		capture_two(&p, began);
		make(&p, 200, 100);
		for (int k = 0; k < 3; k++) {
			l = launch(&p, 200);
			assert_int_equal(of(&p, &l, others[i][0]), 0);
			assert_int_equal(of(&p, &l, others[i][1]), 0);
		}
	}
}

TEST(a_kernel_has_one_name)
{
	struct launch l;

	begin(&p, 1);
	kernel(&p, 1, 0x10, 4);
	kernel(&p, 1, 0x10, 4);
	end(&p, 1, 100);
	make(&p, 200, 100);
	for (int k = 0; k < 2; k++) {
		l = launch(&p, 200);
		assert_int_equal(of(&p, &l, (struct node){ 5, 50, "gemm", 4 }), 0);
		assert_int_equal(of(&p, &l, (struct node){ 5, 51, "relu", 4 }), 0);
	}
}

TEST(an_ambiguous_capture_is_unresolved)
{
	static const enum func_role spoils[] = { ROLE_SPOIL, ROLE_LAUNCH };

	for (size_t i = 0; i < 3; i++) {
		struct launch l;

		restart();
		begin(&p, 1);
		kernel(&p, 1, 0x10, 4);
		if (i < 2)
			call(&p, spoils[i], (struct event){ .has = HAS_STREAM, .call.stream = 1 });
		else
			graphs_lost(p.g, p.tid);
		end(&p, 1, 100);
		make(&p, 200, 100);
		l = launch(&p, 200);
		assert_int_equal(of(&p, &l, (struct node){ 5, 50, "gemm", 4 }), 0);
	}
}

TEST(an_update_brings_the_calls_of_another_capture)
{
	uint64_t began[2], again[2];
	struct launch old, l;

	old = play_two(began);
	begin(&p, 2);
	again[0] = kernel(&p, 2, 0x10, 40);
	again[1] = kernel(&p, 2, 0x20, 80);
	end(&p, 2, 101);
	call(&p, ROLE_UPDATE, (struct event){ .call.entity = 200, .call.address = 101 });
	l = launch(&p, 200);
	assert_int_equal(of(&p, &old, (struct node){ 5, 50, "gemm", 4 }), began[0]);
	assert_int_equal(of(&p, &l, (struct node){ 5, 50, "gemm", 40 }), again[0]);
	assert_int_equal(of(&p, &l, (struct node){ 5, 51, "relu", 80 }), again[1]);
	assert_int_equal(of(&p, &l, (struct node){ 5, 51, "relu", 8 }), 0);
	call(&p, ROLE_UPDATE, (struct event){ .call.entity = 200,
					      .call.address = 555 });	/* of a call that was not seen */
	l = launch(&p, 200);
	assert_int_equal(of(&p, &l, (struct node){ 5, 50, "gemm", 40 }), 0);
}

TEST(a_handle_that_is_used_again_is_another_graph)
{
	uint64_t began[2];
	struct launch l, old;

	old = play_two(began);
	call(&p, ROLE_FORGET_EXEC, (struct event){ .call.entity = 200 });
	begin(&p, 1);
	copy(&p, 1, 64);
	end(&p, 1, 100);
	make(&p, 200, 100);
	l = launch(&p, 200);
	assert_int_equal(of(&p, &l, (struct node){ 6, 70, NULL, 64 }), 0);
	l = launch(&p, 200);
	assert_int_not_equal(of(&p, &l, (struct node){ 6, 70, NULL, 64 }), 0);
	assert_int_equal(of(&p, &old, (struct node){ 5, 50, "gemm", 4 }), began[0]);
	p.now_ns += 2 * JOIN_WINDOW_NS;
	make(&p, 201, 100);		/* the first is forgotten now */
	assert_int_equal(of(&p, &old, (struct node){ 5, 50, "gemm", 4 }), 0);
}

TEST(graphs_that_were_there_before_are_unresolved)
{
	struct launch l;

	for (int i = 0; i < 100; i++) {
		l = launch(&p, 200);
		assert_int_equal(of(&p, &l, (struct node){ 5, 50, "gemm", 4 }), 0);
	}
}

static uint32_t range_of(const void *ctx, uint32_t tid, uint64_t ns)
{
	(void)tid;
	return ns < *(const uint64_t *)ctx ? 3 : 4;
}

TEST(open_ranges_of_a_launch_are_found_later)
{
	uint64_t began[2], border;
	struct launch l;
	const struct captured_call *c;
	const struct work w = { .kind = WORK_KIND_KERNEL, .has = WORK_HAS_GRAPH, .graph = 5,
				.graph_node = 50, .grid = { 4, 1, 1 }, .block = { 32, 1, 1 } };
	const struct event ev = { .kind = EVENT_WORK, .work = work_named(w, "gemm") };
	int err;

	capture_two(&p, began);
	border = began[1];
	make(&p, 200, 100);
	graphs_settle(p.g, p.now_ns, range_of, &border);
	is_of_two(&p, 200, 5, 50, began);
	l = launch(&p, 200);
	assert_int_equal(graphs_push_work(p.g, &ev, &l, &c, &err), EVIDENCE_ORDER);
	assert_int_equal(c->range, 0);
	graphs_settle(p.g, p.now_ns + 10 * SEC, range_of, &border);
	assert_int_equal(graphs_push_work(p.g, &ev, &l, &c, &err), EVIDENCE_ORDER);
	assert_int_equal(c->range, 3);
}

static uint32_t nothing(const void *ctx, uint32_t tid, uint64_t ns)
{
	(void)ctx;
	(void)tid;
	(void)ns;
	return 0;
}

TEST(a_node_known_by_callback_has_its_call_from_the_first_launch_on)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .has = WORK_HAS_GRAPH, .graph = 5,
				.graph_node = 51, .grid = { 8, 1, 1 }, .block = { 32, 1, 1 } };
	const struct event ev = { .kind = EVENT_WORK, .work = work_named(w, "relu") };
	const struct captured_call *c;
	uint64_t began[2];
	struct launch l;
	int err;

	capture_two(&p, began);
	for (uint64_t i = 0; i < 2; i++) {
		graph_callbacks_push_node(graphs_callbacks(p.g), &(struct event){ .node.id = 40 + i, .tid = p.tid,
						       .start_ns = began[i] + 5 });
		graph_callbacks_push_node(graphs_callbacks(p.g), &(struct event){ .node.id = 50 + i,
						       .node.original = 40 + i });
	}
	make(&p, 200, 100);
	l = launch(&p, 200);
	assert_int_equal(graphs_push_work(p.g, &ev, &l, &c, &err), EVIDENCE_PENDING);
	assert_int_equal(graph_callbacks_find(graphs_callbacks(p.g), 51, &c), EVIDENCE_PENDING);
	graphs_settle(p.g, p.now_ns + 2 * SEC, nothing, NULL);
	assert_int_equal(graph_callbacks_find(graphs_callbacks(p.g), 51, &c), EVIDENCE_CALLBACK);
	assert_int_equal(graphs_push_work(p.g, &ev, &l, &c, &err), EVIDENCE_CALLBACK);
	assert_int_equal(c->start_ns, began[1]);
}

/* ---- random programs -------------------------------------------------------------------------- */

#define NODES 6

/* Kernels of few kinds, so that what is shifted would often fit. */
static void play_at_random(bool lossy, uint64_t *got)
{
	uint64_t began[NODES];
	struct node nodes[NODES];
	unsigned int n = 1 + (unsigned int)below(NODES);

	restart();
	p.lossy = lossy;
	begin(&p, 1);
	record(&p, 0xe1, 1);
	wait(&p, 2, 0xe1);
	for (unsigned int i = 0; i < n; i++) {
		uint64_t which = below(2), stream = 1 + below(2);

		nodes[i] = (struct node){ 5, 50 + 2 * i, which ? "gemm" : "relu", 4 };
		began[i] = kernel(&p, stream, which, 4);
	}
	end(&p, 1, 100);
	make(&p, 200, 100);
	for (int k = 0; k < 4; k++) {
		struct launch l = launch(&p, 200);

		for (unsigned int i = 0; i < n; i++) {
			uint64_t is;

			if (lossy && !below(8))
				continue;
			is = of(&p, &l, nodes[i]);
			assert_true(!is || is == began[i]);
			*got += is != 0;
		}
	}
}

TEST(results_are_true_whatever_is_lost)
{
	uint64_t got[2] = { 0, 0 };

	for (int i = 0; i < 2000; i++)
		play_at_random(i % 2, &got[i % 2]);
	assert_true(got[0] > 1000 * 3 && got[1] > 1000);
}

/* Any calls in any order, on a few handles. */
TEST(any_calls_are_survived)
{
	static const uint64_t any = 0;

	for (int round = 0; round < random_rounds(200); round++) {
		struct launch l = { .tid = 7 };

		restart();
		p.room.calls_left = p.room.nodes_left = 40;
		for (int i = 0; i < 400; i++) {
			p.tid = 7 + (uint32_t)below(2);
			l.start_ns = call(&p, (enum func_role)below(ROLE_GRAPHS_END), (struct event){
				.has = (uint8_t)random_next(), .call.result = !below(8),
				.call.stream = below(4),
				.call.entity = below(4), .call.address = below(4),
				.call.bytes = below(3),
				.call.shape = { .grid = { 4, 1, 1 }, .block = { 32, 1, 1 } } });
			l.end_ns = l.start_ns + below(20);
			l.works = (uint32_t)below(2);
			of(&p, &l, (struct node){ (uint32_t)below(4), below(8), "gemm", 4 });
			if (!below(50))
				p.now_ns += JOIN_WINDOW_NS;
			if (!below(50))
				graphs_settle(p.g, p.now_ns, range_of, &any);
		}
		graphs_free(p.g);
		assert_int_equal(p.room.calls_left, 40);
		assert_int_equal(p.room.nodes_left, 40);
		begin_play(&p);
	}
}

TEST(a_graph_over_the_node_limit_is_unresolved)
{
	uint64_t began[2];

	p.room.nodes_left = 0;
	begin(&p, 1);
	end(&p, 1, 100);		/* no calls */
	make(&p, 200, 100);
	capture_two(&p, began);
	make(&p, 201, 100);
	for (uint64_t i = 0; i < 4; i++) {
		struct launch l = launch(&p, 200 + i % 2);

		assert_int_equal(of(&p, &l, (struct node){ 5 + (uint32_t)(i % 2), 50, "gemm", 4 }), 0);
	}
	p.room.nodes_left = GRAPHS_NODES_MAX;
}

TEST(updates_without_end_need_no_more_room)
{
	uint64_t began[2], left = 0;
	const uint64_t border = 0;
	struct launch l;

	capture_two(&p, began);
	make(&p, 200, 100);
	is_of_two(&p, 200, 5, 50, began);
	for (int i = 0; i < 100; i++) {
		capture_two(&p, began);
		call(&p, ROLE_UPDATE, (struct event){ .call.entity = 200, .call.address = 100 });
		graphs_settle(p.g, p.now_ns + 10 * SEC, range_of, &border);
		if (i == 50)
			left = p.room.calls_left;
	}
	assert_int_equal(p.room.calls_left, left);
	l = launch(&p, 200);
	assert_int_equal(of(&p, &l, (struct node){ 5, 50, "gemm", 4 }), began[0]);
}

TEST_GROUP(random_seed, NULL);

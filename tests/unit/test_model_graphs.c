// SPDX-License-Identifier: BSD-3-Clause
/*
 * The model's kernels by launch: each has its captured call, however late its record comes, or in which range
 * it was; and one that is never recorded is unresolved.
 */
#include "facts/kernel_configs.h"
#include "lib/work_named.h"
#include "model_each.h"

#define BASE 1000000000000ull
#define SEC 1000000000ull

BEFORE_EACH
{
	restart(BASE);
	model_use_launches(m);
}

static void node(uint64_t id, uint64_t original, uint64_t at)
{
	push(m, (struct event){ .kind = EVENT_NODE, .pid = 7, .tid = 8, .node.id = id,
				.node.original = original, .start_ns = BASE + at });
}

/* A launch [100, 110) of a graph of the nodes, whose kernels ran after it. */
static void launch(const uint64_t *nodes, size_t n)
{
	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 8, .api.correlation = 31,
				.api.cbid = 311, .api.domain = 5,
				.start_ns = BASE + 100, .end_ns = BASE + 110 });
	for (size_t i = 0; i < n; i++) {
		const struct work w = { .kind = WORK_KIND_KERNEL, .has = WORK_HAS_GRAPH, .graph = 3,
					.graph_node = nodes[i], .correlation = 31,
					.grid = { 4, 1, 1 }, .block = { 32, 1, 1 } };

		push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = BASE + 120 + i,
					.end_ns = BASE + 130 + i, .work = work_named(w, "gemm") });
	}
}

static void watermark(uint64_t at)
{
	push(m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + at });
}

static const struct kernel_config *row_of(enum graph_evidence evidence)
{
	const struct kernel_configs *l = snap_of(m)->kernel_configs;

	for (size_t i = 0; i < kernel_configs_count(l); i++)
		if (kernel_configs_at(l, i)->key.evidence == evidence)
			return kernel_configs_at(l, i);
	return NULL;
}

TEST(a_kernel_waits_for_the_call_that_its_node_was_made_by)
{
	const uint64_t nodes[] = { 5, 5, 6, 9 };
	const struct kernel_config *r;

	node(1, 0, 15);
	node(5, 1, 50);
	node(2, 0, 60);	/* in no call */
	node(6, 2, 70);
	launch(nodes, 4);
	watermark(5);
	r = row_of(EVIDENCE_UNRESOLVED);
	assert_non_null(r);
	assert_int_equal(r->count, 1);	/* node 9 has no record */
	assert_int_equal(kernel_configs_count(snap_of(m)->kernel_configs), 1);
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = 1, .func = L,
				.start_ns = BASE + 10, .end_ns = BASE + 20 });
	watermark(1000);
	assert_null(row_of(EVIDENCE_CALLBACK));	/* its open ranges are not known yet */
	watermark(3 * SEC);
	r = row_of(EVIDENCE_CALLBACK);
	assert_non_null(r);
	assert_int_equal(r->count, 2);
	assert_int_equal(r->key.func, L);
	assert_int_equal(r->key.tid, 8);
	assert_int_equal(r->total_ns, 20);
	assert_int_equal(row_of(EVIDENCE_UNRESOLVED)->count, 2);
	assert_int_equal(kernel_configs_count(snap_of(m)->kernel_configs), 2);
}

TEST(another_program_has_other_nodes_of_the_same_numbers)
{
	const uint64_t nodes[] = { 1, 2 };

	node(1, 0, 15);
	node(2, 0, 55);	/* the other program's, which is recorded later */
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = 1, .func = L,
				.start_ns = BASE + 10, .end_ns = BASE + 20 });
	push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 8, .seq = 2, .func = L,
				.start_ns = BASE + 50, .end_ns = BASE + 60 });
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 7, .tid = 7, .start_ns = BASE,
				.end_ns = BASE + 30 });
	watermark(70);
	launch(nodes, 2);
	watermark(3 * SEC);
	assert_int_equal(row_of(EVIDENCE_CALLBACK)->count, 1);
	assert_int_equal(row_of(EVIDENCE_UNRESOLVED)->count, 1);
}

TEST(at_the_end_nothing_waits_any_more)
{
	const uint64_t nodes[] = { 1 };

	node(1, 0, 15);
	launch(nodes, 1);
	watermark(500);
	assert_int_equal(kernel_configs_count(snap_of(m)->kernel_configs), 0);
	finish(m, BASE + 1000);
	assert_int_equal(row_of(EVIDENCE_UNRESOLVED)->count, 1);
}

enum { BEGIN, KERNEL, END, MAKE, RUN };

static const struct funcs captures = {
	.n = 5,
	.v = {
		[BEGIN] = { "cudaStreamBeginCapture", "cudart", CLASS_STREAM, 0 },
		[KERNEL] = { "cudaLaunchKernel", "cudart", CLASS_LAUNCH, 0 },
		[END] = { "cudaStreamEndCapture", "cudart", CLASS_STREAM, 0 },
		[MAKE] = { "cudaGraphInstantiate", "cudart", CLASS_GRAPH, 0 },
		[RUN] = { "cudaGraphLaunch", "cudart", CLASS_LAUNCH, 0 },
	},
};

static void call(uint16_t func, uint64_t at, struct event ev)
{
	static uint32_t seq;

	ev.kind = EVENT_CALL;
	ev.has |= HAS_END;
	ev.pid = 7;
	ev.tid = 8;
	ev.func = func;
	ev.seq = ++seq;
	ev.start_ns = BASE + at;
	ev.end_ns = BASE + at + 8;
	push(m, ev);
}

/* Its kernel ran after it. */
static void run(uint32_t number, uint64_t at)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .has = WORK_HAS_GRAPH, .graph = 3,
				.graph_node = 5, .correlation = number, .grid = { 4, 1, 1 },
				.block = { 32, 1, 1 } };

	call(RUN, at, (struct event){ .has = HAS_STREAM | HAS_ENTITY, .call.stream = 9,
					 .call.entity = 200 });
	push(m, (struct event){ .kind = EVENT_API, .pid = 7, .tid = 8, .api.correlation = number,
				.api.cbid = 311, .api.domain = 5,
				.start_ns = BASE + at + 1, .end_ns = BASE + at + 7 });
	push(m, (struct event){ .kind = EVENT_WORK, .pid = 7, .start_ns = BASE + at + 10,
				.end_ns = BASE + at + 20, .work = work_named(w, "gemm") });
}

static void range(uint8_t dir, uint64_t at)
{
	push(m, (struct event){ .kind = EVENT_RANGE, .pid = 7, .tid = 8, .range.what = dir,
				.start_ns = BASE + at,
				.range.name = dir == RANGE_PUSH ? "step" : NULL });
}

/* It is known a while later in which range a call was captured: not before the first works of it. */
TEST(a_captured_call_is_one_row_whenever_its_range_arrives)
{
	const struct kernel_config *r;

	model_free(m);
	m = model_new(&captures);
	assert_non_null(m);
	push(m, (struct event){ .kind = EVENT_START, .start_ns = BASE });
	model_use_launches(m);
	call(BEGIN, 10, (struct event){ .has = HAS_STREAM, .call.stream = 1 });
	call(KERNEL, 20, (struct event){ .has = HAS_STREAM | HAS_ENTITY | HAS_SHAPE,
					    .call.stream = 1, .call.entity = 16,
					    .call.shape = { .grid = { 4, 1, 1 },
							    .block = { 32, 1, 1 } } });
	call(END, 30, (struct event){ .has = HAS_STREAM, .call.stream = 1, .call.address = 100 });
	call(MAKE, 40, (struct event){ .has = HAS_ENTITY, .call.entity = 100,
					  .call.address = 200 });
	run(31, 100);	/* not all nodes were seen */
	run(32, 200);
	range(RANGE_PUSH, 5);
	range(RANGE_POP, 35);
	watermark(500);
	assert_null(row_of(EVIDENCE_ORDER));
	watermark(2 * SEC);
	run(33, 2 * SEC);
	watermark(3 * SEC);
	assert_int_equal(kernel_configs_count(snap_of(m)->kernel_configs), 2);
	assert_int_equal(row_of(EVIDENCE_UNRESOLVED)->count, 1);
	r = row_of(EVIDENCE_ORDER);
	assert_non_null(r);
	assert_int_equal(r->count, 2);
	assert_int_equal(r->key.func, KERNEL);
	assert_int_equal(r->key.range, 1);
}

TEST(a_node_that_cannot_be_is_counted)
{
	struct model_counts c;

	restart(BASE);		/* with or without its use of launches */
	node(0, 0, 15);
	node(4, 4, 15);
	node(4, 3, 15);
	model_counts(m, &c);
	assert_int_equal(c.received[EVENT_NODE], 3);
	assert_int_equal(c.invalid[EVENT_NODE], 2);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * Files of one session that begin later know the captured calls of graphs' kernels, and in which ranges
 * these were made, as the session does; what they begin with takes no more than a part of them.
 */
#include <string.h>

#include "capture/keep.h"
#include "facts/launched.h"
#include "facts/ranges.h"
#include "model_room.h"

#define BASE 1000000000000ull
#define SEC 1000000000ull
#define PID 7

static void range(struct model *m, uint8_t what, const char *name, uint64_t at)
{
	push(m, (struct event){ .kind = EVENT_RANGE, .pid = PID, .tid = 8, .dir = what, .text = name,
				.start_ns = BASE + at });
}

/* Kernels made in calls in the ranges "layer" and none: nodes 5 and 6. */
static struct model *recorder(void)
{
	struct model *m = session(BASE);

	range(m, RANGE_PUSH, "layer", 1);
	push(m, (struct event){ .kind = EVENT_NODE, .pid = PID, .tid = 8, .entity = 1, .start_ns = BASE + 15 });
	push(m, (struct event){ .kind = EVENT_NODE, .pid = PID, .tid = 8, .entity = 5, .address = 1,
				.start_ns = BASE + 50 });
	push(m, (struct event){ .kind = EVENT_NODE, .pid = PID, .tid = 8, .entity = 6, .start_ns = BASE + 35 });
	push(m, (struct event){ .kind = EVENT_CALL, .pid = PID, .tid = 8, .seq = 1, .func = L,
				.start_ns = BASE + 10, .end_ns = BASE + 20 });
	range(m, RANGE_POP, NULL, 25);
	push(m, (struct event){ .kind = EVENT_CALL, .pid = PID, .tid = 8, .seq = 2, .func = L,
				.start_ns = BASE + 30, .end_ns = BASE + 40 });
	return m;
}

static void work(struct model *m, uint64_t node)
{
	const struct work w = { .kind = WORK_KIND_KERNEL, .has = WORK_HAS_GRAPH, .graph = 3,
				.graph_node = node, .correlation = 31, .grid = { 4, 1, 1 } };

	push(m, (struct event){ .kind = EVENT_WORK, .pid = PID, .start_ns = BASE + 10 * SEC + node,
				.end_ns = BASE + 10 * SEC + node + 1, .work = &w, .text = "gemm" });
}

static const struct launched_row *row_in(const struct model *m, const char *name)
{
	const struct launched *l = model_launched(m);

	for (size_t i = 0; i < l->rows.n; i++) {
		const struct launched_row *r = &l->rows.v[i];
		struct range_sum sum = { .name = "" };

		if (r->range)
			ranges_read(model_ranges(m, 0), r->range - 1, model_now(m), &sum);
		if (r->evidence == EVIDENCE_CALLBACK && !strcmp(sum.name, name))
			return r;
	}
	return NULL;
}

static int hear(void *model, const struct event *ev)
{
	return model_push(model, ev);
}

static void a_later_file_knows_the_calls_and_ranges_of_nodes_made_before(void **state)
{
	(void)state;
	for (int settled = 0; settled < 2; settled++) {
		struct model *of = recorder(), *m = session(BASE + 9 * SEC);
		struct model_counts counts;

		if (settled)
			push(of, (struct event){ .kind = EVENT_WATERMARK, .end_ns = BASE + 5 * SEC });
		model_use_launches(m);
		assert_int_equal(model_put_made(of, 0, &(struct event_sink){ hear, m }), 0);
		push(m, (struct event){ .kind = EVENT_API, .pid = PID, .tid = 8, .seq = 31, .func = 311, .dir = 5,
					.start_ns = BASE + 10 * SEC - 20, .end_ns = BASE + 10 * SEC });
		work(m, 5);
		work(m, 6);
		work(m, 9);
		push(m, (struct event){ .kind = EVENT_STOP, .end_ns = BASE + 12 * SEC });
		assert_int_equal(model_finish(m), 0);
		for (int i = 0; i < 2; i++) {
			const struct launched_row *r = row_in(m, i ? "layer" : "");

			assert_non_null(r);
			assert_int_equal(r->tid, 8);
			assert_int_equal(r->func, L);
			assert_int_equal(r->count, 1);
		}
		model_counts(m, &counts);
		assert_int_equal(counts.received[EVENT_MADE], 3);	/* 1, of which 5 is a clone, too */
		assert_int_equal(counts.received[EVENT_CALL], 0);
		assert_int_equal(counts.invalid[EVENT_MADE], 0);
		model_free(of);
		model_free(m);
	}
}

static void what_cannot_be_is_counted_as_invalid(void **state)
{
	const struct event good = { .kind = EVENT_MADE, .pid = PID, .tid = 8, .func = L, .dir = MADE_BY_CALLBACK,
				    .entity = 5, .start_ns = 10, .end_ns = 20, .bytes = 250 };
	struct event bad[4] = { good, good, good, good };
	struct model *m = session(BASE);
	struct model_counts counts;

	(void)state;
	bad[0].entity = 0;
	bad[1].dir = 3;
	bad[2].func = 3;
	bad[3].end_ns = 9;
	push(m, good);
	for (int i = 0; i < 4; i++)
		push(m, bad[i]);
	model_counts(m, &counts);
	assert_int_equal(counts.invalid[EVENT_MADE], 4);
	model_free(m);
}

static void of_processes_that_ended_and_calls_before_nothing_is_told(void **state)
{
	struct model *of = recorder(), *m = session(BASE);
	struct model_counts counts;

	(void)state;
	assert_int_equal(model_put_made(of, BASE + 30, &(struct event_sink){ hear, m }), 0);
	model_counts(m, &counts);
	assert_int_equal(counts.received[EVENT_MADE], 1);	/* 6 alone */
	push(of, (struct event){ .kind = EVENT_EXIT, .pid = PID, .tid = PID, .seq = 1, .end_ns = BASE + 60 });
	assert_int_equal(model_put_made(of, 0, &(struct event_sink){ hear, m }), 0);
	model_counts(m, &counts);
	assert_int_equal(counts.received[EVENT_MADE], 1);
	model_free(of);
	model_free(m);
}

static int begin(void *ctx, uint64_t before_ns, const struct event_sink *to)
{
	(void)ctx;
	assert_int_equal(before_ns, UINT64_MAX);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(to->push(to->ctx, &(struct event){ .kind = EVENT_MADE, .entity = i + 1,
								    .text = "a name" }), 0);
	return 0;
}

static int count(void *n, const struct event *ev)
{
	assert_int_equal(ev->entity, ++*(uint64_t *)n);	/* the first ones */
	return 0;
}

static void what_a_file_begins_with_takes_an_eighth_of_it_at_most(void **state)
{
	struct keep k = { .on_begin = begin };
	uint64_t n = 0;

	(void)state;
	assert_int_equal(keep_begin(&k, UINT64_MAX, 64 << 10, &(struct event_sink){ count, &n }), 0);
	assert_in_range(n, 100, (64 << 10) / 8 / 32);
	k.on_begin = NULL;
	assert_int_equal(keep_begin(&k, UINT64_MAX, 64 << 10, &(struct event_sink){ count, &n }), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_later_file_knows_the_calls_and_ranges_of_nodes_made_before),
		cmocka_unit_test(what_cannot_be_is_counted_as_invalid),
		cmocka_unit_test(of_processes_that_ended_and_calls_before_nothing_is_told),
		cmocka_unit_test(what_a_file_begins_with_takes_an_eighth_of_it_at_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

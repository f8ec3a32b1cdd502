// SPDX-License-Identifier: BSD-3-Clause
/*
 * Calls from CUPTI's API records: the outermost ones, in order, numbered within their thread, with the
 * thread's birth before and its end behind; whatever order records come in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/helper/helpers.c"
#include "lib/test.h"
#include "catalog/catalog.h"

#define PID 4242
#define DRIVER 4
#define RUNTIME 5
/* CUPTI's numbers. */
#define GET_LAST_ERROR 10
#define MALLOC 20
#define LAUNCH 211
#define CU_MEM_ALLOC 243
#define S 1000000000ull

struct got {
	struct event ev[64];
	size_t n;
	int fail_at;		/* push number that fails; 0: none */
};

static int push(void *ctx, const struct event *ev)
{
	struct got *t = ctx;

	assert_true(t->n < 64);
	t->ev[t->n++] = *ev;
	return t->fail_at && (int)t->n == t->fail_at ? -ENOSPC : 0;
}

static struct {
	struct api_rows *rows;
	struct helper_threads *threads;
	struct api_calls *calls;
	struct got got;
	struct event_sink sink;
} room;

BEFORE_EACH
{
	room.rows = api_rows_new();
	room.threads = helper_threads_new(PID, PID);
	room.calls = api_calls_new(PID, room.rows, room.threads);
	room.got = (struct got){ .n = 0 };
	room.sink = (struct event_sink){ push, &room.got };
	assert_non_null(room.calls);
}

AFTER_EACH
{
	api_calls_free(room.calls);
	helper_threads_free(room.threads);
	free(room.rows);
}

static void take(uint8_t domain, uint16_t cbid, uint32_t tid, uint64_t start, uint64_t end)
{
	struct event ev = { .kind = EVENT_API, .pid = PID, .tid = tid, .api.domain = domain,
			    .api.cbid = cbid, .start_ns = start, .end_ns = end };

	assert_int_equal(api_calls_take(room.calls, &ev, &room.sink), 0);
}

static void is_call(const struct event *ev, const char *name, uint32_t tid, uint32_t seq, uint64_t start)
{
	assert_int_equal(ev->kind, EVENT_CALL);
	assert_string_equal(catalog_row(ev->func)->name, name);
	assert_int_equal(ev->tid, tid);
	assert_int_equal(ev->seq, seq);
	assert_int_equal(ev->start_ns, start);
}

TEST(a_threads_calls_come_in_order_after_its_birth)
{
	take(RUNTIME, LAUNCH, 7, 300, 400);
	take(RUNTIME, MALLOC, 7, 100, 200);
	take(RUNTIME, MALLOC, 5, 150, 200);
	assert_int_equal(api_calls_end(room.calls, 0, &room.sink), 0);
	assert_int_equal(room.got.n, 5);
	assert_int_equal(room.got.ev[0].kind, EVENT_THREAD);
	is_call(&room.got.ev[1], "cudaMalloc", 5, 1, 150);
	assert_int_equal(room.got.ev[2].kind, EVENT_THREAD);
	is_call(&room.got.ev[3], "cudaMalloc", 7, 1, 100);
	is_call(&room.got.ev[4], "cudaLaunchKernel", 7, 2, 300);
}

TEST(a_nested_call_is_not_counted)
{
	take(DRIVER, CU_MEM_ALLOC, 7, 120, 180);	/* its record comes first */
	take(RUNTIME, MALLOC, 7, 100, 200);
	take(DRIVER, CU_MEM_ALLOC, 7, 200, 220);	/* at once, but not inside */
	take(DRIVER, CU_MEM_ALLOC, 8, 120, 180);	/* another thread's */
	assert_int_equal(api_calls_end(room.calls, 0, &room.sink), 0);
	assert_int_equal(room.got.n, 5);
	is_call(&room.got.ev[1], "cudaMalloc", 7, 1, 100);
	is_call(&room.got.ev[2], "cuMemAlloc_v2", 7, 2, 200);
	is_call(&room.got.ev[4], "cuMemAlloc_v2", 8, 1, 120);
}

TEST(an_api_record_of_an_unprobed_tier_is_no_call)
{
	take(RUNTIME, GET_LAST_ERROR, 7, 100, 300);
	take(RUNTIME, LAUNCH, 7, 120, 200);
	take(RUNTIME, 65535, 7, 120, 200);
	take(RUNTIME, 0, 7, 120, 200);
	take(77, LAUNCH, 7, 120, 200);
	take(RUNTIME, LAUNCH, 0, 120, 200);		/* of no thread of the process */
	assert_int_equal(api_calls_end(room.calls, 0, &room.sink), 0);
	assert_int_equal(room.got.n, 2);
	is_call(&room.got.ev[1], "cudaLaunchKernel", 7, 1, 120);
}

TEST(a_call_waits_for_one_that_it_may_be_inside_of)
{
	take(DRIVER, CU_MEM_ALLOC, 7, 10 * S, 10 * S + 100);
	assert_int_equal(api_calls_push(room.calls, 10 * S + 200, &room.sink), 0);
	assert_int_equal(room.got.n, 0);
	take(RUNTIME, MALLOC, 7, 9 * S, 10 * S + 300);
	take(RUNTIME, LAUNCH, 7, 11 * S, 12 * S);
	assert_int_equal(api_calls_push(room.calls, 11 * S, &room.sink), 0);
	assert_int_equal(room.got.n, 2);
	is_call(&room.got.ev[1], "cudaMalloc", 7, 1, 9 * S);
	assert_int_equal(room.calls->pushed_ns, 11 * S - API_CALLS_SLACK_NS);
	assert_int_equal(api_calls_push(room.calls, 10 * S, &room.sink), 0);	/* going back pushes nothing */
	assert_int_equal(room.calls->pushed_ns, 11 * S - API_CALLS_SLACK_NS);
	assert_int_equal(api_calls_end(room.calls, 0, &room.sink), 0);
	is_call(&room.got.ev[2], "cudaLaunchKernel", 7, 2, 11 * S);
}

static int keep_last(void *ctx, const struct event *ev)
{
	struct got *t = ctx;

	t->n++;
	t->ev[0] = *ev;
	return 0;
}

TEST(so_many_that_they_cannot_be_held_go_out_early)
{
	room.sink.push = keep_last;
	for (size_t i = 0; i <= API_CALLS_HELD_MAX; i++)
		take(RUNTIME, LAUNCH, 7, S + i * 4000, S + i * 4000 + 1);
	assert_true(room.got.n > 100000);
	assert_int_equal(api_calls_end(room.calls, 0, &room.sink), 0);
	assert_int_equal(room.got.n, 1 + API_CALLS_HELD_MAX + 1);
	assert_int_equal(room.calls->lost, 0);
}

TEST(of_a_clock_that_stands_still_no_more_is_held_than_there_is_room)
{
	room.sink.push = keep_last;
	for (size_t i = 0; i < API_CALLS_HELD_MAX + 1000; i++)
		take(RUNTIME, LAUNCH, 7, S + i, S + i + 1);
	assert_int_equal(room.calls->lost, 1000);
	assert_int_equal(api_calls_push(room.calls, S, &room.sink), 0);	/* as it has stood since */
	assert_int_equal(api_calls_end(room.calls, 3 * S, &room.sink), 0);
	assert_int_equal(room.got.n, 1 + API_CALLS_HELD_MAX + 1);
	assert_int_equal(room.got.ev[0].kind, EVENT_EXIT);
	assert_int_equal(room.got.ev[0].seq, API_CALLS_HELD_MAX + 1000 + 1);	/* the hole is in its numbers */
}

TEST(processes_share_the_room_and_give_it_back)
{
	struct api_calls *all[5];
	uint64_t lost = 0;

	room.sink.push = keep_last;
	for (size_t p = 0; p < 5; p++) {
		struct event ev = { .kind = EVENT_API, .tid = 7, .api.domain = RUNTIME,
				    .api.cbid = LAUNCH };

		all[p] = api_calls_new((uint32_t)p, room.rows, room.threads);
		for (size_t i = 0; i < API_CALLS_HELD_MAX; i++) {
			ev.start_ns = ev.end_ns = S + i;
			assert_int_equal(api_calls_take(all[p], &ev, &room.sink), 0);
		}
		lost += all[p]->lost;
	}
	assert_int_equal(lost, 5 * API_CALLS_HELD_MAX - API_CALLS_ROOM);
	for (size_t p = 0; p < 5; p++)
		api_calls_free(all[p]);
	take(RUNTIME, LAUNCH, 7, S, S + 1);
	assert_int_equal(room.calls->lost, 0);
}

/* A server that makes a thread for each request. */
TEST(threads_that_ended_are_forgotten)
{
	room.sink.push = keep_last;
	for (uint32_t tid = 1; tid <= 3; tid++)
		take(RUNTIME, LAUNCH, tid, tid * S, tid * S + 1);
	assert_int_equal(api_calls_end(room.calls, 4 * S, &room.sink), 0);
	assert_int_equal(room.got.n, 3 * 3);
	take(RUNTIME, LAUNCH, 2, 5 * S, 5 * S + 1);
	assert_int_equal(api_calls_end(room.calls, 6 * S, &room.sink), 0);
	assert_int_equal(room.got.n, 3 * 3 + 3);		/* the number's new owner begins at 1 */
	assert_int_equal(room.got.ev[0].seq, 2);
}

TEST(a_process_that_ends_ends_its_threads)
{
	take(RUNTIME, LAUNCH, 7, 100, 900);
	take(RUNTIME, LAUNCH, PID, 100, 200);
	assert_int_equal(api_calls_end(room.calls, 500, &room.sink), 0);
	assert_int_equal(room.got.n, 6);
	assert_int_equal(room.got.ev[4].kind, EVENT_EXIT);
	assert_int_equal(room.got.ev[4].tid, 7);
	assert_int_equal(room.got.ev[4].seq, 2);
	assert_int_equal(room.got.ev[4].end_ns, 900);	/* not before its last call */
	assert_int_equal(room.got.ev[5].tid, PID);
	assert_int_equal(room.got.ev[5].end_ns, 500);
}

static unsigned int row_of(uint8_t domain, uint16_t cbid)
{
	return api_rows_find(room.rows,
			     &(struct event){ .api = { .domain = domain, .cbid = cbid } });
}

/* Else a call that has returned, but whose return no probe's record has shown yet, would seem to hold
 * those behind it. */
TEST(calls_of_a_process_that_ended_wait_for_what_probes_saw)
{
	struct helper_process p = { .rows = room.rows, .calls = room.calls };
	struct helpers h = { .rows = room.rows };

	room.rows->probed = room.rows->any_left_out = true;
	room.rows->left_out[row_of(RUNTIME, MALLOC)] = true;
	take(RUNTIME, MALLOC, 7, 100, 200);
	assert_int_equal(hold_calls(&h, &p, S), 0);
	assert_null(p.calls);
	room.calls = NULL;
	assert_int_equal(push_held(&h, S, &room.sink), 0);
	assert_int_equal(room.got.n, 0);
	assert_int_equal(push_held(&h, S + 1, &room.sink), 0);
	assert_int_equal(room.got.n, 1);
	assert_int_equal(room.got.ev[0].kind, EVENT_CUPTI_CALL);
	assert_int_equal(h.calls.n, 0);
	VEC_FREE(&h.calls);
}

TEST(only_functions_without_a_probe_come_from_cupti)
{
	room.rows->probed = true;
	take(RUNTIME, MALLOC, 7, 50, 60);	/* nothing is known to be left out */
	room.rows->any_left_out = true;
	room.rows->left_out[row_of(RUNTIME, MALLOC)] = true;
	room.rows->left_out[row_of(DRIVER, CU_MEM_ALLOC)] = true;
	take(DRIVER, CU_MEM_ALLOC, 7, 120, 180);
	take(RUNTIME, MALLOC, 7, 100, 200);
	take(RUNTIME, LAUNCH, 7, 300, 400);		/* has a probe */
	take(DRIVER, CU_MEM_ALLOC, 7, 320, 380);	/* and so has what it calls */
	take(DRIVER, CU_MEM_ALLOC, 7, 500, 600);
	assert_int_equal(api_calls_end(room.calls, 1 * S, &room.sink), 0);
	assert_int_equal(room.got.n, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(room.got.ev[i].kind, EVENT_CUPTI_CALL);
		assert_int_equal(room.got.ev[i].seq, 0);
		assert_string_equal(catalog_row(room.got.ev[i].func)->name,
				    i ? "cuMemAlloc_v2" : "cudaMalloc");
	}
}

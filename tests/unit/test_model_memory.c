// SPDX-License-Identifier: BSD-3-Clause
/*
 * What a session of any length may take: millions of works of thousands of kernels, on lanes, threads
 * and processes that come and go, some without a launch and some long before it. What the model has
 * allocated is counted as it goes, and every work is in the tables in the end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "past_load.h"

#include "lib/emulated.h"
#include "lib/heap.h"
#include "lib/work_named.h"
#include "model/snapshot.h"

#define BASE 1000000000000ull
#define HEAP_MAX (80ull << 20)
#define ENDED 2000u		/* processes, before */
#define NAMES 20000u
#define LANES 50u
#define THREAD_CALLS 400u		/* then another thread goes on */

struct load {
	struct model *m;
	uint64_t now_ns, heap_ns, heap_max;
	uint32_t seq, thread;
	char name[200];
};

static void push_calls(struct load *l, uint32_t pid, uint32_t number)
{
	uint32_t tid = 100000 + l->thread;

	push(l->m, (struct event){ .kind = EVENT_CALL, .pid = pid, .tid = tid, .seq = ++l->seq,
				   .func = L, .start_ns = l->now_ns, .end_ns = l->now_ns + 500 });
	if (number % 97)
		push(l->m, (struct event){ .kind = EVENT_API, .pid = pid, .tid = tid,
					   .api.correlation = number,
					   .api.cbid = 211, .api.domain = 5,
					   .start_ns = l->now_ns + 100,
					   .end_ns = l->now_ns + 400 });
	if (l->seq < THREAD_CALLS)
		return;
	push(l->m, (struct event){ .kind = EVENT_EXIT, .pid = pid, .tid = tid, .seq = ++l->seq,
				   .end_ns = l->now_ns + 600 });
	l->thread++;
	l->seq = 0;
}

static void push_work(struct load *l, uint32_t pid, uint32_t number)
{
	struct work w = { .kind = WORK_KIND_KERNEL, .correlation = number, .stream = number % LANES,
			  .context = 1 + number % 3, .grid = { number % 7, 1, 1 } };

	snprintf(l->name, sizeof(l->name), "_ZN7cutlass6KernelINS_4gemm6kernel%u%0120u", number % NAMES,
		 number % NAMES);
	push(l->m, (struct event){ .kind = EVENT_WORK, .pid = pid, .start_ns = l->now_ns + 1000,
				   .end_ns = l->now_ns + 1500 + number % 4096 * number % 60000,
				   .work = work_named(w, l->name) });
}

static void count_heap(struct load *l, uint64_t before)
{
	uint64_t heap = heap_bytes() - before;

	if (heap > l->heap_max)
		l->heap_max = heap;
	push(l->m, (struct event){ .kind = EVENT_WATERMARK, .end_ns = l->now_ns });
}

static uint64_t count_works(const struct model *m)
{
	struct snapshot *snap = snapshot_take(m, 0);
	uint64_t n = 0;

	for (size_t i = 0; i < snap->devices.n; i++) {
		const struct kernels *ks = &snap->devices.v[i].kernels;

		for (size_t k = 0; k < kernels_count(ks); k++)
			n += kernels_at(ks, k)->time.count;
	}
	snapshot_free(snap);
	return n;
}

/* So many processes go on, all at their bounds, after others have come and gone. */
static void run_at_bounds(uint32_t processes, uint32_t works)
{
	struct load l = { .now_ns = load_begin(ENDED) };
	uint64_t before = heap_bytes();

	l.m = session(LOAD_BASE);
	load_run(l.m, 0, ENDED);
	for (uint32_t i = 0; i < works; i++) {
		uint32_t pid = 10 + i / 1000 % processes;

		l.now_ns += i % 100000 ? 1000 : 100000000;
		if (i % 5)
			push_calls(&l, pid, i);
		push_work(&l, pid, i);
		if (i % 5 == 0)
			push_calls(&l, pid, i);
		if (i % 4096 == 0)
			count_heap(&l, before);
	}
	push(l.m, (struct event){ .kind = EVENT_STOP, .end_ns = l.now_ns });
	assert_int_equal(model_finish(l.m), 0);
	count_heap(&l, before);
	print_message("at most %.1f MiB for %u works of %u processes, %u threads\n",
		      (double)l.heap_max / (1 << 20), works, processes, l.thread);
	assert_true(l.heap_max < HEAP_MAX);
	assert_int_equal(count_works(l.m), works + ENDED * LOAD_KERNELS);
	model_free(l.m);
}

static void the_heap_stays_below_80_mib(void **state)
{
	(void)state;
	needs_real_machine("millions of events");
	run_at_bounds(16, 3000000);
}

static void the_heap_stays_below_80_mib_with_64_processes_at_once(void **state)
{
	(void)state;
	needs_real_machine("millions of events");
	run_at_bounds(64, 1000000);
}

/* Each makes calls for a microsecond and ends; what has no row of its own any more is still in the books. */
static void exited_threads_keep_own_rows_up_to_a_bound(void **state)
{
	enum { THREADS = 50000 };
	struct model *m = session(BASE);
	uint64_t wall = 0, launch = 0, past = 0, now = BASE;
	struct snapshot *snap;

	(void)state;
	for (uint32_t i = 0; i < THREADS; i++, now += 1000000) {
		push(m, (struct event){ .kind = EVENT_CALL, .pid = 7, .tid = 1000 + i, .seq = 1,
					.start_ns = now, .end_ns = now + 600 });
		push(m, (struct event){ .kind = EVENT_EXIT, .pid = 7, .tid = 1000 + i, .seq = 2,
					.start_ns = now - 400, .end_ns = now + 600 });
	}
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = now });
	snap = snapshot_take(m, now);
	assert_true(snap->threads.n < 20000);
	for (size_t i = 0; i < snap->threads.n; i++) {
		const struct snapshot_thread *t = &snap->threads.v[i];

		wall += t->book.close_ns - t->book.open_ns;
		launch += t->book.ns[CLASS_LAUNCH];
		past += t->past;
		if (t->past)
			assert_string_equal(t->comm, "[other]");
	}
	/* The first was born before the session. */
	assert_int_equal(wall, THREADS * 1000ull - 400);
	assert_int_equal(launch, THREADS * 600ull);
	assert_int_equal(past + snap->threads.n - 1, THREADS);
	snapshot_free(snap);
	model_free(m);
}

static uint64_t count_calls(const struct model *m)
{
	uint64_t n = 0;

	for (size_t i = 0; i < model_processes(m); i++)
		for (size_t k = 0; k < call_stats_count(&model_process(m, i)->calls); k++)
			n += call_stats_at(&model_process(m, i)->calls, k)->count;
	return n;
}

static uint64_t count_wall(const struct model *m)
{
	struct snapshot *snap = snapshot_take(m, 0);
	uint64_t ns = 0;

	for (size_t i = 0; i < snap->threads.n; i++)
		ns += snap->threads.v[i].book.close_ns - snap->threads.v[i].book.open_ns;
	snapshot_free(snap);
	return ns;
}

/* A host on which they come and go; all sums are compared in test_model_past. */
static void the_heap_stays_below_80_mib_however_many_processes_end(void **state)
{
	enum { PROCESSES_ENDED = 100000 };
	struct load l = { 0 };
	uint64_t before = heap_bytes(), wall = 0;

	(void)state;
	needs_real_machine("millions of events");
	l.m = session(LOAD_BASE);
	for (uint32_t n = 0; n < PROCESSES_ENDED; n += 100) {
		load_run(l.m, n, n + 100);
		l.now_ns = load_begin(n + 100);
		count_heap(&l, before);
	}
	load_stop(l.m, PROCESSES_ENDED);
	count_heap(&l, before);
	for (uint32_t n = 0; n < PROCESSES_ENDED; n++)
		wall += 1200000 + n % 977 * 100 + 1060000 + n % 977 * 100;
	print_message("at most %.1f MiB for %u processes that ended, %zu told apart\n",
		      (double)l.heap_max / (1 << 20), PROCESSES_ENDED, model_processes(l.m) - 1);
	assert_true(l.heap_max < HEAP_MAX);
	assert_int_equal(count_calls(l.m), PROCESSES_ENDED * 9ull);
	assert_int_equal(count_works(l.m), (uint64_t)PROCESSES_ENDED * LOAD_KERNELS);
	assert_int_equal(count_wall(l.m), wall);
	model_free(l.m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exited_threads_keep_own_rows_up_to_a_bound),
		cmocka_unit_test(the_heap_stays_below_80_mib),
		cmocka_unit_test(the_heap_stays_below_80_mib_with_64_processes_at_once),
		cmocka_unit_test(the_heap_stays_below_80_mib_however_many_processes_end),
	};

	return _cmocka_run_group_tests("tests", tests, HEAP_COUNTS ? 4 : 1, NULL, NULL);
}

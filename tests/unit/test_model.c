// SPDX-License-Identifier: BSD-3-Clause
/*
 * The model and the tables made from it: what a session of known events must show.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "view/render.h"
#include "view_of.h"
#include "model_each.h"

BEFORE_EACH
{
	restart(1000);
}

static struct event call(uint32_t tid, uint32_t seq, uint16_t func, uint64_t start, uint64_t end)
{
	return (struct event){ .kind = EVENT_CALL, .has = HAS_RESULT | HAS_END, .pid = 100,
			       .tid = tid, .seq = seq, .func = func, .start_ns = start,
			       .end_ns = end };
}

static struct event launch(uint32_t seq, uint32_t grid, uint64_t start, uint64_t end)
{
	struct event ev = call(100, seq, L, start, end);

	ev.has |= HAS_SHAPE;
	ev.call.shape = (struct launch_shape){ { grid, 1, 1 }, { 256, 2, 1 }, 0 };
	return ev;
}

static struct event copy(uint32_t seq, uint64_t bytes, int32_t result, uint64_t start)
{
	struct event ev = call(100, seq, C, start, start + 10);

	ev.has |= HAS_BYTES;
	ev.call.bytes = bytes;
	ev.call.result = result;
	return ev;
}

static struct event of_thread(uint8_t kind, uint32_t tid, uint32_t seq, uint64_t start,
			      uint64_t end)
{
	return (struct event){ .kind = kind, .pid = 100, .tid = tid, .seq = seq,
			       .start_ns = start, .end_ns = end };
}

/* The table as csv, which must begin with its header line; compares what follows. */
static void assert_rows(struct table *t, const char *header, const char *rows)
{
	struct strbuf out = STRBUF_INIT;
	struct report r = { .tables = &t, .n_tables = 1 };
	char *p, *body;

	assert_non_null(t);
	report_render(&out, &r, FORMAT_CSV);
	body = strchr(out.s, '\n');
	assert_non_null(body);
	*body++ = '\0';
	out.s[strcspn(out.s, "\r")] = '\0';
	while ((p = strchr(body, '\r')))
		memmove(p, p + 1, strlen(p));
	assert_string_equal(out.s, header);
	assert_string_equal(body, rows);
	strbuf_free(&out);
	table_free(t);
}

#define CALLS "pid,comm,function,class,count,errors,open,bytes,total_ns,share,avg_ns,p50_ns,p99_ns,max_ns," \
	      "grid,block,result,process_start_ns,begun_before,stack,device_ns"
#define THREADS "pid,tid,comm,bucket,ns,share,blocked_ns,wall_ns,runqueue_ns,birth_ns,process_start_ns," \
		"own_cost_ns"
#define EVENTS "source,kind,hits,received,lost,matched,orphan,late,skew,invalid"

/* ---- calls ------------------------------------------------------------------------------- */

static void some_calls(void)
{
	struct event ev = { .kind = EVENT_PROCESS, .pid = 100, .task.comm = "train",
			    .task.cmdline = "train -x" };

	push(m, ev);
	push(m, launch(1, 8, 1000, 1004));
	push(m, launch(2, 8, 1010, 1014));
	push(m, launch(3, 64, 1020, 1024));
	push(m, copy(4, 4096, 0, 1030));
	push(m, copy(5, 8192, 1, 1050));
	push(m, of_thread(EVENT_STOP, 0, 0, 0, 1100));
}

TEST(test_calls_by_function)
{
	some_calls();
	assert_rows(view_now(&view_calls, m), CALLS,
		    "100,train,cudaMemcpy,copy,2,1,0,12288,20,0.625,10,10,10,10,,,,,0,,\n"
		    "100,train,cudaLaunchKernel,launch,3,0,0,,12,0.375,4,4,4,4,,,,,0,,\n");
}

/* Probes are attached before the session begins, and detached after it ends. */
TEST(calls_of_before_the_session_or_after_it_are_not_counted)
{
	push(m, launch(1, 8, 990, 1000));
	push(m, launch(2, 8, 1010, 1014));
	push(m, of_thread(EVENT_STOP, 0, 0, 0, 1100));
	push(m, launch(3, 8, 1100, 1104));
	push(m, copy(4, 4096, 1, 1120));
	push(m, call(200, 1, L, 1130, 1134));
	push(m, of_thread(EVENT_TAIL, 100, 5, 0, 1100));
	push(m, (struct event){ .kind = EVENT_OPEN, .pid = 100, .tid = 100, .seq = 5, .func = S,
				.start_ns = 1140, .end_ns = 1150 });
	assert_rows(view_now(&view_calls, m), CALLS,
		    "100,,cudaLaunchKernel,launch,1,0,0,,4,1,4,4,4,4,,,,,0,,\n");
	assert_int_equal(snap_of(m)->counts.late[EVENT_CALL], 4);
	assert_int_equal(snap_of(m)->counts.received[EVENT_CALL], 5);
}

TEST(a_call_that_returns_after_the_end_is_counted_once_as_open)
{
	struct event sync = call(100, 2, S, 1080, 1130);

	push(m, of_thread(EVENT_ENTER, 100, 1, 1080, 0));
	push(m, (struct event){ .kind = EVENT_INSIDE, .pid = 100, .tid = 300, .func = C,
				.has = HAS_END, .start_ns = 1000, .end_ns = 1010 });
	push(m, of_thread(EVENT_STOP, 0, 0, 0, 1100));
	push(m, sync);
	push(m, launch(3, 8, 1140, 1144));
	push(m, call(200, 1, L, 1095, 1110));
	push(m, of_thread(EVENT_TAIL, 200, 3, 0, 1100));
	push(m, (struct event){ .kind = EVENT_LEFT, .pid = 100, .tid = 300, .seq = 1, .func = C,
				.start_ns = 1000, .end_ns = 1120 });
	assert_rows(view_now(&view_calls, m), CALLS,
		    "100,,cudaLaunchKernel,launch,0,,1,,,,,,,,,,,,0,,\n"
		    "100,,cudaMemcpy,copy,0,,1,,,,,,,,,,,,1,,\n"
		    "100,,cudaStreamSynchronize,sync,0,,1,,,,,,,,,,,,0,,\n");
}

TEST(test_calls_by_launch)
{
	some_calls();
	assert_rows(view_by(&view_calls, m, 0, CALLS_BY_LAUNCH), CALLS,
		    "100,train,cudaMemcpy,copy,2,1,0,12288,20,0.625,10,10,10,10,,,,,0,,\n"
		    "100,train,cudaLaunchKernel,launch,2,0,0,,8,0.25,4,4,4,4,8x1x1,256x2x1,,,0,,\n"
		    "100,train,cudaLaunchKernel,launch,1,0,0,,4,0.125,4,4,4,4,64x1x1,256x2x1,,,0,,\n");
}

TEST(test_calls_by_result)
{
	some_calls();
	assert_rows(view_by(&view_calls, m, 0, CALLS_BY_RESULT), CALLS,
		    "100,train,cudaLaunchKernel,launch,3,0,0,,12,0.375,4,4,4,4,,,cudaSuccess,,0,,\n"
		    "100,train,cudaMemcpy,copy,1,0,0,4096,10,0.3125,10,10,10,10,,,cudaSuccess,,0,,\n"
		    "100,train,cudaMemcpy,copy,1,1,0,8192,10,0.3125,10,10,10,10,,,cudaErrorInvalidValue,,0,,\n");
}

TEST(test_unknown_is_not_zero)
{
	struct event ev = call(100, 1, L, 1000, 1000);

	ev.has = 0;
	push(m, ev);
	assert_rows(view_now(&view_calls, m), CALLS,
		    "100,,cudaLaunchKernel,launch,1,,0,,,,,,,,,,,,0,,\n");
}

static struct event born(uint64_t process_ns, uint64_t start_ns)
{
	struct event ev = of_thread(EVENT_THREAD, 100, 0, start_ns, 0);

	ev.task.process_ns = process_ns;
	return ev;
}

/* The end of the first one was lost. Births that procfs gives may be one that was read twice. */
TEST(two_exact_births_are_two_threads)
{
	push(m, born(400, 1000));
	push(m, launch(1, 8, 1010, 1014));
	push(m, born(400, 1020));
	push(m, launch(1, 8, 1030, 1034));
	assert_int_equal(snap_of(m)->threads.n, 2);
	assert_int_equal(snap_of(m)->counts.invalid[EVENT_CALL], 0);
	push(m, born(0, 1040));
	assert_int_equal(snap_of(m)->threads.n, 2);
}

TEST(test_open_call)
{
	push(m, of_thread(EVENT_THREAD, 100, 0, 500, 0));
	push(m, of_thread(EVENT_STOP, 0, 0, 0, 1100));
	push(m, (struct event){ .kind = EVENT_ENTER, .pid = 100, .tid = 100, .seq = 1, .func = S,
				.start_ns = 1040 });
	assert_rows(view_now(&view_calls, m), CALLS,
		    "100,,cudaStreamSynchronize,sync,0,,1,,,,,,,,,,,,0,,\n");
	assert_rows(view_now(&view_threads, m), THREADS,
		    "100,100,,sync,60,0.6,,100,,500,,\n100,100,,other,40,0.4,,100,,500,,\n");
}

TEST(test_shapes_are_bounded)
{
	const struct cell *c;
	struct table *t;
	struct model_counts counts;
	uint32_t seq = 0;
	uint64_t sum = 0;

	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t grid = 1; grid <= CALL_STATS_MAX + 500; grid++, seq++)
			push(m, launch(seq + 1, grid, 1000 + seq, 1001 + seq));
	t = view_by(&view_calls, m, 0, CALLS_BY_LAUNCH);
	assert_int_equal(t->n_rows, CALL_STATS_MAX + 1);
	c = table_cells(t, 0);
	assert_int_equal(c[table_column(t, "count")].u, 1000);
	assert_string_equal(c[table_column(t, "grid")].s, "(more shapes)");
	for (size_t i = 0; i < t->n_rows; i++)
		sum += table_cells(t, i)[table_column(t, "count")].u;
	assert_int_equal(sum, 2 * (CALL_STATS_MAX + 500));
	model_counts(m, &counts);
	assert_int_equal(counts.more, 1000);
	table_free(t);
}

/* ---- threads and processes ----------------------------------------------------------------- */

TEST(test_only_callers_have_books)
{
	push(m, of_thread(EVENT_THREAD, 101, 0, 900, 0));
	push(m, of_thread(EVENT_EXIT, 101, 1, 900, 1050));
	push(m, call(102, 1, L, 1010, 1020));
	push(m, of_thread(EVENT_STOP, 0, 0, 0, 1100));
	assert_rows(view_now(&view_threads, m), THREADS,
		    "100,102,,other,90,0.9,,100,,,,\n100,102,,launch,10,0.1,,100,,,,\n");
}

TEST(test_a_thread_of_which_all_was_lost)
{
	push(m, of_thread(EVENT_EXIT, 101, 5, 1020, 1050));
	push(m, of_thread(EVENT_STOP, 0, 0, 0, 1100));
	assert_rows(view_now(&view_threads, m), THREADS, "100,101,,lost,30,1,,30,,1020,,\n");
}

TEST(test_a_tid_is_used_again)
{
	const uint64_t ms = NS_PER_MS;

	restart(1000 * ms);
	push(m, of_thread(EVENT_THREAD, 101, 0, 1000 * ms, 0));
	push(m, call(101, 1, L, 1010 * ms, 1020 * ms));
	push(m, of_thread(EVENT_EXIT, 101, 2, 1000 * ms, 1040 * ms));
	push(m, call(101, 1, L, 1070 * ms, 1080 * ms));
	push(m, of_thread(EVENT_THREAD, 101, 0, 1060 * ms, 0));
	/* Its exit is lost; another birth shows it. */
	push(m, of_thread(EVENT_THREAD, 101, 0, 1090 * ms, 0));
	push(m, call(101, 1, L, 1090 * ms, 1100 * ms));
	push(m, of_thread(EVENT_STOP, 0, 0, 0, 1100 * ms));
	assert_rows(view_now(&view_threads, m), THREADS,
		    "100,101,,other,30000000,0.75,,40000000,,1000000000,,\n"
		    "100,101,,launch,10000000,0.25,,40000000,,1000000000,,\n"
		    "100,101,,other,10000000,0.3333333333333333,,30000000,,1060000000,,\n"
		    "100,101,,launch,10000000,0.3333333333333333,,30000000,,1060000000,,\n"
		    "100,101,,lost,10000000,0.3333333333333333,,30000000,,1060000000,,\n"
		    "100,101,,launch,10000000,1,,10000000,,1090000000,,\n");
}

/* Exec in another thread: the process lives on, so the new first thread is not much younger. */
TEST(test_a_number_is_taken_by_exec)
{
	push(m, of_thread(EVENT_THREAD, 100, 0, 950, 0));
	push(m, call(100, 1, L, 1010, 1020));
	push(m, of_thread(EVENT_EXIT, 100, 2, 950, 1050));
	push(m, of_thread(EVENT_THREAD, 100, 0, 1060, 0));
	push(m, call(100, 1, L, 1070, 1080));
	push(m, (struct event){ .kind = EVENT_STOP, .end_ns = 1100 });
	assert_rows(view_at(&view_threads, m, 1100), THREADS,
		    "100,100,,other,40,0.8,,50,,950,,\n100,100,,launch,10,0.2,,50,,950,,\n"
		    "100,100,,other,30,0.75,,40,,1060,,\n100,100,,launch,10,0.25,,40,,1060,,\n");
}

TEST(test_a_pid_is_used_again)
{
	struct event ev = { .kind = EVENT_PROCESS, .pid = 100, .task.comm = "old",
			    .start_ns = NS_PER_SEC };

	restart(NS_PER_SEC);
	push(m, ev);
	push(m, call(100, 1, L, NS_PER_SEC, NS_PER_SEC + 5));
	ev.task.comm = "new";
	ev.start_ns = 2 * NS_PER_SEC;
	push(m, ev);
	push(m, call(100, 1, L, 2 * NS_PER_SEC, 2 * NS_PER_SEC + 5));
	assert_rows(view_now(&view_calls, m), CALLS,
		    "100,old,cudaLaunchKernel,launch,1,0,0,,5,1,5,5,5,5,,,,1000000000,0,,\n"
		    "100,new,cudaLaunchKernel,launch,1,0,0,,5,1,5,5,5,5,,,,2000000000,0,,\n");
	assert_int_equal(snap_of(m)->threads.n, 2);
}

static struct event birth(uint32_t pid, uint64_t process_ns)
{
	struct event ev = { .kind = EVENT_THREAD, .pid = pid, .tid = pid, .start_ns = process_ns };

	ev.task.process_ns = process_ns;
	return ev;
}

/* Births that BPF reports are exact: the number may be used again at once. */
TEST(test_a_pid_is_used_again_within_a_tick)
{
	const uint64_t born = NS_PER_SEC + NS_PER_MS;

	restart(NS_PER_SEC);
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 100, .start_ns = NS_PER_SEC });
	push(m, birth(100, born));		/* procfs said the same, to the tick */
	push(m, call(100, 1, L, born, born + 5));
	push(m, birth(100, born + 7));
	push(m, call(100, 1, S, born + 8, born + 9));
	push(m, birth(100, born));		/* too late: it has gone */
	assert_rows(view_now(&view_calls, m), CALLS,
		    "100,,cudaLaunchKernel,launch,1,0,0,,5,1,5,5,5,5,,,,1001000000,0,,\n"
		    "100,,cudaStreamSynchronize,sync,1,0,0,,1,1,1,1,1,1,,,,1001000007,0,,\n");
	assert_int_equal(model_processes(m), 2);
}

TEST(test_identity_is_of_one_program)
{
	struct event ev = { .kind = EVENT_IDENTITY, .pid = 100, .fact.key = "rank",
			    .fact.value = "3" };
	struct model_counts counts;

	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 100, .task.comm = "train" });
	assert_null(snapshot_identity(&snap_of(m)->processes.v[0], "rank"));
	push(m, ev);
	ev.fact.value = "4";
	push(m, ev);
	assert_string_equal(snapshot_identity(&snap_of(m)->processes.v[0], "rank"), "4");
	ev.fact.value = NULL;
	push(m, ev);
	model_counts(m, &counts);
	assert_int_equal(counts.invalid[EVENT_IDENTITY], 1);
	push(m, (struct event){ .kind = EVENT_PROCESS, .pid = 100, .task.comm = "sh" });
	assert_null(snapshot_identity(&snap_of(m)->processes.v[0], "rank"));
}

TEST(test_children_are_named_and_counted)
{
	for (uint32_t i = 0; i < MODEL_CHILDREN + 3; i++)
		push(m, (struct event){ .kind = EVENT_FORK, .pid = 100, .tid = 200 + i,
					.start_ns = 1000 + i,
					.task.comm = "a worker of long name" });
	assert_int_equal(model_process(m, 0)->children, MODEL_CHILDREN + 3);
	assert_int_equal(model_process(m, 0)->child.n, MODEL_CHILDREN);
	assert_int_equal(model_process(m, 0)->child.v[1].pid, 201);
	assert_string_equal(model_process(m, 0)->child.v[1].comm, "a worker of lon");
}

TEST(test_unarmed_time)
{
	push(m, of_thread(EVENT_UNARMED, 0, 0, 1000, 1030));
	push(m, call(101, 1, L, 1050, 1060));
	push(m, of_thread(EVENT_UNARMED, 0, 0, 1070, 1080));
	push(m, of_thread(EVENT_STOP, 0, 0, 0, 1100));
	assert_rows(view_now(&view_threads, m), THREADS,
		    "100,101,,other,50,0.5,,100,,,,\n100,101,,unarmed,40,0.4,,100,,,,\n"
		    "100,101,,launch,10,0.1,,100,,,,\n");
}

/* ---- the session ---------------------------------------------------------------------------- */

TEST(test_interval_mode)
{
	push(m, call(101, 1, L, 1010, 1020));
	push(m, of_thread(EVENT_EXIT, 101, 2, 0, 1030));
	push(m, (struct event){ .kind = EVENT_ENTER, .pid = 100, .tid = 102, .seq = 1, .func = S,
				.start_ns = 1040 });
	snap_cut(m, 1050);
	push(m, call(102, 2, S, 1040, 1060));
	assert_rows(view_at(&view_threads, m, 1080), THREADS,
		    "100,102,,other,20,0.6666666666666666,,30,,,,\n"
		    "100,102,,sync,10,0.3333333333333333,,30,,,,\n");
	assert_rows(view_now(&view_calls, m), CALLS,
		    "100,,cudaStreamSynchronize,sync,1,0,0,,20,1,20,20,20,20,,,,,0,,\n");
	assert_int_equal(snap_of(m)->since_ns, 1050);
}

/* The worked example of snapshot_subtract; and who ended before the second interval. */
TEST(test_a_call_over_two_intervals)
{
	const struct snapshot *snap;

	push(m, (struct event){ .kind = EVENT_ENTER, .pid = 100, .tid = 101, .seq = 1, .func = S,
				.start_ns = 1000 });
	push(m, call(102, 1, L, 1001, 1002));
	push(m, of_thread(EVENT_EXIT, 102, 2, 0, 1005));
	assert_int_equal(snap_at(m, 1010)->threads.v[0].book.ns[CLASS_SYNC], 10);
	snap_cut(m, 1010);
	push(m, call(101, 2, S, 1000, 1016));
	snap = snap_at(m, 1020);
	assert_int_equal(snap->threads.n, 1);
	assert_int_equal(snap->threads.v[0].book.ns[CLASS_SYNC], 6);
	assert_int_equal(snap->threads.v[0].book.ns[CLASS_OTHER], 4);
	assert_int_equal(snap->threads.v[0].book.open_ns, 1010);
	assert_int_equal(snap->counts.late_ns, 0);
}

TEST(test_facts_and_readings)
{
	struct event fact = { .kind = EVENT_FACT, .fact.key = "host", .fact.value = "a" };
	struct event count = { .kind = EVENT_COUNT, .count.source = "bpf", .count.kind = "call" };

	push(m, fact);
	fact.fact.value = "b";
	push(m, fact);
	fact.fact.key = NULL;
	push(m, fact);
	assert_string_equal(snapshot_fact(snap_of(m), "host"), "b");
	assert_null(snapshot_fact(snap_of(m), "none"));
	push(m, call(101, 1, L, 1010, 1020));
	push(m, call(101, 4, L, 1005, 1020));
	count.count.hits = 9;
	push(m, count);
	count.count.hits = 5;
	count.count.received = 3;	/* one of them not here */
	count.count.lost = 2;
	push(m, count);
	assert_rows(view_now(&view_events, m), EVENTS, "bpf,call,5,2,3,,,0,1,0\n");
	assert_int_equal(snap_of(m)->readings.n, 1);
}

TEST(test_a_session_without_its_start)
{
	model_free(m);
	m = model_new(&funcs);
	push(m, call(101, 7, L, 5000, 5010));
	push(m, call(101, 8, L, 5020, 5030));
	assert_int_equal(snap_of(m)->now_ns, 5030);
	assert_rows(view_now(&view_threads, m), THREADS,
		    "100,101,,launch,20,0.6666666666666666,,30,,,,\n"
		    "100,101,,other,10,0.3333333333333333,,30,,,,\n");
}

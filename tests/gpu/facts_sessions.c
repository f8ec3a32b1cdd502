// SPDX-License-Identifier: BSD-3-Clause
/*
 * Experiments on CUPTI's sessions: who sees that it is in use, who gets buffers and records when clients
 * follow each other, when records come, and what they say in the second session.
 */
#include "facts.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { DEVICE = 8 };		/* CUPTI's kind of records about devices */

static void launch(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		facts_nop(NULL);
}

/* ---- two clients -------------------------------------------------------------------------------- */

/* Does cuptiSubscribe see a session without a subscriber, as Kineto's is since 2026-08? */
void facts_occupied(void)
{
	facts_answer_kinds("kinds before");
	facts_register(FACTS_A);
	facts_cupti.enable(CUPTI_KERNEL);
	facts_cupti.enable(CUPTI_RUNTIME);
	launch(100);
	facts_subscribe("cuptiSubscribe while kinds are enabled");
	facts_answer_kinds("kinds while enabled");
	launch(100);
	facts_settle(true);
	facts_answer("kernels recorded", "%zu of 200", facts_count(CUPTI_KERNEL));
	facts_cupti.disable(CUPTI_KERNEL);
	facts_cupti.disable(CUPTI_RUNTIME);
	facts_answer_kinds("kinds after");
}

/* Launches, and who has got their records once all are flushed. */
static void launch_and_answer(const char *when)
{
	launch(500);
	facts_settle(true);
	facts_answer_buffers(when);
	facts_forget();
}

/* A record about the device, asked by the client that may have lost CUPTI: who gets it? */
static void dump_device(const char *when)
{
	int to = -1;

	if (!facts_has(&facts_cupti.enable_and_dump, "cuptiActivityEnableAndDump"))
		return;
	facts_forget();
	facts_cupti.enable_and_dump(DEVICE);
	facts_settle(true);
	facts_cupti.disable(DEVICE);
	for (size_t i = 0; i < facts_n; i++)
		if (facts_records[i].kind == DEVICE)
			to = facts_records[i].client;
	facts_answer(when, "%s", to < 0 ? "it reached no client" : to == FACTS_A ? "it reached A" :
										  "it reached B");
	facts_forget();
}

/* A is the helper, B another profiler that registers over it, disables, and goes. */
void facts_takeover(void)
{
	facts_register(FACTS_A);
	dump_device("a device record while A is registered");
	facts_cupti.enable(CUPTI_KERNEL);
	launch(500);
	facts_cu.synchronize();
	facts_answer_buffers("A has launched 500");
	FACTS_STEP("B registers", facts_register(FACTS_B));
	facts_cupti.enable(CUPTI_KERNEL);
	launch_and_answer("B is registered, 500 more");
	dump_device("a device record while B is registered");
	facts_cupti.disable(CUPTI_KERNEL);
	facts_answer_kinds("kinds after B has disabled");
	launch_and_answer("B has disabled, 500 more");
	FACTS_STEP("A registers again", facts_register(FACTS_A));
	launch_and_answer("A has not enabled again, 500 more");
	facts_cupti.enable(CUPTI_KERNEL);
	launch_and_answer("A has enabled again, 500 more");
}

/* ---- when records come -------------------------------------------------------------------------- */

/* A kernel that runs while its kind is disabled: when does its record come, with which end? */
void facts_inflight(void)
{
	enum { KERNEL_MS = 300, LATER_MS = 1000 };

	facts_register(FACTS_A);
	facts_cupti.enable(CUPTI_KERNEL);
	facts_nop(NULL);
	facts_settle(false);
	facts_forget();
	facts_spin(NULL, KERNEL_MS * 1000000ull);
	facts_sleep_ms(50);
	FACTS_STEP("disable while it runs", facts_cupti.disable(CUPTI_KERNEL));
	FACTS_STEP("flush", facts_cupti.flush(0));
	facts_answer("records while it runs", "%zu", facts_count(CUPTI_KERNEL));
	FACTS_STEP("wait for it", facts_cu.synchronize());
	facts_sleep_ms(LATER_MS);
	FACTS_STEP("flush, 1 s later", facts_cupti.flush(0));
	facts_answer("records after it ended", "%zu", facts_count(CUPTI_KERNEL));
	facts_cupti.enable(CUPTI_KERNEL);
	facts_nop(NULL);
	facts_settle(true);
	facts_answer("records after enabling again and one launch", "%zu", facts_count(CUPTI_KERNEL));
	for (size_t i = 0; i < facts_n; i++) {
		const struct gp_ring_kernel *k = &facts_records[i].is.kernel;

		facts_answer("a kernel's length", "%.3f ms of %d",
			     (double)(int64_t)(k->end - k->start) / 1e6, i + 1 < facts_n ? KERNEL_MS : 0);
	}
}

/* Does a flush give what is complete while one kernel runs? Does an idle process get its records? */
void facts_withhold(void)
{
	enum { KERNEL_MS = 400, FEW = 20, SOME = 200, IDLE_MS = 3000 };
	void *stream;

	facts_cu.create_stream(&stream, 1);
	facts_register(FACTS_A);
	facts_cupti.enable(CUPTI_KERNEL);
	facts_nop(NULL);
	facts_settle(false);
	facts_forget();
	facts_spin(stream, KERNEL_MS * 1000000ull);
	launch(SOME);
	facts_cu.sync_stream(NULL);
	facts_sleep_ms(50);
	facts_cupti.flush(0);
	facts_answer("flush while a kernel of another stream runs", "%zu of %d complete ones",
		     facts_count(CUPTI_KERNEL), SOME);
	facts_cu.synchronize();
	facts_cupti.flush(0);
	facts_sleep_ms(20);
	facts_answer("flush after it ended", "%zu of %d", facts_count(CUPTI_KERNEL), SOME + 1);
	facts_settle(true);
	facts_forget();
	launch(FEW);
	facts_cu.synchronize();
	facts_sleep_ms(IDLE_MS);
	facts_answer("idle for 3 s without a flush", "%zu of %d", facts_count(CUPTI_KERNEL), FEW);
	facts_settle(false);
	facts_answer("then a flush", "%zu of %d", facts_count(CUPTI_KERNEL), FEW);
}

/* ---- threads ------------------------------------------------------------------------------------ */

enum { MANY = 96 };

static pthread_barrier_t barrier;

static void *launch_few(void *unused)
{
	facts_use_context();
	launch(10);
	pthread_barrier_wait(&barrier);	/* all have launched */
	pthread_barrier_wait(&barrier);	/* and none has ended before its buffers were counted */
	return unused;
}

/* How many buffers does CUPTI hold at once, and who calls back? */
void facts_many_threads(void)
{
	pthread_t threads[MANY];

	facts_register(FACTS_A);
	facts_cupti.enable(CUPTI_KERNEL);
	facts_cupti.enable(CUPTI_DRIVER);
	pthread_barrier_init(&barrier, NULL, MANY + 1);
	for (int i = 0; i < MANY; i++)
		pthread_create(&threads[i], NULL, launch_few, NULL);
	pthread_barrier_wait(&barrier);
	facts_cu.synchronize();
	facts_answer_buffers("96 threads have launched 10 each");
	facts_cupti.flush(0);
	facts_sleep_ms(50);
	facts_answer_buffers("after a flush");
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < MANY; i++)
		pthread_join(threads[i], NULL);
	facts_settle(true);
	facts_answer_buffers("after they ended and a forced flush");
	facts_answer("threads that called back", "%u", facts_threads());
}

/* ---- graphs ------------------------------------------------------------------------------------- */

static bool is_graph_launch(const struct facts_record *r)
{
	return (r->kind == CUPTI_DRIVER || r->kind == CUPTI_RUNTIME) &&
	       strstr(facts_function(r->kind, r->is.api.cbid), "GraphLaunch");
}

/* The graph launch with a correlation; NULL: none has it. */
static const struct facts_record *launch_of(uint32_t correlation)
{
	for (size_t i = 0; i < facts_n; i++)
		if (is_graph_launch(&facts_records[i]) && facts_records[i].is.api.correlation == correlation)
			return &facts_records[i];
	return NULL;
}

/* When the first graph launch after one began; each is over before that. */
static uint64_t next_launch_ns(const struct facts_record *launched)
{
	uint64_t next_ns = INT64_MAX;	/* never */

	for (size_t i = 0; i < facts_n; i++) {
		uint64_t start_ns = facts_records[i].is.api.start;

		if (is_graph_launch(&facts_records[i]) && start_ns > launched->is.api.start &&
		    start_ns < next_ns)
			next_ns = start_ns;
	}
	return next_ns;
}

static void answer_graph(const char *when)
{
	enum { SKEW_NS = 1000000 };	/* of the device's clock and the host's */
	size_t kernels = 0, met = 0, wrong = 0, timeless = 0, launches = 0;

	for (size_t i = 0; i < facts_n; i++) {
		const struct gp_ring_kernel *k = &facts_records[i].is.kernel;
		const struct facts_record *by;

		launches += is_graph_launch(&facts_records[i]);
		if (facts_records[i].kind != CUPTI_KERNEL)
			continue;
		kernels++;
		timeless += !k->start;
		by = launch_of(k->correlation);
		met += !!by;
		wrong += by && k->start && (k->start + SKEW_NS < by->is.api.start ||
					    k->start > next_launch_ns(by) + SKEW_NS);
	}
	facts_answer(when, "%zu launches, %zu kernels, %zu met a launch, %zu of them the wrong one, %zu "
		     "without times, %zu whole graphs", launches, kernels, met, wrong, timeless,
		     facts_count(CUPTI_GRAPH_TRACE));
}

/* Kinds are enabled, 20 launches, kinds are disabled. */
static void graph_session(void *exec, void *stream, bool whole, const char *when)
{
	facts_forget();
	facts_cupti.enable(CUPTI_KERNEL);
	if (whole)
		facts_cupti.enable(CUPTI_GRAPH_TRACE);
	facts_cupti.enable(CUPTI_DRIVER);
	for (int i = 0; i < 20; i++) {
		facts_cu.launch_graph(exec, stream);
		facts_cu.sync_stream(stream);
		facts_sleep_ms(5);	/* a node of the next launch is far behind this one */
	}
	facts_settle(false);
	answer_graph(when);
	facts_cupti.disable(CUPTI_KERNEL);
	if (whole)
		facts_cupti.disable(CUPTI_GRAPH_TRACE);
	facts_cupti.disable(CUPTI_DRIVER);
	facts_settle(true);
}

/* Graphs made before CUPTI came, and sessions after the first: CUPTI 13.1 update 1 mended their
 * correlation. */
void facts_graphs(void)
{
	void *stream, *early, *late;

	facts_cu.create_stream(&stream, 1);
	early = facts_graph(10, stream);
	facts_cu.launch_graph(early, stream);
	facts_cu.sync_stream(stream);
	if (!facts_open_cupti())
		return;
	facts_register(FACTS_A);
	graph_session(early, stream, false, "session 1, made before");
	graph_session(early, stream, false, "session 2, made before");
	facts_cupti.enable(CUPTI_KERNEL);
	late = facts_graph(10, stream);
	facts_cupti.disable(CUPTI_KERNEL);
	graph_session(late, stream, false, "session 4, made while enabled");
	facts_cupti.enable(CUPTI_GRAPH_TRACE);
	late = facts_graph(10, stream);
	graph_session(late, stream, true, "session 5, made while whole graphs are");
	graph_session(late, stream, false, "session 6, nodes again");
	facts_cupti.enable(CUPTI_GRAPH_TRACE);	/* before 13.2 this is the end */
	graph_session(early, stream, true, "session 7, whole graphs, made before");
}

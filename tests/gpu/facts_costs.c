// SPDX-License-Identifier: BSD-3-Clause
/*
 * Experiments on clocks, on what launches cost and for how long they stall, and on the device memory that
 * CUPTI takes.
 */
#include "facts.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* ---- clocks ------------------------------------------------------------------------------------- */

enum { LAUNCHES = 2000, KINDS_MAX = 64 };

static const struct facts_record *call_of(uint32_t correlation)
{
	for (size_t i = 0; i < facts_n; i++)
		if (facts_records[i].kind == CUPTI_DRIVER &&
		    facts_records[i].is.api.correlation == correlation)
			return &facts_records[i];
	return NULL;
}

static void answer_spread(const char *key, uint64_t *ns, size_t n)
{
	qsort(ns, n, sizeof(*ns), facts_compare);
	if (n)
		facts_answer(key, "p1 %" PRId64 " p50 %" PRId64 " p99 %" PRId64 " ns, of %zu",
			     (int64_t)ns[n / 100], (int64_t)ns[n / 2], (int64_t)ns[n - 1 - n / 100], n);
	else
		facts_answer(key, "none");
}

static void answer_met_sizes(void)
{
	uint32_t bytes[KINDS_MAX] = { 0 };
	char key[32];

	/* the last record of a buffer is as long as the rest */
	for (size_t i = 0; i < facts_n; i++)
		if (facts_records[i].kind < KINDS_MAX)
			bytes[facts_records[i].kind] = facts_records[i].bytes;
	for (uint32_t kind = 0; kind < KINDS_MAX; kind++) {
		snprintf(key, sizeof(key), "records met of kind %u", kind);
		if (bytes[kind])
			facts_answer(key, "%u bytes", bytes[kind]);
	}
}

static void answer_launches(uint64_t (*own)[2])
{
	static uint64_t delay_ns[LAUNCHES], length_ns[LAUNCHES];
	uint32_t launch_cbid = facts_cbid(CUPTI_DRIVER, "cuLaunchKernel"), thread = 0;
	size_t n = 0, early = 0, outside = 0, calls = 0;

	for (size_t i = 0; i < facts_n; i++) {
		const struct facts_record *r = &facts_records[i], *call;

		if (r->kind == CUPTI_DRIVER && r->is.api.cbid == launch_cbid && calls < LAUNCHES) {
			outside += r->is.api.start < own[calls][0] || r->is.api.end > own[calls][1];
			calls++;
			thread = r->is.api.tid;
		}
		call = r->kind == CUPTI_KERNEL && n < LAUNCHES ? call_of(r->is.kernel.correlation) : NULL;
		if (!call)
			continue;
		early += r->is.kernel.start < call->is.api.start;
		delay_ns[n] = r->is.kernel.start - call->is.api.start;
		length_ns[n++] = r->is.kernel.end - r->is.kernel.start;
	}
	answer_spread("kernel.start - call.start", delay_ns, n);
	facts_answer("kernels that began before their call", "%zu of %zu", early, n);
	answer_spread("kernel.end - kernel.start", length_ns, n);
	facts_answer("calls outside our own readings around them", "%zu of %zu", outside, calls);
	facts_answer("thread of the calls", "%u, gettid %d", thread, (int)syscall(SYS_gettid));
}

/* Which clock do records have, how does it run, and how do kernels stand to their calls? */
void facts_clock(void)
{
	static uint64_t own[LAUNCHES][2];	/* CLOCK_REALTIME around our calls */

	facts_register(FACTS_A);
	if (facts_cupti.thread_id_type)
		facts_cupti.thread_id_type(1);
	facts_cupti.enable(CUPTI_KERNEL);
	facts_cupti.enable(CUPTI_DRIVER);
	facts_nop(NULL);
	facts_settle(false);
	facts_forget();
	facts_answer_clock("clock before");
	for (int i = 0; i < LAUNCHES; i++) {
		own[i][0] = facts_realtime_ns();
		facts_nop(NULL);
		own[i][1] = facts_realtime_ns();
		if (i % 50 == 0)
			facts_cu.synchronize();
		facts_sleep_ms(1);
	}
	facts_settle(true);
	facts_answer_clock("clock after");
	answer_launches(own);
	answer_met_sizes();
}

static uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return facts_now_ns() * 2;
#endif
}

/* torch.profiler registers a clock of ticks, for good: do all times follow it? */
void facts_ticks(void)
{
	enum { KERNEL_MS = 1 };
	uint64_t before, after, now = 0, ns;

	if (!facts_has(&facts_cupti.register_clock, "cuptiActivityRegisterTimestampCallback"))
		return;
	facts_register(FACTS_A);
	FACTS_STEP("register a clock of ticks", facts_cupti.register_clock(ticks));
	before = ticks();
	facts_cupti.timestamp(&now);
	after = ticks();
	facts_answer("cuptiGetTimestamp", "%s", now >= before && now <= after ? "is in ticks" :
									       "is not in ticks");
	ns = facts_now_ns();
	facts_sleep_ms(100);
	facts_answer("ticks", "%.4f a ns", (double)(ticks() - after) / (double)(facts_now_ns() - ns));
	facts_cupti.enable(CUPTI_KERNEL);
	for (int i = 0; i < 5; i++) {
		facts_spin(NULL, KERNEL_MS * 1000000);
		facts_cu.synchronize();
	}
	facts_settle(true);
	for (size_t i = 0; i < facts_n; i++)
		if (facts_records[i].kind == CUPTI_KERNEL)
			facts_answer("a kernel of 1 ms", "%" PRIu64 " long",
				     facts_records[i].is.kernel.end - facts_records[i].is.kernel.start);
	FACTS_STEP("register no clock", facts_cupti.register_clock(NULL));
	facts_answer_clock("clock then");
}

/* ---- stalls ------------------------------------------------------------------------------------- */

enum { LAUNCHERS = 4, PHASES = 16 };

static struct {
	const char *name;
	unsigned long launches;
	uint64_t longest_ns;
} phases[PHASES] = { { .name = "before CUPTI is loaded" } };
static unsigned int phase;
static bool stop;

static void *launch_all_the_time(void *unused)
{
	facts_use_context();
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		unsigned int in = __atomic_load_n(&phase, __ATOMIC_RELAXED);
		uint64_t began_ns = facts_now_ns(), ns;

		facts_nop(NULL);
		ns = facts_now_ns() - began_ns;
		if (ns > phases[in].longest_ns)	/* of threads that race: either is long */
			phases[in].longest_ns = ns;
		__atomic_add_fetch(&phases[in].launches, 1, __ATOMIC_RELAXED);
		usleep(200);
	}
	return unused;
}

static void begin_phase(const char *name)
{
	if (phase + 1 == PHASES)
		return;
	phases[phase + 1].name = name;
	__atomic_store_n(&phase, phase + 1, __ATOMIC_RELAXED);
}

#define PHASE(what, call) \
	do { \
		begin_phase(what); \
		FACTS_STEP(what, call); \
		facts_sleep_ms(100); \
	} while (0)

static void subscribe_often(const char *what)
{
	begin_phase(what);
	for (int i = 0; i < 3; i++)
		facts_subscribe(what);
	facts_sleep_ms(100);
}

static int enable_single_functions(void)
{
	facts_answer("single functions", "%u", facts_enable_functions());
	return 0;
}

static int flush_often(void)
{
	int code = 0;

	for (int i = 0; i < 20; i++) {
		code = facts_cupti.flush(0);
		facts_sleep_ms(50);
	}
	return code;
}

/* How long does each step of arming and draining take, and what do launches meanwhile? */
void facts_arming(void)
{
	pthread_t threads[LAUNCHERS];
	uint32_t version;

	for (int i = 0; i < LAUNCHERS; i++)
		pthread_create(&threads[i], NULL, launch_all_the_time, NULL);
	facts_sleep_ms(300);
	if (!facts_open_cupti())
		exit(FACTS_SKIP);
	PHASE("first cuptiGetVersion", facts_cupti.version(&version));
	subscribe_often("cuptiSubscribe");
	PHASE("register", facts_register(FACTS_A));
	PHASE("enable kernel", facts_cupti.enable(CUPTI_KERNEL));
	PHASE("enable memcpy", facts_cupti.enable(CUPTI_MEMCPY));
	PHASE("enable memory", facts_cupti.enable(CUPTI_MEMORY2));
	PHASE("enable single functions", enable_single_functions());
	PHASE("flush 20 times in 1 s", flush_often());
	subscribe_often("cuptiSubscribe while enabled");
	PHASE("disable kernel", facts_cupti.disable(CUPTI_KERNEL));
	PHASE("disable memcpy", facts_cupti.disable(CUPTI_MEMCPY));
	PHASE("enable kernel again", facts_cupti.enable(CUPTI_KERNEL));
	PHASE("forced flush", facts_cupti.flush(1));
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < LAUNCHERS; i++)
		pthread_join(threads[i], NULL);
	facts_answer_buffers("in all");
	for (unsigned int i = 0; i <= phase; i++) {
		char key[96];

		snprintf(key, sizeof(key), "launches, %s", phases[i].name);
		facts_answer(key, "%lu, the longest %.3f ms", phases[i].launches,
			     (double)phases[i].longest_ns / 1e6);
	}
}

/* ---- the cost of a launch ----------------------------------------------------------------------- */

static void cost_of(const char *what)
{
	enum { MOST = 100000, BATCH = 256, SECONDS = 2 };
	static uint64_t ns[MOST];
	uint64_t end_ns = facts_now_ns() + SECONDS * 1000000000ull, began_ns;
	size_t n = 0;

	do {
		began_ns = facts_now_ns();
		facts_nop(NULL);
		ns[n++] = facts_now_ns() - began_ns;
		if (n % BATCH == 0)
			facts_cu.synchronize();	/* or a launch waits for the queue */
	} while (n < MOST && began_ns < end_ns);
	facts_cu.synchronize();
	qsort(ns, n, sizeof(*ns), facts_compare);
	facts_answer(what, "p50 %" PRIu64 " p90 %" PRIu64 " p99 %" PRIu64 " max %" PRIu64 " ns, of %zu",
		     ns[n / 2], ns[n * 9 / 10], ns[n - 1 - n / 100], ns[n - 1], n);
}

static void *flush_all_the_time(void *unused)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		facts_cupti.flush(0);
		facts_sleep_ms(100);
	}
	return unused;
}

static void switch_works(int (*how)(uint32_t kind))
{
	how(CUPTI_MEMCPY);
	how(CUPTI_MEMSET);
	how(CUPTI_MEMORY2);
}

/* What does a launch cost with each of the helper's kinds, and after they were disabled? */
void facts_cost(void)
{
	enum { ZEROED_OUT = 5 };	/* an attribute: the client's buffers come zeroed */
	pthread_t flusher;
	uint8_t yes = 1;
	size_t bytes = sizeof(yes);

	facts_keep(false);
	cost_of("bare, first");
	cost_of("bare");
	if (!facts_open_cupti())
		exit(FACTS_SKIP);
	facts_register(FACTS_A);
	pthread_create(&flusher, NULL, flush_all_the_time, NULL);
	facts_cupti.enable(CUPTI_KERNEL);
	cost_of("kernels");
	switch_works(facts_cupti.enable);
	cost_of("kernels, copies, sets, memory");
	if (facts_cupti.enable_driver)
		facts_cupti.enable_driver(facts_cbid(CUPTI_DRIVER, "cuLaunchKernel"), 1);
	cost_of("these and records of cuLaunchKernel");
	facts_cupti.enable(CUPTI_DRIVER);
	cost_of("these and the whole driver API");
	facts_cupti.disable(CUPTI_DRIVER);
	if (facts_cupti.set_attribute)
		FACTS_STEP("promise zeroed buffers",
			   facts_cupti.set_attribute(ZEROED_OUT, &bytes, &yes));
	cost_of("these without the driver API, buffers come zeroed");
	facts_cupti.disable(CUPTI_KERNEL);
	switch_works(facts_cupti.disable);
	if (facts_cupti.enable_driver)
		facts_cupti.enable_driver(facts_cbid(CUPTI_DRIVER, "cuLaunchKernel"), 0);
	cost_of("all disabled");
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	pthread_join(flusher, NULL);
	cost_of("all disabled, no flush");
	facts_answer_buffers("in all");
}

/* ---- device memory ------------------------------------------------------------------------------ */

static size_t without_times(void)
{
	size_t n = 0;

	for (size_t i = 0; i < facts_n; i++)
		n += facts_records[i].kind == CUPTI_KERNEL &&
		     (!facts_records[i].is.kernel.start ||
		      facts_records[i].is.kernel.end < facts_records[i].is.kernel.start);
	return n;
}

/* Launches of 1,000 nodes each; answers every 100 launches what was recorded of them. */
static void device_round(unsigned int round, void *exec, void *stream)
{
	enum { GRAPHS = 600, SOME = 100, SECONDS = 3 };
	uint64_t end_ns = facts_now_ns() + SECONDS * 1000000000ull;
	char key[48];

	for (int i = 1; i <= GRAPHS; i++) {
		facts_cu.launch_graph(exec, stream);
		if (i % 20 == 0) {
			facts_cu.sync_stream(stream);
			facts_cupti.flush(0);
		}
		if (i % SOME)
			continue;
		facts_settle(false);
		snprintf(key, sizeof(key), "round %u, %d nodes more", round, SOME * 1000);
		facts_answer(key, "%zu kernels, %zu without times", facts_count(CUPTI_KERNEL),
			     without_times());
		facts_forget();
		if (facts_now_ns() > end_ns)
			break;
	}
}

/* CUPTI's buffers on the device, with a pool of 2: are nodes lost, does disabling renew them? */
void facts_device(void)
{
	enum { POOL_LIMIT = 2 };	/* an attribute */
	size_t limit = 2, bytes = sizeof(limit), before = 0, after = 0, total;
	void *stream, *exec;

	if (facts_cupti.set_attribute)
		FACTS_STEP("limit of the pool", facts_cupti.set_attribute(POOL_LIMIT, &bytes, &limit));
	facts_register(FACTS_A);
	facts_cu.create_stream(&stream, 1);
	facts_cu.memory_info(&before, &total);
	facts_cupti.enable(CUPTI_KERNEL);
	exec = facts_graph(1000, stream);
	for (unsigned int round = 1; round <= 3; round++) {
		device_round(round, exec, stream);
		facts_cu.memory_info(&after, &total);
		facts_answer("device memory taken", "%.1f MiB",
			     (double)(int64_t)(before - after) / 1048576);
		facts_cupti.disable(CUPTI_KERNEL);
		facts_settle(true);
		facts_cupti.enable(CUPTI_KERNEL);
		facts_forget();
	}
}

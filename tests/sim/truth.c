// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counting what is called. See gpusim_truth.h for the meaning, truth_write.c for the file.
 */
#include "gpusim_truth.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpusim_board.h"
#include "gpusim_log.h"
#include "gpusim_trace_internal.h"
#include "truth_internal.h"

struct truth_thread *truth_threads;

static __thread struct truth_thread *mine;
static uint32_t correlations;
static pthread_once_t prepared = PTHREAD_ONCE_INIT;

/* A child is a new process: it has called nothing yet. */
static void forget_parent(void)
{
	truth_threads = NULL;
	mine = NULL;
	gpusim_log_forget();
}

static void prepare(void)
{
	pthread_atfork(NULL, NULL, forget_parent);
}

static struct truth_thread *thread_new(void)
{
	struct truth_thread *thread = mmap(NULL, sizeof(*thread), PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (thread == MAP_FAILED)
		abort();
	pthread_once(&prepared, prepare);
	thread->tid = (int)syscall(SYS_gettid);
	prctl(PR_GET_NAME, thread->name);
	thread->next = __atomic_load_n(&truth_threads, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&truth_threads, &thread->next, thread, false,
					    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
		;
	return thread;
}

struct gpusim_call gpusim_call_begin(enum gpusim_function function, bool exported, uint64_t start_ns)
{
	struct gpusim_call call = { .function = function, .start_ns = start_ns };

	if (!mine)
		mine = thread_new();
	if (!mine->first_ns)
		truth_set(&mine->first_ns, call.start_ns);
	if (!mine->depth)
		mine->correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
	call.place = (mine->depth++ ? GPUSIM_NESTED : 0) | (exported ? 0 : GPUSIM_PRIVATE);
	truth_add(&mine->counts[function][call.place].begun, 1);
	return call;
}

static void count_result(struct truth_counts *counts, int result)
{
	int i;

	for (i = 0; i < TRUTH_RESULTS - 1; i++)
		if (!counts->results[i].count || counts->results[i].code == result)
			break;
	if (!counts->results[i].count)
		counts->results[i].code = result;
	truth_add(&counts->results[i].count, 1);
}

static void count_shape(struct truth_counts *counts, const struct gpusim_shape *shape)
{
	struct truth_shape *known;

	for (known = counts->shapes; known; known = known->next)
		if (memcmp(&known->shape, shape, sizeof(*shape)) == 0)
			break;
	if (!known) {
		known = calloc(1, sizeof(*known));
		if (!known)
			abort();
		known->shape = *shape;
		known->next = counts->shapes;
		__atomic_store_n(&counts->shapes, known, __ATOMIC_RELEASE);
	}
	truth_add(&known->count, 1);
}

uint32_t gpusim_correlation(void)
{
	return mine && mine->depth ? mine->correlation : 0;
}

void gpusim_trace_own_launch(uint64_t start_ns)
{
	const struct gpusim_tracer *tracer = gpusim_trace_listener();

	if (tracer && mine && mine->depth)
		tracer->call(&(struct gpusim_trace_call){
			.function = GPUSIM_FN_cudaLaunchKernelExC, .tid = mine->tid,
			.start_ns = start_ns, .end_ns = gpusim_now_ns(),
			.correlation = mine->correlation });
}

void gpusim_correlation_renew(void)
{
	if (mine && mine->depth)
		mine->correlation = __atomic_add_fetch(&correlations, 1, __ATOMIC_RELAXED);
}

/* Returns the time: writing it is still the call, though not in the time it writes. */
static uint64_t report(const struct gpusim_call *call, uint64_t end_ns, int result)
{
	const struct gpusim_tracer *tracer = gpusim_trace_listener();
	const struct gpusim_trace_call got = {
		.function = call->function, .tid = mine->tid, .start_ns = call->start_ns,
		.end_ns = end_ns, .correlation = mine->correlation, .result = result };

	if (tracer)
		tracer->call(&got);
	return gpusim_log_call(&got);
}

int gpusim_call_end(const struct gpusim_call *call, int result)
{
	struct truth_counts *counts = &mine->counts[call->function][call->place];
	uint64_t now_ns, ns;

	count_result(counts, result);
	if (call->has_shape)
		count_shape(counts, &call->shape);
	truth_add(&counts->errors, result != GPUSIM_OK && result != GPUSIM_NOT_READY);
	truth_add(&counts->bytes, call->bytes);
	mine->depth--;
	now_ns = gpusim_now_ns();
	truth_add(&counts->recorded_ns, now_ns - call->start_ns);
	if (!mine->depth)
		now_ns = report(call, now_ns, result);
	ns = now_ns - call->start_ns;
	truth_set(&mine->last_ns, now_ns);
	truth_add(&counts->total_ns, ns);
	if (ns > counts->max_ns)
		truth_set(&counts->max_ns, ns);
	truth_add(&counts->count, 1);
	return result;
}

void gpusim_truth_forget(void)
{
	struct truth_thread *thread;

	for (thread = truth_threads; thread; thread = thread->next) {
		memset(thread->counts, 0, sizeof(thread->counts));
		thread->first_ns = thread->last_ns = 0;
	}
}

static __attribute__((destructor)) void write_at_exit(void)
{
	gpusim_write_truth();
	gpusim_write_log();
	gpusim_board_leave();
}

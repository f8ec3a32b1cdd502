// SPDX-License-Identifier: BSD-3-Clause
/*
 * held: threads that each wait in one long cudaStreamSynchronize, and say when they entered it and
 * when it returned; for tests of what a profiler knows of calls that began before it.
 * `held --help` shows its options. Knows the simulator only to say how long a kernel takes.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpusim.h"
#include "program.h"

enum { MAX_THREADS = 64 };

struct options {
	uint64_t threads, hold_ms, step_ms, calls, stay_ms;
	bool jit;
};

struct held {
	const struct options *options;
	unsigned int index;
	pid_t tid;
	uint64_t entered_ns, returned_ns;
	char kernels[8];	/* their addresses are their names */
};

static const char usage_text[] =
	"usage: held [OPTION]...\n"
	"  --threads N   so many threads (1)\n"
	"  --hold-ms N   the sync of the first takes so long (1000)\n"
	"  --step-ms N   that of each other so much longer than the one before (0)\n"
	"  --calls N     launches of each after its sync (0)\n"
	"  --stay-ms N   then stay so long (0)\n"
	"  --jit         enter the sync from code made at run time\n";

typedef cudaError_t sync_fn(cudaStream_t stream);

/* sub $8, %rsp; call *%rsi; add $8, %rsp; ret: code of no file, which no table describes. */
static const unsigned char through[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd6,
					 0x48, 0x83, 0xc4, 0x08, 0xc3 };

static cudaError_t sync_from_jit(cudaStream_t stream)
{
	cudaError_t (*code)(cudaStream_t, sync_fn *);
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		abort();
	memcpy(page, through, sizeof(through));
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC))
		abort();
	memcpy(&code, &page, sizeof(code));
	return code(stream, cudaStreamSynchronize);
}

static void *run_thread(void *argument)
{
	struct held *held = argument;
	const struct options *options = held->options;
	uint64_t hold_ms = options->hold_ms + held->index * options->step_ms, i;
	dim3 one = { 1, 1, 1 };
	cudaStream_t stream;
	cudaError_t error;

	held->tid = (pid_t)syscall(SYS_gettid);
	gpusim_kernel_duration(&held->kernels[0], hold_ms * 1000000);
	error = cudaStreamCreate(&stream);
	if (!error)
		error = cudaLaunchKernel(&held->kernels[0], one, one, NULL, 0, stream);
	if (error)
		abort();
	held->entered_ns = now_ns();
	error = options->jit ? sync_from_jit(stream) : cudaStreamSynchronize(stream);
	held->returned_ns = now_ns();
	if (error)
		abort();
	for (i = 0; i < options->calls; i++)
		cudaLaunchKernel(&held->kernels[1], one, one, NULL, 0, stream);
	sleep_ns(options->stay_ms * 1000000);
	return NULL;
}

static int run(const struct options *options)
{
	static struct held held[MAX_THREADS];
	pthread_t threads[MAX_THREADS];
	uint64_t i;

	cudaFree(NULL);
	for (i = 0; i < options->threads; i++) {
		held[i].options = options;
		held[i].index = (unsigned int)i;
		if (i && pthread_create(&threads[i], NULL, run_thread, &held[i]))
			abort();
	}
	printf("held: pid %d\n", (int)getpid());
	fflush(stdout);
	run_thread(&held[0]);
	for (i = 1; i < options->threads; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < options->threads; i++)
		printf("held: thread %d entered %" PRIu64 " returned %" PRIu64 "\n",
		       (int)held[i].tid, held[i].entered_ns, held[i].returned_ns);
	return 0;
}

int main(int argc, char **argv)
{
	struct options options = { .threads = 1, .hold_ms = 1000 };
	const struct program_option known[] = {
		{ "--threads", .number = &options.threads },
		{ "--hold-ms", .number = &options.hold_ms },
		{ "--step-ms", .number = &options.step_ms },
		{ "--calls", .number = &options.calls },
		{ "--stay-ms", .number = &options.stay_ms },
		{ "--jit", .flag = &options.jit },
	};

	(void)argc;
	if (!PROGRAM_OPTIONS(known, argv) || !options.threads || options.threads > MAX_THREADS) {
		fputs(usage_text, stderr);
		return 2;
	}
	return run(&options);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * simcalls: finding the functions, and what a thread must have before it can call them.
 */
#include "simcalls_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct simcalls_runtime_api simcalls_runtime_api;
struct simcalls_driver_api simcalls_driver_api;

static const struct slot {
	const char *name;
	void **address;
} runtime_slots[] = {
#define ROW(name) { #name, (void **)&simcalls_runtime_api.name },
	SIMCALLS_RUNTIME(ROW)
#undef ROW
}, driver_slots[] = {
#define ROW(name) { #name, (void **)&simcalls_driver_api.name },
	SIMCALLS_DRIVER(ROW)
#undef ROW
};

static const struct simcalls_runtime_api *const runtime = &simcalls_runtime_api;
static const struct simcalls_driver_api *const driver = &simcalls_driver_api;
static pthread_once_t driver_loaded = PTHREAD_ONCE_INIT;

int simcalls_load(void)
{
	size_t i;

	for (i = 0; i < sizeof(runtime_slots) / sizeof(runtime_slots[0]); i++) {
		*runtime_slots[i].address = simcalls_symbol(runtime_slots[i].name);
		if (*runtime_slots[i].address)
			continue;
		fprintf(stderr, "simcalls: the runtime has no %s\n", runtime_slots[i].name);
		return -1;
	}
	return 0;
}

static void load_driver(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	size_t i;

	if (!library) {
		fprintf(stderr, "simcalls: %s\n", dlerror());
		exit(1);
	}
	for (i = 0; i < sizeof(driver_slots) / sizeof(driver_slots[0]); i++)
		*driver_slots[i].address = dlsym(library, driver_slots[i].name);
}

static void prepare_context(void)
{
	CUcontext context;

	pthread_once(&driver_loaded, load_driver);
	driver->cuInit(0);
	if (!driver->cuDevicePrimaryCtxRetain(&context, 0))
		driver->cuCtxSetCurrent(context);
}

static void prepare_graph(struct simcalls_caller *caller)
{
	cudaGraph_t graph;
	cudaStream_t stream;

	if (runtime->cudaStreamCreate(&stream))
		return;
	runtime->cudaStreamBeginCapture(stream, 0);
	runtime->cudaLaunchKernel(simcalls_kernel(), simcalls_grids[0], simcalls_blocks[0], NULL, 0,
				  stream);
	runtime->cudaLaunchKernel(simcalls_kernel(), simcalls_grids[1], simcalls_blocks[1], NULL, 0,
				  stream);
	if (runtime->cudaStreamEndCapture(stream, &graph))
		return;
	runtime->cudaGraphInstantiate(&caller->graph, graph, 0);
	runtime->cudaGraphDestroy(graph);
	runtime->cudaStreamDestroy(stream);
}

void simcalls_prepare(struct simcalls_caller *caller, const struct simcalls_function *function)
{
	if (function->needs & NEEDS_CONTEXT)
		prepare_context();
	if (function->needs & NEEDS_STREAM && !caller->stream)
		runtime->cudaStreamCreate(&caller->stream);
	if (function->needs & NEEDS_MEMORY && !caller->memory) {
		runtime->cudaMalloc(&caller->memory, SIMCALLS_COPY_BYTES);
		runtime->cudaMallocHost(&caller->host, SIMCALLS_COPY_BYTES);
	}
	if (function->needs & NEEDS_EVENTS && !caller->before) {
		runtime->cudaEventCreate(&caller->before);
		runtime->cudaEventCreate(&caller->after);
		runtime->cudaEventRecord(caller->before, caller->stream);
		runtime->cudaEventRecord(caller->after, caller->stream);
	}
	if (function->needs & NEEDS_GRAPH && !caller->graph)
		prepare_graph(caller);
}

/* The runtime finds its driver and starts it, with no other call made. */
void simcalls_init_runtime(void)
{
	int count;

	runtime->cudaGetDeviceCount(&count);
	simcalls_forget();
}

void simcalls_forget(void)
{
	void (*forget)(void) = simcalls_symbol("gpusim_truth_forget");

	if (forget)
		forget();
}

int simcalls_hang(struct simcalls_caller *caller)
{
	int (*hang)(cudaStream_t stream) = simcalls_symbol("gpusim_stream_hang");

	if (!hang) {
		fputs("simcalls: only a simulated device can hang on order\n", stderr);
		return -1;
	}
	if (!caller->stream)
		runtime->cudaStreamCreate(&caller->stream);
	hang(caller->stream);
	runtime->cudaLaunchKernel(simcalls_kernel(), simcalls_grids[0], simcalls_blocks[0], NULL, 0,
				  caller->stream);
	printf("simcalls: hanging in cudaStreamSynchronize, tid %d\n", (int)gettid());
	fflush(stdout);
	return runtime->cudaStreamSynchronize(caller->stream);
}

// SPDX-License-Identifier: BSD-3-Clause
/*
 * The driver and CUPTI by dlsym, so that gpu_facts needs no toolkit; kernels as PTX, which any driver
 * since 2019 compiles for its device; answers.
 */
#include "facts.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct facts_driver facts_cu;
struct facts_cupti facts_cupti;
void *facts_libcuda;

static void *context, *kernel_nop, *kernel_spin;

static const char ptx[] =
	".version 6.4\n.target sm_75\n.address_size 64\n"
	".visible .entry nop() { ret; }\n"
	".visible .entry spin(.param .u64 ns)\n"
	"{ .reg .u64 %r<5>; .reg .pred %p;\n"
	" ld.param.u64 %r1, [ns];\n mov.u64 %r2, %globaltimer;\n"
	"L: mov.u64 %r3, %globaltimer;\n sub.u64 %r4, %r3, %r2;\n"
	" setp.lt.u64 %p, %r4, %r1;\n @%p bra L;\n ret; }\n";

struct function {
	const char *name;
	void *at;		/* of a member of facts_cu or facts_cupti */
	bool optional;
};

static const struct function driver_functions[] = {
	{ "cuInit", &facts_cu.init, false },
	{ "cuDriverGetVersion", &facts_cu.version, false },
	{ "cuDeviceGetCount", &facts_cu.device_count, false },
	{ "cuDeviceGet", &facts_cu.device_get, false },
	{ "cuDevicePrimaryCtxRetain", &facts_cu.retain_context, false },
	{ "cuCtxSetCurrent", &facts_cu.set_context, false },
	{ "cuCtxSynchronize", &facts_cu.synchronize, false },
	{ "cuLaunchKernel", &facts_cu.launch, false },
	{ "cuModuleLoadData", &facts_cu.load_module, false },
	{ "cuModuleGetFunction", &facts_cu.get_function, false },
	{ "cuStreamCreate", &facts_cu.create_stream, false },
	{ "cuStreamSynchronize", &facts_cu.sync_stream, false },
	{ "cuStreamBeginCapture_v2", &facts_cu.begin_capture, false },
	{ "cuStreamEndCapture", &facts_cu.end_capture, false },
	{ "cuGraphInstantiateWithFlags", &facts_cu.instantiate, false },
	{ "cuGraphLaunch", &facts_cu.launch_graph, false },
	{ "cuGetProcAddress_v2", &facts_cu.proc_address, true },
	{ "cuMemGetInfo_v2", &facts_cu.memory_info, false },
	{ "cuMemAlloc_v2", &facts_cu.alloc, false },
	{ "cuMemFree_v2", &facts_cu.free, false },
	{ "cuMemHostAlloc", &facts_cu.alloc_host, true },
	{ "cuMemAllocManaged", &facts_cu.alloc_managed, true },
	{ "cuMemAllocAsync", &facts_cu.alloc_async, true },
	{ "cuMemFreeAsync", &facts_cu.free_async, true },
	{ "cuMemcpyHtoD_v2", &facts_cu.copy_to_device, false },
	{ "cuMemsetD8_v2", &facts_cu.set_bytes, false },
	{ "cuMemGetAllocationGranularity", &facts_cu.granularity, true },
	{ "cuMemCreate", &facts_cu.create_memory, true },
	{ "cuMemAddressReserve", &facts_cu.reserve, true },
	{ "cuMemMap", &facts_cu.map, true },
};

static const struct function cupti_functions[] = {
	{ "cuptiGetVersion", &facts_cupti.version, false },
	{ "cuptiSubscribe", &facts_cupti.subscribe, false },
	{ "cuptiUnsubscribe", &facts_cupti.unsubscribe, false },
	{ "cuptiActivityRegisterCallbacks", &facts_cupti.register_callbacks, false },
	{ "cuptiActivityEnable", &facts_cupti.enable, false },
	{ "cuptiActivityEnableAndDump", &facts_cupti.enable_and_dump, true },
	{ "cuptiActivityDisable", &facts_cupti.disable, false },
	{ "cuptiActivityFlushAll", &facts_cupti.flush, false },
	{ "cuptiActivityGetNextRecord", &facts_cupti.next, false },
	{ "cuptiActivityGetNumDroppedRecords", &facts_cupti.dropped, false },
	{ "cuptiGetTimestamp", &facts_cupti.timestamp, false },
	{ "cuptiSetThreadIdType", &facts_cupti.thread_id_type, true },
	{ "cuptiActivityEnableRuntimeApi", &facts_cupti.enable_runtime, true },
	{ "cuptiActivityEnableDriverApi", &facts_cupti.enable_driver, true },
	{ "cuptiActivitySetAttribute", &facts_cupti.set_attribute, true },
	{ "cuptiActivityRegisterTimestampCallback", &facts_cupti.register_clock, true },
	{ "cuptiActivityGetEnabledKinds", &facts_cupti.enabled_kinds, true },
	{ "cuptiActivityGetStructSize", &facts_cupti.struct_size, true },
};

/* ---- answers ------------------------------------------------------------------------------------ */

void facts_answer(const char *key, const char *format, ...)
{
	va_list arguments;

	printf("%s: ", key);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
	fflush(stdout);
}

/* Ours, since CUPTI 13.2's own cuptiGetResultString recurses until the stack ends while nothing works. */
static const char *result_name(int code)
{
	static const struct {
		int code;
		const char *name;
	} names[] = {
		{ 0, "ok" },		{ 1, "invalid parameter" }, { 12, "max limit reached" },
		{ 14, "not compatible" }, { 15, "not initialized" },	{ 21, "invalid kind" },
		{ 27, "not supported" }, { 35, "insufficient privileges" },
		{ 39, "multiple subscribers" }, { 999, "unknown error" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].code == code)
			return names[i].name;
	return "failed";
}

void facts_answer_step(const char *what, int code, uint64_t began_ns)
{
	facts_answer(what, "%d %s, %.3f ms", code, result_name(code),
		     (double)(facts_now_ns() - began_ns) / 1e6);
}

bool facts_has(const void *function, const char *name)
{
	const void *const *at = function;

	if (!*at)
		facts_answer("left out", "no %s here", name);
	return *at;
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t facts_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t facts_realtime_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

void facts_sleep_ms(unsigned int ms)
{
	usleep(ms * 1000);
}

int facts_compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* NULL, or the first function that is missing and needed. */
static const char *find_all(void *library, const struct function *functions, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		void *at = dlsym(library, functions[i].name);

		if (!at && !functions[i].optional)
			return functions[i].name;
		memcpy(functions[i].at, &at, sizeof(at));
	}
	return NULL;
}

bool facts_open_cupti(void)
{
	const char *given = getenv("GPUPROF_CUPTI"), *name, *lacks;
	uint64_t began_ns = facts_now_ns();
	void *library;

	name = given && *given ? given : "libcupti.so.13";
	library = dlopen(name, RTLD_NOW);
	if (!library) {
		facts_answer("left out", "no libcupti: %s", dlerror());
		return false;
	}
	facts_answer("libcupti", "%s, loaded in %.1f ms", name,
		     (double)(facts_now_ns() - began_ns) / 1e6);
	lacks = find_all(library, cupti_functions, sizeof(cupti_functions) / sizeof(cupti_functions[0]));
	if (lacks)
		facts_answer("left out", "libcupti lacks %s", lacks);
	return !lacks;
}

bool facts_find_driver(void)
{
	const char *lacks;

	facts_libcuda = dlopen("libcuda.so.1", RTLD_NOW);
	if (!facts_libcuda) {
		facts_answer("left out", "no libcuda.so.1");
		return false;
	}
	lacks = find_all(facts_libcuda, driver_functions,
			 sizeof(driver_functions) / sizeof(driver_functions[0]));
	if (lacks)
		facts_answer("left out", "libcuda.so.1 lacks %s", lacks);
	return !lacks;
}

static int make_kernels(void)
{
	void *module;

	return facts_cu.load_module(&module, ptx) ||
	       facts_cu.get_function(&kernel_nop, module, "nop") ||
	       facts_cu.get_function(&kernel_spin, module, "spin");
}

bool facts_open_driver(bool with_context)
{
	uint64_t began_ns;
	int device, version = 0;

	if (!facts_find_driver())
		return false;
	facts_cu.version(&version);
	facts_answer("driver", "CUDA %d", version);
	if (FACTS_STEP("cuInit", facts_cu.init(0)))
		return false;
	if (!with_context)
		return true;
	began_ns = facts_now_ns();
	if (facts_cu.device_get(&device, 0) || facts_cu.retain_context(&context, device) ||
	    facts_cu.set_context(context) || make_kernels()) {
		facts_answer("left out", "the device gives no context, or does not take the kernels");
		return false;
	}
	facts_answer("context and module", "%.1f ms", (double)(facts_now_ns() - began_ns) / 1e6);
	return true;
}

void facts_use_context(void)
{
	facts_cu.set_context(context);
}

/* ---- launches ----------------------------------------------------------------------------------- */

void facts_nop(void *stream)
{
	if (facts_cu.launch(kernel_nop, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL))
		facts_answer("error", "cuLaunchKernel failed");
}

/* The simulated driver executes no PTX: it is given the length of the kernel. */
void facts_spin(void *stream, uint64_t ns)
{
	void *arguments[] = { &ns };
	void (*simulated)(const void *kernel, uint64_t ns);

	*(void **)&simulated = dlsym(facts_libcuda, "gpusim_kernel_duration");
	if (simulated)
		simulated(kernel_spin, ns);
	if (facts_cu.launch(kernel_spin, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL))
		facts_answer("error", "cuLaunchKernel failed");
}

void *facts_graph(unsigned int kernels, void *stream)
{
	void *graph, *exec = NULL;

	facts_cu.begin_capture(stream, 0);
	for (unsigned int i = 0; i < kernels; i++)
		facts_nop(stream);
	if (facts_cu.end_capture(stream, &graph) || facts_cu.instantiate(&exec, graph, 0)) {
		facts_answer("error", "the graph cannot be made");
		exit(1);
	}
	return exec;
}

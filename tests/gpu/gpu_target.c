// SPDX-License-Identifier: BSD-3-Clause
/*
 * What scripts/gpu-check measures: a program that uses a GPU through the driver alone, which it finds
 * by itself, so that it needs no toolkit where it runs. Prints "ready NAME" when it has a context, or
 * "none WHY"; then executes each line on stdin, and answers in one line:
 *
 *   version            CUDA of the driver, as 13000
 *   launch N           ns a launch: p50 p99 max
 *   during MS          one launch a millisecond, so long: number p50 max, of them in ns
 *   graph NODES N      launches a graph of so many kernels N times: ns a launch
 *   memory             bytes free on the device
 *   driver             where cuLaunchKernel is by symbol, and by cuGetProcAddress
 *   text               a sum over the first bytes of each function that probes may change
 *   code               a sum over all code of the files that were mapped when it was first asked
 *   opening NAME       the first 8 bytes of a function, and what a probe on it is: push, nop, branch
 *                      (emulated), step (single-stepped), refused
 *   begin              a profiler of its own begins, without a subscription, as torch.profiler does
 *   end                it ends: kernels that it saw
 *   profile N          begin, N launches, end
 *   busy MS            kernels that keep the device busy for so long: how many
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "elf/elf.h"
#include "elf/file.h"

enum { COSTS_MAX = 1 << 20, BATCH = 256, BUFFER = 1 << 20 };

/* An empty kernel and one that runs for so long, which any driver since 2019 can make for its device. */
static const char ptx[] =
	".version 6.4\n.target sm_75\n.address_size 64\n"
	".visible .entry gpu_check_kernel() { ret; }\n"
	".visible .entry gpu_check_spin(.param .u64 ns)\n"
	"{ .reg .u64 %r<5>; .reg .pred %p;\n"
	" ld.param.u64 %r1, [ns];\n mov.u64 %r2, %globaltimer;\n"
	"L: mov.u64 %r3, %globaltimer;\n sub.u64 %r4, %r3, %r2;\n"
	" setp.lt.u64 %p, %r4, %r1;\n @%p bra L;\n ret; }\n";

#define LAUNCH_ARGUMENTS \
	void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, \
		void **, void **

static struct {
	int (*init)(unsigned);
	int (*version)(int *);
	int (*device_get)(int *, int);
	int (*device_name)(char *, int, int);
	int (*context)(void **, int);
	int (*set_current)(void *);
	int (*synchronize)(void);
	int (*launch)(LAUNCH_ARGUMENTS);
	int (*memory)(size_t *, size_t *);
	int (*stream)(void **, unsigned);
	int (*begin)(void *, int);
	int (*end)(void *, void **);
	int (*instantiate)(void **, void *, unsigned long long);
	int (*launch_graph)(void *, void *);
	int (*address)(const char *, void **, int, uint64_t, int *);
	int (*load)(void **, const void *);
	int (*function)(void **, void *, const char *);
} cu;

static const struct {
	const char *name;
	void *at;
} functions[] = {
	{ "cuInit", &cu.init }, { "cuDeviceGet", &cu.device_get },
	{ "cuDriverGetVersion", &cu.version },
	{ "cuDeviceGetName", &cu.device_name },
	{ "cuDevicePrimaryCtxRetain", &cu.context },
	{ "cuCtxSetCurrent", &cu.set_current },
	{ "cuCtxSynchronize", &cu.synchronize }, { "cuLaunchKernel", &cu.launch },
	{ "cuMemGetInfo_v2", &cu.memory }, { "cuStreamCreate", &cu.stream },
	{ "cuStreamBeginCapture_v2", &cu.begin }, { "cuStreamEndCapture", &cu.end },
	{ "cuGraphInstantiateWithFlags", &cu.instantiate },
	{ "cuGraphLaunch", &cu.launch_graph },
	{ "cuGetProcAddress_v2", &cu.address }, { "cuModuleLoadData", &cu.load },
	{ "cuModuleGetFunction", &cu.function },
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static void *driver, *kernel, *spin;
static uint64_t costs[COSTS_MAX];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ---- the device ------------------------------------------------------------------------------- */

static const char *find_functions(void)
{
	driver = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver)
		return "no libcuda.so.1";
	for (int i = 0; i < FUNCTIONS; i++) {
		void *at = dlsym(driver, functions[i].name);

		if (!at)
			return "libcuda.so.1 lacks a function";
		memcpy(functions[i].at, &at, sizeof(at));
	}
	return NULL;
}

static const char *open_device(char name[96])
{
	void *context, *module;
	const char *why = find_functions();
	int device;

	if (why)
		return why;
	if (cu.init(0) || cu.device_get(&device, 0))
		return "the driver finds no device";
	if (cu.device_name(name, 96, device) || cu.context(&context, device) || cu.set_current(context))
		return "the device gives no context";
	if (cu.load(&module, ptx) || cu.function(&kernel, module, "gpu_check_kernel") ||
	    cu.function(&spin, module, "gpu_check_spin"))
		return "the driver does not make the kernel for this device";
	return NULL;
}

/* ---- launches --------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t launch(void *stream)
{
	uint64_t start = now_ns();

	if (cu.launch(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL)) {
		puts("failed: cuLaunchKernel");
		exit(1);
	}
	return now_ns() - start;
}

static void do_launch(const char *word, unsigned long n, unsigned long unused)
{
	(void)word, (void)unused;
	n = n < 1 ? 1 : n > COSTS_MAX ? COSTS_MAX : n;
	for (unsigned long i = 0; i < n; i++) {
		costs[i] = launch(NULL);
		if (i % BATCH == 0)
			cu.synchronize();	/* or a launch waits for the queue */
	}
	cu.synchronize();
	qsort(costs, n, sizeof(*costs), compare);
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", costs[n / 2], costs[n - 1 - n / 100],
	       costs[n - 1]);
}

static void do_during(const char *word, unsigned long ms, unsigned long unused)
{
	uint64_t end = now_ns() + ms * 1000000;
	unsigned long n = 0;

	(void)word, (void)unused;
	while ((now_ns() < end || !n) && n < COSTS_MAX) {
		costs[n++] = launch(NULL);
		usleep(1000);
	}
	cu.synchronize();
	qsort(costs, n, sizeof(*costs), compare);
	printf("%lu %" PRIu64 " %" PRIu64 "\n", n, costs[n / 2], costs[n - 1]);
}

static void do_graph(const char *word, unsigned long nodes, unsigned long n)
{
	void *stream, *graph, *exec;
	uint64_t start;

	(void)word;
	if (cu.stream(&stream, 1) || cu.begin(stream, 0)) {
		puts("failed: capture");
		return;
	}
	for (unsigned long i = 0; i < nodes; i++)
		launch(stream);
	if (cu.end(stream, &graph) || cu.instantiate(&exec, graph, 0)) {
		puts("failed: instantiation");
		return;
	}
	start = now_ns();
	for (unsigned long i = 0; i < n; i++) {
		if (cu.launch_graph(exec, stream)) {
			puts("failed: cuGraphLaunch");
			return;
		}
		if (i % 16 == 15)
			cu.synchronize();
	}
	cu.synchronize();
	printf("%" PRIu64 "\n", (now_ns() - start) / (n ? n : 1));
}

/* The simulated driver executes no PTX: it is given the length of the kernel. */
static bool launch_spin(uint64_t ns)
{
	void *arguments[] = { &ns };
	void (*simulated)(const void *kernel, uint64_t ns);

	*(void **)&simulated = dlsym(driver, "gpusim_kernel_duration");
	if (simulated)
		simulated(spin, ns);
	return !cu.launch(spin, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL);
}

static void do_busy(const char *word, unsigned long ms, unsigned long unused)
{
	enum { KERNEL_MS = 10 };
	unsigned long n = 0;

	(void)word, (void)unused;
	for (; n < ms / KERNEL_MS; n++) {
		if (!launch_spin(KERNEL_MS * 1000000))
			break;
		if (n % 4 == 3)
			cu.synchronize();
	}
	cu.synchronize();
	printf("%lu\n", n);
}

/* ---- the driver's code ------------------------------------------------------------------------ */

static void do_memory(const char *word, unsigned long n, unsigned long m)
{
	size_t free_bytes = 0, total_bytes = 0;

	(void)word, (void)n, (void)m;
	if (cu.memory(&free_bytes, &total_bytes))
		puts("failed: cuMemGetInfo");
	else
		printf("%zu\n", free_bytes);
}

static void do_driver(const char *word, unsigned long n, unsigned long m)
{
	void *given = NULL;
	int status = 0;

	(void)word, (void)n, (void)m;
	if (cu.address("cuLaunchKernel", &given, 12000, 0, &status))
		given = NULL;
	printf("%p %p\n", dlsym(driver, "cuLaunchKernel"), given);
}

static void do_text(const char *word, unsigned long n, unsigned long m)
{
	uint64_t sum = 14695981039346656037ull;

	(void)word, (void)n, (void)m;
	for (int i = 0; i < FUNCTIONS; i++) {
		const uint8_t *at = dlsym(driver, functions[i].name);

		for (int k = 0; at && k < 16; k++)
			sum = (sum ^ at[k]) * 1099511628211ull;
	}
	printf("%016" PRIx64 "\n", sum);
}

/* "START-END r-xp ... /FILE": code of a file. */
static uint64_t sum_of(const char *maps_line, uint64_t sum)
{
	unsigned long start, end;

	if (sscanf(maps_line, "%lx-%lx", &start, &end) == 2 && strchr(maps_line, '/') &&
	    strstr(maps_line, " r-xp "))
		for (const uint64_t *at = (const uint64_t *)start; at < (const uint64_t *)end; at++)
			sum = (sum ^ *at) * 1099511628211ull;
	return sum;
}

static void do_code(const char *word, unsigned long n, unsigned long m)
{
	static char maps[1 << 18];
	uint64_t sum = 14695981039346656037ull;
	FILE *file = *maps ? NULL : fopen("/proc/self/maps", "re");

	(void)word, (void)n, (void)m;
	if (file) {
		maps[fread(maps, 1, sizeof(maps) - 1, file)] = '\0';
		fclose(file);
	}
	for (char *line = maps, *end; (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		sum = sum_of(line, sum);
		*end = '\n';
	}
	printf("%016" PRIx64 "\n", sum);
}

static enum elf_opening opening_of(const uint8_t *code, size_t len)
{
#if defined(__aarch64__)
	return elf_classify_arm64(code, len).opening;
#else
	return elf_classify_x86(code, len).opening;
#endif
}

static void do_opening(const char *name, unsigned long n, unsigned long m)
{
	static const char *const openings[] = {
		[ELF_UNKNOWN] = "unknown", [ELF_PUSH] = "push", [ELF_NOP] = "nop",
		[ELF_STEP] = "step", [ELF_REFUSED] = "refused", [ELF_BRANCH] = "branch",
	};
	enum { CODE = 16 };
	const uint8_t *at = dlsym(driver, name);

	(void)n, (void)m;
	for (int i = 0; at && i < 8; i++)
		printf("%02x", at[i]);
	printf(at ? " %s\n" : "none\n", at ? openings[opening_of(at, CODE)] : "");
}

static void do_version(const char *word, unsigned long n, unsigned long m)
{
	int version = 0;

	(void)word, (void)n, (void)m;
	cu.version(&version);
	printf("%d\n", version);
}

/* ---- a profiler of its own, as torch.profiler of August 2026 uses CUPTI ------------------------ */

enum { KIND_MEMCPY = 1, KIND_MEMSET = 2, KIND_RUNTIME = 5, KIND_KERNEL = 10 };

static const int kinds[] = { KIND_KERNEL, KIND_MEMCPY, KIND_MEMSET, KIND_RUNTIME };
enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static struct {
	int (*register_callbacks)(void (*)(uint8_t **, size_t *, size_t *),
				  void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
	int (*enable)(int), (*disable)(int), (*flush)(uint32_t);
	int (*next)(uint8_t *, size_t, void **);
	int (*register_clock)(uint64_t (*)(void));
} cupti;
static unsigned long seen;

static void on_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	*buffer = malloc(BUFFER);
	*bytes = BUFFER;
	*max_records = 0;
}

static void on_complete(void *context, uint32_t stream, uint8_t *buffer, size_t bytes,
			size_t valid_bytes)
{
	void *rec = NULL;
	uint32_t kind;

	(void)context;
	(void)stream;
	(void)bytes;
	while (!cupti.next(buffer, valid_bytes, &rec)) {
		memcpy(&kind, rec, sizeof(kind));
		seen += kind == KIND_KERNEL;
	}
	free(buffer);
}

static bool find_cupti(void)
{
	static const char *const names[] = { "libcupti.so.12", "libcupti.so.13", "libcupti.so" };
	const char *given = getenv("GPUPROF_CUPTI");
	void *lib = given && *given ? dlopen(given, RTLD_NOW) : NULL;

	for (size_t i = 0; !lib && i < sizeof(names) / sizeof(names[0]); i++)
		lib = dlopen(names[i], RTLD_NOW);
	if (!lib)
		return false;
	*(void **)&cupti.register_callbacks = dlsym(lib, "cuptiActivityRegisterCallbacks");
	*(void **)&cupti.enable = dlsym(lib, "cuptiActivityEnable");
	*(void **)&cupti.disable = dlsym(lib, "cuptiActivityDisable");
	*(void **)&cupti.flush = dlsym(lib, "cuptiActivityFlushAll");
	*(void **)&cupti.next = dlsym(lib, "cuptiActivityGetNextRecord");
	*(void **)&cupti.register_clock = dlsym(lib, "cuptiActivityRegisterTimestampCallback");
	return cupti.register_callbacks && cupti.enable && cupti.disable && cupti.flush && cupti.next &&
	       cupti.register_clock;
}

static uint64_t ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#else
	return now_ns() * 2;
#endif
}

/* No subscription; a clock for good; kinds of all clients. */
static const char *begin_profiler(void)
{
	if (!cupti.next && !find_cupti())
		return "no libcupti";
	cu.synchronize();
	cupti.flush(1);
	if (cupti.register_clock(ticks) || cupti.register_callbacks(on_request, on_complete))
		return "CUPTI refuses";
	for (int i = 0; i < KINDS; i++)
		if (cupti.enable(kinds[i]))
			return "CUPTI refuses";
	seen = 0;
	return NULL;
}

static void do_begin(const char *word, unsigned long n, unsigned long m)
{
	const char *why = begin_profiler();

	(void)word, (void)n, (void)m;
	printf(why ? "failed: %s\n" : "begun\n", why);
}

static void do_end(const char *word, unsigned long n, unsigned long m)
{
	(void)word, (void)n, (void)m;
	if (cupti.next) {
		cu.synchronize();
		cupti.flush(1);
		for (int i = 0; i < KINDS; i++)
			cupti.disable(kinds[i]);
	}
	printf("%lu\n", seen);
}

static void do_profile(const char *word, unsigned long n, unsigned long m)
{
	const char *why = begin_profiler();

	if (why) {
		printf("failed: %s\n", why);
		return;
	}
	for (unsigned long i = 0; i < n; i++)
		launch(NULL);
	do_end(word, n, m);
}

/* ---- commands --------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	void (*run)(const char *word, unsigned long n, unsigned long m);	/* n: word, as a number */
} commands[] = {
	{ "version", do_version }, { "launch", do_launch }, { "during", do_during },
	{ "graph", do_graph },	   { "busy", do_busy },	    { "memory", do_memory },
	{ "driver", do_driver },   { "text", do_text },	    { "code", do_code },
	{ "opening", do_opening }, { "begin", do_begin },   { "end", do_end },
	{ "profile", do_profile },
};

static void answer(const char *command, const char *word, unsigned long n, unsigned long m)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (!strcmp(command, commands[i].name)) {
			commands[i].run(word, n, m);
			return;
		}
	puts("failed: unknown");
}

int main(void)
{
	char line[128], command[16], word[64], name[96] = "";
	const char *why = open_device(name);

	printf(why ? "none %s\n" : "ready %s\n", why ? why : name);
	fflush(stdout);
	while (!why && fgets(line, sizeof(line), stdin)) {
		unsigned long m = 0;
		int words = sscanf(line, "%15s %63s %lu", command, word, &m);

		if (words < 1)
			continue;
		answer(command, words > 1 ? word : "", words > 1 ? strtoul(word, NULL, 10) : 0, m);
		fflush(stdout);
	}
	return why != NULL;
}

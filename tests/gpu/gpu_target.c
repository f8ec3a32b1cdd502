// SPDX-License-Identifier: BSD-3-Clause
/*
 * What scripts/gpu-check measures: a program that uses a GPU through the driver alone, which it finds
 * by itself, so that it needs no toolkit where it runs. Says "ready NAME" when it has a context, or
 * "none WHY"; then does what each line on stdin says, and answers in one line:
 *
 *   launch N           ns a launch: p50 p99 max
 *   during MS          one launch a millisecond, so long: number p50 max, of them in ns
 *   graph NODES N      launches a graph of so many kernels N times: ns a launch
 *   memory             bytes free on the device
 *   driver             where cuLaunchKernel is by symbol, and by cuGetProcAddress
 *   text               a sum over the first bytes of each function that probes may change
 *   code               a sum over all code of the files that were mapped when it was first asked
 *   opening NAME       the first 8 bytes of a function
 *   profile N          what a profiler of its own sees of N launches: kernels
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

enum { COSTS_MAX = 1 << 20, BATCH = 256, BUFFER = 1 << 20, KIND_KERNEL = 10 };

/* An empty kernel, that any driver since 2019 can make for its device. */
static const char ptx[] = ".version 6.4\n.target sm_75\n.address_size 64\n"
			  ".visible .entry gpu_check_kernel() { ret; }\n";

#define LAUNCH_ARGUMENTS \
	void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, \
		void **, void **

static struct {
	int (*init)(unsigned);
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
	bool optional;		/* the simulated driver launches whatever address it is given */
} functions[] = {
	{ "cuInit", &cu.init, false }, { "cuDeviceGet", &cu.device_get, false },
	{ "cuDeviceGetName", &cu.device_name, false },
	{ "cuDevicePrimaryCtxRetain", &cu.context, false },
	{ "cuCtxSetCurrent", &cu.set_current, false },
	{ "cuCtxSynchronize", &cu.synchronize, false }, { "cuLaunchKernel", &cu.launch, false },
	{ "cuMemGetInfo_v2", &cu.memory, false }, { "cuStreamCreate", &cu.stream, false },
	{ "cuStreamBeginCapture_v2", &cu.begin, false }, { "cuStreamEndCapture", &cu.end, false },
	{ "cuGraphInstantiateWithFlags", &cu.instantiate, false },
	{ "cuGraphLaunch", &cu.launch_graph, false },
	{ "cuGetProcAddress_v2", &cu.address, false }, { "cuModuleLoadData", &cu.load, true },
	{ "cuModuleGetFunction", &cu.function, true },
};
enum { FUNCTIONS = sizeof(functions) / sizeof(functions[0]) };

static void *driver, *kernel = &cu;
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

		if (!at && !functions[i].optional)
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
	if (cu.load && (!cu.function || cu.load(&module, ptx) ||
			cu.function(&kernel, module, "gpu_check_kernel")))
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

static void do_launch(unsigned long n)
{
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

static void do_during(unsigned long ms)
{
	uint64_t end = now_ns() + ms * 1000000;
	unsigned long n = 0;

	while ((now_ns() < end || !n) && n < COSTS_MAX) {
		costs[n++] = launch(NULL);
		usleep(1000);
	}
	cu.synchronize();
	qsort(costs, n, sizeof(*costs), compare);
	printf("%lu %" PRIu64 " %" PRIu64 "\n", n, costs[n / 2], costs[n - 1]);
}

static void do_graph(unsigned long nodes, unsigned long n)
{
	void *stream, *graph, *exec;
	uint64_t start;

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

/* ---- the driver's code ------------------------------------------------------------------------ */

static void do_memory(void)
{
	size_t free_bytes = 0, total_bytes = 0;

	if (cu.memory(&free_bytes, &total_bytes))
		puts("failed: cuMemGetInfo");
	else
		printf("%zu\n", free_bytes);
}

static void do_driver(void)
{
	void *given = NULL;
	int status = 0;

	if (cu.address("cuLaunchKernel", &given, 12000, 0, &status))
		given = NULL;
	printf("%p %p\n", dlsym(driver, "cuLaunchKernel"), given);
}

static void do_text(void)
{
	uint64_t sum = 14695981039346656037ull;

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

static void do_code(void)
{
	static char maps[1 << 18];
	uint64_t sum = 14695981039346656037ull;
	FILE *file = *maps ? NULL : fopen("/proc/self/maps", "re");

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

static void do_opening(const char *name)
{
	const uint8_t *at = dlsym(driver, name);

	for (int i = 0; at && i < 8; i++)
		printf("%02x", at[i]);
	puts(at ? "" : "none");
}

/* ---- a profiler of its own, as torch.profiler uses CUPTI -------------------------------------- */

static struct {
	int (*register_callbacks)(void (*)(uint8_t **, size_t *, size_t *),
				  void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
	int (*enable)(int), (*disable)(int), (*flush)(uint32_t);
	int (*next)(uint8_t *, size_t, void **);
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
	return cupti.register_callbacks && cupti.enable && cupti.disable && cupti.flush && cupti.next;
}

static void do_profile(unsigned long n)
{
	if (!cupti.next && !find_cupti()) {
		puts("failed: no libcupti");
		return;
	}
	cu.synchronize();
	cupti.flush(1);
	if (cupti.register_callbacks(on_request, on_complete) || cupti.enable(KIND_KERNEL)) {
		puts("failed: CUPTI refuses");
		return;
	}
	seen = 0;
	for (unsigned long i = 0; i < n; i++)
		launch(NULL);
	cu.synchronize();
	cupti.flush(1);
	cupti.disable(KIND_KERNEL);
	printf("%lu\n", seen);
}

/* ---- commands --------------------------------------------------------------------------------- */

static void answer(const char *command, const char *word, unsigned long n, unsigned long m)
{
	if (!strcmp(command, "launch"))
		do_launch(n);
	else if (!strcmp(command, "during"))
		do_during(n);
	else if (!strcmp(command, "graph"))
		do_graph(n, m);
	else if (!strcmp(command, "memory"))
		do_memory();
	else if (!strcmp(command, "driver"))
		do_driver();
	else if (!strcmp(command, "text"))
		do_text();
	else if (!strcmp(command, "code"))
		do_code();
	else if (!strcmp(command, "opening"))
		do_opening(word);
	else if (!strcmp(command, "profile"))
		do_profile(n);
	else
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

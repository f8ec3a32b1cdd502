// SPDX-License-Identifier: BSD-3-Clause
/*
 * A program that looks as if libcudart were linked into it: functions with the runtime's names and
 * ABI that are local symbols of .symtab, as those of libcudart_static.a are. It does nothing on any
 * device. It makes calls of known numbers, grids, sizes and results from two threads, then a
 * forked child does the same, and it writes down what it did. Statically linked: it runs where
 * there is nothing else. Knows nothing of gpuprof.
 *
 *	target TRUTH	makes its calls at once
 *	target TRUTH SECONDS SETTLE	waits until all its functions hold breakpoints, and then for the
 *			seconds SETTLE, in which their returns are probed; makes its calls, waits until the
 *			breakpoints are gone again; exits 3 if one had none, 4 if one stayed
 *	target - SECONDS	makes no calls; exits 5 if a breakpoint ever came
 *	target sync SECONDS	stays in one call of cudaDeviceSynchronize
 *
 * TRUTH gets lines "calls PID FUNCTION COUNT ERRORS BYTES" (or "wide", of functions with arguments
 * beyond the sixth or structs) and "launch PID GRID BLOCK COUNT", with grids and blocks as X,Y,Z. Whether a breakpoint is there is read from its own text.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* ---- the runtime, as its programming interface documents it ---- */

/* Kept whole, with the ABI's arguments and, by the Makefile's flags, a frame: `push` comes first on
 * x86-64. On arm64 an opening is one of those that compilers make there. */
#define AS_IN_CUDART static __attribute__((noipa))
#if defined(__aarch64__)
#define OPENS(branch_protection) __attribute__((target("branch-protection=" branch_protection)))
#else
#define OPENS(branch_protection)
#endif

typedef int cudaError_t;
typedef struct CUstream_st *cudaStream_t;
typedef struct { unsigned int x, y, z; } dim3;
typedef struct { void *ptr; size_t pitch, width, height; } cudaPitchedPtr;
typedef struct { size_t width, height, depth; } cudaExtent;

enum { cudaSuccess = 0, cudaErrorInvalidValue = 1 };
enum { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyNone = 9 };

static void nap_us(long us)
{
	struct timespec ts = { .tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/* Every function of the runtime checks first that it is initialised. */
AS_IN_CUDART cudaError_t initialise(void)
{
	return cudaSuccess;
}

OPENS("none")		/* stp */
AS_IN_CUDART cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args,
					  size_t shared, cudaStream_t stream)
{
	(void)args, (void)shared, (void)stream;
	return initialise() || !func || !grid.x || !block.x ? cudaErrorInvalidValue : cudaSuccess;
}

OPENS("pac-ret")	/* paciasp: the return address is signed */
AS_IN_CUDART cudaError_t cudaMemcpy(void *dst, const void *src, size_t bytes, int kind)
{
	(void)dst, (void)src, (void)bytes;
	return initialise() || kind == cudaMemcpyNone ? cudaErrorInvalidValue : cudaSuccess;
}

OPENS("bti")		/* bti c */
/* Arguments 7 and 8 are on the stack on x86-64 and in registers on arm64, argument 9 on the stack. */
AS_IN_CUDART cudaError_t cudaMemcpy2DArrayToArray(void *dst, size_t dst_x, size_t dst_y,
						  const void *src, size_t src_x, size_t src_y,
						  size_t width, size_t height, int kind)
{
	(void)dst, (void)dst_x, (void)dst_y, (void)src, (void)src_x, (void)src_y;
	return initialise() || !width || !height || kind == cudaMemcpyNone;
}

/* Large structs by value are on the stack on x86-64; on arm64 their addresses are in registers. */
AS_IN_CUDART cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent)
{
	(void)to, (void)value;
	return initialise() || !extent.width;
}

static long sync_us = 200;

AS_IN_CUDART cudaError_t cudaDeviceSynchronize(void)
{
	nap_us(sync_us);
	return initialise();
}

/* ---- what is called ---- */

struct plan {
	dim3 grid, block;
	unsigned int launches, copies, failing_copies, syncs;
	size_t bytes;
};

/*
 * One per thread; their launches differ in shape. There are enough calls for either thread to be
 * preempted by the other inside a probe, again and again, on the one CPU there is: whatever a
 * probe keeps per CPU would then be the other thread's (as the private stack that kernels from
 * 6.13 on give to programs with a large frame).
 */
static const struct plan plans[] = {
	{ { 64, 2, 1 }, { 256, 1, 1 }, 3000, 700, 3, 5, 4096 },
	{ { 7, 5, 3 }, { 32, 4, 2 }, 2000, 900, 2, 4, 1000003 },
};
#define N_PLANS (sizeof(plans) / sizeof(plans[0]))

static void *run_plan(void *arg)
{
	const struct plan *p = arg;
	static char kernel;

	for (unsigned int i = 0; i < p->launches; i++)
		cudaLaunchKernel(&kernel, p->grid, p->block, NULL, 48, NULL);
	for (unsigned int i = 0; i < p->copies; i++)
		cudaMemcpy(NULL, NULL, p->bytes, i % 2 + cudaMemcpyHostToDevice);
	for (unsigned int i = 0; i < p->failing_copies; i++)
		cudaMemcpy(NULL, NULL, p->bytes, cudaMemcpyNone);
	for (unsigned int i = 0; i < p->syncs; i++) {
		cudaMemcpy2DArrayToArray(NULL, 1, 2, NULL, 3, 4, p->bytes, 6, cudaMemcpyDeviceToHost);
		cudaMemset3D((cudaPitchedPtr){ NULL, 1, 2, 3 }, 0, (cudaExtent){ p->bytes, 7, 5 });
		cudaDeviceSynchronize();
	}
	return NULL;
}

static void run_threads(void)
{
	pthread_t threads[N_PLANS];

	for (size_t i = 0; i < N_PLANS; i++)
		if (pthread_create(&threads[i], NULL, run_plan, (void *)&plans[i]))
			exit(1);
	for (size_t i = 0; i < N_PLANS; i++)
		pthread_join(threads[i], NULL);
}

/* In one write, so that the lines of two processes never mix. */
static void write_truth(const char *path)
{
	unsigned long launches = 0, copies = 0, failing = 0, syncs = 0, bytes = 0, wide = 0;
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600), pid = getpid();
	char text[1024];
	int len = 0;

	for (const struct plan *p = plans; p < plans + N_PLANS; p++) {
		launches += p->launches;
		copies += p->copies + p->failing_copies;
		failing += p->failing_copies;
		syncs += p->syncs;
		wide += p->bytes * p->syncs;
		bytes += p->bytes * (p->copies + p->failing_copies);
		len += sprintf(text + len, "launch %d %u,%u,%u %u,%u,%u %u\n", pid,
			       p->grid.x, p->grid.y, p->grid.z,
			       p->block.x, p->block.y, p->block.z, p->launches);
	}
	len += sprintf(text + len, "calls %d cudaLaunchKernel %lu 0 -\n"
		       "calls %d cudaMemcpy %lu %lu %lu\ncalls %d cudaDeviceSynchronize %lu 0 -\n"
		       "wide %d cudaMemcpy2DArrayToArray %lu 0 %lu\n"
		       "wide %d cudaMemset3D %lu 0 %lu\n",
		       pid, launches, pid, copies, failing, bytes, pid, syncs,
		       pid, syncs, wide * 6, pid, syncs, wide * 7 * 5);
	if (fd < 0 || write(fd, text, (size_t)len) != len) {
		perror(path);
		exit(1);
	}
	close(fd);
}

static void run(const char *truth)
{
	pid_t child;
	int status;

	run_threads();
	write_truth(truth);
	child = fork();
	if (!child) {
		run_threads();
		write_truth(truth);
		_exit(0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(1);
}

/* ---- breakpoints ---- */

#define OPENING 8	/* a probe is within the first bytes of a function */

enum { N_OPENINGS = 5 };

struct opening {
	const volatile unsigned char *text;
	unsigned char clean[OPENING];
};

static void read_openings(struct opening v[N_OPENINGS])
{
	v[0].text = (const volatile unsigned char *)cudaLaunchKernel;
	v[1].text = (const volatile unsigned char *)cudaMemcpy;
	v[2].text = (const volatile unsigned char *)cudaDeviceSynchronize;
	v[3].text = (const volatile unsigned char *)cudaMemcpy2DArrayToArray;
	v[4].text = (const volatile unsigned char *)cudaMemset3D;
	for (int i = 0; i < N_OPENINGS; i++)
		for (int k = 0; k < OPENING; k++)
			v[i].clean[k] = v[i].text[k];
}

static bool is_broken(const struct opening *v)
{
	for (int k = 0; k < OPENING; k++)
		if (v->text[k] != v->clean[k])
			return true;
	return false;
}

static int count_broken(const struct opening v[N_OPENINGS])
{
	int broken = 0;

	for (int i = 0; i < N_OPENINGS; i++)
		broken += is_broken(&v[i]);
	return broken;
}

/* Whether exactly so many functions hold a breakpoint before the time is over. */
static bool wait_broken(const struct opening v[N_OPENINGS], int wanted, long seconds)
{
	for (long ms = 0; ms < seconds * 1000; ms += 10) {
		if (count_broken(v) == wanted)
			return true;
		nap_us(10000);
	}
	return false;
}

/* settle: perf's probes come one by one, that of a function's return after that of its entry, and the
 * kernel lets each wait while it takes others off: some 100 ms for each of those, where it is not
 * emulated. */
static int run_watched(const char *truth, long seconds, long settle)
{
	struct opening openings[N_OPENINGS];

	read_openings(openings);
	if (!strcmp(truth, "-")) {
		for (long ms = 0; ms < seconds * 1000; ms += 10) {
			if (count_broken(openings))
				return 5;
			nap_us(10000);
		}
		return 0;
	}
	if (!wait_broken(openings, N_OPENINGS, seconds))
		return 3;
	nap_us(settle * 1000000);
	run(truth);
	return wait_broken(openings, 0, seconds) ? 0 : 4;
}

int main(int argc, char **argv)
{
	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: target TRUTH [SECONDS SETTLE]\n");
		return 2;
	}
	if (argc == 3 && !strcmp(argv[1], "sync")) {
		sync_us = strtol(argv[2], NULL, 10) * 1000000;
		return (int)cudaDeviceSynchronize();
	}
	if (argc > 2)
		return run_watched(argv[1], strtol(argv[2], NULL, 10),
				   argc > 3 ? strtol(argv[3], NULL, 10) : 0);
	run(argv[1]);
	return 0;
}

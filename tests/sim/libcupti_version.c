// SPDX-License-Identifier: BSD-3-Clause
/*
 * libcupti.so.13, the simulated CUPTI: which version it plays and which faults it has.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libcupti.h"

#define BYTES(kernel, copy, peer, set, graph, memory)                                          \
	{                                                                                      \
		[KIND_CONCURRENT_KERNEL] = (kernel), [KIND_MEMCPY] = (copy),                    \
		[KIND_MEMCPY2] = (peer), [KIND_MEMSET] = (set), [KIND_GRAPH_TRACE] = (graph),    \
		[KIND_MEMORY2] = (memory), [KIND_RUNTIME] = 40, [KIND_DRIVER] = 40,              \
		[KIND_SYNCHRONIZATION] = 56, [KIND_DEVICE] = 176, [KIND_ODD] = 24,                \
		[KIND_OVERHEAD] = 48, [KIND_CUDA_EVENT] = 56,                                    \
		[KIND_EXTERNAL_CORRELATION] = 24,                                                \
	}

enum { AFTER_ALL = 990000 };
enum { DEVICE_BUFFERS = 250, NODES_IN_BUFFER = 100000 }; /* CUPTI's defaults */

enum { EVERY_THREAD = 1, WRONG_GRAPHS = 2, SINGLE = 4, OVERFLOWS = 8, STRICT = 16,
       WHOLE_KILLS = 32, WHOLE_STAYS = 64 };

#define VERSION(text, api, sizes, how)                                                         \
	{ .name = (text), .number = (api), .bytes = sizes, .single_functions = (how) & SINGLE,  \
	  .per_thread = (how) & EVERY_THREAD, .wrong_graphs = (how) & WRONG_GRAPHS,              \
	  .overflows = (how) & OVERFLOWS, .strict = (how) & STRICT,                             \
	  .single_late = (how) & STRICT, .whole_kills = (how) & WHOLE_KILLS,                     \
	  .whole_stays = (how) & WHOLE_STAYS }

enum { SINCE_12_5 = SINGLE | WHOLE_KILLS, SINCE_13_3 = SINGLE | EVERY_THREAD | STRICT };

/* As read off the real libraries and headers, and seen on an H200; 11.8 and 12.1 give the same number. */
static const struct cupti_version versions[] = {
	/* after all that gpuprof knows */
	VERSION("99.0", AFTER_ALL, BYTES(280, 136, 144, 120, 88, 168), SINCE_13_3 | WHOLE_STAYS),
	VERSION("13.5", 130500, BYTES(248, 112, 96, 104, 56, 128), SINCE_13_3 | WHOLE_STAYS),
	VERSION("13.3", 130300, BYTES(232, 96, 96, 88, 56, 128), SINCE_13_3),
	VERSION("13.2", 130200, BYTES(224, 96, 96, 88, 56, 128), SINGLE | EVERY_THREAD | OVERFLOWS),
	VERSION("13.1", 130101, BYTES(224, 96, 96, 88, 56, 128), SINCE_12_5 | EVERY_THREAD),
	VERSION("13.0", 130001, BYTES(216, 96, 96, 88, 56, 128),
		SINCE_12_5 | EVERY_THREAD | WRONG_GRAPHS),
	VERSION("12.9", 27, BYTES(208, 96, 96, 88, 56, 128), SINCE_12_5 | WRONG_GRAPHS),
	VERSION("12.8", 26, BYTES(208, 96, 96, 88, 56, 128), SINCE_12_5 | WRONG_GRAPHS),
	VERSION("12.4", 22, BYTES(208, 88, 96, 88, 56, 120), WHOLE_KILLS | WRONG_GRAPHS),
	VERSION("12.1", 18, BYTES(208, 88, 96, 88, 48, 120), WHOLE_KILLS | WRONG_GRAPHS),
	VERSION("11.8", 18, BYTES(200, 88, 96, 88, 48, 120), WHOLE_KILLS | WRONG_GRAPHS),
	/* before all that gpuprof knows */
	VERSION("8.0", 8, BYTES(136, 72, 80, 56, 48, 72), WHOLE_KILLS | WRONG_GRAPHS),
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct cupti_version *version = &versions[5];
static struct cupti_faults faults = {
	.cold_ms = 20, .finalize_ms = 20, .device = DEVICE_BUFFERS * NODES_IN_BUFFER };

static const struct {
	const char *name;
	uint64_t *number; /* NULL: a switch */
	bool *on;
} known[] = {
	{ "drop=", &faults.drop, NULL },
	{ "vanish=", &faults.vanish, NULL },
	{ "keep=", &faults.keep, NULL },
	{ "zero=", &faults.zero, NULL },
	{ "late=", &faults.late_ms, NULL },
	{ "back=", &faults.back_ms, NULL },
	{ "clock=", &faults.clock_us, NULL },
	{ "odd=", &faults.odd, NULL },
	{ "drift=", &faults.drift_ppb, NULL },
	{ "cold=", &faults.cold_ms, NULL },
	{ "finalize=", &faults.finalize_ms, NULL },
	{ "device=", &faults.device, NULL },
	{ "device!=", &faults.device, &faults.device_stays },
	{ "unusable", NULL, &faults.unusable },
	{ "reorder", NULL, &faults.reorder },
	{ "busy", NULL, &faults.busy },
	{ "refuse", NULL, &faults.refuse },
	{ "deaf", NULL, &faults.deaf },
	{ "hang", NULL, &faults.hang },
	{ "prompt", NULL, &faults.prompt },
	{ "one-buffer", NULL, &faults.one_buffer },
	{ "forget", NULL, &faults.forget },
	{ "steady", NULL, &faults.steady },
};

static void read_fault(const char *text)
{
	size_t i, n;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		n = strlen(known[i].name);
		if (known[i].number ? strncmp(text, known[i].name, n) : strcmp(text, known[i].name))
			continue;
		if (known[i].number)
			*known[i].number = strtoull(text + n, NULL, 10);
		if (known[i].on)
			*known[i].on = true;
		return;
	}
	fprintf(stderr, "gpusim: GPUSIM_CUPTI_FAULTS: '%s' is no fault\n", text);
}

static void read_environment(void)
{
	const char *wanted = getenv("GPUSIM_CUPTI"), *listed = getenv("GPUSIM_CUPTI_FAULTS");
	char copy[256], *next = copy, *one;
	size_t i;

	for (i = 0; wanted && i < sizeof(versions) / sizeof(versions[0]); i++)
		if (strcmp(versions[i].name, wanted) == 0)
			version = &versions[i];
	if (!listed)
		return;
	snprintf(copy, sizeof(copy), "%s", listed);
	while ((one = strsep(&next, ",")))
		if (*one)
			read_fault(one);
}

const struct cupti_version *cupti_version(void)
{
	pthread_once(&once, read_environment);
	return version;
}

const struct cupti_faults *cupti_faults(void)
{
	pthread_once(&once, read_environment);
	return &faults;
}

/* ---- how a function begins --------------------------------------------------------------------- */

static int api_in_use; /* 1 or 2; 0: none yet */
static bool initialised;

/* A driver of an older major CUDA, or without a device, is none that CUPTI works with. */
static bool fits(void)
{
	const char *driver = getenv("GPUSIM_DRIVER");
	unsigned int cuda = driver ? (unsigned int)atoi(driver) : 13000;
	unsigned int number = cupti_version()->number, own = number >= 100000 ? number / 10000 : 12;

	return !cupti_faults()->unusable && gpusim_device_count() > 0 &&
	       (cuda / 1000 >= own || number == AFTER_ALL);
}

/* As 13.2 does: its log of the failure asks for the failure's text, which initialises again. */
static int overflow(int depth)
{
	volatile char frame[4096];

	frame[0] = (char)depth;
	return depth < 0 ? 0 : overflow(depth | 1) + frame[0];
}

int cupti_enter_query(void)
{
	if (!fits())
		return cupti_version()->overflows ? overflow(0) :
		       cupti_version()->strict ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
	/* 13.3.75 looks for the driver in cuptiGetVersion already, to initialise. What it answers before
	 * cuInit is over is not known. */
	initialised |= cupti_version()->strict && gpusim_is_up();
	return cupti_version()->strict && !initialised ? CUPTI_ERROR_UNKNOWN : CUPTI_SUCCESS;
}

/* 13.2 reads through a pointer that only initialising sets. */
int cupti_enter_kinds(void)
{
	return cupti_version()->overflows && !initialised ? overflow(0) : cupti_enter_query();
}

int cupti_enter(int api)
{
	if (!fits())
		return cupti_version()->overflows ? overflow(0) : CUPTI_ERROR_UNKNOWN;
	if (cupti_version()->strict && api_in_use && api != api_in_use)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	api_in_use = api;
	initialised = true;
	return CUPTI_SUCCESS;
}

void cupti_leave_all(void)
{
	api_in_use = 0;
	initialised = false;
}

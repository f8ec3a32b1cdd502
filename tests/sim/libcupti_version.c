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
	}

/* As read off the real libraries and headers; 11.8 and 12.1 give the same number. */
static const struct cupti_version versions[] = {
	{ "99.0", 990000, BYTES(280, 136, 144, 120, 88, 168), true }, /* after all that gpuprof knows */
	{ "13.0", 130001, BYTES(216, 96, 96, 88, 56, 128), true },
	{ "12.8", 26, BYTES(208, 96, 96, 88, 56, 128), true },
	{ "12.4", 22, BYTES(208, 88, 96, 88, 56, 120), false },
	{ "12.1", 18, BYTES(208, 88, 96, 88, 48, 120), false },
	{ "11.8", 18, BYTES(200, 88, 96, 88, 48, 120), false },
	{ "8.0", 8, BYTES(136, 72, 80, 56, 48, 72), false }, /* before all that gpuprof knows */
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const struct cupti_version *version = &versions[1];
static struct cupti_faults faults;

static void read_fault(const char *text)
{
	unsigned long long n = 0;

	if (sscanf(text, "drop=%llu", &n) == 1)
		faults.drop = n;
	else if (sscanf(text, "vanish=%llu", &n) == 1)
		faults.vanish = n;
	else if (sscanf(text, "keep=%llu", &n) == 1)
		faults.keep = n;
	else if (sscanf(text, "zero=%llu", &n) == 1)
		faults.zero = n;
	else if (sscanf(text, "late=%llu", &n) == 1)
		faults.late_ms = n;
	else if (sscanf(text, "back=%llu", &n) == 1)
		faults.back_ms = n;
	else if (sscanf(text, "clock=%llu", &n) == 1)
		faults.clock_us = n;
	else if (sscanf(text, "device!=%llu", &n) == 1)
		faults.device = n, faults.device_stays = true;
	else if (sscanf(text, "device=%llu", &n) == 1)
		faults.device = n;
	else if (strcmp(text, "unusable") == 0)
		faults.unusable = true;
	else if (strcmp(text, "withhold") == 0)
		faults.withhold = true;
	else if (strcmp(text, "reorder") == 0)
		faults.reorder = true;
	else if (strcmp(text, "busy") == 0)
		faults.busy = true;
	else if (strcmp(text, "refuse") == 0)
		faults.refuse = true;
	else if (strcmp(text, "deaf") == 0)
		faults.deaf = true;
	else if (strcmp(text, "hang") == 0)
		faults.hang = true;
	else
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

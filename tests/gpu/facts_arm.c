// SPDX-License-Identifier: BSD-3-Clause
/*
 * The calls with which the helper makes CUPTI ready, each with its result and its time: also inside
 * cuInit (facts_inject.c), before it, and in a process that then ends without a flush.
 */
#include "facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RUNTIME_CBIDS = 600, DRIVER_CBIDS = 900, READINGS = 200, THREAD_ID_SYSTEM = 1 };

static const struct {
	uint32_t kind;
	const char *name;
} kinds[] = {
	{ CUPTI_KERNEL, "kernel" },	 { CUPTI_MEMCPY, "memcpy" },  { CUPTI_MEMCPY_PEER, "peer" },
	{ CUPTI_MEMSET, "memset" },	 { CUPTI_MEMORY2, "memory" }, { CUPTI_GRAPH_TRACE, "graph" },
	{ CUPTI_RUNTIME, "api" },
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void on_callback(void *ctx, int domain, uint32_t cbid, const void *data)
{
	(void)ctx, (void)domain, (void)cbid, (void)data;
}

bool facts_subscribe(const char *when)
{
	void *subscriber = NULL;

	if (FACTS_STEP(when, facts_cupti.subscribe(&subscriber, on_callback, NULL)))
		return false;
	return !facts_cupti.unsubscribe(subscriber);
}

void facts_answer_clock(const char *key)
{
	uint64_t least_ns = UINT64_MAX, before_ns, after_ns, ns;
	int64_t offset_ns = 0;

	for (int i = 0; i < READINGS; i++) {
		int code;

		before_ns = facts_realtime_ns();
		code = facts_cupti.timestamp(&ns);
		after_ns = facts_realtime_ns();
		if (code) {
			facts_answer(key, "cuptiGetTimestamp answers %d", code);
			return;
		}
		if (after_ns - before_ns < least_ns) {
			least_ns = after_ns - before_ns;
			offset_ns = (int64_t)(ns - before_ns - least_ns / 2);
		}
	}
	facts_answer(key, "%" PRId64 " ns from CLOCK_REALTIME, read within %" PRIu64 " ns", offset_ns,
		     least_ns);
}

/* The distance of two records of a kind in a buffer full of that kind's number; < 0: CUPTI's code. */
static int stride_of(uint32_t kind)
{
	static uint8_t buffer[2048] __attribute__((aligned(8)));
	void *first = NULL, *second;
	int code;

	for (size_t i = 0; i < sizeof(buffer); i += 8)
		memcpy(buffer + i, &kind, sizeof(kind));
	code = facts_cupti.next(buffer, sizeof(buffer), &first);
	second = first;
	if (!code)
		code = facts_cupti.next(buffer, sizeof(buffer), &second);
	return code ? -code : (int)((uint8_t *)second - (uint8_t *)first);
}

void facts_answer_sizes(void)
{
	char key[32];

	for (int i = 0; i < N_KINDS; i++) {
		int stride = stride_of(kinds[i].kind), code = 0;
		char size[48] = "";
		size_t bytes = 0;

		snprintf(key, sizeof(key), "size of %s", kinds[i].name);
		if (facts_cupti.struct_size) {
			code = facts_cupti.struct_size(kinds[i].kind, 0, &bytes);
			snprintf(size, sizeof(size), "; by cuptiActivityGetStructSize %d, %zu", code, bytes);
		}
		if (stride < 0)
			facts_answer(key, "cuptiActivityGetNextRecord answers %d%s", -stride, size);
		else
			facts_answer(key, "%d bytes%s", stride, size);
	}
}

void facts_answer_kinds(const char *when)
{
	uint32_t on[CUPTI_KINDS], bytes = sizeof(on), n = 0;
	char text[256] = "";
	int code, used = 0;

	if (!facts_cupti.enabled_kinds) {
		facts_answer(when, "no cuptiActivityGetEnabledKinds in this version");
		return;
	}
	code = facts_cupti.enabled_kinds(NULL, on, &bytes, &n);
	for (uint32_t i = 0; !code && i < n && i < CUPTI_KINDS && used < (int)sizeof(text) - 8; i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, " %u", on[i]);
	facts_answer(when, "%d, %u kinds:%s", code, n, text);
}

unsigned int facts_enable_functions(void)
{
	unsigned int n = 0;

	if (!facts_cupti.enable_runtime || !facts_cupti.enable_driver)
		return 0;
	for (uint32_t cbid = 1; cbid < RUNTIME_CBIDS; cbid++)
		n += !facts_cupti.enable_runtime(cbid, 1);
	for (uint32_t cbid = 1; cbid < DRIVER_CBIDS; cbid++)
		n += !facts_cupti.enable_driver(cbid, 1);
	return n;
}

void facts_arm(void)
{
	uint32_t version = 0;
	uint64_t began_ns;
	unsigned int n;

	FACTS_STEP("cuptiGetVersion", facts_cupti.version(&version));
	facts_answer("version", "%u", version);
	facts_subscribe("cuptiSubscribe");
	FACTS_STEP("register", facts_register(FACTS_A));
	if (facts_cupti.thread_id_type)
		FACTS_STEP("thread ids", facts_cupti.thread_id_type(THREAD_ID_SYSTEM));
	facts_answer_sizes();
	FACTS_STEP("enable kernel", facts_cupti.enable(CUPTI_KERNEL));
	FACTS_STEP("enable memcpy", facts_cupti.enable(CUPTI_MEMCPY));
	FACTS_STEP("enable peer", facts_cupti.enable(CUPTI_MEMCPY_PEER));
	FACTS_STEP("enable memset", facts_cupti.enable(CUPTI_MEMSET));
	FACTS_STEP("enable memory", facts_cupti.enable(CUPTI_MEMORY2));
	began_ns = facts_now_ns();
	n = facts_enable_functions();
	facts_answer("enable single functions", "%u, %.3f ms", n,
		     (double)(facts_now_ns() - began_ns) / 1e6);
	facts_answer_clock("clock");
	FACTS_STEP("flush", facts_cupti.flush(0));
	facts_answer_kinds("enabled kinds");
}

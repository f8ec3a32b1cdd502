// SPDX-License-Identifier: BSD-3-Clause
/*
 * gpu_facts.so: the driver loads it inside cuInit (CUDA_INJECTION64_PATH), as it does the helper. It arms
 * CUPTI there, and later answers what was recorded.
 */
#include "facts_inject.h"

#include "facts.h"

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	uint64_t began_ns = facts_now_ns();
	int n = -1, code;

	facts_answer("InitializeInjection", "it is called inside cuInit");
	if (!facts_open_cupti())
		return 1;
	facts_arm();
	if (facts_find_driver()) {
		code = facts_cu.device_count(&n);
		facts_answer("cuDeviceGetCount inside cuInit", "%d, %d devices", code, n);
	}
	facts_answer("InitializeInjection took", "%.1f ms", (double)(facts_now_ns() - began_ns) / 1e6);
	return 1;
}

__attribute__((visibility("default"))) void facts_injected_answer(void)
{
	facts_settle(true);
	facts_answer("kernels recorded", "%zu", facts_count(CUPTI_KERNEL));
}

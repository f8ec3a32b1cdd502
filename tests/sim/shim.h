/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What both shims need: how a function begins, and the export mark. The driver shim is compiled
 * twice: once with its exported names and once as the private twins that cuGetProcAddress hands out
 * under GPUSIM_PROCADDR=private; a twin is the same code under a hidden symbol `private_NAME`.
 */
#ifndef SHIM_H
#define SHIM_H

#ifdef GPUSIM_PRIVATE_TWIN
#define SHIM_NAME(name) __asm__("private_" #name) __attribute__((visibility("hidden")))
#else
#define SHIM_NAME(name)
#endif

#include "gpusim_truth.h"

static inline struct gpusim_call shim_begin(enum gpusim_function function)
{
	uint64_t start_ns = gpusim_now_ns();

#ifdef GPUSIM_PRIVATE_TWIN
	return gpusim_call_begin(function, false, start_ns);
#else
	return gpusim_call_begin(function, true, start_ns);
#endif
}

/* A function that the simulation does as a whole; some of its parameters may mean nothing there. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
#define SHIM_BYTES(type, name, parameters, known_bytes, result)                \
	type name parameters                                                  \
	{                                                                     \
		struct gpusim_call call = shim_begin(GPUSIM_FN_##name);       \
                                                                              \
		call.bytes = (known_bytes);                                   \
		return gpusim_call_end(&call, (result));                      \
	}
#define SHIM(type, name, parameters, result) SHIM_BYTES(type, name, parameters, 0, result)

#endif
